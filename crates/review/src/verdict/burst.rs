//! Time for which a device takes writes fast.

use super::claim::claim;
use results::words::{amount, mb_s, pause};
use results::{BurstReport, Claim, Pace, ReviewResult, TargetKind, Tone};

/// Throughput after a cache is full, of that before: less than this is a reason to look twice.
const FALLS_FAR: f64 = 0.5;
/// Less of the device than this says nothing about how long it goes on.
const MIN_SHARE: f64 = 0.03;
/// A burst is even where nine tenths of its rows have at least so much of their median.
const EVEN_ROW: f64 = 0.75;

/// Claims how fast it is, for how long, and how much of it comes back with rest.
pub(super) fn burst(result: &ReviewResult) -> Option<Claim> {
    let report = result.burst.as_ref()?;
    let first = report.first().filter(|burst| burst.bytes > 0)?;
    let pace = report.pace(first);
    let (Some(fast), Some(slow)) = (pace.fast_bw_bytes, pace.slow_bw_bytes) else {
        return fell_later(report).or_else(|| even(result, report));
    };
    let mut text =
        format!("Writes {} for the first {}, {} from then on", mb_s(fast), amount(pace.fast_bytes), mb_s(slow));
    // The burst after the longest pause shows how much rest brings back.
    let rested = report.bursts[1..].iter().max_by(|a, b| a.idle_s.total_cmp(&b.idle_s));
    if let Some(rested) = rested.filter(|burst| burst.bytes > 0) {
        let (again, rest) = (report.pace(rested), pause(rested.idle_s));
        text.push_str(&match again {
            Pace { slow_bw_bytes: None, .. } => {
                format!("; after {rest} of rest all of the next {} go fast again", amount(rested.bytes))
            }
            Pace { fast_bytes: 0, .. } => format!("; {rest} of rest bring nothing of it back"),
            again => format!("; after {rest} of rest {} go fast again", amount(again.fast_bytes)),
        });
    }
    text.push('.');
    Some(claim("burst", tone(fast, slow), text, "burst"))
}

fn tone(fast: f64, slow: f64) -> Tone {
    if slow < FALLS_FAR * fast { Tone::Warning } else { Tone::Neutral }
}

/// The first burst ended before the cache was full, a later one did not.
fn fell_later(report: &BurstReport) -> Option<Claim> {
    let fell = |burst| Some((burst, report.pace(burst))).filter(|(_, pace)| pace.slow_bw_bytes.is_some());
    let first = report.first().filter(|first| fell(first).is_none())?;
    let (later, pace) = report.bursts.iter().find_map(fell)?;
    let (fast, slow) = (report.pace(first).fast_bw_bytes?, pace.slow_bw_bytes?);
    let text = format!(
        "Writes {} for all of the first {}; after {} of rest {} go fast, what comes then {}.",
        mb_s(fast),
        amount(first.bytes),
        pause(later.idle_s),
        amount(pace.fast_bytes),
        mb_s(slow),
    );
    Some(claim("burst", tone(fast, slow), text, "burst"))
}

/// No burst fell: said where enough was written to tell.
fn even(result: &ReviewResult, report: &BurstReport) -> Option<Claim> {
    let first = report.first()?;
    let device_bytes = result.target.capacity_bytes as f64 / result.options.scale;
    if report.bursts.iter().any(|burst| burst.cliff.is_some()) || (first.bytes as f64) < MIN_SHARE * device_bytes {
        return None;
    }
    let mut rows: Vec<f64> = first.rows.iter().map(|row| row.bw_bytes).collect();
    rows.sort_by(f64::total_cmp);
    let (low, median) = (*rows.get(rows.len() / 10)?, rows[rows.len() / 2]);
    let speed = mb_s(first.bw_bytes());
    let (tone, text) = if low >= EVEN_ROW * median {
        // A part of a device says nothing of the rest.
        let tone = if result.target.kind == TargetKind::File { Tone::Neutral } else { Tone::Good };
        (tone, format!("Takes {speed} front to back, from the first byte to the last of {}.", amount(first.bytes)))
    } else {
        let text = format!(
            "Takes {speed} front to back over the first {}, unevenly: a tenth of it at {} or less.",
            amount(first.bytes),
            mb_s(low)
        );
        (Tone::Neutral, text)
    };
    Some(claim("burst", tone, text, "burst"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::testing::nothing_measured;
    use results::{Burst, BurstRow, Cliff};

    const FAST: f64 = 2e9;

    /// A burst in a hundred rows of a share of them: so many are fast, the rest `slow`.
    fn burst(idle_s: f64, row_bytes: u64, fast: u64, slow: f64) -> Burst {
        let bw = |i: u64| if i <= fast { FAST } else { slow };
        let rows: Vec<BurstRow> = (1..=100).map(|i| BurstRow { bytes: i * row_bytes, bw_bytes: bw(i) }).collect();
        let seconds = rows.iter().map(|row| row_bytes as f64 / row.bw_bytes).sum();
        let cliff = Cliff { bytes: fast * row_bytes, before_bw_bytes: FAST, after_bw_bytes: slow };
        let cliff = (4..97).contains(&fast).then_some(cliff);
        Burst { idle_s, bytes: 100 * row_bytes, seconds, rows, cliff }
    }

    fn said(bursts: Vec<Burst>) -> Option<(Tone, String)> {
        let mut result = nothing_measured("model");
        (result.target.capacity_bytes, result.options.scale) = (500_000_000_000, 0.5);
        result.burst = Some(BurstReport { bursts, ..BurstReport::default() });
        burst_claim(&result)
    }

    fn burst_claim(result: &ReviewResult) -> Option<(Tone, String)> {
        let claim = super::burst(result)?;
        assert_eq!((claim.topic.as_str(), claim.chart.as_str()), ("burst", "burst"));
        Some((claim.tone, claim.text))
    }

    const GB: u64 = 1_000_000_000;

    #[test]
    fn a_cache_is_told_by_its_size_both_speeds_and_what_rest_brings_back() {
        let first = burst(0.0, 5 * GB, 55, 1.6e8);
        let rested = |fast| burst(60.0, 3 * GB, fast, 1.6e8);
        let begin = "Writes 2,000 MB/s for the first 275 GB, 160 MB/s from then on";
        let cases = [
            (vec![], "."),
            (vec![burst(10.0, GB, 0, 1.6e8), rested(4)], "; after 60 s of rest 12.0 GB go fast again."),
            // Too few rows for a cliff of its own.
            (vec![rested(2)], "; after 60 s of rest 6.00 GB go fast again."),
            (vec![rested(0)], "; 60 s of rest bring nothing of it back."),
            (vec![rested(100)], "; after 60 s of rest all of the next 300 GB go fast again."),
        ];
        for (later, end) in cases {
            let bursts = std::iter::once(first.clone()).chain(later).collect();
            assert_eq!(said(bursts), Some((Tone::Warning, format!("{begin}{end}"))));
        }
        // Slower, but not by much.
        assert_eq!(said(vec![burst(0.0, 5 * GB, 55, 1.2e9)]).unwrap().0, Tone::Neutral);
    }

    #[test]
    fn a_cache_that_the_first_burst_does_not_fill_is_told_by_the_next() {
        let (tone, text) = said(vec![burst(0.0, GB, 100, 1.0), burst(10.0, 5 * GB, 40, 2e8)]).unwrap();
        let expected = "Writes 2,000 MB/s for all of the first 100 GB; after 10 s of rest 200 GB go fast, what comes then 200 MB/s.";
        assert_eq!((tone, text.as_str()), (Tone::Warning, expected));
    }

    #[test]
    fn a_device_that_holds_is_said_to_where_enough_of_it_was_written() {
        let text = "Takes 2,000 MB/s front to back, from the first byte to the last of 200 GB.";
        assert_eq!(said(vec![burst(0.0, 2 * GB, 100, 1.0)]), Some((Tone::Good, text.into())));
        // 20 GB of 1 TB are too few to tell.
        assert_eq!(said(vec![burst(0.0, GB / 5, 100, 1.0)]), None);
        assert_eq!(said(vec![]), None);
        let mut wobbly = burst(0.0, 2 * GB, 100, 1.0);
        wobbly.rows.iter_mut().step_by(5).for_each(|row| row.bw_bytes /= 4.0);
        let (tone, text) = said(vec![wobbly]).unwrap();
        assert!(tone == Tone::Neutral && text.ends_with("unevenly: a tenth of it at 500 MB/s or less."), "{text}");
    }
}
