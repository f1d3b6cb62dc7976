//! A card modelled at a small scale costs what the whole card would: its closed form is known.

use device::SECTOR_BYTES;
use ftl::VictimPolicy;
use load::Access;
use profile::{Capacities, DeviceConfig, Profile};
use std::sync::Mutex;
use std::thread::{self, available_parallelism};
use target::{Modelled, Pattern, Silent, precondition};

/// Relocations and writes for each write of the host, where the emptiest of many large bands is collected:
/// a / (a + W(-a exp(-a))), where a is the capacity over the data, and W the principal branch of Lambert's function
/// (Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012).
fn greedy(spare_factor: f64) -> f64 {
    let a = 1.0 / (1.0 - spare_factor);
    let x = -a * (-a).exp();
    let (mut low, mut high) = (-1.0, 0.0);
    for _ in 0..100 {
        let w: f64 = (low + high) / 2.0;
        *(if w * w.exp() < x { &mut low } else { &mut high }) = w;
    }
    a / (a + low)
}

/// Cards of drives that have so many sectors at the smallest scale take tens of seconds each.
const LARGE_SECTORS: u64 = 1 << 24;

#[test]
fn a_scaled_card_of_any_kind_has_the_write_amplification_of_the_whole_one() {
    assert!(check(|sectors| sectors < LARGE_SECTORS) >= 8);
}

#[test]
#[ignore = "proof: large drives, some minutes"]
fn a_scaled_drive_has_the_write_amplification_of_the_whole_one() {
    assert!(check(|sectors| sectors >= LARGE_SECTORS) >= 3);
}

/// Checks the cards of sizes that are chosen, at the smallest scale, on all cores; returns how many those are.
fn check(chosen: fn(u64) -> bool) -> usize {
    let names = Mutex::new(Profile::builtin_names());
    let next = || names.lock().unwrap().next();
    let count = || std::iter::from_fn(next).filter(|name| is_checked(name, chosen)).count();
    let cores = available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(count)).collect();
        workers.into_iter().map(|worker| worker.join().expect("cards hold")).sum()
    })
}

/// Checks a card; false: it is none of those that are chosen, or none whose closed form is known.
fn is_checked(name: &str, chosen: fn(u64) -> bool) -> bool {
    let profile = Profile::builtin(name).unwrap();
    let device = profile.lower(1.0 / 4096.0).unwrap();
    let DeviceConfig::Card(card) = &device else { return false };
    // Collection that stops the world swings about its mean, and needs many cycles of it; a cache of faster cells
    // writes data twice.
    let is_paced = matches!(card.ftl.gc, ftl::GcMode::Paced { .. });
    let is_known = card.ftl.victim == VictimPolicy::Greedy && is_paced && card.ftl.slc_cache.is_none();
    if !is_known || !chosen(card.ftl.user_sectors) {
        return false;
    }
    let whole = Capacities::of(&profile.lower(1.0).unwrap().cards()[0]).effective_spare_factor;
    let small = Capacities::of(card).effective_spare_factor;
    assert!((small / whole - 1.0).abs() < 1e-4, "{name}: spare {small}, of the whole card {whole}");
    let fill_bytes = card.ftl.user_sectors * SECTOR_BYTES;
    let pattern = Pattern::Random { block_bytes: SECTOR_BYTES, access: Access::Uniform, footprint_bytes: fill_bytes };
    let mut modelled = Modelled::new(&device, 1, false, 1).unwrap();
    // Less what blocks that came bad take, which are drawn.
    let expected = greedy(modelled.cards()[0].ftl().effective_spare_factor());
    let rounds = precondition(&mut modelled, fill_bytes, pattern, 1, &Silent).unwrap().rounds;
    let last = &rounds[rounds.len() - 5..];
    let got = last.iter().sum::<f64>() / last.len() as f64;
    println!("{name}: {got:.3}, closed form {expected:.3}, {:+.2} %", 100.0 * (got / expected - 1.0));
    // Rounds of some ten bands leave a hundredth to chance. Victims that are nearly empty have less on the move than is
    // counted.
    let bound = if expected < 1.5 { 0.02 } else { 0.015 };
    assert!((got / expected - 1.0).abs() < bound, "{name}: {got}, closed form {expected}");
    true
}
