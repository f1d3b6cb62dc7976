//! The content of a replayed trace, and how it fitted the device.

use crate::table::wrap;
use crate::units::{capacity, counted, duration, grouped, percent};
use results::{TraceReport, TraceRequests};

/// A line or more for each subject.
pub fn report(trace: &TraceReport, capacity_bytes: u64, depth: u64, has_schedule: bool) -> String {
    let kinds = [("read", trace.reads), ("write", trace.writes), ("trim", trace.trims), ("flush", trace.flushes)];
    let kinds: Vec<String> =
        kinds.into_iter().filter(|(_, of)| of.requests > 0).map(|(name, of)| requests(name, of)).collect();
    let mut what = format!("{}, recorded over {}", kinds.join(", "), duration(trace.span_ns as f64));
    if trace.volumes > 1 {
        what.push_str(&format!("; {} volumes laid over each other", grouped(trace.volumes)));
    }
    if trace.other_volumes > 0 {
        what.push_str(&format!("; {} of other volumes left out", counted(trace.other_volumes, "request")));
    }
    let places = format!(
        "offsets modulo {}: {} folded; {} cut (at the end of the card, or above 64 MiB), which makes {}; {} widened to \
         whole 512 bytes",
        capacity(capacity_bytes),
        counted(trace.folded, "request"),
        grouped(trace.split),
        counted(trace.pieces, "piece"),
        grouped(trace.widened),
    );
    let outstanding = format!("at most {} of {} outstanding", grouped(trace.deepest.into()), grouped(depth));
    let schedule = if has_schedule {
        let behind = trace.behind as f64 / trace.requests.max(1) as f64;
        let late = match trace.behind {
            0 => "every request was asked when it was due".to_owned(),
            n => format!(
                "{} asked late ({}), the latest by {}",
                counted(n, "request"),
                percent(behind),
                duration(trace.behind_max_ns as f64)
            ),
        };
        format!("{late}; {outstanding}")
    } else {
        format!("none, as fast as it goes; {outstanding}")
    };
    let lines = format!(
        "{} read: {} ask nothing, {} broken and skipped, {} with time running backwards",
        counted(trace.lines, "line"),
        grouped(trace.other_lines),
        grouped(trace.bad_lines),
        grouped(trace.backwards),
    );
    let rows = [("trace", what), ("places", places), ("schedule", schedule), ("lines", lines)];
    rows.map(|(label, text)| wrap(&format!("{label:<17}"), 17, &text)).concat()
}

fn requests(name: &str, of: TraceRequests) -> String {
    let many = if name == "flush" { "flushes".to_owned() } else { format!("{name}s") };
    let name = if of.requests == 1 { name } else { &many };
    let bytes = if of.bytes == 0 { String::new() } else { format!(" of {}", capacity(of.bytes)) };
    format!("{} {name}{bytes}", grouped(of.requests))
}
