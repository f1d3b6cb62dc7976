//! Lives of tiny cards with faults. `LIVES=1000 cargo test -p torture --test lives` runs more of them, `FROM=41 LIVES=42`
//! the one of a seed again.

use media::Physics;
use sim::plan::{Area, Flips, HostError, Metadata, PlanConfig, Stray};
use sim::{Bounds, Case, CutOutcome, FaultKind, HostConfig, Plan, What, life};
use torture::{CardUnderTest, Kind, tiny};

fn kinds() -> Vec<FaultKind> {
    let cuts = [
        CutOutcome::Any,
        CutOutcome::NotBegun,
        CutOutcome::PartlyDone,
        CutOutcome::DoneUnreported,
        CutOutcome::TornPrefix,
        CutOutcome::TornSuffix,
        CutOutcome::TornSectors,
        CutOutcome::TornGarbage,
        CutOutcome::AnySubset,
        CutOutcome::SharedCells,
        CutOutcome::WeakErase,
    ];
    let nested = (1..=3).map(|depth| FaultKind::NestedCut { depth });
    cuts.map(FaultKind::Cut).into_iter().chain(nested).chain([FaultKind::PermutedSlots]).collect()
}

/// Faults of single units and blocks, each of them within the redundancy.
fn damage() -> Vec<FaultKind> {
    let flips = |area| [Flips::Below, Flips::At, Flips::Above].map(|flips| FaultKind::BitFlips { flips, area });
    let mut kinds = kinds();
    kinds.extend([FaultKind::ProgramFailure, FaultKind::EraseFailure, FaultKind::Miscorrection]);
    kinds.extend([Metadata::HeaderCopy, Metadata::Spare].map(FaultKind::Damaged));
    kinds.extend([Stray::Misdirected, Stray::Lost, Stray::Duplicated].map(FaultKind::Program));
    let once = |error| FaultKind::Host { error, lasting: false };
    kinds.extend([HostError::Eio, HostError::Enospc, HostError::Short].map(once));
    kinds.extend(flips(Area::Data));
    kinds.extend(flips(Area::Metadata));
    kinds
}

/// Lives of all kinds of cards with faults of these kinds.
fn live(lives: u64, kinds: &[FaultKind]) {
    let lives = std::env::var("LIVES").map_or(lives, |n| n.parse().unwrap());
    for seed in std::env::var("FROM").map_or(0, |n| n.parse().unwrap())..lives {
        let kind = Kind::ALL[seed as usize % 3];
        let config = tiny(kind);
        let asks = 1_000;
        let steps = HostConfig { asks, ..HostConfig::life(config.ftl.user_sectors as u32) }.script(seed);
        let plan =
            PlanConfig { kinds: kinds.to_vec(), events: 20, asks, media_ops: u64::from(asks) * 2, beyond: false };
        let case = Case { seed, steps, plan: Plan::draw(&plan, seed), bounds: Bounds::default(), beyond: false };
        let life = life::run_guarded(|| CardUnderTest::new(config, Physics::IDEAL, seed), &case);
        for fired in life.fired.iter().filter(|_| life.failure.is_some()) {
            let event = &case.plan.events[fired.event];
            eprintln!("request {}: {} while {}", fired.asks, event.fault.kind, fired.activity);
        }
        assert!(life.failure.is_none(), "life {seed} of {kind:?}: {}", life.failure.unwrap());
    }
}

#[test]
fn cards_keep_their_promise_through_power_cuts() {
    live(60, &kinds());
}

/// Loss of whole dies and modules.
fn losses() -> Vec<FaultKind> {
    let swaps = [What::Same, What::Stale, What::Blank, What::Foreign, What::Cloned].map(FaultKind::Swapped);
    let mut kinds = kinds();
    kinds.extend([FaultKind::DeadDie, FaultKind::DeadModule, FaultKind::PulledModule, FaultKind::OtherController]);
    kinds.push(FaultKind::StuckModule);
    kinds.extend(swaps);
    kinds
}

#[test]
fn cards_keep_their_promise_without_a_module() {
    live(60, &losses());
}

#[test]
fn cards_keep_their_promise_through_damage_and_power_cuts() {
    live(60, &damage());
}
