//! Rules of a review that types alone don't hold.

use crate::Problem;
use results::{Burst, Histogram, IoClass, Point, ReviewResult};

/// Every histogram is one (a count for each latency, latencies rise, the sum of counts fits), and so is every burst.
pub(crate) fn review(review: &ReviewResult) -> Result<(), Problem> {
    for sweep in &review.sweeps {
        sweep.points.iter().try_for_each(|of| point(of, &sweep.name))?;
    }
    review.timeline.iter().try_for_each(|timeline| point(&timeline.point, "timeline"))?;
    let mut bursts = review.burst.iter().flat_map(|report| &report.bursts).zip(1..);
    match bursts.find(|(burst, _)| !is_burst(burst)) {
        Some((_, number)) => Err(Problem::BadBurst { number }),
        None => Ok(()),
    }
}

fn point(point: &Point, place: &str) -> Result<(), Problem> {
    let classes: [(&'static str, &IoClass); 3] =
        [("reads", &point.read), ("writes", &point.write), ("flushes", &point.sync)];
    match classes.into_iter().find(|(_, class)| class.histogram.as_ref().is_some_and(|h| !is_histogram(h))) {
        Some((what, _)) => Err(Problem::BadHistogram { what, place: place.into() }),
        None => Ok(()),
    }
}

/// Bytes rise from row to row and end with those of the burst; every throughput and time is one.
fn is_burst(burst: &Burst) -> bool {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    let time = |value: f64| value.is_finite() && value >= 0.0;
    let mut last = 0;
    let rises =
        burst.rows.iter().all(|row| row.bytes > std::mem::replace(&mut last, row.bytes) && positive(row.bw_bytes));
    let falls = burst.cliff.is_none_or(|cliff| {
        cliff.bytes <= burst.bytes
            && positive(cliff.before_bw_bytes)
            && positive(cliff.after_bw_bytes)
            && cliff.after_bw_bytes < cliff.before_bw_bytes
    });
    time(burst.idle_s) && time(burst.seconds) && rises && last == burst.bytes && falls
}

fn is_histogram(histogram: &Histogram) -> bool {
    histogram.upper_ns.len() == histogram.counts.len()
        && histogram.upper_ns.windows(2).all(|pair| pair[0] < pair[1])
        && histogram.counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count)).is_some()
}
