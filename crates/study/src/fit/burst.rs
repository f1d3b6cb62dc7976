//! Evidence of a review's bursts: bytes that go fast into an emptied device, and how many of them after a pause.

use crate::fit::input::Input;
use results::{Burst, BurstReport};
use serde_json::Value;
use target::{BurstSeries, BurstSpec};

/// Bursts as they were measured, and what was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Bursts {
    /// Name of the file that they are from.
    pub file: String,
    pub(crate) series: BurstSeries,
    /// Bytes that went fast into the emptied device; `None`: nothing went faster than the rest.
    pub(crate) cache: Option<Fast>,
    /// After each pause.
    pub(crate) refilled: Vec<Refilled>,
    /// Bytes of the first burst.
    pub(crate) first_bytes: f64,
}

/// A cache as it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fast {
    pub bytes: f64,
    pub before_bw_bytes: f64,
    pub after_bw_bytes: f64,
    /// A row of the burst's curve: the cliff lies somewhere in it.
    pub row_bytes: f64,
}

/// Bytes of it that went fast again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Refilled {
    pub idle_s: f64,
    pub bytes: f64,
    pub row_bytes: f64,
}

impl Bursts {
    /// Those of the first file that has some.
    pub(crate) fn of(inputs: &[Input]) -> Option<Bursts> {
        inputs.iter().find_map(|input| {
            let report = input.result.burst.as_ref()?;
            Bursts::read(&input.file, report, &series_of(&report.load)?)
        })
    }

    /// Reads a report, where it says anything.
    pub(crate) fn read(file: &str, report: &BurstReport, series: &BurstSeries) -> Option<Bursts> {
        let first = report.first().filter(|first| first.bytes > 0)?;
        let row_bytes = |burst: &Burst| burst.bytes as f64 / burst.rows.len().max(1) as f64;
        let cache = first.cliff.map(|cliff| Fast {
            bytes: cliff.bytes as f64,
            before_bw_bytes: cliff.before_bw_bytes,
            after_bw_bytes: cliff.after_bw_bytes,
            row_bytes: row_bytes(first),
        });
        let refilled = report.bursts[1..].iter().filter(|burst| burst.bytes > 0).map(|burst| Refilled {
            idle_s: burst.idle_s,
            bytes: report.pace(burst).fast_bytes as f64,
            row_bytes: row_bytes(burst),
        });
        let sound = |fast: &Fast| {
            let all = [fast.bytes, fast.before_bw_bytes, fast.after_bw_bytes];
            all.iter().all(|n| n.is_finite() && *n > 0.0)
        };
        cache.iter().all(sound).then(|| Bursts {
            file: file.to_string(),
            series: series.clone(),
            cache,
            refilled: refilled.collect(),
            first_bytes: first.bytes as f64,
        })
    }
}

/// Reads the series from the report's load.
fn series_of(load: &Value) -> Option<BurstSeries> {
    let whole = |key: &str| load[key].as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
    let list = |key: &str| load[key].as_array();
    let number = |value: &Value| value.as_f64().filter(|n| n.is_finite() && *n >= 0.0);
    let (idle_s, share) = (list("idle_s")?, list("share")?);
    let limits = list("limit_s")?;
    let bursts = idle_s.iter().zip(share).zip(limits).map(|((idle, share), limit)| {
        Some(BurstSpec { idle_s: number(idle)?, share: number(share)?.min(1.0), limit_s: number(limit) })
    });
    Some(BurstSeries {
        block_bytes: whole("block_bytes").filter(|bytes| bytes.is_multiple_of(512) && *bytes <= 1 << 24)?,
        threads: whole("threads").filter(|threads| *threads <= 4096)?,
        fill: number(&load["fill"]).filter(|fill| *fill > 0.0 && *fill <= 1.0)?,
        bursts: bursts.collect::<Option<Vec<_>>>()?,
    })
}
