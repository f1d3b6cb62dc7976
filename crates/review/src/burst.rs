//! Bursts of sequential writes into an emptied device, and where their throughput falls.

use load::BurstCurve;
use results::{Burst, BurstReport, BurstRow, Cliff};
use serde_json::json;
use target::{BurstSeries, BurstSpec, Clock};

/// The block and the threads of a burst: enough to keep any drive busy.
const BLOCK_BYTES: u32 = 128 << 10;
const THREADS: u32 = 16;
/// Shares of the device in use that the bursts write: the first goes well beyond any cache.
const SHARES: [f64; 3] = [0.5, 0.125, 0.25];
/// Pauses before the bursts of a model, and those of a real device in points' lengths.
const MODEL_PAUSES_S: [f64; 3] = [0.0, 60.0, 600.0];
const PAUSE_POINTS: [f64; 3] = [0.0, 1.0 / 3.0, 2.0];
/// A burst of a real device ends after so many points' lengths.
const LIMIT_POINTS: [f64; 3] = [5.0, 2.0, 2.0];
/// Least rows on either side of a cliff: a write buffer's worth is none.
const MIN_ROWS: usize = 4;
/// It begins within the first part of a burst.
const LATEST_BEGIN: usize = 4;
/// Throughput after a cliff over that before, at most.
const CLIFF_SHARE: f64 = 0.75;
/// Two levels must explain so much of what the logarithms of the rows' throughputs vary by.
const EXPLAINED: f64 = 0.5;

/// Returns the bursts for a device of which a share `fill` may be used.
pub fn burst_series(clock: Clock, fill: f64, point_s: f64) -> BurstSeries {
    let burst = |i: usize| match clock {
        Clock::Virtual => BurstSpec { idle_s: MODEL_PAUSES_S[i], share: fill * SHARES[i], limit_s: None },
        Clock::Wall => BurstSpec {
            idle_s: PAUSE_POINTS[i] * point_s,
            share: fill * SHARES[i],
            limit_s: Some(LIMIT_POINTS[i] * point_s),
        },
    };
    BurstSeries { block_bytes: BLOCK_BYTES, threads: THREADS, fill, bursts: (0..SHARES.len()).map(burst).collect() }
}

/// Wall-clock seconds that the bursts of a real device take at most.
pub(crate) fn expected_s(point_s: f64) -> f64 {
    (PAUSE_POINTS.iter().sum::<f64>() + LIMIT_POINTS.iter().sum::<f64>()) * point_s
}

/// Reports on the curves.
pub fn burst_report(series: &BurstSeries, curves: &[BurstCurve]) -> BurstReport {
    BurstReport {
        title: format!(
            "{} KiB sequential writes, {} threads at one position, into an emptied device and after pauses",
            series.block_bytes >> 10,
            series.threads
        ),
        load: json!({
            "kind": "bursts", "block_bytes": series.block_bytes, "threads": series.threads, "fill": series.fill,
            "idle_s": series.bursts.iter().map(|burst| burst.idle_s).collect::<Vec<_>>(),
            "share": series.bursts.iter().map(|burst| burst.share).collect::<Vec<_>>(),
            "limit_s": series.bursts.iter().map(|burst| burst.limit_s).collect::<Vec<_>>(),
        }),
        bursts: series.bursts.iter().zip(curves).map(|(spec, curve)| burst(spec.idle_s, curve)).collect(),
    }
}

fn burst(idle_s: f64, curve: &BurstCurve) -> Burst {
    let mut rows = Vec::new();
    let mut last = (0, 0);
    for &(bytes, ns) in curve.rows.iter().filter(|row| row.1 > 0) {
        // Writes that finished at the same moment are one row.
        if ns > last.1 && bytes > last.0 {
            let bw_bytes = (bytes - last.0) as f64 * 1e9 / (ns - last.1) as f64;
            rows.push(BurstRow { bytes, bw_bytes });
            last = (bytes, ns);
        }
    }
    Burst { idle_s, bytes: last.0, seconds: last.1 as f64 / 1e9, cliff: cliff(&rows), rows }
}

/// Sums of the logarithms from the left: they give the spread about the mean between any two rows.
struct Spreads(Vec<(f64, f64)>);

impl Spreads {
    fn of(logs: &[f64]) -> Spreads {
        let sums = logs.iter().scan((0.0, 0.0), |sum, log| {
            *sum = (sum.0 + log, sum.1 + log * log);
            Some(*sum)
        });
        Spreads(std::iter::once((0.0, 0.0)).chain(sums).collect())
    }

    fn between(&self, from: usize, to: usize) -> f64 {
        let (sum, squares) = (self.0[to].0 - self.0[from].0, self.0[to].1 - self.0[from].1);
        if to > from { squares - sum * sum / (to - from) as f64 } else { 0.0 }
    }

    /// Returns the mean of a range of rows.
    fn mean(&self, from: usize, to: usize) -> f64 {
        (self.0[to].0 - self.0[from].0) / (to - from) as f64
    }
}

/// Finds the point where throughput falls for good: a higher level that ends, and a lower one, explain the rows; `None`
/// where one level does nearly as well. After a pause what was begun before it may go on first, slowly, and is taken
/// for rows of the lower one.
fn cliff(rows: &[BurstRow]) -> Option<Cliff> {
    let logs: Vec<f64> = rows.iter().map(|row| row.bw_bytes.ln()).collect();
    let n = logs.len();
    if n < 2 * MIN_ROWS || logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    let spreads = Spreads::of(&logs);
    let mut best: Option<(f64, usize, usize)> = None;
    for begin in 0..n / LATEST_BEGIN {
        for end in begin + MIN_ROWS..=n - MIN_ROWS {
            if begin > 0 && spreads.mean(0, begin) > spreads.mean(begin, end) + CLIFF_SHARE.ln() {
                continue;
            }
            let left = spreads.between(0, begin) + spreads.between(begin, end) + spreads.between(end, n);
            if best.is_none_or(|(least, ..)| left < least) {
                best = Some((left, begin, end));
            }
        }
    }
    let (left, begin, end) = best?;
    let (before, after) = (median(&rows[begin..end]), median(&rows[end..]));
    let explained = 1.0 - left / spreads.between(0, n).max(f64::MIN_POSITIVE);
    if after > CLIFF_SHARE * before || explained < EXPLAINED {
        return None;
    }
    // Rows at the edges are of both levels: the time that all of them took says how much of each.
    let row_bytes = |i: usize| (rows[i].bytes - if i == 0 { 0 } else { rows[i - 1].bytes }) as f64;
    let fast_among = |range: std::ops::Range<usize>, slow: f64| {
        let bytes: f64 = range.clone().map(row_bytes).sum();
        let seconds: f64 = range.map(|i| row_bytes(i) / rows[i].bw_bytes).sum();
        ((seconds - bytes / slow) / (1.0 / before - 1.0 / slow)).clamp(0.0, bytes)
    };
    let (edge, tail) = (if begin == 0 { 0 } else { begin + 1 }, end - 1);
    let mut bytes = (edge..tail).map(row_bytes).sum::<f64>() + fast_among(tail..(end + 2).min(n), after);
    if begin > 0 {
        bytes += fast_among(begin.saturating_sub(1)..begin + 1, median(&rows[..begin]));
    }
    Some(Cliff { bytes: bytes as u64, before_bw_bytes: before, after_bw_bytes: after })
}

fn median(rows: &[BurstRow]) -> f64 {
    let mut all: Vec<f64> = rows.iter().map(|row| row.bw_bytes).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
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
    fn what_goes_on_slowly_after_a_pause_is_not_counted_as_fast() {
        for (slow_rows, fast_bytes) in [(3_u64, 20_000_000_u64), (20, 60_500_000)] {
            let slow_ns = 1_000_000 * slow_rows * 10 / 4;
            let fast = curve(fast_bytes, 200 - slow_rows, 0.02).rows.into_iter();
            let slow = (1..=slow_rows).map(|i| (i * 1_000_000, slow_ns / slow_rows * i));
            let rows = slow.chain(fast.map(|(bytes, ns)| (bytes + slow_rows * 1_000_000, ns + slow_ns))).collect();
            let found = burst(60.0, &BurstCurve { rows }).cliff.unwrap();
            assert!((found.bytes as f64 - fast_bytes as f64).abs() < 0.6e6, "{slow_rows} {fast_bytes}: {found:?}");
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
