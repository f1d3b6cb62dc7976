//! Sweeps of units over files.

use crate::common::{MIB, StopAfter, create, folder};
use drive::sweep::{SweepPlan, UnitSize, choose, sweep};
use drive::{Drive, DriveError, DriveOptions};
use std::time::Duration;
use target::Silent;

fn plan() -> SweepPlan {
    let unit = |kib: u32, medium_bytes| UnitSize { payload_bytes: kib << 10, medium_bytes };
    SweepPlan {
        units: vec![unit(16, 16_896), unit(64, 69_632)],
        depth: 4,
        room_bytes: 8 * MIB,
        measured: Duration::from_millis(150),
        warm_up: Duration::from_millis(50),
        passes: 2,
        seed: 1,
    }
}

#[test]
fn every_size_has_writes_reads_and_syncs_of_all_drives() {
    let folders = [folder(), folder(), folder()];
    let options = DriveOptions { threads: Some(1), ..DriveOptions::default() };
    let mut drives: Vec<Drive> = folders.iter().map(|folder| create(folder, 16 * MIB, options)).collect();
    // A disk whose direct requests are multiples of 4,096 bytes takes no unit of another size.
    if drives.iter().any(|drive| drive.align_bytes() > 512) {
        return;
    }
    let swept = sweep(&mut drives, &plan(), &Silent).unwrap();
    assert_eq!(swept.iter().map(|swept| swept.unit).collect::<Vec<_>>(), plan().units);
    for swept in &swept {
        assert!(swept.write_bw_bytes > 0.0 && swept.read_iops > 0.0, "{swept:?}");
        for figures in [swept.write, swept.read] {
            assert!(0 < figures.p50_ns && figures.p50_ns <= figures.p99_ns, "{swept:?}");
        }
    }
    assert!(swept.iter().any(|swept| swept.sync.p99_ns > 0), "{swept:?}");
    assert!([16 << 10, 64 << 10].contains(&choose(&swept, 3).unit_bytes));
    // The second half of each file is as it was.
    for folder in &folders {
        let bytes = std::fs::read(folder.path().join("file")).unwrap();
        assert!(bytes[8 << 20..].iter().all(|byte| *byte == 0), "something was written outside the room");
    }
}

#[test]
fn a_sweep_stops_when_it_is_asked_to() {
    let folder = folder();
    let mut drives = [create(&folder, 16 * MIB, DriveOptions::default())];
    let plan = SweepPlan { measured: Duration::from_secs(600), ..plan() };
    let stopped = sweep(&mut drives, &plan, &StopAfter::milliseconds(200));
    assert!(matches!(stopped, Err(DriveError::Cancelled)), "{stopped:?}");
}
