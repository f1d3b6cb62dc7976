//! `flashrig history`: what became of devices, over a folder of their reviews.

use crate::args::HistoryArgs;
use crate::error::{CompareFailure, Failure, ReviewFailure, StreamFailure};
use crate::output::{TextSink, pretty, print, print_error};
use crate::review_output::is_page_or_empty;
use crate::view;
use report::advantage::Better;
use report::history::{self, DeviceHistory};
use results::{ReviewResult, TargetKind};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn history(args: &HistoryArgs) -> Result<ExitCode, Failure> {
    let results = read_all(&args.places)?;
    for path in [&args.markdown, &args.svg, &args.png].into_iter().flatten() {
        if path != Path::new("-") {
            if args.places.contains(path) || path.extension().is_some_and(|extension| extension == "json") {
                return Err(ReviewFailure::NoResult { path: path.clone() }.into());
            }
            TextSink::probe(path)?;
        }
    }
    let histories = history::histories(&results, args.all);
    if let Some(path) = &args.out {
        if path.extension().is_none_or(|extension| extension != "html") || args.places.contains(path) {
            return Err(CompareFailure::NoPage { path: path.clone() }.into());
        }
        if !is_page_or_empty(path) {
            return Err(ReviewFailure::NoResult { path: path.clone() }.into());
        }
        let generator = format!("flashrig {}", env!("CARGO_PKG_VERSION"));
        TextSink::replace(path, &history::page(&histories, &generator))?;
    }
    if args.svg.is_some() || args.png.is_some() {
        let [only] = &histories[..] else {
            return Err(CompareFailure::SeveralDevices { devices: histories.len() }.into());
        };
        if let Some(path) = &args.svg {
            TextSink::replace(path, &history::picture(only))?;
        }
        if let Some(path) = &args.png {
            TextSink::replace_bytes(path, &history::raster(only).map_err(CompareFailure::Picture)?)?;
        }
    }
    if let Some(path) = &args.markdown {
        TextSink::replace(path, &history::markdown(&histories))?;
        if path == Path::new("-") {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if args.json {
        print(&pretty(&json!({ "devices": histories.iter().map(device_json).collect::<Vec<_>>() })))?;
    } else {
        print(&view::history(&histories, args.out.as_deref()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reviews in folders, not below them; a file in a folder that is none is passed over aloud.
fn read_all(places: &[PathBuf]) -> Result<Vec<ReviewResult>, Failure> {
    let mut results = Vec::new();
    for place in places {
        if !place.is_dir() {
            let result = import::read(place)?;
            if result.target.kind == TargetKind::Imported {
                return Err(CompareFailure::NoReview { path: place.clone() }.into());
            }
            results.push(result);
            continue;
        }
        let unreadable = |source| StreamFailure::Unreadable { path: place.clone(), source };
        let entries = fs::read_dir(place).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
        let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "json") && path.is_file());
        files.sort();
        for file in files {
            match import::read(&file) {
                Ok(result) if result.target.kind != TargetKind::Imported => results.push(result),
                Ok(_) => print_error(&format!("{} is no review and is passed over", file.display())),
                Err(error) => print_error(&format!("passed over: {error}")),
            }
        }
    }
    match (results.is_empty(), places) {
        (true, [place, ..]) => Err(CompareFailure::EmptyFolder { path: place.clone() }.into()),
        _ => Ok(results),
    }
}

fn device_json(history: &DeviceHistory) -> Value {
    let figures = history.trends.iter().map(|trend| {
        json!({
            "group": trend.row.group,
            "label": trend.row.label,
            "better": if trend.row.better == Better::Higher { "higher" } else { "lower" },
            "values": trend.row.values,
            "times_as_good": trend.change(),
        })
    });
    json!({
        "device": history.title,
        "when": history.when,
        "partial": history.partial,
        "sentence": history.sentence(),
        "figures": figures.collect::<Vec<_>>(),
    })
}
