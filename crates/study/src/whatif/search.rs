//! The value of one axis that still holds a bound, for each combination of the others.
//!
//! It is assumed that what holds goes on holding towards the easy end: less in use, more reserve, fewer threads. The
//! assumption is checked where it can be seen: at both ends, at every value that was tried on the way, and at the
//! neighbours of what was found. All combinations are searched at once, a few values each in every round; which values
//! does not depend on how many threads work.

use crate::whatif::axis::Axis;
use crate::whatif::grid::{Answers, Grid};
use crate::whatif::question::{Point, Question, Refusal};
use results::{WhatifAnswer, WhatifFound, WhatifOutcome, WhatifPoint, WhatifSearch, WhatifTried, WhatifWanted};
use serde_json::Map;
use std::collections::BTreeMap;
use target::Progress;

/// Axes that can be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RangeAxis {
    /// Percent in use.
    Fill,
    /// Percent given up at format.
    Reserve,
    Threads,
}

/// Whole values of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Axis of the range.
    pub axis: RangeAxis,
    /// Smallest value of the range.
    pub least: u32,
    /// Most, not below it.
    pub most: u32,
}

/// The bound that is to hold: at least one of the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// 99 of 100 requests take no longer.
    pub p99_ns: Option<u64>,
    /// All requests together move at least so many bytes a second.
    pub min_bw_bytes: Option<f64>,
}

/// The goal of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Range in which it searches.
    pub range: Range,
    /// Bound that must hold.
    pub bound: Bound,
}

/// Searches for every combination of the question's axes, of which none is the range's. The points that were tried are
/// the answers, by combination and rising value.
pub fn search(
    question: &Question,
    search: &Search,
    threads: usize,
    progress: &dyn Progress,
) -> Result<(Answers, WhatifSearch), Refusal> {
    let all: Vec<usize> = (0..question.count()).collect();
    let (hunted, stopped) = hunts(question, search, &all, threads, progress)?;
    let (points, found): (Vec<Vec<WhatifPoint>>, Vec<WhatifFound>) = hunted.into_iter().unzip();
    let answers = Answers { points: points.into_iter().flatten().collect(), stopped };
    Ok((answers, WhatifSearch { found, ..search.describe() }))
}

/// Points and outcome of each search, and whether a person asked to stop before all were over.
pub(crate) type Hunted = (Vec<(Vec<WhatifPoint>, WhatifFound)>, bool);

/// Searches for some combinations of the question's axes.
pub(crate) fn hunts(
    question: &Question,
    search: &Search,
    combinations: &[usize],
    threads: usize,
    progress: &dyn Progress,
) -> Result<Hunted, Refusal> {
    let mut extended = question.clone();
    extended.axes.push(search.range.as_axis());
    let steps = search.range.most - search.range.least;
    let mut hunts: Vec<Hunt> = combinations.iter().map(|&i| Hunt::new(question.indices(i), steps)).collect();
    for hunt in &hunts {
        for step in [0, steps] {
            extended.checked(&hunt.indices(search, step))?;
        }
    }
    let mut done = 0;
    progress.begin("search", hunts.len() as u64 * hunts.first().map_or(0, Hunt::most_values) * Grid::MAX_FOR_A_POINT);
    let mut stopped = false;
    while !stopped {
        let wanted: Vec<(usize, u32)> =
            hunts.iter().enumerate().flat_map(|(h, hunt)| hunt.next().into_iter().map(move |step| (h, step))).collect();
        if wanted.is_empty() {
            break;
        }
        let points: Result<Vec<Point>, Refusal> =
            wanted.iter().map(|&(h, step)| extended.checked(&hunts[h].indices(search, step))).collect();
        let points = points?;
        let outcomes = Grid::answer(&extended, &points, threads, progress, done, &|_, _| {});
        done += Grid::work(&points);
        for ((h, step), outcome) in wanted.into_iter().zip(outcomes) {
            match outcome {
                Some(point) => hunts[h].learn(step, point, search),
                None => stopped = true,
            }
        }
    }
    let each = hunts.into_iter().map(|hunt| {
        let found = hunt.found(question, search, stopped);
        (hunt.into_points(search), found)
    });
    Ok((each.collect(), stopped))
}

impl Range {
    /// As an axis of all its values.
    fn as_axis(self) -> Axis {
        let percents = || (self.least..=self.most).map(f64::from).collect();
        match self.axis {
            RangeAxis::Fill => Axis::Fill(percents()),
            RangeAxis::Reserve => Axis::Reserve(percents()),
            RangeAxis::Threads => Axis::Threads((self.least..=self.most).collect()),
        }
    }

    /// For results: its ends.
    pub fn describe(self) -> results::WhatifAxis {
        let mut axis = self.as_axis().describe();
        axis.values = axis.values.first().into_iter().chain(axis.values.last()).cloned().collect();
        axis
    }
}

impl Search {
    /// For results: the goal, and no outcome yet.
    pub fn describe(&self) -> WhatifSearch {
        WhatifSearch {
            axis: self.range.as_axis().key().to_owned(),
            wanted: self.wanted(),
            target_p99_ns: self.bound.p99_ns,
            min_bw_bytes: self.bound.min_bw_bytes,
            found: Vec::new(),
        }
    }

    /// Fullest, smallest reserve, most threads; where only throughput is bounded, the fewest threads that reach it.
    pub fn wanted(&self) -> WhatifWanted {
        match self.range.axis {
            RangeAxis::Fill => WhatifWanted::Most,
            RangeAxis::Reserve => WhatifWanted::Least,
            RangeAxis::Threads if self.bound.p99_ns.is_some() => WhatifWanted::Most,
            RangeAxis::Threads => WhatifWanted::Least,
        }
    }

    /// Returns the distance from the smallest value of the value that lies `step` steps from the easy end.
    fn index(&self, step: u32) -> u32 {
        match self.wanted() {
            WhatifWanted::Most => step,
            WhatifWanted::Least => self.range.most - self.range.least - step,
        }
    }

    fn value(&self, step: u32) -> f64 {
        f64::from(self.range.least + self.index(step))
    }

    /// The whole bound holds.
    fn holds(&self, answer: Option<&WhatifAnswer>) -> bool {
        answer.is_some_and(|answer| self.is_quick(answer) && self.is_fast(answer))
    }

    /// Only the bound that can fail at the far end is bisected: few threads move too little, and many take too long, so
    /// of both only the latter decides how far threads can go.
    fn continues(&self, answer: Option<&WhatifAnswer>) -> bool {
        match self.range.axis {
            RangeAxis::Threads if self.bound.p99_ns.is_some() => answer.is_some_and(|answer| self.is_quick(answer)),
            _ => self.holds(answer),
        }
    }

    fn is_quick(&self, answer: &WhatifAnswer) -> bool {
        self.bound.p99_ns.is_none_or(|most| answer.lat_ns.p99 <= most)
    }

    fn is_fast(&self, answer: &WhatifAnswer) -> bool {
        self.bound.min_bw_bytes.is_none_or(|least| answer.bw_bytes >= least)
    }
}

/// The search for one combination. Steps count from the easy end.
struct Hunt {
    others: Vec<usize>,
    /// The step of the hard end.
    end: u32,
    tried: BTreeMap<u32, (bool, WhatifPoint)>,
}

impl Hunt {
    fn new(others: Vec<usize>, end: u32) -> Hunt {
        Hunt { others, end, tried: BTreeMap::new() }
    }

    fn indices(&self, search: &Search, step: u32) -> Vec<usize> {
        let mut indices = self.others.clone();
        indices.push(search.index(step) as usize);
        indices
    }

    /// Values that are tried at most while the assumption holds: the ends, three to each quartering, two neighbours.
    fn most_values(&self) -> u64 {
        u64::from(4 + 3 * (u32::BITS - self.end.leading_zeros()).div_ceil(2))
    }

    fn learn(&mut self, step: u32, point: WhatifPoint, search: &Search) {
        let continues = search.continues(point.answer.as_ref());
        self.tried.insert(step, (continues, point));
    }

    /// The first step that was seen to break, and the last before it that was seen to hold.
    fn border(&self) -> (Option<u32>, Option<u32>) {
        let breaks = self.tried.iter().find(|(_, (continues, _))| !continues).map(|(&step, _)| step);
        let before = breaks.unwrap_or(u32::MAX);
        let holds = self.tried.range(..before).next_back().map(|(&step, _)| step);
        (holds, breaks)
    }

    /// A step beyond one that breaks holds.
    fn contradicts(&self) -> bool {
        self.border().1.is_some_and(|breaks| self.tried.range(breaks..).any(|(_, (continues, _))| *continues))
    }

    /// Returns the values to be tried now; nothing when it is over.
    fn next(&self) -> Vec<u32> {
        let unknown = |steps: Vec<u32>| -> Vec<u32> {
            let mut steps: Vec<u32> = steps.into_iter().filter(|step| !self.tried.contains_key(step)).collect();
            steps.dedup();
            steps
        };
        if self.tried.is_empty() {
            return unknown(vec![0, self.end]);
        }
        match self.border() {
            // All of one kind so far: the middle may tell otherwise.
            (_, None) | (None, Some(_)) => unknown(vec![self.end / 2]),
            (Some(holds), Some(breaks)) if breaks - holds > 1 => {
                let gap = breaks - holds;
                let at = |quarter: u32| holds + (u64::from(gap) * u64::from(quarter) / 4) as u32;
                unknown(vec![at(1), at(2), at(3)])
            }
            (Some(holds), Some(breaks)) => {
                let neighbours = [holds.checked_sub(1), Some(breaks + 1).filter(|&step| step <= self.end)];
                if self.contradicts() { Vec::new() } else { unknown(neighbours.into_iter().flatten().collect()) }
            }
        }
    }

    fn found(&self, question: &Question, search: &Search, stopped: bool) -> WhatifFound {
        let (holds, breaks) = self.border();
        let over = self.next().is_empty();
        let enough = |step: &u32| search.holds(self.tried[step].1.answer.as_ref());
        let outcome = match (holds, breaks) {
            _ if stopped && !over => WhatifOutcome::Stopped,
            _ if self.contradicts() => WhatifOutcome::NotMonotone,
            (None, _) => WhatifOutcome::None,
            (Some(step), _) if !enough(&step) => WhatifOutcome::None,
            (Some(_), None) => WhatifOutcome::Every,
            (Some(_), Some(_)) => WhatifOutcome::Found,
        };
        let axes = question.axes.iter().zip(&self.others);
        let mut tried: Vec<WhatifTried> = self
            .tried
            .iter()
            .map(|(&step, (_, point))| WhatifTried {
                value: search.value(step),
                holds: search.holds(point.answer.as_ref()),
            })
            .collect();
        tried.sort_by(|a, b| a.value.total_cmp(&b.value));
        WhatifFound {
            at: axes.map(|(axis, &i)| (axis.key().to_owned(), axis.value(i))).collect::<Map<_, _>>(),
            outcome,
            holds: holds.filter(enough).map(|step| search.value(step)),
            breaks: breaks.map(|step| search.value(step)),
            tried,
        }
    }

    fn into_points(self, search: &Search) -> Vec<WhatifPoint> {
        let points = self.tried.into_values().map(|(_, point)| point);
        match search.wanted() {
            WhatifWanted::Most => points.collect(),
            WhatifWanted::Least => points.rev().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Search = Search {
        range: Range { axis: RangeAxis::Fill, least: 1, most: 100 },
        bound: Bound { p99_ns: Some(1_000), min_bw_bytes: None },
    };

    /// The outcome of a search in which those steps hold for which `holds` says so, and how many were tried.
    fn hunt(search: &Search, holds: impl Fn(u32) -> bool) -> (WhatifOutcome, Option<f64>, Option<f64>, usize) {
        let mut hunt = Hunt::new(Vec::new(), search.range.most - search.range.least);
        loop {
            let wanted = hunt.next();
            if wanted.is_empty() {
                break;
            }
            for step in wanted {
                let answer = holds(step).then_some(WhatifAnswer {
                    bw_bytes: 0.0,
                    iops: 0.0,
                    lat_ns: results::WhatifLatency::default(),
                    read_lat_ns: None,
                    write_lat_ns: None,
                    waf: None,
                    hit_rate: None,
                    years_at_rating: None,
                    effective_spare_factor: None,
                    steady: true,
                    virtual_seconds: 1.0,
                });
                let point = WhatifPoint { at: Map::new(), user_bytes: 0, used_bytes: 0, answer, failed: None };
                assert!(!hunt.tried.contains_key(&step), "{step} is tried twice");
                hunt.learn(step, point, search);
            }
        }
        let question = Question {
            profile: profile::Profile::builtin("tachion-200").unwrap(),
            host: profile::Host::builtin("default").unwrap(),
            scale: 1.0,
            seed: 1,
            measure: target::Measure::Auto,
            load: load::FileioConfig::default(),
            axes: Vec::new(),
        };
        let found = hunt.found(&question, search, false);
        assert!(hunt.tried.len() as u64 <= hunt.most_values() || found.outcome == WhatifOutcome::NotMonotone);
        (found.outcome, found.holds, found.breaks, found.tried.len())
    }

    #[test]
    fn the_border_is_found_wherever_it_is() {
        for border in 0..99 {
            let (outcome, holds, breaks, tried) = hunt(&SEARCH, |step| step <= border);
            assert_eq!(
                (outcome, holds, breaks),
                (WhatifOutcome::Found, Some(f64::from(border + 1)), Some(f64::from(border + 2)))
            );
            assert!(tried <= 16, "{tried}");
        }
        let reserve = Search { range: Range { axis: RangeAxis::Reserve, least: 0, most: 40 }, ..SEARCH };
        for border in 0..40 {
            let (outcome, holds, breaks, _) = hunt(&reserve, |step| step <= border);
            assert_eq!(
                (outcome, holds, breaks),
                (WhatifOutcome::Found, Some(40.0 - f64::from(border)), Some(39.0 - f64::from(border)))
            );
        }
    }

    #[test]
    fn none_and_every_are_said_and_looked_at_in_the_middle() {
        assert_eq!(hunt(&SEARCH, |_| false), (WhatifOutcome::None, None, Some(1.0), 3));
        assert_eq!(hunt(&SEARCH, |_| true), (WhatifOutcome::Every, Some(100.0), None, 3));
        let one = Search { range: Range { axis: RangeAxis::Fill, least: 5, most: 5 }, ..SEARCH };
        assert_eq!(hunt(&one, |_| true), (WhatifOutcome::Every, Some(5.0), None, 1));
        let two = Search { range: Range { axis: RangeAxis::Fill, least: 5, most: 6 }, ..SEARCH };
        assert_eq!(hunt(&two, |step| step == 0), (WhatifOutcome::Found, Some(5.0), Some(6.0), 2));
    }

    #[test]
    fn what_breaks_and_holds_again_is_not_called_found() {
        // A hole next to the border, holes at the ends, a hole in the middle.
        assert_eq!(hunt(&SEARCH, |step| step <= 50 && step != 49).0, WhatifOutcome::NotMonotone);
        assert_eq!(hunt(&SEARCH, |step| step <= 50 || step == 52).0, WhatifOutcome::NotMonotone);
        assert_eq!(hunt(&SEARCH, |step| step == 49).0, WhatifOutcome::NotMonotone);
        assert_eq!(hunt(&SEARCH, |step| step != 49).0, WhatifOutcome::NotMonotone);
        // The search reports what holds without a break from the easy end on.
        let (_, holds, breaks, _) = hunt(&SEARCH, |step| step < 20 || step == 49);
        assert_eq!((holds, breaks), (Some(20.0), Some(21.0)));
    }
}
