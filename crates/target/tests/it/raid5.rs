//! Cards in RAID 5 by the host.

use crate::common::Setup;
use load::FileioMode;
use profile::{DeviceConfig, Profile};
use results::RunResult;
use target::Measure;

const FOUR: [&str; 4] =
    ["card.count=5", "card.user_bytes=2TB", "card.host_stripe_bytes=64KiB", "card.host_layout=raid5"];

fn device(settings: &[&str]) -> DeviceConfig {
    let mut profile = Profile::builtin("tachion-400").unwrap();
    settings.iter().for_each(|setting| profile.set(setting).unwrap());
    profile.lower(1.0 / 256.0).unwrap()
}

fn with(more: &[&'static str]) -> Vec<&'static str> {
    FOUR.into_iter().chain(more.iter().copied()).collect()
}

fn run(settings: &[&str], mode: FileioMode, threads: u32, fill: f64) -> RunResult {
    let mut setup = Setup { measure: Measure::Requests(40_000), ..Setup::new(device(settings), mode, fill) };
    setup.load.threads = threads;
    setup.run()
}

#[test]
fn the_host_sees_all_but_one_of_the_cards() {
    let one = device(&[]).user_bytes();
    let (five, four) = (device(&with(&[])), device(&with(&["card.dead_cards=1"])));
    assert_eq!((five.cards().len(), four.cards().len()), (5, 4));
    assert_eq!(five.user_bytes(), four.user_bytes());
    assert!(five.user_bytes() <= 4 * one && five.user_bytes() > 4 * one - (1 << 20));
}

#[test]
fn small_writes_program_twice_what_the_host_writes() {
    let result = run(&with(&[]), FileioMode::RndWr, 16, 0.5);
    let flash = result.flash.unwrap();
    let factor = flash.host_pages as f64 * 4096.0 / result.write.io_bytes as f64;
    assert!((factor / 2.0 - 1.0).abs() < 0.02, "{factor}");
    let alone = run(&[], FileioMode::RndWr, 16, 0.5).flash.unwrap();
    assert!((flash.waf / alone.waf - 1.0).abs() < 0.1, "{} and {}", flash.waf, alone.waf);
}

#[test]
fn a_read_without_a_card_reads_all_the_others() {
    let reads = |more: &[&'static str]| {
        let result = run(&with(more), FileioMode::RndRd, 4, 1.0);
        (result.sim.unwrap().media_operations as f64 / result.read.total_ios as f64, result.read.lat_ns.mean)
    };
    let ((whole, alone), (without, degraded)) = (reads(&[]), reads(&["card.dead_cards=1"]));
    // One read in five is four: (4 + 4) / 5.
    assert!((without / whole / 1.6 - 1.0).abs() < 0.03, "{without} and {whole}");
    assert!(degraded > alone && degraded < 1.3 * alone, "{degraded} and {alone}");
}

#[test]
fn rebuilding_takes_from_reads_and_a_wrong_layout_is_refused() {
    let mean = |more: &[&'static str]| run(&with(more), FileioMode::RndRd, 16, 1.0).read.lat_ns.mean;
    let rebuilding = mean(&["card.dead_cards=1", "card.rebuild_bytes_per_s=400MB"]);
    assert!(rebuilding > 1.05 * mean(&["card.dead_cards=1"]), "{rebuilding}");
    let error = |settings: &[&str]| {
        let mut profile = Profile::builtin("tachion-400").unwrap();
        settings.iter().for_each(|setting| profile.set(setting).unwrap());
        profile.lower(1.0 / 256.0).unwrap_err().to_string()
    };
    for (settings, expected) in [
        (&["card.host_layout=raid5"][..], "count is 1, must be 3 or more"),
        (&["card.host_layout=raid5", "card.count=2"], "count is 2, must be 3 or more"),
        (&FOUR[..2], "host_stripe_bytes"),
        (&[FOUR[0], FOUR[1], FOUR[2], FOUR[3], "card.dead_cards=2"], "survives no more"),
        (&[FOUR[0], FOUR[1], FOUR[2], FOUR[3], "card.rebuild_bytes_per_s=1GB"], "dead_cards = 1"),
        (&["card.rebuild_bytes_per_s=1GB"], "raid5"),
    ] {
        assert!(error(settings).contains(expected), "{settings:?}: {}", error(settings));
    }
}
