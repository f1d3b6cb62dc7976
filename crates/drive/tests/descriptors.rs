//! A program of its own: it counts the descriptors and mappings of its process, which other tests change.

#[allow(dead_code, reason = "this program uses a part")]
#[path = "it/common/mod.rs"]
mod common;

use common::{MIB, StopAfter, create, fileio, filled, folder, measurement};
use drive::DriveOptions;
use load::FileioMode;
use target::{Silent, Target};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident_pages() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn hundreds_of_measurements_leave_no_descriptor_and_no_memory_behind() {
    let folder = folder();
    let mut drive = create(&folder, 16 * MIB, DriveOptions { threads: Some(2), ..DriveOptions::default() });
    drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
    let config = load::FileioConfig { block_bytes: 65536, threads: 16, ..fileio(FileioMode::RndRw, 16 * MIB) };
    let mut before = (0, 0);
    for i in 0..220 {
        if i == 20 {
            before = (descriptors(), resident_pages());
        }
        if i % 10 == 0 {
            let _ = drive.measure(&measurement(config, 60.0), &StopAfter::milliseconds(2));
        }
        drive.measure(&measurement(config, 0.005), &Silent).unwrap();
    }
    assert_eq!(descriptors(), before.0);
    // A megabyte of buffers each, had they been kept.
    assert!(resident_pages() < before.1 + 20 * 256, "{} {}", resident_pages(), before.1);
}
