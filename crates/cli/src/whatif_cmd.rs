//! `flashrig whatif`: a grid of questions about a modelled card, or a search for what still holds a bound.

use crate::args::{Values, WhatifArgs};
use crate::cancel;
use crate::error::{Failure, OptionWithout, ReviewFailure, WhatifFailure};
use crate::opening::{self, open};
use crate::output::{JsonSink, TextSink, note, print};
use crate::progress::Watch;
use crate::review_output::is_page_or_empty;
use crate::view;
use load::{FileioConfig, FileioMode};
use results::WhatifResult;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use study::whatif::{Answers, Axis, Bound, Question, Range, RangeAxis, Search};
use target::Measure;

/// A grid of more points is refused.
const MAX_POINTS: usize = 5_000;

pub fn whatif(args: &WhatifArgs) -> Result<ExitCode, Failure> {
    let question = question(args)?;
    let search = search(args)?;
    if question.count() > MAX_POINTS {
        return Err(WhatifFailure::TooManyPoints { given: question.count(), max: MAX_POINTS }.into());
    }
    let output = &args.output;
    if let Some(page) = &output.out {
        check_page(page)?;
    }
    let csv = output.csv.as_deref().map(JsonSink::open).transpose()?;
    let json = output.json.as_deref().map(JsonSink::open).transpose()?;
    let on_stdout = |sink: &Option<JsonSink>| sink.as_ref().is_some_and(JsonSink::is_stdout);
    if on_stdout(&csv) && on_stdout(&json) {
        return Err(OptionWithout { option: "--csv -", what: "what --json - prints" }.into());
    }
    let table_too = !on_stdout(&csv) && !on_stdout(&json);
    cancel::listen()?;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let (answers, found) = {
        let watch = Watch::new();
        match &search {
            Some(search) => {
                let (answers, found) = study::whatif::search(&question, search, threads, &watch)?;
                (answers, Some(found))
            }
            None => (study::whatif::grid(&question, threads, &watch)?, None),
        }
    };
    let Answers { points, stopped } = answers;
    let mut axes: Vec<_> = question.axes.iter().map(Axis::describe).collect();
    axes.extend(search.map(|search| search.range.describe()));
    let device = question.profile.lower(question.scale)?;
    let mut target = question.profile.to_json()?;
    target["scale"] = json!(question.scale);
    target["scaled_user_bytes"] = json!(device.user_bytes());
    let result = WhatifResult {
        kind: WhatifResult::KIND.into(),
        schema: WhatifResult::SCHEMA,
        generator: format!("flashrig {}", env!("CARGO_PKG_VERSION")),
        target,
        host: question.host.to_json(),
        load: load::LoadConfig::Fileio(question.load).describe(),
        scale: question.scale,
        seed: question.seed,
        axes,
        points,
        search: found,
        partial: stopped.then(|| "stopped by Ctrl-C".into()),
    };
    // The files first: what took long to compute must not be lost because the reader of the table went away.
    if let Some(sink) = json {
        sink.write(&serde_json::to_value(&result).expect("results have text keys"))?;
    }
    if let Some(page) = &output.out {
        TextSink::replace(page, &report::whatif_page(&result))?;
    }
    if let Some(sink) = csv {
        sink.write_text(&view::whatif_csv(&result))?;
    }
    if table_too {
        print(&view::whatif(&view::device_words(&question.profile, device.user_bytes(), question.scale), &result))?;
    }
    if let Some(page) = &output.out {
        // A line of its own among JSON or CSV would be in the way.
        let line = view::printable(&format!("page:   {}", page.display()));
        if table_too { print(&format!("\n{line}\n"))? } else { note(&format!("flashrig: {line}")) }
    }
    Ok(if stopped { ExitCode::from(cancel::EXIT_CODE) } else { ExitCode::SUCCESS })
}

/// A page takes the place of a page, of nothing else.
fn check_page(page: &Path) -> Result<(), Failure> {
    if page.extension().is_none_or(|extension| extension != "html") {
        return Err(WhatifFailure::NotAPage { path: page.to_owned() }.into());
    }
    TextSink::probe(page)?;
    if !is_page_or_empty(page) {
        return Err(ReviewFailure::NoResult { path: page.to_owned() }.into());
    }
    Ok(())
}

fn question(args: &WhatifArgs) -> Result<Question, Failure> {
    let common = &args.common;
    let (profile, host) = open(&args.card, &common.model.host, &common.model.settings)?;
    let modes = listed(&args.axes.load, "--load")?;
    let modes: Vec<FileioMode> = modes.map(|mode| mode.0).collect();
    check_belonging(args, &modes)?;
    let mut axes = Vec::new();
    for vary in &args.axes.vary {
        if axes.iter().any(|axis: &Axis| axis.key() == vary.key) {
            return Err(WhatifFailure::VariedTwice { key: vary.key.as_str().into() }.into());
        }
        axes.push(Axis::Setting { key: vary.key.clone(), values: vary.values.clone() });
    }
    axes.push(Axis::Load(modes));
    if let Some(shares) = &args.axes.read_percent {
        axes.push(Axis::ReadPercent(listed(shares, "--read-percent")?.map(|share| share.0).collect()));
    }
    axes.push(Axis::Block(listed(&args.axes.block, "--block")?.map(|block| block.0).collect()));
    if let Some(Values::List(reserves)) = &args.axes.reserve {
        if axes.iter().any(|axis| axis.key() == "ftl.reserve") {
            return Err(WhatifFailure::VariedTwice { key: "ftl.reserve".into() }.into());
        }
        axes.push(Axis::Reserve(reserves.iter().map(|reserve| reserve.0).collect()));
    }
    if let Values::List(fills) = &args.axes.fill {
        axes.push(Axis::Fill(fills.iter().map(|fill| fill.0).collect()));
    }
    if let Values::List(threads) = &args.axes.threads {
        axes.push(Axis::Threads(threads.iter().map(|threads| threads.0).collect()));
    }
    let load = FileioConfig {
        queue_depth: common.depth,
        access: common.access,
        think_ns: common.think.0,
        rate_iops: common.rate,
        ..FileioConfig::default()
    };
    let scale = opening::scale(&profile, common.scale)?;
    Ok(Question {
        profile,
        host,
        scale,
        seed: common.model.seed,
        measure: common.seconds.map_or(Measure::Auto, Measure::Seconds),
        load,
        axes,
    })
}

/// Values of an axis that can't be searched.
fn listed<'a, T>(values: &'a Values<T>, option: &'static str) -> Result<impl Iterator<Item = &'a T> + 'a, Failure> {
    match values {
        Values::List(values) => Ok(values.iter()),
        Values::Range(..) => Err(OptionWithout { option, what: "searches: it takes a list, not a range" }.into()),
    }
}

/// An option without an effect is an error, not a surprise.
fn check_belonging(args: &WhatifArgs, modes: &[FileioMode]) -> Result<(), Failure> {
    let without = |option, what| Err(OptionWithout { option, what }.into());
    if args.axes.read_percent.is_some() && modes.iter().any(|mode| !mode.mixes()) {
        return without("--read-percent", "loads other than rndrw and seqrw");
    }
    if args.common.access != load::Access::Uniform && modes.iter().any(|mode| mode.is_sequential()) {
        return without("--access", "sequential loads");
    }
    Ok(())
}

/// The range that is searched, where a bound is given.
fn search(args: &WhatifArgs) -> Result<Option<Search>, Failure> {
    let axes = &args.axes;
    let mut ranges = Vec::new();
    let whole = |least: f64, most: f64, axis| -> Result<Range, Failure> {
        if least.fract() != 0.0 || most.fract() != 0.0 {
            return Err(WhatifFailure::RangeNotWhole.into());
        }
        Ok(Range { axis, least: least as u32, most: most as u32 })
    };
    if let Values::Range(least, most) = &axes.fill {
        ranges.push(whole(least.0, most.0, RangeAxis::Fill)?);
    }
    if let Some(Values::Range(least, most)) = &axes.reserve {
        ranges.push(whole(least.0, most.0, RangeAxis::Reserve)?);
    }
    if let Values::Range(least, most) = &axes.threads {
        ranges.push(Range { axis: RangeAxis::Threads, least: least.0, most: most.0 });
    }
    let bound = Bound {
        p99_ns: args.bound.target_p99.map(|time| time.0),
        min_bw_bytes: args.bound.min_mb_s.map(|mb| mb * 1e6),
    };
    let bounded = bound.p99_ns.is_some() || bound.min_bw_bytes.is_some();
    match (ranges.as_slice(), bounded) {
        ([], false) => Ok(None),
        ([range], true) => Ok(Some(Search { range: *range, bound })),
        (_, true) => Err(WhatifFailure::NotOneRange { given: ranges.len() }.into()),
        (_, false) => Err(WhatifFailure::RangeWithoutBound.into()),
    }
}
