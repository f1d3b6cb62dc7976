//! Lives in which modules come, go, get stuck, are slow, and in which what holds them fails. `LIVES=1000 cargo test -p
//! torture --test it module_lives` runs more of them, `FROM=41 LIVES=42` the one of a seed again.

use media::Physics;
use torture::sim::plan::{Area, Flips, HostError, PlanConfig};
use torture::sim::{Bounds, Case, Coverage, CutOutcome, FaultKind, HostConfig, Plan, What, life};
use torture::{CardUnderTest, Kind, host_of, physics, tiny};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |n| n.parse().unwrap())
}

/// Lives of these cards with cuts and faults of these kinds; each of the faults happens in one of them at least.
fn live(lives: u64, cards: &[Kind], kinds: &[FaultKind]) {
    live_on(lives, cards, kinds, physics);
}

fn live_on(lives: u64, cards: &[Kind], kinds: &[FaultKind], physics: fn(Kind) -> Physics) {
    let (from, lives) = (number("FROM", 0), number("LIVES", lives));
    let cuts = [FaultKind::Cut(CutOutcome::Any), FaultKind::NestedCut { depth: 2 }];
    let all: Vec<FaultKind> = cuts.into_iter().chain(kinds.iter().copied()).collect();
    let (mut coverage, mut failed) = (Coverage::default(), 0);
    for seed in from..lives {
        let kind = cards[seed as usize % cards.len()];
        let config = tiny(kind);
        let asks = 600;
        let steps = HostConfig { asks, ..host_of(kind) }.script(seed);
        let plan = PlanConfig { kinds: all.clone(), events: 12, asks, media_ops: u64::from(asks) * 2, beyond: false };
        let case = Case {
            seed,
            steps,
            plan: Plan::draw(&plan, seed),
            bounds: Bounds::default(),
            clients: 0,
            shards: 1,
            beyond: false,
        };
        let life = life::run_guarded(|| CardUnderTest::new(config, physics(kind), seed), &case);
        for fired in life.fired.iter().filter(|_| life.failure.is_some()) {
            let event = &case.plan.events[fired.event];
            eprintln!("request {}: {} while {}", fired.asks, event.fault.kind, fired.activity);
        }
        coverage.merge(&life.coverage);
        if let Some(failure) = life.failure {
            failed += 1;
            eprintln!("life {seed} of {kind:?}: {failure}");
        }
        if failed >= 5 {
            break;
        }
    }
    assert_eq!(failed, 0, "lives that ended badly");
    if from == 0 {
        for &kind in kinds {
            let met: u64 = torture::sim::Activity::ALL.iter().map(|&activity| coverage.of(kind, activity)).sum();
            assert!(met > 0, "{kind} never happened");
        }
    }
}

#[test]
fn modules_come_and_go_while_the_card_works() {
    let swaps = [What::Same, What::Stale, What::Blank, What::Foreign, What::Cloned].map(FaultKind::Swapped);
    let mut kinds = swaps.to_vec();
    kinds.extend([FaultKind::PulledModule, FaultKind::PermutedSlots, FaultKind::OtherController]);
    live(80, &Kind::ALL, &kinds);
}

#[test]
fn slow_and_stuck_modules_hold_nobody_up_for_ever() {
    live(60, &Kind::ALL, &[FaultKind::SlowModule, FaultKind::StuckModule]);
}

#[test]
fn dead_dies_and_modules_cost_nothing_within_the_redundancy() {
    live(60, &Kind::ALL, &[FaultKind::DeadDie, FaultKind::DeadModule, FaultKind::Swapped(What::Blank)]);
}

#[test]
fn what_holds_a_module_may_fail_once_or_for_ever() {
    let errors = [HostError::Eio, HostError::Enospc, HostError::Short];
    let kinds: Vec<FaultKind> =
        errors.into_iter().flat_map(|error| [false, true].map(|lasting| FaultKind::Host { error, lasting })).collect();
    live(120, &Kind::ALL, &kinds);
}

#[test]
fn what_was_not_synced_may_be_lost_and_a_sync_may_fail() {
    let failed = |lasting| FaultKind::Host { error: HostError::FailedSync, lasting };
    let kinds = [FaultKind::Cut(CutOutcome::CacheLost), failed(false), failed(true), FaultKind::PulledModule];
    live(80, &[Kind::VolatileCache, Kind::Logged], &kinds);
}

#[test]
fn a_latent_error_found_in_a_rebuild_costs_the_sectors_of_its_place_and_no_others() {
    let kinds = [FaultKind::LatentError, FaultKind::Swapped(What::Blank), FaultKind::Swapped(What::Stale)];
    live(200, &Kind::ALL, &kinds);
}

#[test]
fn two_controllers_never_mix_what_they_write() {
    live(
        60,
        &[Kind::Unprotected, Kind::VolatileCache, Kind::Logged],
        &[FaultKind::TwoControllers, FaultKind::OtherController],
    );
}

#[test]
fn other_versions_of_the_format_are_refused() {
    live(30, &Kind::ALL, &[FaultKind::OlderFormat, FaultKind::NewerFormat]);
}

#[test]
fn cards_on_files_keep_their_promise_through_power_cuts_and_damage() {
    let flips = FaultKind::BitFlips { flips: Flips::Above, area: Area::Data };
    let mut kinds = vec![flips, FaultKind::ProgramFailure, FaultKind::EraseFailure, FaultKind::Miscorrection];
    kinds.push(FaultKind::Cut(CutOutcome::CacheLost));
    kinds.push(FaultKind::Cut(CutOutcome::AnySubset));
    kinds.push(FaultKind::Cut(CutOutcome::WeakErase));
    live(80, &[Kind::VolatileCache, Kind::Logged], &kinds);
}

#[test]
fn with_capacitors_and_a_volatile_cache_what_is_acknowledged_is_durable() {
    let kinds = [FaultKind::Cut(CutOutcome::CacheLost), FaultKind::Cut(CutOutcome::Any), FaultKind::DeadModule];
    let physics = |kind| Physics { volatile_cache: true, ..physics(kind) };
    live_on(80, &[Kind::Protected, Kind::SharedCells], &kinds, physics);
}
