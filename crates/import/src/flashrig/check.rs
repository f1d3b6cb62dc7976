//! What types alone don't hold of a review that was read.

use crate::Problem;
use results::{Histogram, IoClass, Point, ReviewResult};

/// Every histogram is one: a count for each latency, latencies rise, the sum of counts fits.
pub(crate) fn review(review: &ReviewResult) -> Result<(), Problem> {
    for sweep in &review.sweeps {
        sweep.points.iter().try_for_each(|of| point(of, &sweep.name))?;
    }
    review.timeline.iter().try_for_each(|timeline| point(&timeline.point, "timeline"))
}

fn point(point: &Point, place: &str) -> Result<(), Problem> {
    let classes: [(&'static str, &IoClass); 3] =
        [("reads", &point.read), ("writes", &point.write), ("flushes", &point.sync)];
    match classes.into_iter().find(|(_, class)| class.histogram.as_ref().is_some_and(|h| !is_histogram(h))) {
        Some((what, _)) => Err(Problem::BadHistogram { what, place: place.into() }),
        None => Ok(()),
    }
}

fn is_histogram(histogram: &Histogram) -> bool {
    histogram.upper_ns.len() == histogram.counts.len()
        && histogram.upper_ns.windows(2).all(|pair| pair[0] < pair[1])
        && histogram.counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count)).is_some()
}
