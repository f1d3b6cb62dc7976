//! `flashrig compare`: results side by side.

use crate::args::CompareArgs;
use crate::error::{CompareFailure, Failure, ReviewFailure, StreamFailure};
use crate::junit::junit;
use crate::output::{TextSink, pretty, print};
use crate::review_output::is_page_or_empty;
use crate::view::{self, Judged};
use report::advantage::{Better, RowUnit};
use report::conditions::{self, Finding, Outcome};
use report::repeats::{Estimate, Side, SideTable};
use report::winners::{Win, wins};
use results::ReviewResult;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn compare(args: &CompareArgs) -> Result<ExitCode, Failure> {
    if args.list_published {
        let names: String = import::PUBLISHED.iter().map(|name| format!("{name}\n")).collect();
        print(&names)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &args.junit {
        refuse_inputs(args, path, |path| CompareFailure::JunitIsResult { path })?;
        TextSink::probe(path)?;
    }
    let Compared { mut results, sides } = read_sides(&args.results)?;
    report::line_up(&mut results);
    if sides.len() > report::MAX_DEVICES {
        return Err(CompareFailure::TooMany { given: sides.len(), max: report::MAX_DEVICES }.into());
    }
    if let Some(page) = &args.out {
        // A page takes the place of a page, of nothing else: a slip must not cost a result.
        if page.extension().is_none_or(|e| e != "html") {
            return Err(CompareFailure::NoPage { path: page.clone() }.into());
        }
        refuse_inputs(args, page, |path| CompareFailure::NoPage { path })?;
        if !is_page_or_empty(page) {
            return Err(ReviewFailure::NoResult { path: page.clone() }.into());
        }
        if results.len() > report::MAX_DEVICES {
            return Err(CompareFailure::TooMany { given: results.len(), max: report::MAX_DEVICES }.into());
        }
    }
    let of_all: Vec<&ReviewResult> = results.iter().collect();
    let table = SideTable::new(&of_all, &sides);
    let mut judged = Vec::new();
    for condition in &args.fail_if {
        let findings = conditions::judge(condition, &of_all, &sides)
            .map_err(|source| CompareFailure::Unmatched { condition: Box::new(condition.clone()), source })?;
        judged.push(Judged { condition, findings });
    }
    if let Some(page) = &args.out {
        TextSink::replace(page, &report::compare_page(&results))?;
    }
    if let Some(path) = &args.junit {
        TextSink::replace(path, &junit(&judged, &table.table.devices))?;
    }
    if args.json {
        print(&pretty(&table_json(&table, &judged)))?;
    } else {
        let mut text = view::advantage(&table, args.all, args.out.as_deref());
        text.push_str(&view::conditions(&judged, &table.table.devices));
        print(&text)?;
    }
    let failed = judged.iter().flat_map(|judged| &judged.findings).any(|finding| finding.outcome == Outcome::Failed);
    Ok(if failed { ExitCode::from(CONDITION_MET) } else { ExitCode::SUCCESS })
}

/// Exit code of a comparison in which a condition of `--fail-if` is met.
const CONDITION_MET: u8 = 1;

/// Refuses to write to the place of a result.
fn refuse_inputs(args: &CompareArgs, path: &Path, error: fn(PathBuf) -> CompareFailure) -> Result<(), Failure> {
    let inputs = args.results.iter().map(|word| Path::new(split(word).1));
    match inputs.into_iter().find(|input| *input == path) {
        Some(_) => Err(error(path.to_owned()).into()),
        None => Ok(()),
    }
}

/// Everything that was named.
struct Compared {
    results: Vec<ReviewResult>,
    sides: Vec<Side>,
}

/// Reads results. Those of one given name, and those of one folder, are repeats of one side.
fn read_sides(words: &[String]) -> Result<Compared, Failure> {
    let mut results: Vec<ReviewResult> = Vec::new();
    let mut sides: Vec<Side> = Vec::new();
    let mut named: Vec<Option<&str>> = Vec::new();
    for word in words {
        let (name, files) = split(word);
        let first = results.len();
        if Path::new(files).is_dir() {
            for file in results_in(Path::new(files))? {
                results.push(import::read(file)?);
            }
        } else {
            results.push(read(word)?);
        }
        let of_folder = || Path::new(files).file_name().map(|name| name.to_string_lossy().into_owned());
        let called = match name {
            Some(name) => name.to_owned(),
            None if results.len() - first > 1 => of_folder().unwrap_or_else(|| files.to_owned()),
            None => results[first].name.clone(),
        };
        for result in &mut results[first..] {
            result.name.clone_from(&called);
        }
        let runs = first..results.len();
        match named.iter().position(|other| name.is_some() && *other == name) {
            Some(side) => sides[side].runs.extend(runs),
            None => {
                sides.push(Side { name: called, runs: runs.collect() });
                named.push(name);
            }
        }
    }
    Ok(Compared { results, sides })
}

/// The results in a folder, in the order of their names.
fn results_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |source| StreamFailure::Unreadable { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() { Err(CompareFailure::EmptyFolder { path: folder.to_owned() }.into()) } else { Ok(files) }
}

/// The name that was given, and the file or files. A file's own name may have a `=` too: what is there is meant.
fn split(word: &str) -> (Option<&str>, &str) {
    if word.starts_with("published:") || Path::new(word).exists() {
        return (None, word);
    }
    match word.split_once('=') {
        Some((name, files)) if !name.is_empty() && !name.contains('/') => (Some(name), files),
        _ => (None, word),
    }
}

/// A result of any kind. Logs of one run are joined by commas: pgbench writes one for each thread.
pub fn read(word: &str) -> Result<ReviewResult, Failure> {
    let (name, files) = split(word);
    let mut result = if files.starts_with("published:") {
        import::published(files)?
    } else if Path::new(files).exists() {
        import::read(files)?
    } else {
        import::read_all(&files.split(',').collect::<Vec<_>>())?
    };
    if let Some(name) = name {
        name.clone_into(&mut result.name);
    }
    Ok(result)
}

fn table_json(sided: &SideTable, judged: &[Judged]) -> Value {
    let table = &sided.table;
    let rows = table.rows.iter().zip(&sided.advantages).map(|(row, advantages)| {
        let devices = 0..table.devices.len();
        let interval = |estimate: &Option<Estimate>| {
            estimate
                .and_then(|estimate| estimate.interval)
                .map(|(low, high)| [low, high].map(|end| (end - 1.0) * 100.0))
        };
        json!({
            "group": row.group,
            "label": row.label,
            "unit": unit(&row.unit),
            "better": if row.better == Better::Higher { "higher" } else { "lower" },
            "values": row.values,
            "limited_by_host": row.limited,
            "advantage_percent": devices.map(|device| row.advantage(device)).collect::<Vec<_>>(),
            "interval_percent": advantages.iter().map(interval).collect::<Vec<_>>(),
        })
    });
    let conditions = judged.iter().map(|judged| {
        let findings = judged.findings.iter().map(|finding| finding_json(finding, &table.devices));
        json!({ "condition": judged.condition.to_string(), "figures": findings.collect::<Vec<_>>() })
    });
    json!({
        "devices": table.devices,
        "buffered": table.buffered,
        "repeats": sided.repeats,
        "wins": wins(table).iter().map(win_json).collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
        "conditions": conditions.collect::<Vec<_>>(),
    })
}

fn win_json(win: &Win) -> Value {
    json!({
        "group": win.row.group,
        "label": win.row.label,
        "winner": (!win.is_even()).then_some(win.winner),
        "times": win.lead,
        "second": win.second,
    })
}

fn finding_json(finding: &Finding, devices: &[String]) -> Value {
    let scale = if finding.first.is_some() { 100.0 } else { 1.0 };
    json!({
        "sweep": finding.sweep,
        "figure": finding.figure,
        "device": devices[finding.side],
        "unit": serde_json::to_value(finding.unit).expect("a unit is a word"),
        "first": finding.first,
        "value": finding.value,
        "change_percent": finding.first.map(|_| finding.judged.value * scale),
        "interval": finding.judged.interval.map(|(low, high)| [low * scale, high * scale]),
        "limited_by_host": finding.limited_by_host,
        "outcome": match finding.outcome {
            Outcome::Kept => "kept",
            Outcome::Unsure => "unsure",
            Outcome::Failed => "failed",
        },
    })
}

fn unit(unit: &RowUnit) -> Value {
    match unit {
        RowUnit::Known(unit) => serde_json::to_value(unit).expect("a unit is a word"),
        RowUnit::Other(unit) => json!(unit),
    }
}
