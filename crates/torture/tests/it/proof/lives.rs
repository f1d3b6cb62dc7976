//! Lives of the correct card.

use crate::proof::fake::{Bug, Fake};
use torture::sim::plan::{Area, Flips, Metadata, PlanConfig};
use torture::sim::{
    Activity, Bounds, Case, Contract, CutOutcome, Durability, Event, FaultKind, FaultSpec, HostConfig, Life, Plan,
    What, When, life, parallel,
};

pub const SECTORS: u32 = 64;

/// Bounds that suit a fake.
pub const BOUNDS: Bounds =
    Bounds { answer_steps: 20_000, answer_ns: 10_000_000_000, rest_steps: 20_000, rest_ns: 60_000_000_000 };

/// Faults that the fake knows and repairs, or refuses.
pub fn kinds() -> Vec<FaultKind> {
    let mut kinds: Vec<FaultKind> = [
        CutOutcome::Any,
        CutOutcome::NotBegun,
        CutOutcome::PartlyDone,
        CutOutcome::DoneUnreported,
        CutOutcome::TornGarbage,
        CutOutcome::AnySubset,
        CutOutcome::WeakErase,
    ]
    .map(FaultKind::Cut)
    .into();
    kinds.extend((1..=3).map(|depth| FaultKind::NestedCut { depth }));
    kinds.extend([What::Same, What::Stale, What::Blank, What::Foreign, What::Cloned].map(FaultKind::Swapped));
    kinds.extend([
        FaultKind::DeadModule,
        FaultKind::PulledModule,
        FaultKind::PermutedSlots,
        FaultKind::OtherController,
        FaultKind::ProgramFailure,
        FaultKind::SlowModule,
        FaultKind::Damaged(Metadata::Spare),
        FaultKind::BitFlips { flips: Flips::At, area: Area::Data },
        FaultKind::BitFlips { flips: Flips::Above, area: Area::Data },
    ]);
    kinds
}

pub fn durability(seed: u64) -> Durability {
    if seed.is_multiple_of(2) { Durability::OnAck } else { Durability::OnFlush }
}

pub fn case(seed: u64, asks: u32, kinds: Vec<FaultKind>) -> Case {
    let steps = HostConfig { asks, ..HostConfig::life(SECTORS) }.script(seed);
    let config = PlanConfig { kinds, events: 20, asks, media_ops: u64::from(asks) * 3, beyond: false };
    Case { seed, steps, plan: Plan::draw(&config, seed), bounds: BOUNDS, clients: 0, shards: 1, beyond: false }
}

pub fn run(case: &Case, bug: Option<Bug>) -> Life {
    life::run(Fake::new(case.seed, SECTORS, durability(case.seed), bug), case)
}

#[test]
fn a_correct_card_passes_200_lives_whatever_the_number_of_threads() {
    let traces = |threads| {
        let parallel = parallel::Parallel { threads, cancel: &|| false };
        let work = |seed| run(&case(seed, 5_000, kinds()), None);
        parallel::run(parallel, 0, 200, work, |life| life.failure.is_some(), |_| {})
    };
    let lives = traces(0);
    let mut coverage = torture::sim::Coverage::default();
    for (seed, life) in &lives {
        assert!(life.failure.is_none(), "life {seed}: {}", life.failure.as_ref().unwrap());
        assert!(life.halted.is_none(), "life {seed}: modules were put back");
        coverage.merge(&life.coverage);
    }
    assert_eq!(lives.len(), 200);
    assert!(lives.iter().map(|l| l.1.power_cuts).sum::<u32>() > 600);
    let fires = |kind: &FaultKind| Activity::ALL.iter().any(|&a| coverage.of(*kind, a) > 0);
    let idle: Vec<FaultKind> = kinds().into_iter().filter(|k| !fires(k)).collect();
    assert!(idle.is_empty(), "{idle:?}\n{}", coverage.table());
    let again = traces(1);
    assert!(lives.iter().zip(&again).all(|(a, b)| (a.0, a.1.trace) == (b.0, b.1.trace)));
}

#[test]
fn the_same_case_has_the_same_trace_and_another_has_another() {
    let trace = |seed| run(&case(seed, 500, kinds()), None).trace;
    assert_eq!(trace(1), trace(1));
    assert_ne!(trace(1), trace(3));
}

fn event(when: u32, kind: FaultKind, contract: Option<Contract>) -> Event {
    Event { when: When::HostOp(when), fault: FaultSpec { kind, seed: u64::from(when) }, contract }
}

#[test]
fn what_is_lost_beyond_the_redundancy_is_an_error_of_exactly_these_sectors() {
    let mut errors = 0;
    for seed in 0..40 {
        let mut case = case(seed, 1_000, vec![]);
        case.plan.events.push(event(200, FaultKind::DeadModule, None));
        case.plan.events.extend((0..5).map(|i| event(400 + i, FaultKind::LatentError, None)));
        case.plan.events.extend((0..3).map(|i| event(500 + 10 * i, FaultKind::Cut(CutOutcome::Any), None)));
        let life = run(&case, None);
        assert!(life.failure.is_none(), "life {seed}: {}", life.failure.unwrap());
        errors += life.coverage.of(FaultKind::LatentError, Activity::HostWrite);
    }
    assert!(errors > 0);
}

#[test]
fn an_error_within_the_redundancy_is_a_violation_even_if_the_card_excuses_itself() {
    let found = (0..40).any(|seed| {
        let mut case = case(seed, 1_000, vec![]);
        case.plan.events.push(event(200, FaultKind::DeadModule, None));
        case.plan.events.extend((0..5).map(|i| event(400 + i, FaultKind::LatentError, Some(Contract::Repaired))));
        run(&case, None).failure.is_some_and(|f| f.kind() == "unexplained error")
    });
    assert!(found);
}

#[test]
fn a_failed_flush_and_a_failed_write_are_accepted_where_the_plan_has_them() {
    use torture::sim::plan::HostError::{Eio, FailedSync};
    for seed in 0..40 {
        let mut case = case(seed, 1_000, vec![]);
        for (when, error) in [(100, FailedSync), (200, Eio), (400, FailedSync)] {
            case.plan.events.push(event(when, FaultKind::Host { error, lasting: false }, Some(Contract::Error)));
        }
        case.plan.events.push(event(410, FaultKind::Cut(CutOutcome::Any), None));
        let life = run(&case, None);
        assert!(life.failure.is_none(), "life {seed}: {}", life.failure.unwrap());
        case.plan.events[0].contract = None;
        assert_eq!(run(&case, None).failure.unwrap().kind(), "unexplained failure");
    }
}
