//! `flashrig compare`: results side by side.

use crate::args::CompareArgs;
use crate::error::{CompareFailure, Failure, ReviewFailure};
use crate::output::{TextSink, pretty, print};
use crate::review_output::is_page_or_empty;
use crate::view;
use report::advantage::{self, AdvantageTable, Better, RowUnit};
use results::ReviewResult;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

pub fn compare(args: &CompareArgs) -> Result<ExitCode, Failure> {
    if args.list_published {
        let names: String = import::PUBLISHED.iter().map(|name| format!("{name}\n")).collect();
        print(&names)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.results.len() > report::MAX_DEVICES {
        return Err(CompareFailure::TooMany { given: args.results.len(), max: report::MAX_DEVICES }.into());
    }
    let results = args.results.iter().map(|word| read(word)).collect::<Result<Vec<_>, _>>()?;
    if let Some(page) = &args.out {
        // A page takes the place of a page, of nothing else: a slip must not cost a result.
        let mut inputs = args.results.iter().map(|word| Path::new(split(word).1));
        if page.extension().is_none_or(|e| e != "html") || inputs.any(|input| input == page) {
            return Err(CompareFailure::NoPage { path: page.clone() }.into());
        }
        if !is_page_or_empty(page) {
            return Err(ReviewFailure::NoResult { path: page.clone() }.into());
        }
        TextSink::replace(page, &report::compare_page(&results))?;
    }
    let table = advantage::table(&results.iter().collect::<Vec<_>>());
    if args.json {
        print(&pretty(&table_json(&table)))?;
    } else {
        print(&view::advantage(&table, args.all, args.out.as_deref()))?;
    }
    Ok(ExitCode::SUCCESS)
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

fn table_json(table: &AdvantageTable) -> Value {
    let rows = table.rows.iter().map(|row| {
        let devices = 0..table.devices.len();
        json!({
            "group": row.group,
            "label": row.label,
            "unit": unit(&row.unit),
            "better": if row.better == Better::Higher { "higher" } else { "lower" },
            "values": row.values,
            "advantage_percent": devices.map(|device| row.advantage(device)).collect::<Vec<_>>(),
        })
    });
    json!({ "devices": table.devices, "rows": rows.collect::<Vec<_>>() })
}

fn unit(unit: &RowUnit) -> Value {
    match unit {
        RowUnit::Known(unit) => serde_json::to_value(unit).expect("a unit is a word"),
        RowUnit::Other(unit) => json!(unit),
    }
}
