//! Lives of tiny cards with power cuts.

use media::Physics;
use sim::plan::PlanConfig;
use sim::{Bounds, Case, CutOutcome, FaultKind, HostConfig, Plan, life};
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

#[test]
fn cards_keep_their_promise_through_power_cuts() {
    for seed in 0..std::env::var("LIVES").map_or(60, |n| n.parse().unwrap()) {
        let kind = Kind::ALL[seed as usize % 3];
        let config = tiny(kind);
        let asks = 1_000;
        let steps = HostConfig { asks, ..HostConfig::life(config.ftl.user_sectors as u32) }.script(seed);
        let plan = PlanConfig { kinds: kinds(), events: 20, asks, media_ops: u64::from(asks) * 2 };
        let case = Case { seed, steps, plan: Plan::draw(&plan, seed), bounds: Bounds::default() };
        let life = life::run(CardUnderTest::new(config, Physics::IDEAL, seed), &case);
        assert!(life.failure.is_none(), "life {seed} of {kind:?}: {}", life.failure.unwrap());
    }
}
