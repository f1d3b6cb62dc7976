//! A host that places its writes by handles, in virtual time.

use load::{Access, FileioConfig, FileioMode, LoadConfig, RedoConfig};
use profile::Profile;
use results::RunResult;
use serde_json::Value;
use target::{Measure, RunError, RunSpec, Silent, run};

/// With few dies and small blocks, so that there are many and they are soon written: a band that is open weighs little.
fn drive(settings: &[&str]) -> profile::DeviceConfig {
    let mut profile = Profile::builtin("datacenter-tlc-3840").unwrap();
    let small = [
        "geometry.channels_per_module=2",
        "geometry.pages_per_block=16",
        "ftl.stripe_width=8",
        "buffer.bytes=4MiB",
        "relocation.sectors_under_way=512",
        "card.user_bytes=7800MB",
    ];
    small.iter().chain(settings).for_each(|setting| profile.set(setting).unwrap());
    profile.lower(0.125).unwrap()
}

fn load(mode: FileioMode, access: Access, threads: u32) -> FileioConfig {
    FileioConfig { mode, access, threads, block_bytes: 16_384, own_regions: true, ..FileioConfig::default() }
}

/// Runs a load over a whole card with settings.
fn result(settings: &[&str], load: FileioConfig) -> Result<RunResult, RunError> {
    let device = drive(settings);
    let file_bytes = device.user_bytes() / (1 << 20) * (1 << 20);
    run_on(&device, &LoadConfig::Fileio(FileioConfig { file_bytes, ..load }))
}

fn run_on(device: &profile::DeviceConfig, load: &LoadConfig) -> Result<RunResult, RunError> {
    let spec = RunSpec {
        device,
        device_json: Value::Null,
        host: &profile::Host::builtin("default").unwrap().config(),
        host_json: Value::Null,
        load,
        fill: 1.0,
        seed: 1,
        measure: Measure::Auto,
        fresh: false,
        explain_tail: false,
        histograms: false,
    };
    run(&spec, &Silent)
}

const SKEWED: Access = Access::HotCold { hot_share_of_space: 0.2, share_of_accesses: 0.8 };

#[test]
fn hot_and_cold_writes_apart_wear_less_and_each_handle_is_counted() {
    let skewed = |settings: &[&str]| {
        let flash = result(settings, load(FileioMode::RndWr, SKEWED, 32)).unwrap().flash.unwrap();
        (flash.waf, flash)
    };
    let (mixed, none) = skewed(&[]);
    assert!(none.handles.is_empty());
    let by_heat = ["placement.handles=2", "placement.by=heat"];
    let (initial, _) = skewed(&by_heat);
    let (persistent, flash) = skewed(&[by_heat[0], by_heat[1], "placement.isolation=persistent"]);
    println!("{mixed:.3} without handles, {initial:.3} initially, {persistent:.3} persistently isolated");
    assert!(persistent < 0.95 * mixed && initial < mixed, "{mixed} {initial} {persistent}");
    let [hot, cold] = flash.handles[..] else { panic!("{:?}", flash.handles) };
    assert_eq!(hot.host_pages + cold.host_pages, flash.host_pages);
    assert_eq!(hot.relocated_pages + cold.relocated_pages, flash.relocated_pages);
    assert!((hot.host_pages as f64 / flash.host_pages as f64 - 0.8).abs() < 0.01);
    // Both are collected at the same level.
    assert!((hot.waf / cold.waf - 1.0).abs() < 0.2, "{hot:?} {cold:?}");
}

#[test]
fn threads_that_write_front_to_back_cost_nothing_with_a_handle_each() {
    let settings = ["placement.handles=4", "placement.by=thread"];
    let flash = result(&settings, load(FileioMode::SeqRewr, Access::Uniform, 4)).unwrap().flash.unwrap();
    assert!(flash.waf < 1.01, "{}", flash.waf);
    assert_eq!(flash.handles.len(), 4);
    assert!(flash.handles.iter().all(|handle| handle.host_pages > 0 && handle.waf < 1.02), "{:?}", flash.handles);
}

#[test]
fn one_handle_is_a_card_without_to_the_last_figure() {
    let with = |settings: &[&str]| {
        let mut result = result(settings, load(FileioMode::RndWr, SKEWED, 32)).unwrap();
        let sim = result.sim.as_mut().unwrap();
        (sim.wall_seconds, sim.precondition_wall_seconds) = (0.0, 0.0);
        result
    };
    let one = ["placement.handles=1", "placement.by=heat", "placement.isolation=persistent"];
    assert_eq!(serde_json::to_string(&with(&one)).unwrap(), serde_json::to_string(&with(&[])).unwrap());
}

#[test]
fn a_database_places_its_data_and_its_log() {
    let device = drive(&["placement.handles=2", "placement.by=file"]);
    let redo = RedoConfig { data_bytes: 512 << 20, log_area_bytes: 64 << 20, ..RedoConfig::default() };
    let flash = run_on(&device, &LoadConfig::Redo(redo)).unwrap().flash.unwrap();
    let [log, data] = flash.handles[..] else { panic!("{:?}", flash.handles) };
    assert!(log.host_pages > 0 && data.host_pages == 0, "{flash:?}");
}

#[test]
fn what_can_not_be_placed_is_said() {
    let error = |settings: &[&str], load| result(settings, load).unwrap_err().to_string();
    let random = load(FileioMode::RndWr, Access::Uniform, 4);
    assert_eq!(
        error(&["placement.handles=2", "placement.by=heat"], random),
        "placement.by: the load has no parts that are written more often and less often to place by"
    );
    assert_eq!(
        error(&["placement.handles=2", "placement.by=thread"], random),
        "placement.by: the load has no regions of threads to place by"
    );
    assert_eq!(
        error(&["placement.handles=2", "placement.by=file"], random),
        "placement.by: the load has no files to place by"
    );
    assert_eq!(
        error(&["placement.handles=3", "placement.by=thread"], load(FileioMode::SeqRewr, Access::Uniform, 4)),
        "placement.handles: the load has 4 regions to place, and the card 3 handles"
    );
}
