//! Makes a trace to replay: `make_trace FORMAT REQUESTS READ_PERCENT IOPS SPAN_GB > FILE`.
//!
//! Random requests of 4 KiB over so many gigabytes, at random times around so many a second. The same words make the same
//! trace.

use device::{Operation, Rng};
use load::trace::{Format, Record, Writer};
use std::io::{BufWriter, stdout};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [format, numbers @ ..] = &words[..] else { return usage() };
    let Some(format) = Format::ALL.into_iter().find(|known| known.name() == format) else { return usage() };
    let numbers: Vec<u64> = numbers.iter().filter_map(|number| number.parse().ok()).collect();
    let [requests, read_percent, iops, span_gb] = numbers[..] else { return usage() };
    if iops == 0 || iops > 1_000_000_000 || !(1..=1_000_000).contains(&span_gb) {
        return usage();
    }
    if let Err(error) = make(format, requests, read_percent, iops, span_gb) {
        eprintln!("make_trace: {error}");
        std::process::exit(2);
    }
}

fn usage() {
    eprintln!(
        "make_trace FORMAT REQUESTS READ_PERCENT IOPS SPAN_GB; FORMAT: {}",
        Format::ALL.map(Format::name).join(" ")
    );
    std::process::exit(2);
}

fn make(format: Format, requests: u64, read_percent: u64, iops: u64, span_gb: u64) -> std::io::Result<()> {
    let mut rng = Rng::stream(1, "trace");
    let mut writer = Writer::new(BufWriter::with_capacity(1 << 20, stdout().lock()), format)?;
    let gap_ns = 1_000_000_000 / iops;
    let mut at_ns = 0;
    for _ in 0..requests {
        let op = if rng.below(100) < read_percent { Operation::Read } else { Operation::Write };
        let offset_bytes = rng.below(span_gb * 1_000_000_000 / 4096) * 4096;
        writer.write(&Record { at_ns, op, fua: false, offset_bytes, len_bytes: 4096 })?;
        at_ns += rng.below(2 * gap_ns + 1);
    }
    writer.finish().map(drop)
}
