//! The scripts that are cut everywhere, and how they are run.

pub mod turns;

use std::collections::HashMap;
use torture::sim::bench::guarded;
use torture::sim::exhaustive::{CutFailure, Cuts, Limits, cut_everywhere, cut_sequences, sequences};
use torture::sim::parallel::{self, Parallel};
use torture::sim::{Ask, Bench, Failure, Lba};
use torture::situations::{self, Past, Situation};
use torture::{CardUnderTest, Kind};

/// Longest sequences of requests that are all taken.
const LONGEST: usize = 3;
const SECTORS: [Lba; 3] = [Lba(0), Lba(1), Lba(20)];

const FRESH: Situation = Situation {
    name: "fresh",
    because: "nothing was ever written",
    kinds: &Kind::ON_FLASH,
    past: &[],
    script: &[],
    steps_after: 0,
};
const USED: Situation = Situation {
    name: "used",
    because: "collection is under way",
    past: &[Past::Use { asks: 600, seed: 7 }, Past::UntilItCollects],
    ..FRESH
};

/// One piece of work.
#[derive(Clone, Debug)]
pub struct Job {
    situation: Situation,
    kind: Kind,
    /// The beginning that all of its sequences share; a job without sequences has none.
    pub first: Option<(Vec<Ask>, usize)>,
}

impl Job {
    /// It cuts the situation of this name, on such a card.
    #[allow(dead_code, reason = "the canaries' program asks")]
    pub fn is_of(&self, name: &str, kind: Kind) -> bool {
        self.first.is_none() && self.situation.name == name && self.kind == kind
    }

    /// The job in words, for people.
    pub fn label(&self) -> String {
        let first = self.first.as_ref().map(|(first, _)| format!(", {first:?} …")).unwrap_or_default();
        format!("{} ({:?}{first})", self.situation.name, self.kind)
    }
}

/// All situations, and all sequences of requests from two starts, for all kinds of cards.
pub fn jobs() -> Vec<Job> {
    let only = std::env::var("SITUATION").ok();
    let mut jobs = Vec::new();
    for situation in situations::all() {
        for kind in situation.kinds {
            jobs.push(Job { situation: *situation, kind: *kind, first: None });
        }
    }
    for situation in [FRESH, USED] {
        for kind in Kind::ON_FLASH {
            for first in sequences(&SECTORS, LONGEST.min(2)) {
                let longest = if first.len() == 2 { LONGEST } else { 1 };
                jobs.push(Job { situation, kind, first: Some((first, longest)) });
            }
        }
    }
    jobs.retain(|job| match only.as_deref() {
        None => true,
        // An empty name stands for all situations, without sequences.
        Some("") => job.first.is_none(),
        Some(name) => name == job.situation.name,
    });
    jobs
}

/// The sum of all jobs' results.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Cuts of all jobs.
    pub cuts: Cuts,
    /// Sequences of requests.
    pub sequences: u64,
    /// Those that failed, and how.
    pub failures: Vec<String>,
}

type Starts = HashMap<(&'static str, Kind), Bench<CardUnderTest>>;

/// The cards that sequences of requests start from.
pub fn starts() -> Result<Starts, Failure> {
    let mut starts = HashMap::new();
    for situation in [FRESH, USED] {
        for kind in Kind::ON_FLASH {
            starts.insert((situation.name, kind), situation.build(kind)?);
        }
    }
    Ok(starts)
}

/// How far a job goes that is to be thorough.
pub fn thorough(job: &Job) -> Limits {
    let loses = job.situation.has_its_redundancy();
    let limits = Limits { steps_after: job.situation.steps_after, loses, ..Limits::default() };
    match job.first {
        Some(_) => Limits { outcomes: 8, each_end: false, nested_every: 8, nested: 1, steps_after: 6, ..limits },
        None => Limits { outcomes: 64, nested_every: 2, nested: 2, ..limits },
    }
}

/// Does a job; `starts` has the starts of sequences.
pub fn work(job: &Job, starts: &Starts, limits: &Limits) -> Result<(u64, Cuts), Box<CutFailure>> {
    let Job { situation, kind, first } = job;
    if let Some((first, longest)) = first {
        return cut_sequences(&starts[&(situation.name, *kind)], first, &SECTORS, *longest, 2, limits);
    }
    let start = guarded(|| situation.build(*kind)).and_then(|built| built).map_err(|failure| {
        let script = Vec::new();
        Box::new(CutFailure { script, point: 0, choices: Vec::new(), nested: Vec::new(), cuts: 0, failure })
    })?;
    Ok((0, cut_everywhere(&start, situation.script, limits)?))
}

/// Does all jobs on all cores.
pub fn run(jobs: &[Job]) -> Outcome {
    let starts = starts().unwrap_or_else(|failure| panic!("{failure}"));
    let parallel = Parallel { threads: 0, cancel: &|| false };
    let one = |i: u64| {
        let job = &jobs[i as usize];
        let result = work(job, &starts, &thorough(job));
        if let Err(failure) = &result {
            // At once: what is to come takes minutes.
            eprintln!("{}: {failure}", job.label());
        }
        result
    };
    let results = parallel::run(parallel, 0, jobs.len() as u64, one, |_| false, |_| {});
    let mut outcome = Outcome::default();
    for (i, result) in results {
        match result {
            Ok((sequences, cuts)) => {
                outcome.sequences += sequences;
                outcome.cuts.add(cuts);
                if std::env::var("VERBOSE").is_ok() && jobs[i as usize].first.is_none() {
                    println!("{}: {cuts:?}", jobs[i as usize].label());
                }
            }
            Err(failure) => {
                outcome.failures.push(format!("{}: after {} cuts: {failure}", jobs[i as usize].label(), failure.cuts));
            }
        }
    }
    outcome
}
