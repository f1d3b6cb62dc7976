//! Modules that come and go while the card works.

use card::{CardConfig, InsertError, StorageCard, shape};
use device::{Rng, Time};
use format::CardId;
use ftl::recover::{AssembleError, JoinError};
use media::{Fault, Flash, Media, Module, Physics};
use std::collections::BTreeSet;
use torture::sim::{Ask, Bench, Bounds, CutOutcome, Failure, HostConfig, Lba, Subject, What, player};
use torture::{CardUnderTest, Kind, physics, tiny};

type Tested = Bench<CardUnderTest>;

fn used(config: CardConfig, physics: Physics, seed: u64, asks: u32) -> Tested {
    let script = HostConfig { asks, ..HostConfig::life(config.ftl.user_sectors as u32) }.script(seed);
    let mut bench = Bench::new(CardUnderTest::new(config, physics, seed), Bounds::default());
    play(&mut bench, &script);
    bench
}

fn play(bench: &mut Tested, asks: &[torture::sim::HostStep]) {
    let mut player = player::Player::new(asks);
    while player.play(bench).unwrap() != player::Played::Over {}
}

fn work(bench: &mut Tested, asks: u32, seed: u64) {
    let sectors = bench.subject.sectors();
    play(bench, &HostConfig { asks, ..HostConfig::life(sectors) }.script(seed));
}

fn rest(bench: &mut Tested) {
    bench.rest_from_now();
    while !bench.at_rest().unwrap() {
        assert!(bench.step(Time::NEVER).unwrap() || bench.subject.idle(), "the card never rests");
    }
}

fn card(bench: &mut Tested) -> &mut StorageCard {
    bench.subject.card_mut().expect("there is power")
}

fn lost_sectors(bench: &mut Tested) -> u64 {
    card(bench).store_counters().lost_sectors
}

/// Eight modules of two dies, some thousand sectors.
fn larger(kind: Kind) -> CardConfig {
    let mut config = tiny(kind);
    config.nand.geometry.modules = 8;
    config.nand.geometry.dies_per_channel = 2;
    config.ftl.stripe_width = 8;
    config.ftl.user_sectors = 1_200;
    config.buffer_sectors = 64;
    config.relocation_sectors = 32;
    config
}

fn insert(bench: &mut Tested, slot: u32, module: Module) -> Result<card::Inserted, InsertError> {
    let now = bench.subject.now();
    let mut done = Vec::new();
    let inserted = card(bench).insert_module(now, slot, module, &mut done);
    assert!(done.is_empty());
    inserted.map_err(|refused| refused.0)
}

fn pull(bench: &mut Tested, slot: u32) -> Module {
    card(bench).media_contents_mut().unwrap().pull(slot).unwrap()
}

/// Has the card know that a module was pulled, as an operator's pull does.
fn notice(bench: &mut Tested, slot: u32) {
    let (now, mut done) = (bench.subject.now(), Vec::new());
    card(bench).module_went(now, slot, &mut done);
    assert!(done.is_empty());
}

#[test]
fn after_a_module_was_put_in_at_work_and_rebuilt_any_other_may_die() {
    for (seed, kind) in (0..24).map(|seed| (seed, Kind::ALL[seed as usize % Kind::ALL.len()])) {
        for what in [What::Blank, What::Stale, What::Same] {
            let mut bench = used(tiny(kind), physics(kind), seed, 400);
            let mut rng = Rng::stream(seed, "cuts");
            bench.cut(CutOutcome::Any, &mut rng);
            bench.recover(None, &mut rng).unwrap();
            work(&mut bench, 200, seed + 100);
            let slot = rng.below(3) as u32;
            bench.subject.pull(slot).unwrap();
            work(&mut bench, 50, seed + 200);
            assert!(bench.subject.insert(slot, what).is_some());
            assert!(card(&mut bench).rebuild_progress().is_some(), "{kind:?} {what:?}: nothing is rebuilt");
            work(&mut bench, 60, seed + 300);
            rest(&mut bench);
            assert_eq!(card(&mut bench).rebuild_progress(), None);
            bench.read_back().unwrap();
            bench.subject.pull((slot + 1) % 3).unwrap();
            bench.read_back().unwrap();
            assert!(card(&mut bench).store_counters().rebuilt_sectors > 0);
            bench.cut(CutOutcome::Any, &mut rng);
            bench.recover(None, &mut rng).unwrap();
            bench.read_back().unwrap();
        }
    }
}

#[test]
fn a_module_that_comes_back_keeps_what_was_not_written_since() {
    let mut bench = used(larger(Kind::Unprotected), Physics::IDEAL, 1, 2_000);
    rest(&mut bench);
    let module = pull(&mut bench, 3);
    work(&mut bench, 100, 2);
    let inserted = insert(&mut bench, 3, module).unwrap();
    assert_eq!(inserted, card::Inserted { module: 3, kept: true });
    // Only what the bands do without is erased; nothing has to be made from the other modules.
    let left = card(&mut bench).rebuild_progress().unwrap();
    assert_eq!(left.bytes_left, 0, "{left:?}");
    assert!(left.blocks > 0, "{left:?}");
    rest(&mut bench);
    pull(&mut bench, 4);
    bench.read_back().unwrap();
    assert_eq!(lost_sectors(&mut bench), 0);
}

#[test]
fn what_does_not_belong_to_the_card_is_refused_by_name_and_not_written_to() {
    let config = larger(Kind::Unprotected);
    let mut bench = used(config, physics(Kind::Unprotected), 3, 500);
    rest(&mut bench);
    let other =
        StorageCard::format(&config, Flash::new(shape(&config), Physics::IDEAL, 9), CardId(*b"another card    "), 1, 9);
    let mut others = other.unwrap().into_media().unwrap();
    let foreign = others.pull(2).unwrap();
    let copy = card(&mut bench).media_contents().unwrap().module(5).unwrap().clone();
    let shape_of_another = Module::blank(&shape(&tiny(Kind::Unprotected)), &Physics::IDEAL, 1);
    let blank = Module::blank(&shape(&config), &Physics::IDEAL, 1);
    // No slot is empty, or none that there is.
    assert_eq!(insert(&mut bench, 2, blank.clone()), Err(InsertError::SlotTaken { slot: 2 }));
    assert_eq!(insert(&mut bench, 8, blank.clone()), Err(InsertError::NoSlot { slot: 8, slots: 8 }));
    let own = pull(&mut bench, 2);
    let ops = |bench: &mut Tested| card(bench).media_contents().unwrap().ops();
    // That the module is gone is noticed now.
    assert_eq!(insert(&mut bench, 2, shape_of_another), Err(InsertError::Shape { slot: 2 }));
    let error = insert(&mut bench, 2, foreign.clone()).unwrap_err();
    assert!(matches!(error, InsertError::Join(JoinError::Foreign { slot: 2, .. })), "{error}");
    assert!(error.to_string().starts_with("slot 2: module "), "{error}");
    let before = ops(&mut bench);
    assert!(insert(&mut bench, 2, foreign.clone()).is_err());
    let error = insert(&mut bench, 2, copy).unwrap_err();
    assert!(matches!(error, InsertError::Join(JoinError::Cloned { slot: 2, place: 5, .. })), "{error}");
    let mut dead = Flash::without_modules(shape(&config), Physics::IDEAL, 1);
    dead.insert(0, blank.clone());
    dead.inject(Fault::ModuleDead { module: 0 });
    let error = insert(&mut bench, 2, dead.pull(0).unwrap()).unwrap_err();
    assert_eq!(error, InsertError::Join(JoinError::NoAnswer { slot: 2 }));
    let mut elsewhere = Flash::without_modules(shape(&config), Physics::IDEAL, 1);
    elsewhere.insert(0, blank.clone());
    elsewhere.write_header(0, 0, &[0x55; media::HEADER_BYTES]).unwrap();
    let error = insert(&mut bench, 2, elsewhere.pull(0).unwrap()).unwrap_err();
    assert_eq!(error, InsertError::Join(JoinError::NoCard { slot: 2 }));
    elsewhere.insert(0, own.clone());
    let mut header = elsewhere.read_header(0, 0).unwrap().unwrap();
    header[8] = 9;
    let checksum = crc32c::crc32c(&header[..media::HEADER_BYTES - 4]);
    header[media::HEADER_BYTES - 4..].copy_from_slice(&checksum.to_le_bytes());
    elsewhere.write_header(0, 0, &header).unwrap();
    let error = insert(&mut bench, 2, elsewhere.pull(0).unwrap()).unwrap_err();
    let is_newer = matches!(error, InsertError::Join(JoinError::Header(AssembleError::NewerVersion { slot: 2, .. })));
    assert!(is_newer, "{error}");
    assert!(error.to_string().contains("format version 9"), "{error}");
    assert_eq!(ops(&mut bench), before, "a module that was refused was written to");
    // A new one takes the place, and the one that was there has none any more.
    assert_eq!(insert(&mut bench, 2, blank), Ok(card::Inserted { module: 2, kept: false }));
    rest(&mut bench);
    pull(&mut bench, 2);
    let error = insert(&mut bench, 2, own).unwrap_err();
    assert!(matches!(error, InsertError::Join(JoinError::Replaced { slot: 2, place: 2, .. })), "{error}");
    bench.read_back().unwrap();
}

/// Replaces a module at rest, and holds the rebuild to a rate.
fn begin_rebuild(bench: &mut Tested, slot: u32, rate: Option<u64>) {
    rest(bench);
    pull(bench, slot);
    card(bench).set_rebuild_rate(rate);
    let blank = Module::blank(&shape(&bench.subject.config().clone()), &Physics::IDEAL, 99);
    insert(bench, slot, blank).unwrap();
}

#[test]
fn a_rebuild_keeps_to_its_rate_whatever_the_host_does() {
    for (asked, host) in [(200_000, false), (1_000_000, false), (5_000_000, false), (200_000, true), (1_000_000, true)]
    {
        let mut bench = used(larger(Kind::Unprotected), Physics::IDEAL, 5, 3_000);
        begin_rebuild(&mut bench, 6, Some(asked));
        // Blocks that need nothing but an erase come first: it counts from the first unit on.
        let (mut first, mut last, mut steps, mut seed) = (None, None, 0, 0);
        while let Some(progress) = card(&mut bench).rebuild_progress() {
            if progress.bytes_done > 0 {
                let (since, bytes) = *first.get_or_insert((bench.subject.now(), progress.bytes_done));
                let took_s = bench.subject.now().since_ns(since) as f64 / 1e9;
                let done = progress.bytes_done - bytes;
                // A unit that began late ends less than a unit's time after the one before it.
                assert!(done as f64 <= asked as f64 * took_s + 8_192.0, "{progress:?} after {took_s} s");
                last = Some((done, took_s));
            }
            if host && bench.in_flight() == 0 {
                seed += 1;
                work(&mut bench, 10, seed);
            }
            bench.rest_from_now();
            bench.step(Time::NEVER).unwrap();
            steps += 1;
        }
        let (bytes, took_s) = last.unwrap();
        let held = bytes as f64 / took_s;
        println!("asked {asked} B/s, held {held:.0} B/s, host {host}, {steps} steps, {bytes} bytes");
        let idle = !host && asked <= 1_000_000;
        assert!(!idle || held > 0.95 * asked as f64, "asked {asked}, held {held}");
        // No busy polling: a few events for each unit.
        let units = bytes / 8_192;
        assert!(host || steps < 40 * units + 1_000, "{steps} steps for {units} units");
        rest(&mut bench);
        pull(&mut bench, 0);
        bench.read_back().unwrap();
        assert_eq!(lost_sectors(&mut bench), 0);
    }
}

#[test]
fn a_rebuild_says_how_long_it_will_take() {
    let mut bench = used(larger(Kind::Unprotected), Physics::IDEAL, 6, 3_000);
    begin_rebuild(&mut bench, 1, Some(500_000));
    let begun = bench.subject.now();
    let at_first = card(&mut bench).rebuild_progress().unwrap();
    assert!(at_first.bytes_done == 0 && at_first.bytes_left > 100_000, "{at_first:?}");
    let mut halfway = None;
    while let Some(progress) = card(&mut bench).rebuild_progress() {
        if progress.bytes_done >= at_first.bytes_left / 2 && halfway.is_none() {
            halfway = Some((progress, bench.subject.now()));
        }
        bench.step(Time::NEVER).unwrap();
    }
    let ended = bench.subject.now();
    let (progress, at) = halfway.unwrap();
    for (left_ns, from) in [(at_first.left_ns, begun), (progress.left_ns, at)] {
        let (told, took) = (left_ns.unwrap() as f64, ended.since_ns(from) as f64);
        assert!((0.7..1.6).contains(&(told / took)), "told {told} ns, took {took} ns");
    }
}

/// The sectors that the host can't read.
fn unreadable(bench: &mut Tested) -> BTreeSet<Lba> {
    let mut lost = BTreeSet::new();
    for lba in 0..bench.subject.sectors() {
        let before = bench.oracle.clone();
        bench.submit(&Ask::Read { lba: Lba(lba), count: 1 }).unwrap();
        while bench.in_flight() > 0 {
            match bench.step(Time::NEVER) {
                Ok(_) => {}
                Err(Failure::Violation(torture::sim::Violation::Sector(wrong)))
                    if wrong.read == torture::sim::Sector::Error =>
                {
                    lost.insert(Lba(lba));
                    bench.oracle = before.clone();
                    break;
                }
                Err(failure) => panic!("{failure}"),
            }
        }
    }
    lost
}

#[test]
fn a_second_module_lost_in_a_rebuild_costs_exactly_the_sectors_concerned() {
    for seed in 0..6 {
        let kind = [Kind::Unprotected, Kind::Protected, Kind::VolatileCache][seed as usize % 3];
        let mut bench =
            used(larger(kind), Physics { volatile_cache: kind == Kind::VolatileCache, ..Physics::IDEAL }, seed, 3_000);
        begin_rebuild(&mut bench, 2, Some(1_000_000));
        let all = card(&mut bench).rebuild_progress().unwrap().bytes_left;
        while card(&mut bench).rebuild_progress().is_some_and(|progress| progress.bytes_done < all / 2) {
            bench.step(Time::NEVER).unwrap();
        }
        let expected = concerned(&mut bench, 7);
        assert!(!expected.is_empty());
        pull(&mut bench, 7);
        let lost = unreadable(&mut bench);
        assert_eq!(lost, expected, "seed {seed}");
        // All else lives on: what is written now is there, and what was lost can be written again.
        for lba in expected {
            bench.submit(&Ask::Write { lba, count: 1, fua: true }).unwrap();
            while bench.in_flight() > 0 {
                bench.step(Time::NEVER).unwrap();
            }
        }
        bench.read_back().unwrap();
        rest(&mut bench);
        bench.read_back().unwrap();
    }
}

/// LBAs that nobody can read any more when a module goes too: those of both in stripes that miss another already.
fn concerned(bench: &mut Tested, slot: u32) -> BTreeSet<Lba> {
    let card = card(bench);
    let (ftl, layout) = (card.ftl(), *card.ftl().layout());
    let mut all = BTreeSet::new();
    for lba in 0..ftl.user_sectors() as u32 {
        let Some(ppa) = ftl.lookup(ftl::Lba(lba)) else { continue };
        let at = layout.locate(ppa);
        let stripe = layout.stripe_of(at);
        let used = ftl.stripe_units(stripe);
        let members = (0..layout.width).filter(|unit| (used.data | used.parity) >> unit & 1 == 1);
        let gone: Vec<u32> = members
            .map(|unit| layout.unit_address(stripe, unit))
            .filter(|at| !card.holds(*at) || card.slot_of(at.die) == Some(slot))
            .map(|at| at.die)
            .collect();
        if gone.len() > 1 && gone.contains(&at.die) && ftl.is_programmed(at) {
            all.insert(Lba(lba));
        }
    }
    all
}

#[test]
fn a_rebuild_that_another_missing_module_held_up_ends_when_that_is_back() {
    for seed in 0..6 {
        let kind = [Kind::Unprotected, Kind::Protected][seed as usize % 2];
        let mut bench = used(larger(kind), Physics::IDEAL, seed, 2_000);
        rest(&mut bench);
        let _old = pull(&mut bench, 3);
        notice(&mut bench, 3);
        // In a part of the lives the second one goes when half of the first one's rebuild is done.
        let blank = Module::blank(&shape(&bench.subject.config().clone()), &Physics::IDEAL, 99);
        let halfway = seed % 3 == 2;
        if halfway {
            insert(&mut bench, 3, blank.clone()).unwrap();
            let all = card(&mut bench).rebuild_progress().unwrap().bytes_left;
            while card(&mut bench).rebuild_progress().is_some_and(|progress| progress.bytes_done < all / 2) {
                bench.step(Time::NEVER).unwrap();
            }
        }
        let second = pull(&mut bench, 4);
        notice(&mut bench, 4);
        if !halfway {
            insert(&mut bench, 3, blank).unwrap();
        }
        if seed % 3 > 0 {
            rest(&mut bench);
            assert_eq!(card(&mut bench).module_state(3), Some(format::SlotState::Rebuilding), "seed {seed}");
        }
        insert(&mut bench, 4, second).unwrap();
        // Relocation has given up some sectors that nothing could make while both were gone.
        let lost = unreadable(&mut bench);
        assert!(lost.len() < 100, "seed {seed}: {}", lost.len());
        rest(&mut bench);
        let states = [3, 4].map(|module| card(&mut bench).module_state(module).unwrap());
        assert_eq!(states, [format::SlotState::Active; 2], "seed {seed}");
        assert_eq!(card(&mut bench).rebuild_progress(), None);
        assert_eq!(unreadable(&mut bench), lost, "seed {seed}");
        // All else is there twice: any other may go.
        pull(&mut bench, 4 + seed as u32 % 2);
        assert_eq!(unreadable(&mut bench), lost, "seed {seed}");
    }
}

#[test]
fn a_module_whose_sync_failed_is_filled_anew_before_it_is_believed() {
    for seed in 0..12 {
        let mut bench = used(tiny(Kind::VolatileCache), physics(Kind::VolatileCache), seed, 200);
        let slot = seed as u32 % 3;
        let fault = Fault::FailSync { module: slot, drops: true, for_ever: false };
        assert!(card(&mut bench).media_contents_mut().unwrap().inject(fault));
        work(&mut bench, 30, seed + 50);
        assert!(card(&mut bench).rebuild_progress().is_some() || card(&mut bench).slot_of(slot).is_some());
        rest(&mut bench);
        let mut rng = Rng::stream(seed, "cut");
        bench.cut(CutOutcome::CacheLost, &mut rng);
        bench.cut(CutOutcome::Any, &mut rng);
        bench.recover(None, &mut rng).unwrap();
        rest(&mut bench);
        bench.subject.pull((slot + 1) % 3).unwrap();
        bench.read_back().unwrap();
    }
}
