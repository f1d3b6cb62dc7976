//! A card that does one sweep of a device, in seconds: one structure, some of its points, few steps.
//!
//! A whole fit looks for the number of dies, for tails and for choices of flash management, and takes minutes. Questions
//! between two measured points of a sweep need the shape of that sweep alone.

use crate::fit::base::Base;
use crate::fit::candidate::Candidate;
use crate::fit::error::FitError;
use crate::fit::knob::Knob;
use crate::fit::observation::{Figure, Observation};
use crate::fit::refine::Problem;
use crate::fit::simulate::Lab;
use crate::fit::space::Space;
use crate::fit::start::starts;
use profile::Host;

/// Most points of a sweep that a card is shown, and fewest.
const MOST_SHOWN: usize = 6;
const LEAST_SHOWN: usize = 3;
/// Points are simulated with one request in so many.
const COARSE: u64 = 2;
/// Steps from the best start.
const STEPS: usize = 6;
/// Figures that are fitted.
const FIGURES: [Figure; 3] = [Figure::Throughput, Figure::ReadP50, Figure::WriteP50];
/// Parameters that throughput of loads that only read, and of others, depends on.
const OF_READS: &[Knob] = &[Knob::ReadLink, Knob::ReadCommand, Knob::Latency, Knob::Read, Knob::Channels];
const OF_WRITES: &[Knob] = &[Knob::WriteLink, Knob::Latency, Knob::Program, Knob::Spare];

/// Points of a sweep, by rising x: those that a card is shown, the ends among them, and those that it is to predict.
pub(crate) fn shown_and_held(sweep: &[Observation]) -> (Vec<Observation>, Vec<Observation>) {
    let last = sweep.len().saturating_sub(1);
    let every = sweep.len().div_ceil(MOST_SHOWN).max(2);
    let is_shown = |i: usize| i == last || i.is_multiple_of(every) && i + 1 < last.max(1) || last < LEAST_SHOWN;
    let (shown, held): (Vec<_>, Vec<_>) = sweep.iter().enumerate().partition(|(i, _)| is_shown(*i));
    let points = |of: Vec<(usize, &Observation)>| of.into_iter().map(|(_, point)| point.clone()).collect();
    (points(shown), points(held))
}

/// A card that is near to some points of one sweep; none where there are too few.
pub(crate) fn rough(
    lab: &mut Lab,
    shown: &[Observation],
    user_bytes: u64,
    host: &Host,
) -> Result<Option<Candidate>, FitError> {
    if shown.len() < LEAST_SHOWN {
        return Ok(None);
    }
    let points: Vec<Observation> = shown
        .iter()
        .map(|point| {
            let measured = point.measured.iter().filter(|m| FIGURES.contains(&m.figure)).copied().collect();
            Observation { measured, ..point.clone() }
        })
        .collect();
    let borrowed: Vec<&Observation> = points.iter().collect();
    let space = Space::new(&Base::neutral(Some(user_bytes)), host, false, &points)?;
    let only_read = shown.iter().all(|point| !point.condition.mode.writes());
    let problem = Problem::new(&space, &borrowed).only(if only_read { OF_READS } else { OF_WRITES });
    let part = lab.part();
    lab.set_part(COARSE);
    let states = problem.states(lab, &starts(&space, &borrowed))?.into_iter().flatten();
    let best = states.min_by(|a, b| a.cost.total_cmp(&b.cost));
    let best = best.map(|state| problem.refine(lab, state, STEPS)).transpose()?;
    lab.set_part(part);
    Ok(best.map(|best| space.candidate(&best.values)).transpose()?)
}
