//! Conditions held against results.

use super::condition::{Condition, Direction, Limit};
use super::figure::Class;
use crate::advantage::groups;
use crate::devices::Devices;
use crate::repeats::{Estimate, Side, level, middle, ratio};
use crate::sections::x_axis;
use crate::unit::Unit;
use results::{Axis, Point, ReviewResult};
use thiserror::Error;

/// The verdict on one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The figure keeps to its limit.
    Kept,
    /// The figure is beyond its limit, and its interval of confidence reaches back over it.
    Unsure,
    /// The condition is met: the benchmark fails.
    Failed,
}

/// One figure of one side, held against a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The sweep that has the point.
    pub sweep: String,
    /// Title of the sweep.
    pub title: String,
    /// The point and the figure in words: `16 threads, p99 of reads`.
    pub figure: String,
    /// Unit of both values.
    pub unit: Unit,
    /// The side that is judged.
    pub side: usize,
    /// The first side's figure; none where the limit is no change.
    pub first: Option<f64>,
    /// The judged side's figure.
    pub value: f64,
    /// The change against the first side (0.1 for 10 % more) or the figure itself, whichever the limit is of.
    pub judged: Estimate,
    /// How far the figure lies beyond its limit, as a ratio; 1 at the limit, more is worse.
    pub beyond: f64,
    /// How the condition came out.
    pub outcome: Outcome,
    /// This machine, and not the device, set a figure of either side.
    pub limited_by_host: bool,
}

/// A condition of which there is nothing to judge: it could never fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unmatched {
    /// A change needs two sides.
    #[error("a change needs two results, or more, to compare")]
    OneSide,
    /// No result has the figure where it is looked for.
    #[error("no figure of the results is meant by it")]
    Nowhere,
    /// The sides have it, at different points only.
    #[error("the results have no point in common at which both have the figure")]
    NotInCommon,
}

/// Every figure that a condition means, the worst first.
pub fn judge(condition: &Condition, results: &[&ReviewResult], sides: &[Side]) -> Result<Vec<Finding>, Unmatched> {
    if sides.len() < 2 && matches!(condition.limit, Limit::Change(_)) {
        return Err(Unmatched::OneSide);
    }
    let devices = Devices::new(results.to_vec());
    let mut findings = Vec::new();
    let mut seen = false;
    for name in devices.sweep_names().into_iter().filter(|name| condition.sweep.as_deref().is_none_or(|s| s == *name)) {
        let Some(lines) = devices.lines(name) else { continue };
        let first = lines.first();
        for &x in lines.xs.iter().filter(|&&x| condition.x.is_none_or(|wanted| wanted == x)) {
            let mut points = vec![None; results.len()];
            for &(run, sweep) in &lines.sweeps {
                points[run] = crate::devices::at(sweep, x);
            }
            for (state, points) in groups(&points, first.axis) {
                let only = [condition.class];
                let classes = if condition.class.is_some() { &only[..] } else { condition.figure.classes() };
                for &class in classes {
                    let values: Vec<Option<f64>> =
                        points.iter().map(|point| condition.figure.of(point.as_ref()?, class)).collect();
                    seen |= values.iter().any(Option::is_some);
                    let place = Place { name, title: &first.title, axis: first.axis, x, state: &state, class };
                    findings.extend(of_sides(condition, &place, &values, &points, sides));
                }
            }
        }
    }
    if findings.is_empty() {
        return Err(if seen { Unmatched::NotInCommon } else { Unmatched::Nowhere });
    }
    findings.sort_by(|a, b| b.outcome.cmp(&a.outcome).then(b.beyond.total_cmp(&a.beyond)));
    Ok(findings)
}

/// A point and a kind of request.
struct Place<'a> {
    name: &'a str,
    title: &'a str,
    axis: Axis,
    x: f64,
    state: &'a str,
    class: Option<Class>,
}

impl Place<'_> {
    fn words(&self, condition: &Condition) -> String {
        let axis = x_axis(self.axis);
        let point = format!("{} {}{}", axis.unit.show(self.x), axis.suffix, self.state);
        let figure = condition.figure.name();
        match self.class {
            Some(class) => format!("{}, {figure} of {}", point.trim(), class.plural()),
            None => format!("{}, {figure}", point.trim()),
        }
    }
}

fn of_sides(
    condition: &Condition,
    place: &Place,
    values: &[Option<f64>],
    points: &[Option<&Point>],
    sides: &[Side],
) -> Vec<Finding> {
    let of_side = |side: &Side| -> Vec<f64> { side.runs.iter().filter_map(|&run| values[run]).collect() };
    let limited = |side: &Side| side.runs.iter().filter_map(|&run| points[run]).any(|point| point.limited_by_host);
    let first = of_side(&sides[0]);
    // The sides after the first are judged; of one side alone, that one.
    let judged = if sides.len() > 1 { 1..sides.len() } else { 0..1 };
    judged
        .filter_map(|side| {
            let these = of_side(&sides[side]);
            let (against, estimate, limit) = match condition.limit {
                Limit::Change(change) => (Some(middle(&first)?), ratio(&first, &these)?, 1.0 + change),
                Limit::Value(value) => (None, level(&these)?, value),
            };
            let (beyond, outcome) = outcome(condition.direction, estimate, limit);
            let to_change = |ratio: f64| if against.is_some() { ratio - 1.0 } else { ratio };
            Some(Finding {
                sweep: place.name.to_owned(),
                title: place.title.to_owned(),
                figure: place.words(condition),
                unit: condition.figure.unit(),
                side,
                first: against,
                value: middle(&these)?,
                judged: Estimate {
                    value: to_change(estimate.value),
                    interval: estimate.interval.map(|(low, high)| (to_change(low), to_change(high))),
                },
                beyond,
                outcome,
                limited_by_host: limited(&sides[side]) || against.is_some() && limited(&sides[0]),
            })
        })
        .collect()
}

fn outcome(direction: Direction, estimate: Estimate, limit: f64) -> (f64, Outcome) {
    /// Logarithms and back cost a few digits: what is equal to the limit is not beyond it.
    const ROUNDING: f64 = 1e-9;
    let (low, high) = estimate.ends();
    let (beyond, surely) = match direction {
        Direction::Above => (estimate.value / limit, low / limit),
        Direction::Below => (limit / estimate.value, limit / high),
    };
    let outcome = match () {
        () if surely > 1.0 + ROUNDING => Outcome::Failed,
        () if beyond > 1.0 + ROUNDING => Outcome::Unsure,
        () => Outcome::Kept,
    };
    (beyond, outcome)
}
