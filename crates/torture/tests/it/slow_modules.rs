//! The time that slow modules and modules that don't answer cost.

use card::CardConfig;
use device::Time;
use media::{Fault, Media, Physics};
use torture::sim::{Ask, Bench, Bounds, Lba, Subject};
use torture::{CardUnderTest, Kind, tiny};

const SECTORS: u32 = 36;

/// A card at rest, each sector written once.
fn written(config: CardConfig) -> Bench<CardUnderTest> {
    let mut bench = Bench::new(CardUnderTest::new(config, Physics::IDEAL, 1), Bounds::default());
    // As many at once as a stripe takes.
    for lba in (0..SECTORS).step_by(4) {
        ask(&mut bench, &Ask::Write { lba: Lba(lba), count: 4, fua: true });
    }
    rest(&mut bench);
    bench
}

fn rest(bench: &mut Bench<CardUnderTest>) {
    bench.rest_from_now();
    while !bench.at_rest().unwrap() {
        bench.step(Time::NEVER).unwrap();
    }
}

/// Nanoseconds until a request is answered.
fn ask(bench: &mut Bench<CardUnderTest>, ask: &Ask) -> u64 {
    let begun = bench.subject.now();
    bench.submit(ask).unwrap();
    while bench.in_flight() > 0 {
        bench.step(Time::NEVER).unwrap();
    }
    bench.subject.now().since_ns(begun)
}

fn inject(bench: &mut Bench<CardUnderTest>, fault: Fault) {
    assert!(bench.subject.card_mut().unwrap().media_contents_mut().unwrap().inject(fault));
}

/// Sectors that lie on a module.
fn on_module(bench: &Bench<CardUnderTest>, slot: u32) -> Vec<Lba> {
    let card = bench.subject.card().unwrap();
    let die = |lba: u32| card.ftl().lookup(ftl::Lba(lba)).map(|ppa| card.ftl().layout().locate(ppa).die);
    (0..SECTORS).filter(|lba| die(*lba).and_then(|die| card.slot_of(die)) == Some(slot)).map(Lba).collect()
}

#[test]
fn a_slow_module_takes_so_many_times_as_long_and_makes_no_errors() {
    let mut bench = written(tiny(Kind::Unprotected));
    let slow = on_module(&bench, 1);
    let other = on_module(&bench, 2)[0];
    let read = |bench: &mut Bench<CardUnderTest>, lba| ask(bench, &Ask::Read { lba, count: 1 });
    let usual = read(&mut bench, slow[0]);
    inject(&mut bench, Fault::ModuleSlow { module: 1, percent: 1_000 });
    let slowed = read(&mut bench, slow[0]);
    let array_ns = tiny(Kind::Unprotected).nand.timing.native.read_ns;
    assert!(slowed >= usual + 9 * array_ns, "{slowed} ns, without {usual} ns");
    assert_eq!(read(&mut bench, other), usual);
    // A write waits for the slowest of its stripe.
    let write = ask(&mut bench, &Ask::Write { lba: Lba(0), count: 1, fua: true });
    assert!(write >= 10 * tiny(Kind::Unprotected).nand.timing.native.program_ns, "{write} ns");
    inject(&mut bench, Fault::ModuleSlow { module: 1, percent: 100 });
    rest(&mut bench);
    bench.read_back().unwrap();
    let counters = bench.subject.card().unwrap().store_counters();
    assert_eq!((counters.rebuilt_sectors, counters.lost_sectors), (0, 0));
}

#[test]
fn a_stuck_module_costs_its_time_out_once_and_is_done_without() {
    let config = tiny(Kind::Unprotected);
    let mut bench = written(config);
    let lbas = on_module(&bench, 1);
    inject(&mut bench, Fault::ModuleStuck { module: 1 });
    let first = ask(&mut bench, &Ask::Read { lba: lbas[0], count: 1 });
    let timeout_ns = config.care.module_timeout_ns;
    assert!((timeout_ns..timeout_ns + 5_000_000).contains(&first), "{first} ns");
    for &lba in &lbas[1..] {
        let next = ask(&mut bench, &Ask::Read { lba, count: 1 });
        assert!(next < 5_000_000, "{next} ns: the module is asked again");
    }
    let write = ask(&mut bench, &Ask::Write { lba: lbas[0], count: 1, fua: true });
    assert!(write < timeout_ns, "{write} ns");
    let card = bench.subject.card().unwrap();
    assert!(card.store_counters().rebuilt_sectors > 0);
    assert!((0..3).all(|die| card.slot_of(die) != Some(1)), "it counts as gone");
    // With the power it comes back, stale.
    let mut rng = device::Rng::stream(1, "cut");
    bench.cut(torture::sim::CutOutcome::Any, &mut rng);
    bench.recover(None, &mut rng).unwrap();
    assert!((0..3).any(|die| bench.subject.card().unwrap().slot_of(die) == Some(1)));
    rest(&mut bench);
    bench.subject.pull(0).unwrap();
    bench.read_back().unwrap();
}

#[test]
fn a_program_that_a_stuck_module_took_ends_with_the_time_out() {
    let config = tiny(Kind::Unprotected);
    let mut bench = written(config);
    bench.submit(&Ask::Write { lba: Lba(3), count: 1, fua: true }).unwrap();
    while !bench.subject.card().unwrap().programs() {
        bench.step(Time::NEVER).unwrap();
    }
    let begun = bench.subject.now();
    inject(&mut bench, Fault::ModuleStuck { module: 2 });
    while bench.in_flight() > 0 {
        bench.step(Time::NEVER).unwrap();
    }
    let took = bench.subject.now().since_ns(begun);
    assert!(
        (config.care.module_timeout_ns - 1_000_000..config.care.module_timeout_ns + 10_000_000).contains(&took),
        "{took} ns"
    );
    let flash = bench.subject.flash();
    assert!(flash.is_stuck(2) && !flash.is_volatile());
    bench.read_back().unwrap();
}
