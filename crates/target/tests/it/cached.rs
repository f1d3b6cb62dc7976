//! A card in front of disks, as the models of both know them.

use crate::common::Setup;
use load::{Access, FileioMode};
use profile::{DeviceConfig, Profile};
use results::{CacheReport, RunResult};
use target::Measure;

const DISKS: &str = "sas-raid10-6";

fn cache(settings: &[&str]) -> DeviceConfig {
    let mut profile = Profile::builtin("tachion-200").unwrap();
    profile.set(&format!("cache.of={DISKS}")).unwrap();
    settings.iter().for_each(|setting| profile.set(setting).unwrap());
    profile.lower(1.0 / 256.0).unwrap()
}

fn front_and_back(device: &DeviceConfig) -> (DeviceConfig, DeviceConfig) {
    let DeviceConfig::Cached(cached) = device else { panic!("a cache") };
    (cached.front.clone(), cached.back.clone())
}

fn setup(device: DeviceConfig, mode: FileioMode) -> Setup {
    Setup { measure: Measure::Requests(20_000), ..Setup::new(device, mode, 1.0) }
}

fn report(result: &RunResult) -> &CacheReport {
    result.cache.as_ref().unwrap()
}

#[test]
fn without_a_mode_the_figures_are_the_disks_own() {
    let device = cache(&["cache.mode=passthrough"]);
    let (_, back) = front_and_back(&device);
    for mode in [FileioMode::RndRd, FileioMode::RndRw, FileioMode::SeqRd] {
        let mut through = setup(device.clone(), mode);
        let mut own = setup(back.clone(), mode);
        for one in [&mut through, &mut own] {
            one.load.threads = 1;
            one.measure = Measure::Requests(3_000);
        }
        let (through, own) = (through.run(), own.run());
        assert_eq!((&through.read, &through.write), (&own.read, &own.write), "{mode:?}");
        assert_eq!(report(&through).hit_rate, 0.0);
    }
}

#[test]
fn small_disks_behind_a_small_cache_are_as_fast_as_whole_ones() {
    let (_, small) = front_and_back(&cache(&[]));
    let whole = Profile::builtin(DISKS).unwrap().lower(1.0).unwrap();
    assert!(small.user_bytes() < whole.user_bytes() / 200);
    for mode in [FileioMode::RndRd, FileioMode::RndRw] {
        let iops = |device: &DeviceConfig| {
            let result = Setup { measure: Measure::Requests(30_000), ..setup(device.clone(), mode) }.run();
            result.read.iops + result.write.iops
        };
        let ratio = iops(&small) / iops(&whole);
        assert!((ratio - 1.0).abs() < 0.03, "{mode:?}: {ratio}");
    }
}

#[test]
fn with_hits_alone_the_figures_are_the_cards_own() {
    let device = cache(&[]);
    let (front, _) = front_and_back(&device);
    let DeviceConfig::Cached(cached) = &device else { panic!("a cache") };
    let file_bytes = cached.cache.bytes() / 2;
    for (mode, threads) in [(FileioMode::RndRd, 1), (FileioMode::RndRd, 16), (FileioMode::RndWr, 16)] {
        let mut through = setup(device.clone(), mode);
        let mut own = setup(front.clone(), mode);
        for one in [&mut through, &mut own] {
            one.load.file_bytes = file_bytes;
            one.load.threads = threads;
            one.measure = Measure::Requests(60_000);
        }
        let (through, own) = (through.run(), own.run());
        assert_eq!((report(&through).misses, report(&through).hit_rate), (0, 1.0));
        let ratio = (through.read.iops + through.write.iops) / (own.read.iops + own.write.iops);
        match (mode, threads) {
            // Nothing waits for anything: reads differ where two of a page follow each other, some 30 of 60,000.
            (FileioMode::RndRd, 1) => assert!((ratio - 1.0).abs() < 1e-4, "{ratio}"),
            // The data lie on other dies, so other reads meet there.
            (FileioMode::RndRd, _) => assert!((ratio - 1.0).abs() < 0.03, "{ratio}"),
            // Dirty blocks above their share are read and written back beside the writes.
            _ => assert!((0.5..1.02).contains(&ratio), "{ratio}"),
        }
    }
}

#[test]
fn zipf_reads_hit_by_the_characteristic_time_in_a_whole_run() {
    let device = cache(&["cache.size=20GB"]);
    let DeviceConfig::Cached(cached) = &device else { panic!("a cache") };
    let (blocks, theta) = (cached.cache.blocks, 0.9);
    let file_blocks = u64::from(blocks) * 10;
    let mut setup = setup(device.clone(), FileioMode::RndRd);
    setup.load.access = Access::Zipf { theta };
    setup.load.file_bytes = file_blocks * 4096;
    setup.measure = Measure::Requests(60_000);
    let result = setup.run();
    let report = report(&result);
    let weights: Vec<f64> = (1..=file_blocks).map(|k| (k as f64).powf(-theta)).collect();
    let expected = che(&weights, f64::from(blocks));
    assert!((report.hit_rate / expected - 1.0).abs() < 0.01, "{} by theory {expected}", report.hit_rate);
    assert!(report.warm_up.is_some_and(|warm| warm.attained && (warm.hit_rate / expected - 1.0).abs() < 0.01));
    assert_eq!(report.hits + report.misses, result.read.total_ios);
    let (hit, miss) = (report.read_hit_lat_ns.as_ref().unwrap(), report.read_miss_lat_ns.as_ref().unwrap());
    assert!(miss.mean > 20.0 * hit.mean, "{} {}", hit.mean, miss.mean);
}

fn che(weights: &[f64], size: f64) -> f64 {
    let all: f64 = weights.iter().sum();
    let there = |weight: f64, time: f64| 1.0 - (-weight / all * time).exp();
    let (mut low, mut high) = (0.0, size * 1e4);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        let held: f64 = weights.iter().map(|&weight| there(weight, middle)).sum();
        if held < size { low = middle } else { high = middle }
    }
    weights.iter().map(|&weight| weight / all * there(weight, high)).sum()
}

#[test]
fn writing_back_makes_writes_fast_until_the_disks_can_no_longer_follow() {
    let run = |mode: &str, rate: Option<f64>| {
        // No cache of a controller: what the disks themselves take is to be seen.
        let mut device = cache(&["cache.size=40GB", &format!("cache.mode={mode}")]);
        let DeviceConfig::Cached(cached) = &mut device else { panic!("a cache") };
        let DeviceConfig::Disks(array) = &mut cached.back else { panic!("of disks") };
        array.controller_cache_bytes = 0;
        let mut setup = setup(device, FileioMode::RndWr);
        setup.load.access = Access::Zipf { theta: 0.9 };
        setup.load.rate_iops = rate;
        setup.run()
    };
    let (back, through) = (run("writeback", Some(500.0)), run("writethrough", Some(500.0)));
    assert!(back.write.lat_ns.mean < through.write.lat_ns.mean / 50.0);
    assert!(report(&back).dirty_share > 0.09 && report(&back).dirty_share < 0.11, "{}", report(&back).dirty_share);
    assert_eq!(report(&through).dirty_share, 0.0);
    // As fast as it goes: writes are held back to what the disks take, and the dirty share to its limit.
    let full = run("writeback", None);
    assert!(report(&full).dirty_share > 0.65 && report(&full).dirty_share < 0.71, "{}", report(&full).dirty_share);
}

#[test]
fn times_of_explained_requests_add_up() {
    for mode in ["writeback", "writethrough"] {
        let mut setup = setup(cache(&["cache.size=20GB", &format!("cache.mode={mode}")]), FileioMode::RndRw);
        setup.explain = true;
        setup.load.fsync_every = 50;
        setup.load.rate_iops = Some(800.0);
        setup.measure = Measure::Requests(10_000);
        let result = setup.run();
        assert!(result.tail.is_some());
    }
}
