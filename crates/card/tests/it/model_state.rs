//! A model with a module gone, or with flash that errs, takes the time that parity and retries cost.

use crate::common::{Rig, SECTOR, assert_close, read, small, throughput, use_share, write};
use card::{CardConfig, TimeSpread};
use device::{Cause, Rng, SECTOR_BYTES};
use ftl::Lba;
use media::{ErrorRates, Physics};

const BUS_NS: u64 = 100_000;
const LINK_NS: u64 = 10_000;
const READ_NS: u64 = 50_000;
const IDLE_NS: u64 = 2_000 + 5_000 + READ_NS + BUS_NS + LINK_NS;

fn degraded() -> CardConfig {
    let mut config = small();
    config.model.missing_module = Some(1);
    config
}

/// A card whose every sector has so many wrong bits on average.
fn erring(bits: f64, ecc_bits: u32, read_retries: u32) -> CardConfig {
    let mut config = small();
    let sector_bits = f64::from((SECTOR_BYTES as u32 + media::SPARE_BYTES as u32) * 8);
    let errors = ErrorRates { fresh: bits / sector_bits, ..ErrorRates::NONE };
    config.model.physics = Some(Physics { errors, ecc_bits, read_retries, retry_factor: 0.5, ..Physics::IDEAL });
    config
}

/// A sector on the die, and one beside it.
fn sector_on(rig: &Rig, die: u32) -> u64 {
    let ftl = rig.ftl();
    let lies = |sector: &u64| ftl.layout().locate(ftl.lookup(Lba(*sector as u32)).unwrap()).die == die;
    (0..ftl.user_sectors()).find(lies).unwrap()
}

fn random_reads(config: &CardConfig) -> f64 {
    let mut rig = Rig::with(config, 64, false).filled();
    let mut rng = Rng::stream(11, "random reads");
    let sectors = rig.ftl().user_sectors();
    throughput(&rig.closed_loop(64, 60_000, || read(rng.below(sectors), 1)))
}

#[test]
fn what_lay_on_a_module_that_is_gone_is_read_from_all_others_at_once() {
    let mut rig = Rig::new(&degraded(), 1).filled();
    for (die, reads) in [(0, 1), (1, 3), (2, 1), (1, 3)] {
        let before = rig.card.media().reads;
        let sector = sector_on(&rig, die);
        let done = rig.ask(read(sector, 1));
        assert_eq!(rig.card.media().reads - before, reads, "die {die}");
        // Dies keep the page of the read before.
        assert!(done.latency_ns() == IDLE_NS || done.latency_ns() == IDLE_NS - READ_NS, "{}", done.latency_ns());
    }
}

#[test]
fn a_degraded_card_reads_at_half_its_rate_when_saturated() {
    // One die of n is gone, and one read of n becomes n - 1: n - 1 dies do 2 (n - 1) / n reads for each read of the host.
    for modules in [4, 8] {
        let mut config = degraded();
        config.nand.geometry.modules = modules;
        config.ftl.stripe_width = modules;
        config.link.read_bytes_per_s *= 10;
        config.link.read_command_ns = 0;
        crate::common::use_share(&mut config, 0.8);
        let die_rate = SECTOR_BYTES as f64 * 1e9 / (READ_NS + BUS_NS) as f64;
        assert_close(&format!("{modules} modules"), random_reads(&config), die_rate * f64::from(modules) / 2.0, 0.03);
    }
}

#[test]
fn a_degraded_card_writes_at_its_rate_and_programs_nothing_on_what_is_gone() {
    let write_all = |config: &CardConfig| {
        let mut rig = Rig::with(config, 16, false);
        let (mut next, count) = (0, rig.ftl().user_sectors() / 8);
        let finished = rig.closed_loop(16, count, || {
            next += 8;
            write(next - 8, 8)
        });
        rig.settle();
        (throughput(&finished), rig.card.media().programs)
    };
    let ((whole, programs), (without, fewer)) = (write_all(&small()), write_all(&degraded()));
    assert_close("writes", without, whole, 0.01);
    assert_eq!(fewer, programs * 3 / 4);
}

#[test]
fn a_degraded_card_collects_what_lay_on_the_module_that_is_gone() {
    let mut rig = Rig::with(&degraded(), 8, false).filled().overwritten(2);
    let mut rng = Rng::stream(5, "overwrites");
    let sectors = rig.ftl().user_sectors();
    let before = rig.ftl().counters();
    rig.closed_loop(8, 20_000, || write(rng.below(sectors), 1));
    let done = rig.ftl().counters().since(&before);
    assert!(done.waf() > 1.5, "{}", done.waf());
    // Each unit that is relocated from what is gone takes three reads.
    assert!(rig.card.media().reads as f64 > 1.2 * done.relocated_sectors as f64 / 4.0);
    rig.ftl().check().unwrap();
}

#[test]
fn each_retry_takes_the_arrays_time_again() {
    // 200 bits, 100, 50, 25: the third retry brings them below what can be corrected.
    let mut rig = Rig::new(&erring(200.0, 60, 8), 1).filled();
    let mut seen = std::collections::BTreeSet::new();
    for i in 0..40 {
        let done = rig.ask(read(i * 37, 1));
        let retries = done.parts.get(Cause::ReadRetry) / READ_NS;
        assert_eq!(done.parts.get(Cause::ReadRetry) % READ_NS, 0);
        assert_eq!(done.latency_ns(), IDLE_NS + retries * READ_NS);
        seen.insert(retries);
    }
    assert!(seen.iter().all(|retries| (2..=4).contains(retries)), "{seen:?}");
    // And a card whose flash hardly errs takes none.
    let mut rig = Rig::new(&erring(5.0, 60, 8), 1).filled();
    assert_eq!(rig.ask(read(0, 1)).latency_ns(), IDLE_NS);
}

#[test]
fn what_no_retry_corrects_is_read_from_the_rest_of_its_stripe() {
    let mut rig = Rig::new(&erring(1_000.0, 60, 2), 1).filled();
    let done = rig.ask(read(0, 1));
    assert_eq!(rig.card.media().reads, 4);
    // Three reads of the array with their transfer, and then the others', each with retries of their own.
    assert_eq!(done.latency_ns(), IDLE_NS + 2 * READ_NS + (READ_NS + BUS_NS) + 2 * READ_NS);
    assert_eq!(done.request.range.len_bytes, SECTOR);
    assert_eq!(done.parts.total_ns(), done.latency_ns());
}

/// The first of three rows that share cells is read in half of the mean, the last in half more; a third of the reads each.
#[test]
fn reads_of_page_types_differ_about_the_mean() {
    let mut config = small();
    config.nand.geometry.pages_per_block = 15;
    use_share(&mut config, 0.5);
    let spread = TimeSpread { cell_rows: 3, read_percent: 50, program_percent: 0, chance_percent: 0 };
    let reads = |spread: Option<TimeSpread>| {
        let mut config = config;
        config.model.spread = spread;
        let mut rig = Rig::with(&config, 1, false).filled();
        let mut rng = Rng::stream(3, "page types");
        let sectors = rig.ftl().user_sectors();
        let mut latencies: Vec<u64> =
            rig.closed_loop(1, 6_000, || read(rng.below(sectors), 1)).iter().map(|f| f.latency_ns()).collect();
        latencies.sort_unstable();
        latencies
    };
    let (even, spread) = (reads(None), reads(Some(spread)));
    let usual = even[3_000];
    assert_eq!((spread[300], spread[3_000], spread[5_700]), (usual - 25_000, usual, usual + 25_000));
    let mean = |latencies: &[u64]| latencies.iter().sum::<u64>() as f64 / latencies.len() as f64;
    assert!((mean(&spread) / mean(&even) - 1.0).abs() < 0.02, "{} {}", mean(&spread), mean(&even));
}
