//! Redundancy is restored when a module is replaced and rebuilt, and when a scrub finds what can't be read. Afterwards
//! a module may die.

use crate::common::turns::take_turns;
use device::{Rng, Time};
use media::Physics;
use torture::sim::plan::{Area, Flips};
use torture::sim::{Bench, Bounds, CutOutcome, FaultKind, FaultSpec, HostConfig, Subject, What, player};
use torture::{CardUnderTest, Kind, tiny};

fn used(kind: Kind, seed: u64) -> Bench<CardUnderTest> {
    let config = tiny(kind);
    let asks = HostConfig { asks: 400, ..HostConfig::life(config.ftl.user_sectors as u32) }.script(seed);
    let mut bench = Bench::new(CardUnderTest::new(config, Physics::IDEAL, seed), Bounds::default());
    play(&mut bench, &asks);
    bench
}

fn play(bench: &mut Bench<CardUnderTest>, asks: &[torture::sim::HostStep]) {
    let mut player = player::Player::new(asks);
    while player.play(bench).unwrap() != player::Played::Over {}
}

fn rest(bench: &mut Bench<CardUnderTest>) {
    bench.rest_from_now();
    while !bench.at_rest().unwrap() {
        assert!(bench.step(Time::NEVER).unwrap() || bench.subject.idle(), "the card never rests");
    }
}

#[test]
fn after_a_rebuild_any_other_module_may_die() {
    for (seed, kind) in (0..12).map(|seed| (seed, Kind::ON_FLASH[seed as usize % 3])) {
        for what in [What::Blank, What::Stale] {
            let mut bench = used(kind, seed);
            let mut rng = Rng::stream(seed, "cuts");
            // A start, so that there is an earlier state of each module to come back.
            bench.cut(CutOutcome::Any, &mut rng);
            bench.recover(None, &mut rng).unwrap();
            let more = HostConfig { asks: 200, ..HostConfig::life(36) }.script(seed + 100);
            play(&mut bench, &more);
            bench.cut(CutOutcome::Any, &mut rng);
            let slot = rng.below(3) as u32;
            assert!(bench.subject.insert(slot, what).is_some());
            bench.recover(None, &mut rng).unwrap();
            let progress = bench.subject.card().unwrap().rebuild_progress();
            assert!(progress.is_some(), "{kind:?} {what:?}: nothing is rebuilt");
            // The host goes on meanwhile.
            let during = HostConfig { asks: 60, ..HostConfig::life(36) }.script(seed + 200);
            play(&mut bench, &during);
            rest(&mut bench);
            assert_eq!(bench.subject.card().unwrap().rebuild_progress(), None);
            bench.read_back().unwrap();
            bench.subject.pull((slot + 1) % 3).unwrap();
            bench.read_back().unwrap();
            assert!(bench.subject.card().unwrap().store_counters().rebuilt_sectors > 0);
            bench.cut(CutOutcome::Any, &mut rng);
            bench.recover(None, &mut rng).unwrap();
            bench.read_back().unwrap();
        }
    }
}

/// Programs that a rebuild needs after a cut in its middle, as a share of all, where the host was at rest.
#[test]
fn a_rebuild_goes_on_after_a_cut_where_it_was_and_is_whole_at_its_end() {
    let (mut all_bytes, mut bytes_again) = (0, 0);
    let kinds = [Kind::Unprotected, Kind::Protected, Kind::SharedCells, Kind::Logged];
    for (seed, kind) in (0..80).map(|seed| (seed, kinds[seed as usize % kinds.len()])) {
        let mut bench = used(kind, seed);
        let mut rng = Rng::stream(seed, "cuts");
        rest(&mut bench);
        let slot = rng.below(3) as u32;
        bench.subject.pull(slot).unwrap();
        let all = {
            assert!(bench.subject.insert(slot, What::Blank).is_some());
            bench.subject.card().unwrap().rebuild_progress().unwrap().bytes_left
        };
        let left = |bench: &Bench<CardUnderTest>| bench.subject.card().unwrap().rebuild_progress();
        while left(&bench).is_some_and(|progress| progress.bytes_done < all / 2) {
            assert!(bench.step(Time::NEVER).unwrap() || bench.subject.idle());
        }
        bench.cut(CutOutcome::Any, &mut rng);
        bench.recover(None, &mut rng).unwrap();
        // In some lives it ends during the start.
        if let Some(progress) = left(&bench) {
            let again = progress.bytes_done + progress.bytes_left;
            (all_bytes, bytes_again) = (all_bytes + all, bytes_again + again);
        }
        rest(&mut bench);
        assert_eq!(left(&bench), None, "{kind:?}, seed {seed}");
        bench.subject.pull((slot + 1) % 3).unwrap();
        bench.read_back().unwrap();
        bench.cut(CutOutcome::Any, &mut rng);
        bench.recover(None, &mut rng).unwrap();
        bench.read_back().unwrap();
        assert_eq!(bench.subject.card().unwrap().store_counters().lost_sectors, 0, "{kind:?}, seed {seed}");
    }
    let share = bytes_again as f64 / all_bytes as f64;
    assert!(all_bytes > 1_000_000 && share < 0.4, "{share:.2} of {all_bytes} bytes are rebuilt again");
}

#[test]
fn after_a_scrub_a_module_may_die_although_sectors_went_bad_before() {
    for (seed, kind) in (0..30).map(|seed| (seed, Kind::ON_FLASH[seed as usize % 3])) {
        let mut bench = used(kind, seed);
        rest(&mut bench);
        let fault = FaultSpec { kind: FaultKind::BitFlips { flips: Flips::Above, area: Area::Data }, seed };
        assert!(bench.subject.inject(&fault).is_some());
        bench.subject.scrub();
        rest(&mut bench);
        bench.subject.pull(seed as u32 % 3).unwrap();
        bench.read_back().unwrap();
        assert_eq!(bench.subject.card().unwrap().store_counters().lost_sectors, 0);
    }
}

/// A rebuild leaves out what nobody needs: whichever module goes later, what is left tells of the rest.
#[test]
fn modules_may_go_one_after_the_other_when_each_was_rebuilt() {
    for kind in [Kind::Unprotected, Kind::VolatileCache, Kind::Logged] {
        for seed in 0..64 {
            take_turns(kind, seed).unwrap_or_else(|failure| panic!("seed {seed} of {kind:?}: {failure}"));
        }
    }
}
