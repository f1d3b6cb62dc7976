//! A plan is fitted to the time that there is: shorter points, then fewer, then fewer phases.

use crate::options::{Options, PlanError};
use crate::phase::Phase;

/// Seconds of a quick review's points.
pub(crate) const QUICK_POINT_S: f64 = 5.0;
/// The shortest point that says anything, and a longest that says no more.
pub(crate) const MIN_POINT_S: f64 = 1.0;
pub(crate) const MAX_POINT_S: f64 = 120.0;
/// Fewer points are better than points of all places that are shorter than this: a second of a device is not another.
const FULL_POINT_S: f64 = QUICK_POINT_S;
/// Time that a review of a real device takes where nobody says.
pub(crate) const DEFAULT_BUDGET_S: f64 = 900.0;
/// Phases that are left out, the first of them first, where time is short and nobody asked for any by name. The
/// questions of every buyer stay: how it fills up, how it takes threads, whether a flush is one, whether it stalls.
const LESS_TELLING: [Phase; 5] = [Phase::Redo, Phase::Rate, Phase::Mix, Phase::Blocks, Phase::Burst];

/// The part of the method that there is time for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fitted {
    /// Seconds of a point.
    pub point_s: f64,
    /// The options as far as they concern states and points: perhaps quick, perhaps with fewer phases.
    pub options: Options,
    /// Time that it is to take; none: as long as it takes.
    pub budget_s: Option<f64>,
    /// Phases that were left out for want of time.
    pub left_out: Vec<Phase>,
    /// It takes longer than it was given, for a device of this size takes longer in any case.
    pub is_over: bool,
}

/// Fits the method to the options' budget, or to a quarter of an hour. `total_s` is what so many phases with points of
/// such a length would take.
pub(crate) fn fit(options: &Options, total_s: &dyn Fn(&Options, f64) -> f64) -> Result<Fitted, PlanError> {
    let made = |options: Options, point_s, budget_s, left_out: &[Phase], is_over| Fitted {
        point_s,
        options,
        budget_s,
        left_out: left_out.to_vec(),
        is_over,
    };
    if options.quick && options.budget_s.is_none() {
        return Ok(made(options.clone(), QUICK_POINT_S, None, &[], false));
    }
    let budget_s = options.budget_s.unwrap_or(DEFAULT_BUDGET_S);
    let quick = Options { quick: true, ..options.clone() };
    let mut tried = vec![(options.clone(), FULL_POINT_S, 0), (quick.clone(), MIN_POINT_S, 0)];
    if options.quick {
        tried.remove(0);
    }
    if options.only.is_empty() {
        for count in 1..=LESS_TELLING.len() {
            let left = Phase::ALL.into_iter().filter(|phase| !LESS_TELLING[..count].contains(phase)).collect();
            tried.push((Options { only: left, ..quick.clone() }, MIN_POINT_S, count));
        }
    }
    for (options, least_s, left_out) in &tried {
        if let Some(point_s) = length(budget_s, &|point_s| total_s(options, point_s)).filter(|s| s >= least_s) {
            return Ok(made(options.clone(), point_s, Some(budget_s), &LESS_TELLING[..*left_out], false));
        }
    }
    let (least, _, left_out) = tried.last().expect("the quick one is always tried");
    if options.budget_s.is_none() {
        // Nobody has set a limit: what the size of the device takes, it takes.
        return Ok(made(quick, QUICK_POINT_S, Some(budget_s), &[], true));
    }
    if options.shown_over_budget {
        return Ok(made(least.clone(), MIN_POINT_S, Some(budget_s), &LESS_TELLING[..*left_out], true));
    }
    Err(PlanError::Budget { budget_s, min_s: total_s(least, MIN_POINT_S).ceil() })
}

/// The length of points that fills a budget; none where even the shortest are too long.
fn length(budget_s: f64, total_s: &dyn Fn(f64) -> f64) -> Option<f64> {
    // Linear in the length of a point: two plans give it.
    let (min_s, more_s) = (total_s(MIN_POINT_S), total_s(2.0 * MIN_POINT_S));
    if budget_s < min_s {
        return None;
    }
    let per_second = (more_s - min_s) / MIN_POINT_S;
    let guess_s = (MIN_POINT_S + (budget_s - min_s) / per_second).min(MAX_POINT_S);
    // The warm-up of a point does not grow without limit, so the first guess may be a little off.
    Some((guess_s * (budget_s / total_s(guess_s)).min(1.0)).max(MIN_POINT_S))
}
