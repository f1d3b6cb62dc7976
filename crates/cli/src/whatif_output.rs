//! Answers of a grid or a search: their JSON, page, rows and words, and where they go.

use crate::args::WhatifOutputArgs;
use crate::error::{Failure, OptionWithout, ReviewFailure, WhatifFailure};
use crate::output::{JsonSink, TextSink, note, print};
use crate::review_output::is_page_or_empty;
use crate::view;
use crate::whatif_question::Asked;
use results::{WhatifPoint, WhatifResult, WhatifSearch};
use serde_json::json;
use std::path::Path;
use study::whatif::Axis;

/// The program and its version, as results and plans name it.
pub const GENERATOR: &str = concat!("flashrig ", env!("CARGO_PKG_VERSION"));

/// Destinations of the answers, found to be possible before any long work begins.
pub struct Sinks<'a> {
    csv: Option<JsonSink>,
    json: Option<JsonSink>,
    page: Option<&'a Path>,
}

impl Sinks<'_> {
    pub fn open(output: &WhatifOutputArgs) -> Result<Sinks<'_>, Failure> {
        if let Some(page) = &output.out {
            check_page(page)?;
        }
        let csv = output.csv.as_deref().map(JsonSink::open).transpose()?;
        let json = output.json.as_deref().map(JsonSink::open).transpose()?;
        let sinks = Sinks { csv, json, page: output.out.as_deref() };
        if Sinks::on_stdout(&sinks.csv) && Sinks::on_stdout(&sinks.json) {
            return Err(OptionWithout { option: "--csv -", what: "what --json - prints" }.into());
        }
        Ok(sinks)
    }

    fn on_stdout(sink: &Option<JsonSink>) -> bool {
        sink.as_ref().is_some_and(JsonSink::is_stdout)
    }
}

/// Points, the outcome of a search, and why points are missing.
pub type Found = (Vec<WhatifPoint>, Option<WhatifSearch>, Option<String>);

/// Writes and prints the answers.
pub fn deliver(asked: Asked, (points, found, partial): Found, sinks: Sinks<'_>) -> Result<(), Failure> {
    let Asked { question, search } = asked;
    let mut axes: Vec<_> = question.axes.iter().map(Axis::describe).collect();
    axes.extend(search.map(|search| search.range.describe()));
    let device = question.profile.lower(question.scale)?;
    let mut target = question.profile.to_json()?;
    target["scale"] = json!(question.scale);
    target["scaled_user_bytes"] = json!(device.user_bytes());
    let result = WhatifResult {
        kind: WhatifResult::KIND.into(),
        schema: WhatifResult::SCHEMA,
        generator: GENERATOR.into(),
        target,
        host: question.host.to_json(),
        load: load::LoadConfig::Fileio(question.load).describe(),
        scale: question.scale,
        seed: question.seed,
        axes,
        points,
        search: found,
        partial,
    };
    let table_too = !Sinks::on_stdout(&sinks.csv) && !Sinks::on_stdout(&sinks.json);
    // The files first: what took long to compute must not be lost because the reader of the table went away.
    if let Some(sink) = sinks.json {
        sink.write(&serde_json::to_value(&result).expect("results have text keys"))?;
    }
    if let Some(page) = sinks.page {
        TextSink::replace(page, &report::whatif_page(&result))?;
    }
    if let Some(sink) = sinks.csv {
        sink.write_text(&view::whatif_csv(&result))?;
    }
    if table_too {
        print(&view::whatif(&view::device_words(&question.profile, device.user_bytes(), question.scale), &result))?;
    }
    if let Some(page) = sinks.page {
        // A line of its own among JSON or CSV would be in the way.
        let line = view::printable(&format!("page:   {}", page.display()));
        if table_too { print(&format!("\n{line}\n"))? } else { note(&format!("flashrig: {line}")) }
    }
    Ok(())
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
