//! Bugs that are planted one at a time: each is found, and without one nothing is.
//!
//! Each is looked for where it was found before, which takes seconds for all of them, and then everywhere.
//!
//! `CANARY="flush skipped" cargo test -p torture --features canaries --test canaries` plants one of them,
//! or several, with commas between them.

#[path = "it/common/mod.rs"]
#[allow(dead_code, reason = "the other tests use all of it")]
mod common;

use common::turns::take_turns;
use common::{Job, jobs, thorough, work};
use ftl::canary::{Canary, plant};
use media::Physics;
use torture::Kind::{Logged, Protected, SharedCells, Unprotected};
use torture::campaign::{Campaign, Trial};
use torture::sim::bench;
use torture::sim::exhaustive::Limits;
use torture::sim::parallel::{self, Parallel};
use torture::sim::plan::{Area, Flips, Metadata, PlanConfig, Stray};
use torture::sim::{Bounds, Case, CutOutcome, FaultKind, HostConfig, Plan, What, life};
use torture::{CardUnderTest, Kind, host_of, physics, tiny};

/// Lives for a canary that no quick look has found.
const LIVES: u64 = 400;

/// Where a planted bug is looked for first: what found it before. Everything else is tried only when that does not.
struct Hint {
    situations: &'static [(&'static str, Kind)],
    lives: &'static [u64],
    /// Lives of cards whose modules are drives.
    drives: &'static [u64],
    /// Lives of cards whose modules are drives with a log.
    logged: &'static [u64],
    /// Lives of such cards whose modules go in turn.
    turns: &'static [u64],
}

const NOWHERE: Hint = Hint { situations: &[], lives: &[], drives: &[], logged: &[], turns: &[] };

const fn situation(of: &'static [(&'static str, Kind)]) -> Hint {
    Hint { situations: of, ..NOWHERE }
}

const fn lives(seeds: &'static [u64]) -> Hint {
    Hint { lives: seeds, ..NOWHERE }
}

const fn drives(seeds: &'static [u64]) -> Hint {
    Hint { drives: seeds, ..NOWHERE }
}

const fn logged(seeds: &'static [u64]) -> Hint {
    Hint { logged: seeds, ..NOWHERE }
}

const fn turns(seeds: &'static [u64]) -> Hint {
    Hint { turns: seeds, ..NOWHERE }
}

fn hint(canary: Canary) -> Hint {
    match canary {
        Canary::FlushSkipped => situation(&[("overwrite in the buffer", Unprotected)]),
        Canary::FuaIgnored => situation(&[("FUA", Unprotected)]),
        Canary::CapacitorsEmpty => situation(&[("first write", Protected)]),
        Canary::StripeBelievedEarly => situation(&[("flush while collecting", Unprotected)]),
        Canary::VersionIgnored => situation(&[("zeroes with FUA", Protected)]),
        Canary::EpochNotRaised => situation(&[("reads while collecting", Unprotected)]),
        Canary::StaleTrusted => situation(&[("a stale module", Protected)]),
        Canary::EarlierCopyBelieved => situation(&[("collection", Protected)]),
        Canary::EraseBeforeRelocation => situation(&[("overwrite in the buffer", SharedCells)]),
        Canary::EraseBeforeOverwrite => situation(&[("erases", SharedCells)]),
        Canary::EraseBeforeTrims => lives(&[8, 436]),
        Canary::TrimForgotten => situation(&[("zeroes over data", Unprotected)]),
        Canary::HolesTooSoon => situation(&[("a hole is written over while a flush writes the list", Unprotected)]),
        Canary::ParityWrong => situation(&[("overwrite in the buffer", SharedCells)]),
        Canary::ChecksumIgnored => lives(&[9, 407]),
        Canary::MapChecksumIgnored => drives(&[1]),
        Canary::ChecksumOfMapStale => drives(&[0]),
        Canary::ReadAheadStale => drives(&[0]),
        Canary::PlaceIgnored => situation(&[("a program went astray", Unprotected)]),
        Canary::TornBelieved => situation(&[("more than the buffer", SharedCells)]),
        Canary::DoubtsDropped => situation(&[("a durable stripe is lost", Unprotected)]),
        Canary::GenerationNotRaised => lives(&[0]),
        Canary::NeededModuleGivenUp => lives(&[41]),
        Canary::OneHeaderCopy => situation(&[("every header is damaged", Unprotected)]),
        Canary::RebuildDoneEarly => situation(&[("a module that was rebuilt", Unprotected)]),
        Canary::RebuiltOfAnother => situation(&[("another module comes in the middle of a rebuild", Unprotected)]),
        Canary::FailedProgramIgnored => situation(&[("programs fail on two modules", Protected)]),
        Canary::FreeBandsNotErased => situation(&[("zeroes over zeroes", SharedCells)]),
        Canary::SharedCellsIgnored => situation(&[("hot sectors", SharedCells)]),
        Canary::CheckpointTooSoon => lives(&[22]),
        Canary::CheckpointBandsNotCompared => situation(&[("collection", Unprotected)]),
        Canary::ChangesNotKept => situation(&[("a checkpoint over a write that nobody flushes", Unprotected)]),
        Canary::HolesOfCheckpointForgotten => {
            situation(&[("a checkpoint told of trims and can't be read", Unprotected)])
        }
        Canary::ModuleBelieved => situation(&[("a module is lost after another was put in at work", Unprotected)]),
        Canary::ReturnedAsItWent => {
            situation(&[("a module is lost after a stale one was put in at work", Unprotected)])
        }
        Canary::LogOverNewer => logged(&[0]),
        Canary::LogOverCheckpoint => logged(&[5]),
        Canary::LogTornBelieved => logged(&[4]),
        Canary::LogReleasedEarly => situation(&[("the log is used again", Logged)]),
        Canary::LogOfStaleModule => turns(&[7]),
        Canary::LogOnOneModule => turns(&[0]),
        Canary::LogWithoutTrimmed => logged(&[801, 1814]),
        Canary::LogReusedBeforeReplay => situation(&[("the log is used again", Logged)]),
        Canary::DoubtfulBandsBelieved => situation(&[("overwrite while collecting", SharedCells)]),
    }
}

/// A look at every situation that ends soon.
fn quick(job: &Job) -> Limits {
    Limits { outcomes: 6, each_end: false, nested_every: 3, nested: 1, ..thorough(job) }
}

/// How a planted bug was found, if it was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    by: String,
    /// The kind of failure.
    what: &'static str,
    /// Cuts and lives that it took.
    cuts: u64,
    lives: u64,
}

/// Looks for a planted bug: where it was found before, then everywhere.
struct Search<'a> {
    jobs: &'a [Job],
    cuts: u64,
    lives: u64,
}

impl Search<'_> {
    fn look(&mut self, hint: &Hint) -> Option<Found> {
        let jobs = self.jobs;
        let hinted = |job: &&Job| hint.situations.iter().any(|(name, kind)| job.is_of(name, *kind));
        let hinted: Vec<&Job> = jobs.iter().filter(hinted).collect();
        let all: Vec<&Job> = jobs.iter().collect();
        self.cut(&hinted, quick)
            .or_else(|| self.cut(&hinted, thorough))
            .or_else(|| self.live(hint.lives.iter().copied(), life))
            .or_else(|| self.live(hint.drives.iter().copied(), drive_life))
            .or_else(|| self.live(hint.logged.iter().copied(), logged_life))
            .or_else(|| self.live(hint.turns.iter().copied(), life_in_turns))
            .or_else(|| self.cut(&all, quick))
            .or_else(|| self.live(0..LIVES, life))
            .or_else(|| self.live(0..LIVES, drive_life))
            .or_else(|| self.live(0..LIVES, logged_life))
            .or_else(|| self.live(0..LIVES, life_in_turns))
            .or_else(|| self.cut(&all, thorough))
    }

    fn cut(&mut self, jobs: &[&Job], limits: fn(&Job) -> Limits) -> Option<Found> {
        jobs.iter().find_map(|job| match work(job, &Default::default(), &limits(job)) {
            Ok((_, more)) => {
                self.cuts += more.total();
                None
            }
            Err(failure) => {
                self.cuts += failure.cuts;
                Some(self.found(job.label(), failure.failure.kind()))
            }
        })
    }

    fn live(&mut self, mut seeds: impl Iterator<Item = u64>, life: fn(u64) -> Option<&'static str>) -> Option<Found> {
        seeds.find_map(|seed| {
            let what = life(seed);
            self.lives += 1;
            what.map(|what| self.found(format!("life {seed}"), what))
        })
    }

    fn found(&self, by: String, what: &'static str) -> Found {
        Found { by, what, cuts: self.cuts, lives: self.lives }
    }
}

/// A life with cuts and losses; what was wrong with it.
fn life(seed: u64) -> Option<&'static str> {
    let mut kinds = vec![
        FaultKind::Cut(CutOutcome::Any),
        FaultKind::Cut(CutOutcome::SharedCells),
        FaultKind::NestedCut { depth: 2 },
        FaultKind::ProgramFailure,
        FaultKind::EraseFailure,
        FaultKind::Miscorrection,
        FaultKind::BitFlips { flips: Flips::Above, area: Area::Data },
        FaultKind::Damaged(Metadata::Spare),
        FaultKind::Program(Stray::Misdirected),
        FaultKind::Program(Stray::Lost),
    ];
    if seed.is_multiple_of(2) {
        kinds.truncate(3);
        kinds.extend([FaultKind::DeadModule, FaultKind::PulledModule, FaultKind::StuckModule]);
        kinds.extend([What::Same, What::Stale, What::Blank].map(FaultKind::Swapped));
    }
    kinds.push(FaultKind::OutOfReach);
    let config = tiny(Kind::ALL[(seed / 2) as usize % 3]);
    let steps = HostConfig { asks: 1_000, ..HostConfig::life(config.ftl.user_sectors as u32) }.script(seed);
    let plan = Plan::draw(&PlanConfig { kinds, events: 20, asks: 1_000, media_ops: 2_000, beyond: false }, seed);
    let case = Case { seed, steps, plan, bounds: Bounds::default(), clients: 0, shards: 1, beyond: false };
    let life = life::run_guarded(|| CardUnderTest::new(config, Physics::IDEAL, seed), &case);
    life.failure.map(|failure| failure.kind())
}

/// A long life of a card whose modules are drives, which are slow at times and read wrongly. They lose no writes: after a
/// cut nothing tells such a loss from that of a volatile cache (docs/module-files.md).
fn drive_life(seed: u64) -> Option<&'static str> {
    let kinds = vec![FaultKind::SlowModule, FaultKind::Miscorrection];
    let config = tiny(Kind::VolatileCache);
    let usual = HostConfig::life(config.ftl.user_sectors as u32);
    let steps = HostConfig { asks: 4_000, reads: 2 * usual.reads, ..usual }.script(seed);
    let plan = Plan::draw(&PlanConfig { kinds, events: 60, asks: 4_000, media_ops: 8_000, beyond: false }, seed);
    let case = Case { seed, steps, plan, bounds: Bounds::default(), clients: 0, shards: 1, beyond: false };
    let life = life::run_guarded(|| CardUnderTest::new(config, physics(Kind::VolatileCache), seed), &case);
    life.failure.map(|failure| failure.kind())
}

/// An ordinary life of a card whose modules are drives with a log.
fn logged_life(seed: u64) -> Option<&'static str> {
    let swaps = [What::Same, What::Stale, What::Blank].map(FaultKind::Swapped);
    let mut kinds = vec![FaultKind::Cut(CutOutcome::Any), FaultKind::Cut(CutOutcome::CacheLost)];
    kinds.extend([FaultKind::NestedCut { depth: 2 }, FaultKind::PulledModule, FaultKind::Damaged(Metadata::Log)]);
    kinds.extend(swaps);
    let steps = HostConfig { asks: 1_000, ..host_of(Kind::Logged) }.script(seed);
    let plan = Plan::draw(&PlanConfig { kinds, events: 30, asks: 1_000, media_ops: 2_000, beyond: false }, seed);
    let case = Case { seed, steps, plan, bounds: Bounds::default(), clients: 0, shards: 1, beyond: false };
    let subject = || CardUnderTest::new(tiny(Kind::Logged), physics(Kind::Logged), seed);
    life::run_guarded(subject, &case).failure.map(|failure| failure.kind())
}

/// A life of such a card in which its modules go in turn, and that has little but FUA writes and cuts.
fn life_in_turns(seed: u64) -> Option<&'static str> {
    let lived = bench::guarded(|| take_turns(Kind::Logged, seed));
    lived.and_then(|lived| lived).err().map(|failure| failure.kind())
}

fn without_sequences() -> Vec<Job> {
    jobs().into_iter().filter(|job| job.first.is_none()).collect()
}

fn told(found: &Option<Found>) -> String {
    match found {
        Some(Found { by, what, cuts, lives }) => format!("{what}, by {by} after {cuts} cuts and {lives} lives"),
        None => "ALIVE".into(),
    }
}

#[test]
fn every_planted_bug_is_found() {
    let only = std::env::var("CANARY").ok();
    let canaries: Vec<Canary> = Canary::ALL
        .into_iter()
        .filter(|canary| only.as_ref().is_none_or(|only| only.split(',').any(|only| only == canary.name())))
        .collect();
    // Panics of a card with a planted bug are no news.
    std::panic::set_hook(Box::new(|_| {}));
    let jobs = without_sequences();
    let one = |i: u64| {
        plant(Some(canaries[i as usize]));
        let found = Search { jobs: &jobs, cuts: 0, lives: 0 }.look(&hint(canaries[i as usize]));
        plant(None);
        // At once: others take longer.
        eprintln!("{}: {}", canaries[i as usize].name(), told(&found));
        found
    };
    let parallel = Parallel { threads: 0, cancel: &|| false };
    let results = parallel::run(parallel, 0, canaries.len() as u64, one, |_| false, |_| {});
    let _silent = std::panic::take_hook();
    let mut alive = Vec::new();
    for (i, found) in results {
        if found.is_none() {
            alive.push(canaries[i as usize].name());
        }
    }
    assert!(alive.is_empty(), "not found: {}", alive.join(", "));
}

/// Otherwise what finds a planted bug would tell nothing. That the rest finds nothing either is for `cuts` and `lives`.
#[test]
fn without_a_planted_bug_nothing_is_found_where_they_are() {
    let jobs = without_sequences();
    let mut search = Search { jobs: &jobs, cuts: 0, lives: 0 };
    for hint in Canary::ALL.map(hint) {
        let named = |(name, kind): &(&str, Kind)| jobs.iter().find(|job| job.is_of(name, *kind)).expect("a situation");
        let hinted: Vec<&Job> = hint.situations.iter().map(named).collect();
        assert_eq!(search.cut(&hinted, quick), None);
        assert_eq!(search.live(hint.lives.iter().copied(), life), None);
        assert_eq!(search.live(hint.drives.iter().copied(), drive_life), None);
        assert_eq!(search.live(hint.logged.iter().copied(), logged_life), None);
        assert_eq!(search.live(hint.turns.iter().copied(), life_in_turns), None);
    }
}

/// Lives that a bug of the session is looked for in.
const SHARED_LIVES: u64 = 300;
/// Lives that may be lived to make one small that failed.
const SHRINKING_LIVES: u32 = 300;

/// Lives of cards that clients share, each with the bug: how many it took, and what was wrong.
fn shared_lives(canary: Option<session::canary::Canary>, lives: u64) -> Option<(u64, Trial, &'static str)> {
    let campaign = Campaign { seed: 7, cards: Kind::ALL.into(), operations: 400, beyond: false };
    session::canary::plant(canary);
    let found = (0..lives).find_map(|number| {
        let trial = campaign.trial(number);
        trial.run().failure.map(|failure| (number + 1, trial, failure.kind()))
    });
    session::canary::plant(None);
    found
}

#[test]
fn every_bug_planted_in_the_session_is_found_and_made_small() {
    let only = std::env::var("CANARY").ok();
    let canaries: Vec<session::canary::Canary> = session::canary::Canary::ALL
        .into_iter()
        .filter(|canary| only.as_ref().is_none_or(|only| only.split(',').any(|only| only == canary.name())))
        .collect();
    std::panic::set_hook(Box::new(|_| {}));
    let one = |i: u64| {
        let canary = canaries[i as usize];
        let found = shared_lives(Some(canary), SHARED_LIVES);
        let Some((lives, trial, what)) = found else {
            eprintln!("{}: ALIVE after {SHARED_LIVES} lives", canary.name());
            return false;
        };
        session::canary::plant(Some(canary));
        let shrunk = trial.shrink(SHRINKING_LIVES, || false);
        session::canary::plant(None);
        let (small, failure) = shrunk.expect("it fails again");
        let (requests, of) = (small.requests(), trial.requests());
        eprintln!("{}: {what}, after {lives} lives; {requests} of {of} requests fail: {failure}", canary.name());
        // The requests that are left fail because of the bug.
        small.run().failure.is_none() && requests < of
    };
    let parallel = Parallel { threads: 0, cancel: &|| false };
    let results = parallel::run(parallel, 0, canaries.len() as u64, one, |_| false, |_| {});
    let _silent = std::panic::take_hook();
    let alive: Vec<&str> =
        results.into_iter().filter(|(_, found)| !found).map(|(i, _)| canaries[i as usize].name()).collect();
    assert!(alive.is_empty(), "not found, or not made small: {}", alive.join(", "));
}

#[test]
fn without_a_planted_bug_nothing_is_found_in_a_shared_card() {
    assert_eq!(shared_lives(None, 40).map(|(lives, _, what)| (lives, what)), None);
}
