//! The figures of a cache.

use crate::table::{Table, wrap};
use crate::units::{counted, duration, grouped, io_size, mb_per_s, percent, three_digits};
use results::CacheReport;

/// Its blocks and where they went, and how long requests took.
pub fn report(cache: &CacheReport) -> String {
    let held = format!(
        "{}, {}, {}: {} of {} in use, {} dirty",
        cache.mode,
        cache.policy,
        io_size(cache.block_bytes.into()),
        grouped(cache.used_blocks),
        counted(cache.blocks, "block"),
        percent(cache.dirty_share),
    );
    let mut hits = format!("{} of requests, {} of blocks", exact(cache.hit_rate), exact(cache.block_hit_rate));
    if cache.passed_by > 0 {
        hits.push_str(&format!("; {} passed it by", counted(cache.passed_by, "request")));
    }
    if cache.delayed > 0 {
        hits.push_str(&format!("; {} waited for another's fetch", grouped(cache.delayed)));
    }
    let mut moved = format!("{} in, {} out", grouped(cache.promoted), grouped(cache.evicted));
    if cache.written_back > 0 {
        moved.push_str(&format!(
            ", {} written back in {}: {} MB/s",
            grouped(cache.written_back),
            counted(cache.write_backs, "request"),
            mb_per_s(cache.write_back_bw_bytes),
        ));
    }
    let mut wear = match cache.programmed_per_host_byte {
        Some(per_byte) => format!("{} bytes programmed for each that the host wrote", three_digits(per_byte)),
        None => format!("{} MB programmed", three_digits(cache.programmed_bytes as f64 / 1e6)),
    };
    match cache.years_at_rating {
        Some(years) => wear.push_str(&format!("; {} years at this rate", three_digits(years))),
        None => wear.push_str("; it does not wear"),
    }
    let warmed = match cache.warm_up {
        None => "not waited for: it began empty".to_owned(),
        Some(warm) => format!(
            "{}by {}, the last of which hit at {}",
            if warm.attained { "" } else { "NOT to the end " },
            counted(warm.requests, "request"),
            exact(warm.hit_rate),
        ),
    };
    let rows = [("cache", held), ("hits", hits), ("blocks", moved), ("wear of it", wear), ("warmed", warmed)];
    let mut out = rows.map(|(label, text)| wrap(&format!("{label:<17}"), 17, &text)).concat();
    let mut table = Table::labelled(6);
    table.row(["cache latency", "requests", "mean", "p50", "p99", "p99.9"]);
    for (name, latency) in [
        ("read hit", &cache.read_hit_lat_ns),
        ("read miss", &cache.read_miss_lat_ns),
        ("write hit", &cache.write_hit_lat_ns),
        ("write miss", &cache.write_miss_lat_ns),
    ] {
        let Some(latency) = latency else { continue };
        let mut row = vec![name.to_owned(), grouped(latency.n), duration(latency.mean)];
        row.extend([50.0, 99.0, 99.9].map(|percent| duration(latency.at(percent) as f64)));
        table.row(row);
    }
    out.push('\n');
    out.push_str(&table.render());
    out
}

/// A hit rate, whose tenths matter.
fn exact(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
