//! Runs bring devices to the state that the load keeps them in.

use crate::common::{Setup, assert_near, changed_device, device};
use load::{Access, FileioConfig, FileioMode};
use target::Measure;

const SCALE: f64 = 1.0 / 256.0;

#[test]
fn a_tachion_attains_steady_state() {
    let result =
        Setup { measure: Measure::Auto, ..Setup::new(device("tachion-400", SCALE), FileioMode::RndWr, 1.0) }.run();
    let steady = result.steady_state.unwrap();
    assert!(steady.attained, "{steady:?}");
    assert!(steady.rounds.len() >= 5 && steady.range <= 0.2 && steady.slope <= 0.1);
    // Rounds are equal numbers of requests: the whole is their harmonic mean.
    let mean = 5.0 / steady.rounds[steady.rounds.len() - 5..].iter().map(|r| 1.0 / r).sum::<f64>();
    assert_near(result.write.bw_bytes, mean, 0.01);
    assert!(result.flash.unwrap().waf > 1.5, "a full card relocates");
}

#[test]
fn a_fresh_full_card_is_faster_than_a_steady_one() {
    let steady = Setup::new(device("iodrive-160-slc", SCALE), FileioMode::RndWr, 1.0);
    let fresh = Setup { fresh: true, ..Setup::new(device("iodrive-160-slc", SCALE), FileioMode::RndWr, 1.0) };
    let (fresh, steady) = (fresh.run(), steady.run());
    assert!(fresh.write.bw_bytes > 1.5 * steady.write.bw_bytes, "{} {}", fresh.write.bw_bytes, steady.write.bw_bytes);
    assert!(fresh.steady_state.is_none() && steady.steady_state.is_some());
    assert!(fresh.flash.unwrap().waf < steady.flash.unwrap().waf);
}

#[test]
fn two_striped_cards_write_twice_what_one_does() {
    let run = |name| {
        let mut setup = Setup::new(device(name, SCALE), FileioMode::RndWr, 0.25);
        setup.load = FileioConfig { threads: 64, block_bytes: 64 << 10, ..setup.load };
        Setup { measure: Measure::Requests(5_000), ..setup }.run().write.bw_bytes
    };
    assert_near(run("iodrive-duo-320-slc") / run("iodrive-160-slc"), 2.0, 0.1);
}

#[test]
fn random_writes_to_disks_are_not_those_of_the_cache() {
    let mut setup = Setup::new(device("sas-raid10-6", SCALE), FileioMode::RndWr, 0.5);
    setup.load = FileioConfig { block_bytes: 16 << 10, ..setup.load };
    let auto = Setup { measure: Measure::Auto, ..setup }.run();
    assert!(auto.write.iops > 100.0 && auto.write.iops < 5_000.0, "{}", auto.write.iops);
    assert!(auto.flash.is_none());
    let mut setup = Setup::new(device("sas-raid10-6", SCALE), FileioMode::RndWr, 0.5);
    setup.load = FileioConfig { block_bytes: 16 << 10, ..setup.load };
    let long = Setup { measure: Measure::Requests(100_000), ..setup }.run();
    assert_near(auto.write.iops, long.write.iops, 0.1);
}

#[test]
fn auto_reports_the_five_rounds_that_it_judged() {
    let mut setup = Setup::new(device("sas-raid10-6", SCALE), FileioMode::RndWr, 0.5);
    setup.load = FileioConfig { block_bytes: 16 << 10, ..setup.load };
    let result = Setup { measure: Measure::Auto, ..setup }.run();
    let rounds = result.steady_state.unwrap().rounds;
    let mean = 5.0 / rounds[rounds.len() - 5..].iter().map(|r| 1.0 / r).sum::<f64>();
    // A round has at least 2,000 requests.
    assert!(result.write.total_ios >= 10_000, "{} requests after {} rounds", result.write.total_ios, rounds.len());
    assert_near(result.write.bw_bytes, mean, 0.01);
}

/// A few bad blocks in every band narrow the free bands a little: that must not count as one band less, or the host
/// stalls for it.
#[test]
fn bad_blocks_in_every_band_do_not_stall_a_paced_card() {
    let device = changed_device("tachion-400", &["endurance.factory_bad_ppm=10000"], SCALE);
    let result = Setup { measure: Measure::Auto, ..Setup::new(device, FileioMode::RndWr, 1.0) }.run();
    assert!(result.flash.unwrap().bad_blocks > 20);
    assert!(result.steady_state.unwrap().attained);
    assert!(result.write.lat_ns.max < 10_000_000, "{} ns", result.write.lat_ns.max);
}

/// A card that is written hot and cold looks steady long before its cold data were written over once, at half of the
/// write amplification that they lead to.
#[test]
fn a_skewed_load_is_measured_in_balance() {
    let hot_cold = Access::HotCold { hot_share_of_space: 0.1, share_of_accesses: 0.9 };
    let skewed = || {
        let mut setup = Setup::new(device("tachion-400", SCALE), FileioMode::RndWr, 0.9);
        setup.load = FileioConfig { threads: 8, access: hot_cold, ..setup.load };
        setup
    };
    let short = Setup { measure: Measure::Auto, ..skewed() }.run();
    let steady = short.steady_state.unwrap();
    let overwriting = steady.overwriting.expect("a skewed load");
    assert!(steady.attained && overwriting.attained, "{steady:?}");
    assert!(overwriting.coldest_times > 0.999 && overwriting.change <= 0.01, "{overwriting:?}");
    let long = Setup { measure: Measure::Requests(1_000_000), ..skewed() }.run();
    assert_near(short.flash.unwrap().waf / long.flash.unwrap().waf, 1.0, 0.02);
}

#[test]
fn a_cold_part_that_is_hardly_ever_written_is_not_called_steady() {
    let mut setup = Setup::new(device("tachion-400", SCALE / 4.0), FileioMode::RndWr, 1.0);
    setup.load.access = Access::HotCold { hot_share_of_space: 0.1, share_of_accesses: 0.999 };
    let steady = Setup { measure: Measure::Auto, ..setup }.run().steady_state.unwrap();
    let overwriting = steady.overwriting.expect("a skewed load");
    assert!(!steady.attained && !overwriting.attained && overwriting.coldest_times < 0.5, "{overwriting:?}");
}

/// A card without capacitors pads when it flushes. Its padding takes free space, which collection has to make up for as it
/// does for writes: otherwise hosts wait for seconds until space is free.
#[test]
fn flushes_without_capacitors_pad_a_word_line_and_none_waits_for_collection() {
    let mut setup = Setup::new(device("consumer-qlc-2tb", SCALE), FileioMode::RndWr, 0.9);
    setup.load = FileioConfig { threads: 4, fsync_every: 1, ..setup.load };
    let result = Setup { measure: Measure::Requests(60_000), ..setup }.run();
    let flash = result.flash.unwrap();
    let word_line_sectors = 4 * 4 * 4;
    assert!(flash.padding_pages > 0 && flash.padding_pages < result.sync.total_ios * word_line_sectors);
    assert!(result.sync.lat_ns.max < 100_000_000, "{} ns", result.sync.lat_ns.max);
}

/// A victim at random holds as much valid data as any band: 1 / spare pages are programmed for each of the host's.
#[test]
fn random_victims_cost_what_theory_says() {
    let settings = ["ftl.victim=random-d", "ftl.d=1", "ftl.static_wear_spread_cycles=0"];
    let card = changed_device("tachion-400", &settings, SCALE);
    let result = Setup { measure: Measure::Requests(150_000), ..Setup::new(card, FileioMode::RndWr, 1.0) }.run();
    let flash = result.flash.unwrap();
    assert_near(flash.waf, 1.0 / flash.effective_spare_factor, 0.04);
}
