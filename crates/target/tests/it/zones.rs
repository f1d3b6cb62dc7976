//! Zones in virtual time, against closed forms: bandwidth, appends and writes at the pointer, padding, capacity.

use crate::common::{Setup, assert_near};
use load::{FileioConfig, FileioMode, LoadConfig};
use profile::{DeviceConfig, Profile};
use results::{Flash, RunResult, ZoneUse};
use serde_json::Value;
use target::{Measure, RunError, RunSpec, Silent, whole_zones};

/// Eight dies on two channels, zones of 7 MiB: 16 stripes of seven units of data and one of parity.
fn profile(settings: &[&str]) -> Profile {
    let mut profile = Profile::builtin("datacenter-tlc-3840").unwrap();
    let small = [
        "geometry.channels_per_module=2",
        "geometry.pages_per_block=16",
        "ftl.stripe_width=8",
        "buffer.bytes=4MiB",
        "relocation.sectors_under_way=512",
        "card.user_bytes=7800MB",
        "timing.chance_percent=0",
        "timing.read_types_percent=0",
    ];
    small.iter().chain(settings).for_each(|setting| profile.set(setting).unwrap());
    profile
}

fn drive(settings: &[&str]) -> DeviceConfig {
    profile(settings).lower(0.125).unwrap()
}

/// A load of a few threads over the whole device, each in zones of its own where there are several.
fn setup(settings: &[&str], mode: FileioMode, threads: u32, block_bytes: u32) -> Setup {
    let device = drive(settings);
    let file_bytes = whole_zones(&device, device.user_bytes(), threads, block_bytes);
    let mut setup = Setup::new(device, mode, 1.0);
    setup.load = FileioConfig { mode, threads, block_bytes, file_bytes, own_regions: true, ..FileioConfig::default() };
    setup
}

fn used(result: &RunResult) -> (&Flash, ZoneUse) {
    let flash = result.flash.as_ref().unwrap();
    (flash, flash.zones.unwrap())
}

/// Each die programs a unit of each stripe, and erases its block once a zone: however many zones are written at once, they
/// share all dies.
#[test]
fn zones_have_the_bandwidth_of_the_dies_less_their_erases() {
    for settings in [&["zones.bands=1"][..], &["zones.bands=3"], &["zones.bands=1", "zones.writes=append"]] {
        let expected = profile(settings).figures().unwrap().unwrap().data_program_bytes_per_s;
        for threads in [1, 2, 4, 8] {
            let mut setup = setup(settings, FileioMode::SeqRewr, threads, 131_072);
            setup.load.queue_depth = 16 / threads;
            let result = setup.run();
            let share = result.write.bw_bytes / expected;
            println!("{settings:?}, {threads} zones at once: {:.1} MB/s, {share:.3}", result.write.bw_bytes / 1e6);
            assert!((0.95..1.005).contains(&share), "{settings:?} {threads}: {share}");
            let (flash, zones) = used(&result);
            assert_eq!((flash.waf, flash.relocated_pages, flash.padding_pages), (1.0, 0, 0));
            assert!(zones.reset > 10 && zones.filled.abs_diff(zones.reset) <= u64::from(threads));
        }
    }
}

const FAST: [&str; 4] = ["zones.bands=1", "zones.max_active=8", "timing.program_ns=100_000", "timing.erase_ns=1_000"];

/// A write at the pointer goes alone, so depth brings nothing in one zone; appends share the zone until the command processor, the
/// link or the dies are busy.
#[test]
fn appends_of_one_zone_are_as_many_as_the_depth_and_writes_at_the_pointer_are_one() {
    let with = |more: &[&str], depth: u32| {
        let settings: Vec<&str> = FAST.iter().chain(more).copied().collect();
        let mut setup = setup(&settings, FileioMode::SeqRewr, 1, 4096);
        setup.load.queue_depth = depth;
        setup.measure = Measure::Requests(30_000);
        (setup.run().write.iops, profile(&settings).figures().unwrap().unwrap().data_program_bytes_per_s)
    };
    // 1.1 us of the command processor, the link, 8 us that hold nobody up.
    let transfer_ns = 4096.0 / 3.5;
    let (command_ns, append_ns) = (1_100.0, 2_000.0);
    let latency_ns = command_ns + transfer_ns + 8_000.0;
    for depth in [1, 2, 4, 8, 16] {
        let (iops, _) = with(&[], depth);
        // Resets wait for the programs before them.
        assert_near(iops, 1e9 / latency_ns, 0.02);
        let (iops, flash) = with(&["zones.writes=append", "zones.append_ns=2_000"], depth);
        let each_ns = latency_ns + append_ns;
        let bound = (1e9 / (command_ns + append_ns)).min(1e9 / transfer_ns).min(flash / 4096.0);
        let expected = (f64::from(depth) * 1e9 / each_ns).min(bound);
        println!("depth {depth}: {iops:.0} appends a second, expected {expected:.0}");
        assert_near(iops, expected, 0.05);
    }
}

/// Zones beside each other do not hold each other up.
#[test]
fn zones_at_depth_one_add_up_until_the_card_is_busy() {
    for zones in [1, 2, 4] {
        let mut setup = setup(&FAST, FileioMode::SeqRewr, zones, 4096);
        setup.measure = Measure::Requests(30_000);
        let latency_ns = 1_100.0 + 4096.0 / 3.5 + 8_000.0;
        assert_near(setup.run().write.iops, f64::from(zones) * 1e9 / latency_ns, 0.03);
    }
}

#[test]
fn a_zone_that_is_finished_early_is_padded_to_its_end() {
    for (unwritten, share) in
        [("zones.unwritten=0.25", 0.75), ("zones.unwritten=0.5", 0.5), ("zones.unwritten=0.9", 0.1)]
    {
        let mut setup = setup(&["zones.bands=1", unwritten], FileioMode::SeqRewr, 2, 4096);
        setup.explain = true;
        let result = setup.run();
        let (flash, zones) = used(&result);
        let written = (zones.capacity_pages as f64 * share).round() as u64;
        assert!(zones.finished > 10 && zones.filled == 0);
        assert_eq!(flash.padding_pages, zones.finished * (zones.capacity_pages - written));
        assert_eq!(flash.relocated_pages, 0);
        let expected = zones.count * written * 4096;
        assert_eq!(setup.device.user_bytes(), expected);
    }
}

/// The same flash: with spare space for collection, and with zones.
#[test]
fn zones_have_all_bands_but_those_that_are_kept_for_bad_blocks() {
    let mut block = Profile::builtin("datacenter-tlc-3840").unwrap();
    let before = block.lower(1.0).unwrap().user_bytes();
    let data = block.figures().unwrap().unwrap().capacities.data_bytes;
    block.set("zones.bands=1").unwrap();
    let zoned = block.lower(1.0).unwrap();
    let limits = zoned.cards()[0].zone_limits().unwrap();
    // Six of 1,390 bands stay free; 3,000 in a million of 1,390 blocks are 4.2 a die, and 4 deviations more 12.4: 13 and 2.
    assert_eq!(limits.zones, 1_390 - 6 - 15);
    assert_eq!(u64::from(limits.capacity) * 4096, data / 1_390);
    assert_eq!(zoned.user_bytes(), u64::from(limits.zones) * data / 1_390);
    let gain = zoned.user_bytes() as f64 / before as f64 - 1.0;
    println!("{} zones, {:.1} % more than {before} bytes", limits.zones, gain * 100.0);
    assert!(gain > 0.07, "{gain}");
}

#[test]
fn zones_beyond_those_that_may_be_open_are_closed_for_each_other() {
    let settings = ["zones.bands=1", "zones.max_open=2", "zones.max_active=4"];
    let result = setup(&settings, FileioMode::SeqRewr, 4, 16_384).run();
    let (flash, zones) = used(&result);
    assert_eq!(flash.waf, 1.0);
    // Four threads in turn: each write finds its zone closed.
    assert!(zones.closed_implicitly * 10 > result.write.total_ios * 9, "{zones:?}");
    assert!(zones.opened.abs_diff(zones.closed_implicitly + zones.filled) <= 4, "{zones:?}");
    let enough = setup(&["zones.bands=1", "zones.max_active=4"], FileioMode::SeqRewr, 4, 16_384).run();
    assert_eq!(used(&enough).1.closed_implicitly, 0);
}

#[test]
fn zones_are_read_as_other_cards_are() {
    let reads = |settings: &[&str]| {
        let mut setup = setup(settings, FileioMode::RndRd, 16, 4096);
        setup.load.file_bytes = 200 << 20;
        setup.load.own_regions = false;
        setup.fill = 0.2;
        setup.run().read
    };
    let (zoned, block) = (reads(&["zones.bands=1"]), reads(&[]));
    assert_near(zoned.iops, block.iops, 0.02);
    assert_near(zoned.lat_ns.mean, block.lat_ns.mean, 0.02);
}

/// Reads go ahead of writes and meet no collection.
#[test]
fn reads_beside_writes_are_answered() {
    let mut setup = setup(&["zones.bands=1"], FileioMode::SeqRw, 4, 16_384);
    setup.explain = true;
    let result = setup.run();
    assert!(result.read.total_ios > 1_000 && result.write.total_ios > 1_000);
    assert_eq!(used(&result).0.waf, 1.0);
}

#[test]
fn a_run_repeats_itself() {
    let once = || {
        let mut result = setup(&["zones.bands=2", "zones.writes=append"], FileioMode::SeqRewr, 3, 16_384).run();
        result.sim = None;
        serde_json::to_string(&result).unwrap()
    };
    assert_eq!(once(), once());
}

fn refused(settings: &[&str], load: LoadConfig) -> String {
    let device = drive(settings);
    let spec = RunSpec {
        device: &device,
        device_json: Value::Null,
        host: &device::HostConfig::UNLIMITED,
        host_json: Value::Null,
        load: &load,
        fill: 1.0,
        seed: 1,
        measure: Measure::Auto,
        fresh: false,
        explain_tail: false,
        histograms: false,
    };
    let error: RunError = target::run(&spec, &Silent).unwrap_err();
    error.to_string()
}

#[test]
fn loads_that_zones_do_not_take_are_refused() {
    let fileio = |change: fn(&mut FileioConfig)| {
        let device = drive(&["zones.bands=1"]);
        let mut config = setup(&["zones.bands=1"], FileioMode::SeqRewr, 4, 16_384).load;
        config.file_bytes = whole_zones(&device, device.user_bytes(), 4, 16_384);
        change(&mut config);
        refused(&["zones.bands=1", "zones.max_active=6"], LoadConfig::Fileio(config))
    };
    let in_order = "zones are written in order and reset: take seqwr, seqrewr, seqrw, or a load that only reads; a card \
                    without [zones] takes all loads";
    assert_eq!(fileio(|config| config.mode = FileioMode::RndWr), in_order);
    assert_eq!(fileio(|config| config.mode = FileioMode::RndRw), in_order);
    assert_eq!(refused(&["zones.bands=1"], LoadConfig::Oltp(load::OltpConfig::default())), in_order);
    assert_eq!(
        fileio(|config| config.block_bytes = 512),
        "zones are written in whole sectors: the blocks, and what shifts them, must be multiples of 4,096 bytes"
    );
    assert_eq!(
        fileio(|config| config.file_bytes -= 16_384 * 4),
        "the load begins to write at byte 308264960, within a zone: its regions must be multiples of 7340032 bytes"
    );
    assert_eq!(
        fileio(|config| {
            config.threads = 7;
            config.file_bytes = 7 * 7_340_032;
        }),
        "the load writes 7 zones at once, and 6 may be active (zones.max_active)"
    );
    assert_eq!(
        fileio(|config| config.block_bytes = 8 << 20),
        "blocks of 8388608 bytes are larger than the 7340032 bytes that a zone is written with"
    );
}
