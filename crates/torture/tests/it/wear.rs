//! Cards that wear out, fade, and are read often. `LIVES=30 cargo test -p torture --test it wear -- --nocapture` tries
//! more of them, and shows how long they lived; `FROM=41 LIVES=42` tries the one of a seed again.

use card::Health;
use device::{Rng, Time};
use media::{ErrorRates, Physics};
use torture::sim::plan::{Area, Flips, PlanConfig};
use torture::sim::{
    Ask, Bench, Bounds, Case, CutOutcome, FaultKind, FaultSpec, HostConfig, Impact, Lba, Plan, Subject,
};
use torture::sim::{life, player};
use torture::{CardUnderTest, FADING, Kind, RATED_CYCLES, short_lived, wearing};

type Worn = Bench<CardUnderTest>;

fn lives(default: u64) -> std::ops::Range<u64> {
    let number = |name, default| std::env::var(name).map_or(default, |n| n.parse().unwrap());
    number("FROM", 0)..number("LIVES", default)
}

fn play(bench: &mut Worn, asks: u32, seed: u64) {
    let steps = HostConfig { asks, ..HostConfig::life(bench.subject.sectors()) }.script(seed);
    let mut player = player::Player::new(&steps);
    while player.play(bench).unwrap() != player::Played::Over {}
}

fn rest(bench: &mut Worn) {
    bench.rest_from_now();
    while !bench.at_rest().unwrap() {
        assert!(bench.step(Time::NEVER).unwrap() || bench.subject.idle(), "the card never rests");
    }
}

fn health(bench: &Worn) -> Health {
    bench.subject.card().unwrap().health()
}

/// Nothing of a card's health gets better.
fn assert_no_better(now: &Health, before: &Health, clean: bool) {
    assert!(now.available_spare <= before.available_spare, "{now:?} after {before:?}");
    assert!(now.percentage_used >= before.percentage_used, "{now:?} after {before:?}");
    assert!(now.power_cycles >= before.power_cycles && now.unsafe_shutdowns >= before.unsafe_shutdowns);
    assert!(now.critical_warning.read_only >= before.critical_warning.read_only, "writable again");
    if clean {
        assert!(now.data_units_written >= before.data_units_written && now.data_units_read >= before.data_units_read);
        assert!(now.host_write_commands >= before.host_write_commands);
        assert!(now.host_read_commands >= before.host_read_commands && now.media_errors >= before.media_errors);
    }
}

/// A life until the card takes no more writes: days pass, the power goes, in order or not.
fn wear_out(kind: Kind, physics: Physics, seed: u64) -> (Worn, Health) {
    let mut bench = Bench::new(CardUnderTest::new(wearing(kind), physics, seed), Bounds::default());
    // Writes may fail; that they do not before the end is looked at below.
    bench.oracle.allow(&Impact { may_fail: true, ..Impact::default() });
    let mut rng = Rng::stream(seed, "life");
    let mut before = health(&bench);
    assert_eq!((before.available_spare, before.percentage_used), (100, 0));
    for round in 0..1_000 {
        play(&mut bench, 100, seed << 32 | round);
        let mut clean = true;
        match rng.below(8) {
            0 => {
                clean = false;
                bench.cut(CutOutcome::Any, &mut rng);
                bench.recover(None, &mut rng).unwrap();
            }
            1 => {
                rest(&mut bench);
                bench.subject.shut_down();
                bench.recover(None, &mut rng).unwrap();
                assert_eq!(health(&bench).unsafe_shutdowns, before.unsafe_shutdowns);
            }
            2 => bench.subject.rest(30.0),
            _ => {}
        }
        let now = health(&bench);
        assert_no_better(&now, &before, clean);
        assert!(now.critical_warning.read_only || bench.subject.refused() == 0, "a write failed before the end");
        if now.critical_warning.read_only {
            return (bench, now);
        }
        before = now;
    }
    panic!("the card never wears out: {before:?}");
}

/// The life of a seed, and the name of its flash.
fn life_of(seed: u64) -> (Worn, Health, &'static str) {
    println!("life {seed}");
    let kind = Kind::ALL[seed as usize % 3];
    let (name, physics) = [("SLC", Physics::SLC), ("MLC", Physics::MLC), ("TLC", Physics::TLC)][seed as usize / 3 % 3];
    let (bench, end) = wear_out(kind, short_lived(physics), seed);
    (bench, end, name)
}

/// In life 176 several flushes wait while programs fail, and a list of holes is written as of an older version than one
/// before it.
#[test]
fn lives_that_ended_badly_once_do_so_no_more() {
    life_of(176).0.read_back().unwrap();
}

#[test]
fn a_card_that_wore_out_is_read_only_and_all_of_it_can_be_read() {
    for seed in lives(9) {
        let kind = Kind::ALL[seed as usize % 3];
        let (mut bench, end, name) = life_of(seed);
        let card = bench.subject.card().unwrap();
        let counters = card.store_counters();
        let ftl = card.ftl().counters();
        println!(
            "{name} {kind:?}: {} data units written, {} % used, {} blocks bad, {} retries in {} reads, {} erases",
            end.data_units_written,
            end.percentage_used,
            card.ftl().blocks().bad_count(),
            counters.read_retries,
            counters.reads,
            ftl.erases,
        );
        assert!(end.percentage_used >= 50, "{end:?} of {RATED_CYCLES} cycles");
        assert_eq!(end.available_spare, 0);
        assert_eq!(end.critical_warning.bits() & 0b1001, 0b1001);
        bench.read_back().unwrap();
        let mut rng = Rng::stream(seed, "end");
        for _ in 0..3 {
            bench.cut(CutOutcome::Any, &mut rng);
            bench.recover(None, &mut rng).unwrap();
            assert!(health(&bench).critical_warning.read_only, "writable after a start");
            bench.read_back().unwrap();
            let refused = bench.subject.refused();
            for ask in [Ask::Write { lba: Lba(1), count: 2, fua: false }, Ask::Trim { lba: Lba(5), count: 1 }] {
                bench.submit(&ask).unwrap();
                while bench.in_flight() > 0 {
                    bench.step(Time::NEVER).unwrap();
                }
            }
            assert_eq!(bench.subject.refused(), refused + 2);
            bench.read_back().unwrap();
        }
        assert_eq!(health(&bench).media_errors, 0);
        // The parity is still there.
        rest(&mut bench);
        bench.subject.pull(seed as u32 % 3).unwrap();
        bench.read_back().unwrap();
    }
}

fn used(physics: Physics, seed: u64) -> Worn {
    let kind = Kind::ALL[seed as usize % 3];
    let mut bench = Bench::new(CardUnderTest::new(wearing(kind), physics, seed), Bounds::default());
    play(&mut bench, 600, seed);
    rest(&mut bench);
    bench
}

/// Reads everything; how many retries a unit took.
fn retries_of_a_read(bench: &mut Worn) -> f64 {
    let counters = |bench: &Worn| bench.subject.card().unwrap().store_counters();
    let before = counters(bench);
    bench.read_back().unwrap();
    let after = counters(bench);
    (after.read_retries - before.read_retries) as f64 / (after.reads - before.reads) as f64
}

#[test]
fn cold_data_stay_fresh_for_years_when_the_patrol_looks_and_fade_when_nobody_does() {
    for seed in 0..6 {
        let mut watched = used(FADING, seed);
        let mut forgotten = watched.clone();
        let before = watched.subject.card().unwrap().ftl().counters().relocated_sectors;
        for _ in 0..10 {
            watched.subject.rest(365.0);
            rest(&mut watched);
        }
        assert_eq!(retries_of_a_read(&mut watched), 0.0);
        let card = watched.subject.card().unwrap();
        assert_eq!(card.health().media_errors, 0);
        let moved = card.ftl().counters().relocated_sectors - before;
        assert!(moved >= u64::from(watched.subject.sectors()), "the data never faded: {moved} sectors moved");
        // Nobody looks without power.
        let mut rng = Rng::stream(seed, "cuts");
        forgotten.cut(CutOutcome::Any, &mut rng);
        forgotten.subject.rest(10.0 * 365.0);
        forgotten.recover(None, &mut rng).unwrap();
        forgotten.read_back().unwrap();
        let counters = forgotten.subject.card().unwrap().store_counters();
        assert!(counters.read_retries > 36, "{counters:?}");
    }
}

#[test]
fn a_block_that_is_read_often_is_written_elsewhere_in_time() {
    // Reads that the patrol allows come near to the end on flash that is hardly worn.
    let errors = ErrorRates { retention_year: 0.0, disturb_read: 1e-5, ..FADING.errors };
    let mut moved = 0;
    for seed in 0..12 {
        let mut bench = used(Physics { errors, ..FADING }, seed);
        let before = bench.subject.card().unwrap().ftl().counters().relocated_sectors;
        for i in 0..200 {
            let fault = FaultSpec { kind: FaultKind::ReadDisturb, seed: seed << 16 | i };
            assert!(bench.subject.inject(&fault).is_some());
            rest(&mut bench);
        }
        bench.read_back().unwrap();
        let card = bench.subject.card().unwrap();
        assert_eq!(card.health().media_errors, 0);
        moved += card.ftl().counters().relocated_sectors - before;
    }
    assert!(moved > 12 * 36, "{moved}");
}

#[test]
fn cards_on_fading_flash_keep_their_promise_through_power_cuts() {
    let flips = |flips| FaultKind::BitFlips { flips, area: Area::Data };
    let cuts = [CutOutcome::Any, CutOutcome::PartlyDone, CutOutcome::TornGarbage, CutOutcome::WeakErase];
    let mut kinds = vec![FaultKind::Retention, FaultKind::ReadDisturb, flips(Flips::Below)];
    kinds.extend(cuts.map(FaultKind::Cut));
    kinds.extend([FaultKind::ProgramFailure, FaultKind::EraseFailure, FaultKind::NestedCut { depth: 2 }]);
    for seed in lives(60) {
        let config = wearing(Kind::ALL[seed as usize % 3]);
        let asks = 1_000;
        let steps = HostConfig { asks, ..HostConfig::life(config.ftl.user_sectors as u32) }.script(seed);
        let plan = PlanConfig { kinds: kinds.clone(), events: 30, asks, media_ops: u64::from(asks) * 2, beyond: false };
        let case = Case {
            seed,
            steps,
            plan: Plan::draw(&plan, seed),
            bounds: Bounds::default(),
            clients: 0,
            shards: 1,
            beyond: false,
        };
        let life = life::run_guarded(|| CardUnderTest::new(config, FADING, seed), &case);
        for fired in life.fired.iter().filter(|_| life.failure.is_some()) {
            let event = &case.plan.events[fired.event];
            eprintln!("request {}: {} while {}", fired.asks, event.fault.kind, fired.activity);
        }
        assert!(life.failure.is_none(), "life {seed}: {}", life.failure.unwrap());
    }
}
