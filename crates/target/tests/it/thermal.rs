//! A drive without a heat sink is throttled when others saw it, as far as they saw it, at any scale.

use crate::common::assert_near;
use load::{FileioConfig, FileioMode, LoadConfig};
use profile::Profile;
use results::{RunResult, ThermalReport};
use serde_json::Value;
use target::{Measure, RunSpec, Silent, run};

/// Seconds before measurement begins, which warm the card as well.
const WARM_UP_S: f64 = 10.0;

fn sequential(mode: FileioMode, settings: &[&str], seconds: f64, scale: f64) -> (RunResult, ThermalReport) {
    let mut profile = Profile::builtin("samsung-970-pro-512").unwrap();
    settings.iter().for_each(|setting| profile.set(setting).unwrap());
    let device = profile.lower(scale).unwrap();
    let file_bytes = device.user_bytes() >> 20 << 20;
    let load = FileioConfig { mode, threads: 4, block_bytes: 1 << 20, file_bytes, ..FileioConfig::default() };
    let spec = RunSpec {
        device: &device,
        device_json: Value::Null,
        host: &profile::Host::builtin("default").unwrap().config(),
        host_json: Value::Null,
        load: &LoadConfig::Fileio(load),
        fill: 1.0,
        seed: 1,
        measure: Measure::Seconds(seconds),
        fresh: false,
        explain_tail: false,
        histograms: false,
    };
    let result = run(&spec, &Silent).unwrap();
    let thermal = result.thermal.clone().expect("the drive has a temperature");
    (result, thermal)
}

/// Seconds of writing until the first second that is clearly slower than those before.
fn slows_after(result: &RunResult) -> usize {
    result.series.iter().position(|row| row.write_bw_bytes < 1.75e9).expect("it gets hot")
}

#[test]
fn a_970_pro_writes_for_as_long_and_then_as_fast_as_was_published() {
    // techpowerup, review of the Samsung 970 PRO 512 GB: 2 GB/s for 150 s, then 1.5 GB/s at 80 °C.
    let (result, thermal) = sequential(FileioMode::SeqWr, &[], 300.0, 1.0 / 64.0);
    let until = slows_after(&result);
    let mean = |rows: &[results::SeriesRow]| rows.iter().map(|row| row.write_bw_bytes).sum::<f64>() / rows.len() as f64;
    assert_near(mean(&result.series[..until]), 2e9, 0.05);
    assert_near(until as f64 + WARM_UP_S, 150.0, 0.05);
    assert_near(mean(&result.series[until + 1..]), 1.5e9, 0.05);
    assert!((79.9..80.2).contains(&thermal.highest_celsius), "{} °C", thermal.highest_celsius);
    assert_eq!((thermal.series.len(), thermal.heavy_s, thermal.critical_s), (300, 0.0, 0.0));
    // Reads never throttle it, and writes do not under a heat sink.
    let (_, thermal) = sequential(FileioMode::SeqRd, &[], 200.0, 1.0 / 64.0);
    assert!(thermal.highest_celsius < 75.0 && thermal.light_s == 0.0, "{thermal:?}");
    let sink = ["thermal.kelvin_per_watt=5", "thermal.start_celsius=40"];
    let (_, thermal) = sequential(FileioMode::SeqWr, &sink, 200.0, 1.0 / 64.0);
    assert!(thermal.highest_celsius < 61.0 && thermal.light_s == 0.0, "{thermal:?}");
}

#[test]
fn scale_keeps_the_temperature() {
    let at = |scale| {
        let (result, thermal) = sequential(FileioMode::SeqWr, &["thermal.light_celsius=75"], 120.0, scale);
        (slows_after(&result) as f64, thermal)
    };
    let ((until, small), (until_large, large)) = (at(1.0 / 64.0), at(1.0 / 16.0));
    assert_near(until, until_large, 0.02);
    assert_near(small.mean_watts, large.mean_watts, 0.01);
    assert_near(small.end_celsius, large.end_celsius, 0.02);
}

#[test]
fn of_several_cards_the_hottest_is_reported() {
    let two = ["card.count=2", "card.host_stripe_bytes=64KiB"];
    let (_, one) = sequential(FileioMode::SeqWr, &[], 20.0, 1.0 / 64.0);
    let (_, hottest) = sequential(FileioMode::SeqWr, &two, 20.0, 1.0 / 64.0);
    // Each has half of the capacity, and as many dies.
    assert!((hottest.highest_celsius - one.highest_celsius).abs() < 3.0, "{hottest:?}");
}
