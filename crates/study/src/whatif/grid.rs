//! Points on all cores: each state is prepared once, and each point of it is measured on a copy.
//!
//! A thread that is free measures a prepared state before it prepares another, so only about as many prepared cards are in memory
//! as there are threads.

use crate::whatif::answer::answer;
use crate::whatif::question::{Point, Question, Refusal, State};
use load::LoadConfig;
use rayon::{ScopeFifo, ThreadPoolBuilder};
use results::{WhatifAnswer, WhatifPoint};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard};
use target::{OnlyCancel, Prepared, Progress, RunError, RunSpec, measure, prepare};

/// Points in their order, as many as were finished.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// Points that are finished.
    pub points: Vec<WhatifPoint>,
    /// A person asked to stop before all were.
    pub stopped: bool,
}

/// Answers all points of a question on `threads` threads.
pub fn grid(question: &Question, threads: usize, progress: &dyn Progress) -> Result<Answers, Refusal> {
    let points = question.points()?;
    progress.begin("what if", Grid::work(&points));
    let outcomes = Grid::answer(question, &points, threads, progress, 0, &|_, _| {});
    let stopped = outcomes.iter().any(Option::is_none);
    Ok(Answers { points: outcomes.into_iter().flatten().collect(), stopped })
}

/// Expected work in thousandths of a point: bringing a card to a state in which it is written over takes about as long
/// as measuring a point; filling it alone, a tenth.
fn preparing(state: &State) -> u64 {
    if state.is_written_over() { 1_000 } else { 100 }
}

const MEASURING: u64 = 1_000;

/// Points that are measured together, each state of theirs prepared once.
pub(crate) struct Grid<'a> {
    question: &'a Question,
    points: &'a [Point],
    groups: Vec<Vec<usize>>,
    progress: &'a dyn Progress,
    tell: &'a Tell<'a>,
    tally: Mutex<Tally>,
}

/// Told the points of a state and their answers, when all of them are answered.
pub(crate) type Tell<'a> = dyn Fn(&[usize], Vec<WhatifPoint>) + Sync + 'a;

struct Tally {
    outcomes: Vec<Option<WhatifPoint>>,
    /// Work that is done, in the unit of progress.
    done: u64,
}

impl<'a> Grid<'a> {
    /// Work that a point with a state of its own is at most.
    pub const MAX_FOR_A_POINT: u64 = 2 * MEASURING;

    /// Work that the points are, in the unit of progress.
    pub fn work(points: &[Point]) -> u64 {
        let preparing: u64 = groups(points).iter().map(|group| preparing(&points[group[0]].state)).sum();
        preparing + points.len() as u64 * MEASURING
    }

    /// The outcome of each point; none where a person asked to stop before it was finished. `done` is the work that was
    /// done before; `tell` hears of each state whose points are all answered.
    pub fn answer(
        question: &Question,
        points: &[Point],
        threads: usize,
        progress: &dyn Progress,
        done: u64,
        tell: &Tell<'_>,
    ) -> Vec<Option<WhatifPoint>> {
        let tally = Mutex::new(Tally { outcomes: vec![None; points.len()], done });
        let grid = Grid { question, points, groups: groups(points), progress, tell, tally };
        let pool = ThreadPoolBuilder::new().num_threads(threads.clamp(1, points.len().max(1))).build();
        pool.expect("the system gives a process its threads").in_place_scope_fifo(|scope| {
            for group in 0..grid.groups.len() {
                let grid = &grid;
                scope.spawn_fifo(move |scope| grid.prepare(group, scope));
            }
        });
        grid.tally.into_inner().expect("no worker panics with the lock").outcomes
    }

    fn lock(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().expect("no worker panics with the lock")
    }

    fn prepare<'s>(&'s self, group: usize, scope: &ScopeFifo<'s>) {
        if self.progress.cancelled() {
            return;
        }
        let members = &self.groups[group];
        // The prepared device has room for as many requests as the point with most of them has.
        let most =
            members.iter().copied().max_by_key(|&i| self.points[i].load.threads * self.points[i].load.queue_depth);
        let first = &self.points[most.expect("a group has points")];
        self.progress.step(&format!("bring the card to {} % in use", first.fill * 100.0));
        let prepared = prepare(&self.spec(first, &LoadConfig::Fileio(first.load)), &OnlyCancel(self.progress));
        let mut tally = self.lock();
        match prepared {
            Ok(device) => {
                let device = Arc::new(device);
                for &point in members {
                    let device = device.clone();
                    scope.spawn_fifo(move |_| self.measure(group, point, device));
                }
            }
            Err(RunError::Cancelled) => return,
            Err(error) => {
                for &i in members {
                    tally.outcomes[i] = Some(outcome(&self.points[i], Err(error.to_string())));
                }
                tally.done += members.len() as u64 * MEASURING;
                self.tell_if_answered(group, &tally);
            }
        }
        tally.done += preparing(&self.points[members[0]].state);
        self.progress.at(tally.done);
    }

    fn measure(&self, group: usize, i: usize, device: Arc<Prepared>) {
        if self.progress.cancelled() {
            return;
        }
        let point = &self.points[i];
        self.progress.step(&words(point));
        // The last one needs no copy.
        let device = Arc::unwrap_or_clone(device);
        let load = LoadConfig::Fileio(point.load);
        let stop = OnlyCancel(self.progress);
        let measured = measure(&self.spec(point, &load), device, &stop);
        // A run that is told to stop hands out what it has: a part of a point, which is none.
        if self.progress.cancelled() {
            return;
        }
        let mut tally = self.lock();
        tally.outcomes[i] = Some(outcome(point, measured.map(|run| answer(&run)).map_err(|e| e.to_string())));
        tally.done += MEASURING;
        self.progress.at(tally.done);
        self.tell_if_answered(group, &tally);
    }

    fn tell_if_answered(&self, group: usize, tally: &Tally) {
        let members = &self.groups[group];
        let answers: Option<Vec<WhatifPoint>> = members.iter().map(|&i| tally.outcomes[i].clone()).collect();
        if let Some(answers) = answers {
            (self.tell)(members, answers);
        }
    }

    fn spec<'p>(&'p self, point: &'p Point, load: &'p LoadConfig) -> RunSpec<'p> {
        RunSpec {
            device: &point.device,
            device_json: Value::Null,
            host: &point.host,
            host_json: Value::Null,
            load,
            fill: point.fill,
            seed: self.question.seed,
            measure: self.question.measure,
            fresh: false,
            explain_tail: false,
            histograms: true,
        }
    }
}

/// Points of the same state, in the order of their first.
pub(crate) fn groups(points: &[Point]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, point) in points.iter().enumerate() {
        match groups.iter_mut().find(|group| points[group[0]].state == point.state) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    groups
}

fn outcome(point: &Point, answer: Result<WhatifAnswer, String>) -> WhatifPoint {
    let (answer, failed) = match answer {
        Ok(answer) => (Some(answer), None),
        Err(why) => (None, Some(why)),
    };
    WhatifPoint {
        at: point.at.clone(),
        user_bytes: point.device.user_bytes(),
        used_bytes: point.load.file_bytes,
        answer,
        failed,
    }
}

/// `fill 50, threads 8`: what is being measured.
fn words(point: &Point) -> String {
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let words: Vec<String> = point.at.iter().map(|(key, v)| format!("{key} {}", value(v))).collect();
    words.join(", ")
}
