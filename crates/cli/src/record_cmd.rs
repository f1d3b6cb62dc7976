//! `flashrig record`: what a device of this machine is asked, as a trace.

use crate::args::RecordArgs;
use crate::cancel;
use crate::error::Failure;
use crate::output::{pretty, print};
use crate::table::wrap;
use crate::units::{counted, duration};
use crate::view;
use device::Operation;
use drive::record::System;
use load::trace::{Feed, Format, Options, Problem};
use serde_json::json;
use std::process::ExitCode;

pub fn record(args: &RecordArgs) -> Result<ExitCode, Failure> {
    // It never ends this process: what it has started must be stopped.
    cancel::listen_patiently()?;
    let how_long = args.how_long.map(|budget| budget.0);
    let recorded = drive::record::record(&System::this(), &args.device, &args.out, how_long, &cancel::requested)?;
    let counts = count(args)?;
    let total: u64 = counts.iter().sum();
    let [reads, writes, trims, flushes] = counts;
    let seconds = recorded.took.as_secs_f64();
    let path = args.out.display().to_string();
    print(&if args.json {
        pretty(&json!({
            "file": path,
            "seconds": seconds,
            "requests": total,
            "reads": reads,
            "writes": writes,
            "trims": trims,
            "flushes": flushes,
        }))
    } else {
        let kinds = [("read", reads), ("write", writes), ("trim", trims)].map(|(name, n)| counted(n, name)).join(", ");
        let flushes = if flushes == 1 { "1 flush".to_owned() } else { format!("{flushes} flushes") };
        let text = format!(
            "{}: {} in {}: {kinds}, {flushes}",
            view::printable(&path),
            counted(total, "request"),
            duration(seconds * 1e9)
        );
        wrap("", 2, &text)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Requests by kind. A trace that can't be replayed is an error, one without requests is none.
fn count(args: &RecordArgs) -> Result<[u64; 4], Failure> {
    let mut counts = [0; 4];
    let options = Options { format: Some(Format::Blkparse), ..Options::default() };
    let mut feed = Feed::open(&args.out, options)?;
    loop {
        match feed.next_batch() {
            Ok(Some(batch)) => batch.records.iter().for_each(|record| {
                counts[match record.op {
                    Operation::Read => 0,
                    Operation::Write => 1,
                    Operation::Trim => 2,
                    Operation::Flush => 3,
                }] += 1;
            }),
            Ok(None) => return Ok(counts),
            Err(error) if matches!(*error.problem, Problem::Empty { .. }) => return Ok(counts),
            Err(error) => return Err(error.into()),
        }
    }
}
