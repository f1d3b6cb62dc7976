//! Bursts of sequential writes into an emptied device, and where their throughput falls.

use load::BurstCurve;
use results::{Burst, BurstReport, BurstRow, Cliff};
use serde_json::json;
use target::{AskedBurst, BurstAsk, Clock};

/// The block and the threads of a burst: enough to keep any drive busy.
const BLOCK_BYTES: u32 = 128 << 10;
const THREADS: u32 = 16;
/// Shares of the device in use that the bursts write: the first goes well beyond any cache.
const SHARES: [f64; 3] = [0.5, 0.25, 0.25];
/// Pauses before the bursts of a model, and those of a real device in points' lengths.
const MODEL_PAUSES_S: [f64; 3] = [0.0, 10.0, 60.0];
const PAUSE_POINTS: [f64; 3] = [0.0, 1.0 / 3.0, 2.0];
/// A burst of a real device ends after so many points' lengths.
const LIMIT_POINTS: [f64; 3] = [5.0, 2.0, 2.0];
/// Least rows on either side of a cliff: a write buffer's worth is none.
const LEAST_ROWS: usize = 4;
/// Throughput after a cliff over that before, at most.
const CLIFF_SHARE: f64 = 0.75;
/// Two levels must explain so much of what the logarithms of the rows' throughputs vary by.
const EXPLAINED: f64 = 0.5;

/// What is asked of a device of which a share `fill` may be used.
pub fn burst_ask(clock: Clock, fill: f64, point_s: f64) -> BurstAsk {
    let burst = |i: usize| match clock {
        Clock::Virtual => AskedBurst { idle_s: MODEL_PAUSES_S[i], share: fill * SHARES[i], limit_s: None },
        Clock::Wall => AskedBurst {
            idle_s: PAUSE_POINTS[i] * point_s,
            share: fill * SHARES[i],
            limit_s: Some(LIMIT_POINTS[i] * point_s),
        },
    };
    BurstAsk { block_bytes: BLOCK_BYTES, threads: THREADS, fill, bursts: (0..SHARES.len()).map(burst).collect() }
}

/// Wall-clock seconds that the bursts of a real device take at most.
pub(crate) fn expected_s(point_s: f64) -> f64 {
    (PAUSE_POINTS.iter().sum::<f64>() + LIMIT_POINTS.iter().sum::<f64>()) * point_s
}

/// What the curves say.
pub fn burst_report(ask: &BurstAsk, curves: &[BurstCurve]) -> BurstReport {
    BurstReport {
        title: format!(
            "{} KiB sequential writes, {} threads at one position, into an emptied device and after pauses",
            ask.block_bytes >> 10,
            ask.threads
        ),
        load: json!({
            "kind": "bursts", "block_bytes": ask.block_bytes, "threads": ask.threads, "fill": ask.fill,
            "idle_s": ask.bursts.iter().map(|burst| burst.idle_s).collect::<Vec<_>>(),
            "share": ask.bursts.iter().map(|burst| burst.share).collect::<Vec<_>>(),
            "limit_s": ask.bursts.iter().map(|burst| burst.limit_s).collect::<Vec<_>>(),
        }),
        bursts: ask.bursts.iter().zip(curves).map(|(asked, curve)| burst(asked.idle_s, curve)).collect(),
    }
}

fn burst(idle_s: f64, curve: &BurstCurve) -> Burst {
    let mut rows = Vec::new();
    let mut last = (0, 0);
    for &(bytes, ns) in curve.rows.iter().filter(|row| row.1 > 0) {
        // What finished at the same moment is one row.
        if ns > last.1 && bytes > last.0 {
            let bw_bytes = (bytes - last.0) as f64 * 1e9 / (ns - last.1) as f64;
            rows.push(BurstRow { bytes, bw_bytes });
            last = (bytes, ns);
        }
    }
    Burst { idle_s, bytes: last.0, seconds: last.1 as f64 / 1e9, cliff: cliff(&rows), rows }
}

/// Two levels, the first higher, that explain the rows best; `None` where one does nearly as well.
fn cliff(rows: &[BurstRow]) -> Option<Cliff> {
    let logs: Vec<f64> = rows.iter().map(|row| row.bw_bytes.ln()).collect();
    let n = logs.len();
    if n < 2 * LEAST_ROWS || logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    // Sums from the left give the spread about the mean on both sides of every place.
    let sums: Vec<(f64, f64)> = std::iter::once((0.0, 0.0))
        .chain(logs.iter().scan((0.0, 0.0), |sum, log| {
            *sum = (sum.0 + log, sum.1 + log * log);
            Some(*sum)
        }))
        .collect();
    let spread = |from: usize, to: usize| {
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        squares - sum * sum / (to - from) as f64
    };
    let at = (LEAST_ROWS..=n - LEAST_ROWS)
        .min_by(|a, b| (spread(0, *a) + spread(*a, n)).total_cmp(&(spread(0, *b) + spread(*b, n))))?;
    let median = |rows: &[BurstRow]| {
        let mut all: Vec<f64> = rows.iter().map(|row| row.bw_bytes).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (before, after) = (median(&rows[..at]), median(&rows[at..]));
    let explained = 1.0 - (spread(0, at) + spread(at, n)) / spread(0, n).max(f64::MIN_POSITIVE);
    if after > CLIFF_SHARE * before || explained < EXPLAINED {
        return None;
    }
    // The row in between is of both: the time that all rows took says how much of it.
    let row_bytes = |i: usize| (rows[i].bytes - if i == 0 { 0 } else { rows[i - 1].bytes }) as f64;
    let near = at.saturating_sub(2)..(at + 2).min(n);
    let seconds: f64 = near.clone().map(|i| row_bytes(i) / rows[i].bw_bytes).sum();
    let bytes: f64 = near.clone().map(row_bytes).sum();
    let fast = ((seconds - bytes / after) / (1.0 / before - 1.0 / after)).clamp(0.0, bytes);
    let first = if near.start == 0 { 0.0 } else { rows[near.start - 1].bytes as f64 };
    Some(Cliff { bytes: (first + fast) as u64, before_bw_bytes: before, after_bw_bytes: after })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that takes so many bytes fast and the rest slowly, in rows of a megabyte.
    fn curve(fast_bytes: u64, rows: u64, noise: f64) -> BurstCurve {
        let (fast, slow) = (2e9, 0.4e9);
        let mut ns = 0.0;
        let rows = (1..=rows).map(|i| {
            let (from, to) = ((i - 1) * 1_000_000, i * 1_000_000);
            let quick = fast_bytes.clamp(from, to) - from;
            let wobble = 1.0 + noise * if i % 2 == 0 { 1.0 } else { -1.0 };
            ns += (quick as f64 / fast + (1_000_000 - quick) as f64 / slow) * 1e9 * wobble;
            (to, ns as u64)
        });
        BurstCurve { rows: rows.collect() }
    }

    #[test]
    fn a_cliff_is_found_within_a_row_and_with_its_levels() {
        for (fast_bytes, noise) in [(80_300_000, 0.0), (80_300_000, 0.1), (6_700_000, 0.05), (190_000_000, 0.1)] {
            let found = burst(0.0, &curve(fast_bytes, 200, noise)).cliff.unwrap();
            let off_rows = (found.bytes as f64 - fast_bytes as f64) / 1e6;
            assert!(off_rows.abs() < 0.5, "{fast_bytes} {noise}: {found:?}");
            assert!((found.before_bw_bytes / 2e9 - 1.0).abs() < 1.2 * noise + 0.01, "{found:?}");
            assert!((found.after_bw_bytes / 0.4e9 - 1.0).abs() < 1.2 * noise + 0.01, "{found:?}");
        }
    }

    #[test]
    fn an_even_device_has_none_and_neither_has_one_that_only_wobbles() {
        for (fast_bytes, noise) in [(0, 0.0), (0, 0.3), (200_000_000, 0.1), (1_000_000, 0.0)] {
            assert_eq!(burst(0.0, &curve(fast_bytes, 200, noise)).cliff, None, "{fast_bytes} {noise}");
        }
        assert_eq!(burst(0.0, &BurstCurve::default()).cliff, None);
    }

    #[test]
    fn rows_add_up_to_the_burst() {
        let burst = burst(10.0, &curve(50_000_000, 100, 0.0));
        assert_eq!((burst.bytes, burst.idle_s), (100_000_000, 10.0));
        assert!((burst.seconds - (0.05 / 2.0 + 0.05 / 0.4)).abs() < 1e-6, "{}", burst.seconds);
        assert!((burst.bw_bytes() - 100e6 / burst.seconds).abs() < 1.0);
    }
}
