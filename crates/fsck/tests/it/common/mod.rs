//! Cards to be looked at, as folders of images.

pub mod exercise;

use device::{Rng, Time};
use fsck::{Examined, StripeState};
use media::{BlockAt, Fault, Flash, Physics, UnitAt};
use std::path::Path;
use torture::sim::{Bench, Bounds, CutOutcome, HostConfig, Subject, What, player};
use torture::{CardUnderTest, Kind, tiny};

/// Sectors of the host.
pub const SECTORS: u32 = 36;

/// A card that was just made.
pub fn fresh(kind: Kind) -> CardUnderTest {
    CardUnderTest::new(tiny(kind), Physics::IDEAL, 1)
}

fn bench(kind: Kind) -> Bench<CardUnderTest> {
    Bench::new(fresh(kind), Bounds::default())
}

fn play(bench: &mut Bench<CardUnderTest>, asks: u32, seed: u64) {
    let steps = HostConfig { asks, ..HostConfig::life(SECTORS) }.script(seed);
    let mut player = player::Player::new(&steps);
    while player.play(bench).unwrap() != player::Played::Over {}
}

fn rest(bench: &mut Bench<CardUnderTest>) {
    bench.rest_from_now();
    while !bench.at_rest().unwrap() {
        assert!(bench.step(Time::NEVER).unwrap() || bench.subject.idle(), "the card never rests");
    }
}

/// A card that collected, lost its power and came back, and is at rest. With capacitors it was started once more, and
/// not written to since: what lies on the media while such a card takes writes is not all that it has acknowledged.
pub fn used(kind: Kind, seed: u64) -> CardUnderTest {
    let mut bench = bench(kind);
    let mut rng = Rng::stream(seed, "cuts");
    for part in 0..3 {
        play(&mut bench, 150, seed * 10 + part);
        bench.cut(CutOutcome::Any, &mut rng);
        bench.recover(None, &mut rng).unwrap();
    }
    play(&mut bench, 40, seed);
    rest(&mut bench);
    if bench.subject.config().power_loss_protection {
        bench.cut(CutOutcome::Any, &mut rng);
        bench.recover(None, &mut rng).unwrap();
        rest(&mut bench);
    }
    bench.subject
}

/// A card that collected, and got a blank module at work, which was filled.
pub fn rebuilt(seed: u64, volatile_cache: bool) -> CardUnderTest {
    let physics = Physics { volatile_cache, ..Physics::IDEAL };
    let mut bench = Bench::new(CardUnderTest::new(tiny(Kind::Unprotected), physics, 1), Bounds::default());
    play(&mut bench, 300, seed);
    bench.subject.pull(1).unwrap();
    play(&mut bench, 5, seed + 1);
    bench.subject.insert(1, What::Blank).unwrap();
    play(&mut bench, 60, seed + 2);
    rest(&mut bench);
    bench.subject
}

/// A card whose power went while stripes were being programmed.
pub fn cut(kind: Kind, seed: u64, how: CutOutcome) -> CardUnderTest {
    let mut bench = bench(kind);
    let mut rng = Rng::stream(seed, "cuts");
    play(&mut bench, 150, seed);
    let steps = HostConfig { asks: 400, ..HostConfig::life(SECTORS) }.script(seed + 1);
    let mut player = player::Player::new(&steps);
    while player.play(&mut bench).unwrap() != player::Played::Over {
        if player.asks() > 20 && bench.subject.card().unwrap().programs() && bench.cut(how, &mut rng) {
            return bench.subject;
        }
    }
    panic!("nothing was under way that can end so");
}

/// The modules in a folder, powered.
pub fn load(dir: &Path) -> Flash {
    Flash::load(dir, 3, Physics::IDEAL, 1).unwrap()
}

/// Where a unit of a stripe lies: the tiny card has a die for each module, and a stripe for each row.
pub fn unit_at(band: u32, stripe: u32, unit: u32) -> UnitAt {
    UnitAt { block: BlockAt { module: unit, die: 0, block: band }, row: stripe }
}

/// Makes two data units of a stripe unreadable that hold what sectors read as, in a band that is known from its
/// summary. The sectors that are lost.
pub fn lose_two_units(dir: &Path) -> Vec<u32> {
    let mut flash = load(dir);
    let mut card = Examined::new(flash.clone()).unwrap();
    let sectors = card.sectors(0..=SECTORS - 1).unwrap();
    let believed = |sector: &fsck::SectorExplained| {
        let copy = sector.copies.iter().find(|copy| copy.believed && copy.in_stripe == StripeState::Whole)?.clone();
        Some((sector.lba, copy))
    };
    let copies: Vec<_> = sectors.iter().filter_map(believed).collect();
    let is_summarised = |card: &mut Examined<Flash>, band| card.band(band).unwrap().has_summary == Some(true);
    let (_, first) = copies.iter().find(|(_, copy)| is_summarised(&mut card, copy.band)).unwrap().clone();
    let other = (0..3).find(|unit| *unit != first.unit).unwrap();
    for unit in [first.unit, other] {
        for sector in 0..2 {
            let at = unit_at(first.band, first.stripe, unit);
            assert!(flash.inject(Fault::FlipBits { at, sector, bits: 100 }));
        }
    }
    flash.save(dir).unwrap();
    let is_lost = |copy: &fsck::CopyFound| {
        (copy.band, copy.stripe) == (first.band, first.stripe) && [first.unit, other].contains(&copy.unit)
    };
    copies.iter().filter(|(_, copy)| is_lost(copy)).map(|(lba, _)| *lba as u32).collect()
}
