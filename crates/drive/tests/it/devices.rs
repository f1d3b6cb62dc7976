//! Drives that are block devices, and errors that real devices give. Needs root and loop devices; says so otherwise.

use crate::common::{Loop, MIB, Mount, fileio, filled, info, measurement};
use drive::{Drive, DriveError, DriveOptions};
use load::FileioMode;
use results::{HostInfo, TargetKind};
use std::os::unix::fs::MetadataExt;
use target::{Silent, Target, TargetError};

fn drive_error(error: TargetError) -> DriveError {
    let TargetError::Real(error) = error else { panic!("{error:?}") };
    *error.downcast().unwrap()
}

#[test]
fn a_block_device_is_filled_measured_verified_and_purged() {
    let Some(device) = Loop::new(64 * MIB) else { return };
    let mut drive = device.open(DriveOptions { threads: Some(2), ..DriveOptions::default() });
    assert_eq!((drive.info().kind, drive.capacity_bytes()), (TargetKind::BlockDevice, 64 * MIB));
    assert!(drive.bring_to(&filled(1.0, 1), &Silent).unwrap().sequential_bytes == 64 * MIB);
    let config = load::FileioConfig { fsync_every: 10, ..fileio(FileioMode::RndRw, 64 * MIB) };
    let result = drive.measure(&measurement(config, 0.3), &Silent).unwrap();
    assert!(result.read.total_ios > 0 && result.write.total_ios > 0 && result.sync.total_ios > 0);
    assert_eq!(drive.verify(0..64 * MIB, &Silent).unwrap(), 64 * MIB);
    let before = std::fs::metadata(&device.backing).unwrap().blocks();
    let purge = drive.purge(&Silent).unwrap();
    assert_eq!((purge.what.as_str(), purge.discarded_bytes), ("discarded 67.1 MB", 64 * MIB));
    assert!(std::fs::metadata(&device.backing).unwrap().blocks() < before / 2);
}

#[test]
fn an_open_device_is_taken_over_and_a_mounted_one_refused() {
    let Some(mount) = Mount::new(32 * MIB) else { return };
    let path = &mount.device.device;
    let opened = Drive::open_block_device(path, info(), HostInfo::default(), DriveOptions::default());
    assert!(matches!(opened, Err(DriveError::InUse { .. })), "{:?}", opened.err());
    let Some(free) = Loop::new(4 * MIB) else { return };
    let file = std::fs::File::options().read(true).write(true).open(&free.device).unwrap();
    let mut drive =
        Drive::block_device(file, "/dev/as-named", info(), HostInfo::default(), DriveOptions::default()).unwrap();
    drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
    assert_eq!(drive.verify(0..4 * MIB, &Silent).unwrap(), 4 * MIB);
}

#[test]
fn a_failing_device_ends_the_run_with_its_error() {
    let Some(device) = Loop::new(16 * MIB) else { return };
    for threads in [1, 2] {
        let mut drive = device.open(DriveOptions { threads: Some(threads), ..DriveOptions::default() });
        drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
        // Its medium is cut off behind it: a loop device answers with I/O errors, or with too few bytes.
        let backing = std::fs::File::options().write(true).open(&device.backing).unwrap();
        backing.set_len(8 * MIB).unwrap();
        let error = drive.measure(&measurement(fileio(FileioMode::RndRd, 16 * MIB), 30.0), &Silent).err();
        backing.set_len(16 * MIB).unwrap();
        match drive_error(error.expect("a failing device")) {
            DriveError::Request { op: device::Operation::Read, offset_bytes, len_bytes: 4096, source, path } => {
                assert!(offset_bytes >= 8 * MIB - 4096);
                assert_eq!((source.raw_os_error(), path), (Some(5), device.device.clone()));
            }
            other => panic!("{other}"),
        }
        // Nothing is in flight: it can be used again.
        drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
        assert_eq!(drive.verify(0..16 * MIB, &Silent).unwrap(), 16 * MIB);
    }
}

#[test]
fn a_file_system_that_fills_up_is_told_before_and_in_the_middle() {
    let Some(mount) = Mount::new(32 * MIB) else { return };
    let path = mount.folder.path().join("file");
    let made = Drive::create_file(&path, 64 * MIB, info(), HostInfo::default(), DriveOptions::default());
    assert!(matches!(made, Err(DriveError::NoSpace { needed_bytes, .. }) if needed_bytes == 64 * MIB));
    assert!(!path.exists());
    // A file with holes promises what is not there.
    std::fs::File::create_new(&path).unwrap().set_len(64 * MIB).unwrap();
    let mut drive = Drive::open_file(&path, info(), HostInfo::default(), DriveOptions::default()).unwrap();
    let error = drive_error(drive.bring_to(&filled(1.0, 1), &Silent).unwrap_err());
    let DriveError::Request { op: device::Operation::Write, ref source, .. } = error else { panic!("{error}") };
    assert_eq!(source.raw_os_error(), Some(28));
    assert!(error.to_string().ends_with("free some space, or give a smaller --size"), "{error}");
}
