//! Lives of tiny cards with all faults that they can be given. `flashrig torture` lives more of them.

use device::Rng;
use torture::campaign::{Campaign, Limits, Tally};
use torture::sim::{Bench, Bounds, CutOutcome, FaultKind, FaultSpec, HostConfig, Subject, What, player};
use torture::{CardUnderTest, Kind, host_of, physics, tiny};

fn campaign() -> Campaign {
    Campaign { seed: 1, cards: Kind::ALL.into(), operations: 1_000, beyond: false }
}

fn live(campaign: &Campaign, lives: u64, threads: usize) -> Tally {
    let limits = Limits { first: 0, lives, until: None, threads, cancelled: &|| false, progress: &|_| {} };
    let (tally, violation) = campaign.run(&limits);
    if let Some(violation) = violation {
        let faults: Vec<String> = violation.faults.iter().map(ToString::to_string).collect();
        let faults = faults.join("\n");
        panic!("life {} of {:?}: {}\n{faults}", violation.life, violation.trial.card, violation.wrong);
    }
    tally
}

#[test]
fn cards_keep_their_promise_through_all_faults() {
    let tally = live(&campaign(), 200, 0);
    assert_eq!(tally.lives, 200);
    assert_eq!(tally.rested + tally.halted.values().sum::<u64>(), 200);
    assert!(tally.power_cuts > 500 && tally.nested_cuts > 50 && tally.mends > 50, "{tally:?}");
}

#[test]
fn the_same_campaign_is_the_same_whatever_the_number_of_threads() {
    let of = |seed, threads| live(&Campaign { seed, operations: 300, ..campaign() }, 40, threads).trace;
    assert_eq!(of(1, 1), of(1, 3));
    assert_ne!(of(1, 1), of(2, 1));
}

/// A fault can be given when a card that has been at work, with power or without, takes it at some time.
#[test]
fn every_fault_can_be_given() {
    let mut taken = std::collections::BTreeSet::new();
    for (seed, kind) in (0..60).map(|seed| (seed, Kind::ALL[seed as usize % Kind::ALL.len()])) {
        let config = tiny(kind);
        let mut bench = Bench::new(CardUnderTest::new(config, physics(kind), seed), Bounds::default());
        let asks = HostConfig { asks: 200, ..host_of(kind) }.script(seed);
        let mut player = player::Player::new(&asks);
        while player.play(&mut bench).unwrap() != player::Played::Over {}
        for fault in FaultKind::all().into_iter().map(|kind| FaultSpec { kind, seed }) {
            let mut rng = Rng::stream(seed, "cut");
            let mut off = bench.clone();
            off.cut(CutOutcome::Any, &mut rng);
            let is_taken = match fault.kind {
                FaultKind::NestedCut { .. } => true,
                FaultKind::PulledModule => bench.clone().subject.pull(0).is_some(),
                FaultKind::PermutedSlots => off.subject.permute(&[1, 2, 0]),
                FaultKind::Swapped(what) => {
                    // So that there is an earlier state of the module.
                    off.recover(None, &mut rng).unwrap();
                    off.cut(CutOutcome::Any, &mut rng);
                    off.subject.insert(0, what).is_some()
                }
                FaultKind::LatentError => {
                    // A module is being rebuilt.
                    off.subject.insert(0, What::Blank).unwrap();
                    off.recover(None, &mut rng).unwrap();
                    off.subject.inject(&fault).is_some()
                }
                FaultKind::Cut(how) => cuts_sometime(&bench, how, seed),
                _ => bench.clone().subject.inject(&fault).is_some() || off.subject.inject(&fault).is_some(),
            };
            if is_taken {
                taken.insert(fault.kind);
            }
        }
    }
    let missing: Vec<String> =
        FaultKind::all().iter().filter(|kind| !taken.contains(kind)).map(ToString::to_string).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// While the host goes on, at one of its steps.
fn cuts_sometime(bench: &Bench<CardUnderTest>, how: CutOutcome, seed: u64) -> bool {
    let mut bench = bench.clone();
    let asks = HostConfig { asks: 30, ..HostConfig::life(36) }.script(seed + 1_000);
    let mut player = player::Player::new(&asks);
    while player.play(&mut bench).unwrap() != player::Played::Over {
        if bench.clone().cut(how, &mut Rng::stream(seed, "cut")) {
            return true;
        }
    }
    false
}

/// All that a log can meet is met.
#[test]
fn logs_meet_all_that_may_happen_to_them() {
    let campaign = Campaign { cards: vec![Kind::Logged], ..campaign() };
    let tally = live(&campaign, 120, 0);
    for (what, count) in tally.log.counts() {
        assert!(count >= 3, "{what}: {count} times in 120 lives");
    }
}

/// How clients get in each other's way is met as often as faults are.
#[test]
fn clients_share_a_card_and_meet_each_other() {
    let tally = live(&campaign(), 30, 0);
    for (what, count) in tally.met.counts() {
        assert!(count >= 30, "{what}: {count} times in 30 lives");
    }
}
