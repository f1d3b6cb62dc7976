//! Bugs that are planted one at a time: each is found, and without one nothing is.
//!
//! `CANARY="flush skipped" cargo test -p torture --features canaries --test canaries` plants one of them,
//! or several, with commas between them.

mod common;

use common::{Job, jobs, thorough, work};
use ftl::canary::{Canary, plant};
use media::Physics;
use sim::exhaustive::Limits;
use sim::parallel::{self, Parallel};
use sim::plan::{Area, Flips, Metadata, PlanConfig, Stray};
use sim::{Bounds, Case, CutOutcome, FaultKind, HostConfig, Plan, What, life};
use torture::{CardUnderTest, Kind, tiny};

/// Lives for a canary that no quick look has found.
const LIVES: u64 = 400;

/// A look at every situation that ends soon.
fn quick(job: &Job) -> Limits {
    Limits { outcomes: 6, each_end: false, nested_every: 3, nested: 1, ..thorough(job) }
}

/// How a planted bug was found, if it was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    by: String,
    /// What was wrong.
    what: &'static str,
    /// Cuts and lives before.
    cuts: u64,
    lives: u64,
}

/// Looks for a planted bug, with everything that there is, until it is found.
fn look(jobs: &[Job]) -> Option<Found> {
    let (mut cuts, none) = (0, Default::default());
    let mut pass = |limits: &dyn Fn(&Job) -> Limits| {
        jobs.iter().filter(|job| job.first.is_none()).find_map(|job| match work(job, &none, &limits(job)) {
            Ok((_, more)) => {
                cuts += more.total();
                None
            }
            Err(failure) => {
                Some(Found { by: job.label(), what: failure.failure.kind(), cuts: cuts + failure.cuts, lives: 0 })
            }
        })
    };
    if let Some(found) = pass(&quick) {
        return Some(found);
    }
    let lived = (0..LIVES).find_map(|seed| Some((seed, life(seed)?)));
    if let Some((seed, what)) = lived {
        return Some(Found { by: format!("life {seed}"), what, cuts, lives: seed });
    }
    let found = pass(&thorough);
    found.map(|found| Found { lives: LIVES, ..found })
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
    // Damage that parity can't make up for must not read as an older version.
    let beyond = seed % 4 == 3;
    let config = tiny(Kind::ALL[(seed / 2) as usize % 3]);
    let steps = HostConfig { asks: 1_000, ..HostConfig::life(config.ftl.user_sectors as u32) }.script(seed);
    let plan = Plan::draw(&PlanConfig { kinds, events: 20, asks: 1_000, media_ops: 2_000, beyond }, seed);
    let case = Case { seed, steps, plan, bounds: Bounds::default(), beyond };
    let life = life::run_guarded(|| CardUnderTest::new(config, Physics::IDEAL, seed), &case);
    life.failure.map(|failure| failure.kind())
}

/// In words.
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
    // What planted bugs make of a card is no news.
    std::panic::set_hook(Box::new(|_| {}));
    let jobs = jobs();
    let one = |i: u64| {
        plant(Some(canaries[i as usize]));
        let found = look(&jobs);
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
        let name = canaries[i as usize].name();
        println!("{name}: {}", told(&found));
        if found.is_none() {
            alive.push(name);
        }
    }
    assert!(alive.is_empty(), "not found: {}", alive.join(", "));
}

#[test]
fn without_a_planted_bug_nothing_is_found() {
    for job in jobs().iter().filter(|job| job.first.is_none()) {
        if let Err(failure) = work(job, &Default::default(), &quick(job)) {
            panic!("{}: {failure}", job.label());
        }
    }
    assert!((0..LIVES).find_map(life).is_none());
}
