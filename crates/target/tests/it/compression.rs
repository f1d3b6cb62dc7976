//! Cards that compress what their hosts write, in virtual time.

use crate::common::{Setup, assert_near, changed_device, share_of};
use device::{Compressible, HostConfig};
use load::FileioMode;
use profile::DeviceConfig;
use results::RunResult;
use target::Measure;

/// With few dies and small blocks, so that there are many and they are soon written.
const SMALL: [&str; 6] = [
    "geometry.channels_per_module=2",
    "geometry.pages_per_block=16",
    "ftl.stripe_width=8",
    "buffer.bytes=4MiB",
    "relocation.sectors_under_way=512",
    "card.user_bytes=7800MB",
];

fn drive(settings: &[&str]) -> DeviceConfig {
    changed_device("datacenter-tlc-3840", &[&SMALL, settings].concat(), 0.125)
}

const TABLE: &str = "compression.granule=512";

fn host(share: f64) -> HostConfig {
    HostConfig { compressible: Compressible { least: share, most: share }, ..HostConfig::UNLIMITED }
}

fn run(settings: &[&str], host: HostConfig, mode: FileioMode, block_bytes: u32) -> RunResult {
    let mut setup = Setup::new(drive(settings), mode, 1.0);
    setup.host = host;
    (setup.load.block_bytes, setup.load.threads, setup.measure) = (block_bytes, 32, Measure::Auto);
    setup.run()
}

fn text(mut result: RunResult) -> String {
    let sim = result.sim.as_mut().unwrap();
    (sim.wall_seconds, sim.precondition_wall_seconds) = (0.0, 0.0);
    if let Some(flash) = &mut result.flash {
        flash.compression = None;
    }
    serde_json::to_string(&result).unwrap()
}

/// Granules of 2 KiB: a unit of the drive has 64 KiB, and no more than 64 are moved at a time.
#[test]
fn incompressible_data_are_as_on_a_card_without_to_the_last_figure() {
    for mode in [FileioMode::RndWr, FileioMode::RndRw, FileioMode::SeqRewr, FileioMode::RndRd] {
        let plain = text(run(&[], host(0.5), mode, 16_384));
        assert_eq!(text(run(&["compression.granule=2048"], host(0.0), mode, 16_384)), plain, "{mode:?}");
        assert_eq!(text(run(&["compression.granule=4096"], host(0.9), mode, 16_384)), plain, "{mode:?}");
    }
}

/// Flash programs so many bytes a second, whatever they stand for; the link carries them as they are.
#[test]
fn sequential_writes_are_limited_by_flash_or_by_the_link() {
    let speed = |share| {
        let mut setup = Setup::new(drive(&[TABLE]), FileioMode::SeqRewr, 1.0);
        setup.host = host(share);
        // A hundred times the buffer is stored of these.
        (setup.load.block_bytes, setup.measure) = (131_072, Measure::Requests(30_000));
        setup.run().write.bw_bytes
    };
    let [incompressible, half, eighth] = [0.0, 0.5, 0.875].map(speed);
    let device = drive(&[]);
    let link = device.cards()[0].link.write_bytes_per_s as f64;
    println!("{incompressible:.0} {half:.0} {eighth:.0}, link {link:.0}");
    assert!(eighth < link && incompressible < 0.2 * link, "{incompressible} {eighth}");
    assert_near(half, 2.0 * incompressible, 0.02);
    assert_near(eighth, (8.0 * incompressible).min(link), 0.03);
}

#[test]
fn what_the_host_wrote_and_what_was_stored_are_counted() {
    let flash = run(&[TABLE], host(0.5), FileioMode::RndWr, 16_384).flash.unwrap();
    let compression = flash.compression.unwrap();
    assert_eq!(compression.host_bytes, flash.host_pages * 4096);
    assert_eq!(compression.stored_bytes * 2, compression.host_bytes);
    let stored = compression.stored_bytes / 4096;
    assert_near(flash.waf, (stored + flash.relocated_pages) as f64 / flash.host_pages as f64, 1e-3);
    assert!(compression.unused_bytes <= (flash.padding_pages + 1) * 4096);
    let pages = stored + flash.relocated_pages + flash.parity_pages + flash.padding_pages + flash.metadata_pages;
    assert_eq!(flash.programmed_pages(), pages);
    // More than half of the flash is spare.
    assert!(flash.effective_spare_factor > 0.5);
    let plain = run(&[], host(0.5), FileioMode::RndWr, 16_384).flash.unwrap();
    assert!(plain.compression.is_none() && flash.waf < 0.3 * plain.waf, "{} {}", flash.waf, plain.waf);
}

/// Reads of compressed sectors take less of the bus: with all dies at work it is the channels that limit.
#[test]
fn compressed_sectors_take_less_of_the_bus() {
    let slow = [
        TABLE,
        "timing.bus_bytes_per_s=40MB/s",
        "timing.read_ns=10_000",
        "buffer.capacitor_joules=none",
        "buffer.drain_watts=none",
    ];
    let [plain, half] = [0.0, 0.5].map(|share| run(&slow, host(share), FileioMode::RndRd, 4_096).read.iops);
    println!("{plain:.0} {half:.0}");
    assert!(half > 1.6 * plain && half < 2.0 * plain, "{plain} {half}");
}

/// Sectors of all sizes, mixed reads and writes that are explained: parts add up to each latency, and nothing is lost.
#[test]
fn sizes_of_all_kinds_are_read_and_written() {
    let compressible = Compressible { least: 0.0, most: 1.0 };
    let modules = [
        "geometry.modules=8",
        "geometry.channels_per_module=1",
        "geometry.dies_per_channel=2",
        "card.missing_module=0",
        "compression.granule=256",
        "compression.header=16",
    ];
    for settings in [&[TABLE][..], &modules] {
        let mut setup = Setup::new(drive(settings), FileioMode::RndRw, 1.0);
        setup.host = HostConfig { compressible, ..HostConfig::UNLIMITED };
        setup.load.file_bytes = share_of(&setup.device, 1.0);
        (setup.load.block_bytes, setup.load.misalign_bytes, setup.load.fsync_every) = (8_192, 512, 100);
        setup.explain = true;
        let result = setup.run();
        let flash = result.flash.unwrap();
        assert!(result.read.iops > 0.0 && result.write.iops > 0.0 && result.tail.is_some());
        assert!(flash.waf < 1.0, "{}", flash.waf);
        let stored = flash.compression.unwrap();
        let share = stored.stored_bytes as f64 / stored.host_bytes as f64;
        assert!((0.5..0.57).contains(&share), "{share}");
    }
}

/// The Intel 520 of 60 GB wrote 1,258 GB of compressible data front to back in an hour, 128 KB at a time and one after the other, and
/// 176 GB of that to flash (Tom's Hardware, February 2012, "60 GB SSDs", page 7).
#[test]
fn data_that_hardly_leave_anything_cost_the_best_ratio_of_the_engine() {
    let settings = ["compression.granule=64", "compression.best_ratio=0.14"];
    let mut setup = Setup::new(drive(&settings), FileioMode::SeqRewr, 1.0);
    setup.host = host(0.99);
    (setup.load.block_bytes, setup.load.threads) = (131_072, 1);
    let flash = setup.run().flash.unwrap();
    println!("{:.4}, published {:.4}", flash.waf, 176.0 / 1_258.0);
    assert_near(flash.waf, 176.0 / 1_258.0, 0.01);
    assert_eq!(flash.relocated_pages, 0);
}
