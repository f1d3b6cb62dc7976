//! Cards with a log: it answers flushes, and what it holds is there after a cut.

use device::Rng;
use torture::sim::bench::Recovered;
use torture::sim::{Ask, Bench, Bounds, CutOutcome, FaultKind, FaultSpec, HostConfig, Lba, Subject, What, player};
use torture::{CardUnderTest, Kind, physics, tiny};

fn bench(seed: u64) -> Bench<CardUnderTest> {
    Bench::new(CardUnderTest::new(tiny(Kind::Logged), physics(Kind::Logged), seed), Bounds::default())
}

fn answered(bench: &mut Bench<CardUnderTest>, ask: &Ask) {
    bench.submit(ask).unwrap();
    while bench.in_flight() > 0 {
        bench.step(device::Time::NEVER).unwrap();
    }
}

#[test]
fn a_sector_that_is_flushed_goes_to_the_log_and_no_stripe_is_padded_for_it() {
    let mut bench = bench(1);
    answered(&mut bench, &Ask::Write { lba: Lba(3), count: 1, fua: true });
    let card = bench.subject.card().unwrap();
    let log = card.log_counters().unwrap();
    assert_eq!((log.records, log.sectors, log.flushes), (1, 1, 1));
    assert!(log.bytes > 0);
    assert_eq!(card.ftl().counters().padding_sectors, 0);
    // The next start finds the sector that lies in the log alone, and it is in a stripe when the start is over.
    let mut rng = Rng::stream(1, "log");
    assert!(bench.cut(CutOutcome::Any, &mut rng));
    assert!(matches!(bench.recover(None, &mut rng).unwrap(), Recovered::Serves(_)));
    assert_eq!(bench.subject.card().unwrap().log_counters().unwrap().replayed_sectors, 1);
    bench.read_back().unwrap();
    // A start finds nothing that is in the log only, once it is in stripes.
    assert!(bench.cut(CutOutcome::Any, &mut rng));
    assert!(matches!(bench.recover(None, &mut rng).unwrap(), Recovered::Serves(_)));
    assert_eq!(bench.subject.card().unwrap().log_counters().unwrap().replayed_sectors, 0);
    bench.read_back().unwrap();
}

#[test]
fn a_start_that_replays_the_log_may_itself_be_cut_and_a_module_be_away() {
    for (seed, pulled) in (0..60).map(|seed| (seed, seed % 4)) {
        let mut bench = bench(seed);
        let mut rng = Rng::stream(seed, "log");
        for lba in 0..6 {
            answered(&mut bench, &Ask::Write { lba: Lba(lba % 4), count: 1, fua: lba % 2 == 0 });
        }
        answered(&mut bench, &Ask::Flush);
        bench.cut(CutOutcome::Any, &mut rng);
        // The fourth slot is none: nothing is pulled.
        if pulled < 3 {
            bench.subject.pull(pulled as u32);
        }
        let _cut_or_over = bench.recover(Some(seed % 9), &mut rng).unwrap();
        if bench.subject.card().is_none() {
            assert!(matches!(bench.recover(None, &mut rng).unwrap(), Recovered::Serves(_)));
        }
        bench.read_back().unwrap();
    }
}

#[test]
fn flushes_of_a_busy_host_share_records_and_the_ring_is_used_again() {
    let mut bench = bench(7);
    let asks =
        HostConfig { asks: 3_000, longest: 1, trims: 0, zeroes: 0, flushes: 300, ..HostConfig::life(36) }.script(7);
    let mut player = player::Player::new(&asks);
    while player.play(&mut bench).unwrap() != player::Played::Over {}
    let log = bench.subject.card().unwrap().log_counters().unwrap();
    assert!(log.flushes > log.records, "{log:?}");
    assert!(log.wraps > 10, "{log:?}");
}

/// A start without room for what it finds in the log stops the card before a host can read something older.
#[test]
fn what_has_no_place_after_a_start_is_never_read_as_something_older() {
    let mut stopped = 0;
    for (seed, slot) in (0..60).flat_map(|seed| (0..3).map(move |slot| (seed, slot))) {
        let mut bench = bench(seed);
        let mut rng = Rng::stream(seed, "log");
        answered(&mut bench, &Ask::Write { lba: Lba(2), count: 1, fua: false });
        bench.cut(CutOutcome::Any, &mut rng);
        bench.subject.inject(&FaultSpec { kind: FaultKind::DeadDie, seed });
        bench.oracle.beyond();
        let _serves = bench.recover(None, &mut rng).unwrap();
        answered(&mut bench, &Ask::Write { lba: Lba(1), count: 1, fua: true });
        answered(&mut bench, &Ask::Write { lba: Lba(0), count: 1, fua: false });
        bench.subject.insert(slot, What::Blank);
        bench.cut(CutOutcome::Any, &mut rng);
        let _serves_or_not = bench.recover(None, &mut rng).unwrap();
        let halted = bench.subject.card().is_some_and(|card| card.is_halted());
        stopped += u32::from(halted);
        bench.read_back().unwrap_or_else(|failure| panic!("seed {seed}, slot {slot}: {failure}"));
    }
    assert!(stopped > 10, "{stopped} of the starts had no room");
}
