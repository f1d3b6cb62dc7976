//! Drives that are files.

use crate::common::{MIB, StopAfter, create, fileio, filled, folder, info, measurement};
use drive::{Drive, DriveError, DriveOptions};
use load::{Access, FileioMode};
use results::{HostInfo, TargetKind};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::time::Duration;
use target::{Clock, Effort, Pattern, Silent, State, Target, TargetError};

fn message(error: TargetError) -> String {
    assert!(matches!(error, TargetError::Real(_)), "{error:?}");
    let message = error.to_string();
    assert!(!message.contains('\n'));
    message
}

#[test]
fn all_that_is_written_is_read_back_and_verifies() {
    let folder = folder();
    let options = DriveOptions { verify_fill: true, threads: Some(2), ..DriveOptions::default() };
    // Not a multiple of a large request.
    let size = 16 * MIB + 4096;
    let mut drive = create(&folder, size, options);
    let prepared = drive.bring_to(&filled(1.0, 2), &Silent).unwrap();
    assert_eq!((prepared.sequential_bytes, prepared.overwritten_bytes), (2 * size, 0));
    for mode in [FileioMode::RndWr, FileioMode::RndRw, FileioMode::SeqRewr] {
        let result = drive.measure(&measurement(fileio(mode, size), 0.2), &Silent).unwrap();
        assert!(result.write.total_ios > 0);
        assert_eq!(result.write.io_bytes, result.write.total_ios * 4096);
        assert_eq!(drive.verify(0..size, &Silent).unwrap(), size);
    }
}

#[test]
fn wrong_data_is_found_and_where() {
    let folder = folder();
    let mut drive = create(&folder, 4 * MIB, DriveOptions::default());
    drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
    let file = std::fs::File::options().write(true).open(drive.path()).unwrap();
    file.write_all_at(&[0; 1], 3 * MIB + 512).unwrap();
    file.sync_all().unwrap();
    let error = message(drive.verify(0..4 * MIB, &Silent).unwrap_err());
    let path = drive.path().display();
    let expected = format!("{path}: what was read at {} holds nothing that flashrig wrote: ", 3 * MIB + 512);
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn a_result_adds_up() {
    let folder = folder();
    let mut drive = create(&folder, 16 * MIB, DriveOptions::default());
    drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
    let config = load::FileioConfig { fsync_every: 10, ..fileio(FileioMode::RndRw, 16 * MIB) };
    let result = drive.measure(&measurement(config, 1.2), &Silent).unwrap();
    let ios = result.read.total_ios + result.write.total_ios + result.sync.total_ios;
    assert!(result.read.total_ios > 0 && result.write.total_ios > 0 && result.sync.total_ios > 0);
    assert_eq!(result.series.len(), 2);
    let in_rows = result.series[0].iops + result.series[1].iops * 0.2;
    assert!((in_rows - ios as f64).abs() < 1.0, "{in_rows} {ios}");
    let longest = [&result.read, &result.write, &result.sync].map(|class| class.lat_ns.max).into_iter().max();
    assert_eq!(longest, result.series.iter().map(|row| row.lat_max_ns).max());
    for class in [&result.read, &result.write, &result.sync] {
        assert_eq!(class.lat_ns.n, class.total_ios);
        assert!(class.histogram.is_some());
    }
    let rounds = result.steady_state.unwrap().rounds;
    let mean = rounds.iter().sum::<f64>() / 5.0;
    let bandwidth = result.read.bw_bytes + result.write.bw_bytes;
    assert!(rounds.len() == 5 && (mean / bandwidth - 1.0).abs() < 1e-6, "{mean} {bandwidth}");
    let generator = result.generator.unwrap();
    assert!(generator.os_threads == 1 && generator.busiest_thread > 0.0 && generator.cpu > 0.0);
}

#[test]
fn a_limited_rate_is_held() {
    let folder = folder();
    let mut drive = create(&folder, 16 * MIB, DriveOptions::default());
    drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
    let config = load::FileioConfig { rate_iops: Some(400.0), ..fileio(FileioMode::RndRd, 16 * MIB) };
    let result = drive.measure(&measurement(config, 1.5), &Silent).unwrap();
    // 600 are due; what the warm-up of 0.15 s left over may be caught up with. A disk that can't do half of that is no
    // disk.
    let ios = result.read.total_ios;
    assert!((300..=600 + 61 + 4).contains(&ios), "{ios}");
}

#[test]
fn cancelling_leaves_nothing_in_flight_and_the_drive_usable() {
    let folder = folder();
    let mut drive = create(&folder, 64 * MIB, DriveOptions { threads: Some(2), ..DriveOptions::default() });
    let progress = StopAfter::milliseconds(0);
    assert!(matches!(drive.bring_to(&filled(1.0, 1000), &progress), Err(TargetError::Cancelled)));
    assert!(matches!(drive.purge(&progress), Err(TargetError::Cancelled)));
    drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
    let progress = StopAfter::milliseconds(100);
    let config = fileio(FileioMode::RndRw, 64 * MIB);
    assert!(matches!(drive.measure(&measurement(config, 600.0), &progress), Err(TargetError::Cancelled)));
    assert!(progress.0.elapsed() < Duration::from_secs(30));
    assert!(drive.measure(&measurement(config, 0.05), &Silent).unwrap().read.total_ios > 0);
    assert_eq!(drive.verify(0..64 * MIB, &Silent).unwrap(), 64 * MIB);
}

#[test]
fn a_load_larger_than_the_file_is_refused() {
    let folder = folder();
    let mut drive = create(&folder, MIB, DriveOptions::default());
    let error = message(drive.measure(&measurement(fileio(FileioMode::RndRd, MIB + 4096), 1.0), &Silent).unwrap_err());
    assert!(error.ends_with("the load touches 1.05 MB, but only 1.05 MB are there: use less of it"), "{error}");
    let mut no_time = measurement(fileio(FileioMode::RndRd, MIB), 1.0);
    for seconds in [None, Some(0.0), Some(f64::NAN), Some(-1.0), Some(f64::INFINITY)] {
        no_time.seconds = seconds;
        assert!(message(drive.measure(&no_time, &Silent).unwrap_err()).starts_with("a real device is measured for"));
    }
    let state = State { fill: 1.5, ..filled(1.0, 1) };
    assert_eq!(message(drive.bring_to(&state, &Silent).unwrap_err()), "fill 1.5 is not between 0 and 1 (100 %)");
}

#[test]
fn purging_empties_the_file_and_keeps_its_space() {
    let folder = folder();
    let mut drive = create(&folder, 8 * MIB, DriveOptions::default());
    drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
    let purge = drive.purge(&Silent).unwrap();
    assert_eq!(purge.discarded_bytes, 8 * MIB);
    assert!(purge.what.starts_with("gave the file's 8.39 MB back"), "{}", purge.what);
    let mut bytes = vec![1; 8 * MIB as usize];
    std::fs::File::open(drive.path()).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    assert!(bytes.iter().all(|byte| *byte == 0));
    assert!(std::fs::metadata(drive.path()).unwrap().blocks() * 512 >= 8 * MIB);
    assert!(drive.verify(0..MIB, &Silent).is_err());
    assert!(Drive::is_ours(drive.path()));
}

#[test]
fn less_in_use_is_discarded_and_more_is_written_once() {
    let folder = folder();
    let mut drive = create(&folder, 16 * MIB, DriveOptions::default());
    assert_eq!(drive.bring_to(&filled(0.5, 0), &Silent).unwrap().sequential_bytes, 8 * MIB);
    assert_eq!(drive.bring_to(&filled(0.5, 0), &Silent).unwrap().sequential_bytes, 0);
    assert_eq!(drive.bring_to(&filled(0.75, 0), &Silent).unwrap().sequential_bytes, 4 * MIB);
    assert_eq!(drive.verify(0..12 * MIB, &Silent).unwrap(), 12 * MIB);
    assert!(drive.verify(12 * MIB..13 * MIB, &Silent).is_err());
    assert_eq!(drive.bring_to(&filled(0.25, 0), &Silent).unwrap().sequential_bytes, 0);
    assert_eq!(drive.verify(0..4 * MIB, &Silent).unwrap(), 4 * MIB);
    assert!(drive.verify(4 * MIB..5 * MIB, &Silent).is_err());
    assert_eq!(drive.bring_to(&filled(0.0, 3), &Silent).unwrap().sequential_bytes, 0);
}

#[test]
fn overwriting_goes_in_rounds_of_the_pattern() {
    let folder = folder();
    let mut drive = create(&folder, 16 * MIB, DriveOptions::default());
    let effort = Effort { sequential_passes: 1, round_s: 0.05, max_rounds: 6 };
    let random = Pattern::Random { block_bytes: 16384, access: Access::Uniform, footprint_bytes: 16 * MIB };
    let prepared = drive.bring_to(&State { fill: 0.5, pattern: random, effort }, &Silent).unwrap();
    assert!((5..=6).contains(&prepared.steady.rounds.len()) && prepared.overwritten_bytes > 0);
    assert_eq!((prepared.pattern.as_str(), prepared.metric.as_str()), ("random 16 KiB", "bytes a second"));
    // Data beyond the part in use was left alone.
    assert_eq!(drive.verify(0..8 * MIB, &Silent).unwrap(), 8 * MIB);
    assert!(drive.verify(8 * MIB..9 * MIB, &Silent).is_err());
    let effort = Effort { sequential_passes: 0, round_s: 60.0, max_rounds: 5 };
    let state = State { fill: 0.5, pattern: Pattern::Sequential, effort };
    let prepared = drive.bring_to(&state, &Silent).unwrap();
    assert_eq!((prepared.overwritten_bytes, prepared.steady.rounds.len()), (8 * MIB, 1));
    assert!(prepared.steady.attained);
}

#[test]
fn a_drive_says_what_it_is() {
    let folder = folder();
    let mut drive = create(&folder, 128 * MIB, DriveOptions::default());
    let info = drive.info();
    assert_eq!((info.kind, info.capacity_bytes), (TargetKind::File, 128 * MIB));
    assert!(info.facts.iter().any(|fact| fact.key == "io_engine" && fact.value.contains("io_uring")));
    assert!(drive.clock() == Clock::Wall && drive.fork().is_none());
    let assumed = drive.expected_write_bw_bytes();
    drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
    assert!(assumed > 0.0 && drive.expected_write_bw_bytes() > 0.0 && drive.expected_write_bw_bytes() != assumed);
}

#[test]
fn what_can_not_be_opened_is_named_with_a_remedy() {
    let folder = folder();
    let path = folder.path().join("file");
    let open = |path: &std::path::Path| {
        Drive::open_file(path, info(), HostInfo::default(), DriveOptions::default()).err().expect("refused")
    };
    assert!(matches!(open(&path), DriveError::Missing { .. }));
    assert!(matches!(open(folder.path()), DriveError::Directory { .. }));
    assert!(matches!(open("/dev/null".as_ref()), DriveError::Kind { .. }));
    std::fs::write(&path, b"").unwrap();
    assert!(matches!(open(&path), DriveError::TooSmall { bytes: 0, .. }));
    std::fs::write(&path, vec![0; 8192]).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(open(&path), DriveError::ReadOnly { .. }));
    let block = Drive::open_block_device(&path, info(), HostInfo::default(), DriveOptions::default());
    assert_eq!(block.err().unwrap().to_string(), format!("{}: is not a block device", path.display()));
    for error in [open(&path), open(folder.path())] {
        let message = error.to_string();
        assert!(!message.contains('\n') && message.contains(folder.path().to_str().unwrap()));
    }
    if let Ok(memory) = tempfile::NamedTempFile::new_in("/dev/shm") {
        std::fs::write(memory.path(), vec![0; 8192]).unwrap();
        assert!(matches!(open(memory.path()), DriveError::NotDirect { .. }));
    }
}

#[test]
fn only_files_of_ours_are_adopted_or_removed_and_none_is_overwritten() {
    let folder = folder();
    let (host, options) = (HostInfo::default(), DriveOptions::default());
    let theirs = folder.path().join("theirs");
    std::fs::write(&theirs, vec![7; 8192]).unwrap();
    let adopt = |path: &std::path::Path, size| Drive::adopt_file(path, size, info(), host.clone(), options);
    let made = Drive::create_file(&theirs, MIB, info(), host.clone(), options);
    assert!(matches!(made, Err(DriveError::Exists { .. })));
    assert!(matches!(adopt(&theirs, MIB), Err(DriveError::Foreign { .. })));
    assert!(matches!(Drive::remove_file(&theirs), Err(DriveError::Foreign { .. })));
    assert_eq!(std::fs::read(&theirs).unwrap(), vec![7; 8192]);

    let ours = create(&folder, MIB, options).path().to_owned();
    assert!(Drive::is_ours(&ours) && !Drive::is_ours(&theirs) && !Drive::is_ours(folder.path()));
    assert_eq!(adopt(&ours, 2 * MIB).unwrap().capacity_bytes(), 2 * MIB);
    assert_eq!(adopt(&ours, MIB).unwrap().capacity_bytes(), 2 * MIB);
    Drive::remove_file(&ours).unwrap();
    assert!(matches!(Drive::remove_file(&ours), Err(DriveError::Missing { .. })));
}

#[test]
fn a_file_without_attributes_is_known_by_what_it_holds() {
    let folder = folder();
    let mut drive = create(&folder, MIB, DriveOptions::default());
    drive.bring_to(&filled(1.0, 1), &Silent).unwrap();
    // A copy without the attribute, as a file system without attributes would have it.
    let copy = folder.path().join("copy");
    std::fs::write(&copy, std::fs::read(drive.path()).unwrap()).unwrap();
    assert!(Drive::is_ours(&copy));
    let mut copied = Drive::adopt_file(&copy, MIB, info(), HostInfo::default(), DriveOptions::default()).unwrap();
    copied.purge(&Silent).unwrap();
    assert!(Drive::is_ours(&copy));
}

#[test]
fn more_than_the_file_system_has_is_refused_and_nothing_is_left_behind() {
    let folder = folder();
    let path = folder.path().join("huge");
    let made = Drive::create_file(&path, 1 << 50, info(), HostInfo::default(), DriveOptions::default());
    let error = made.err().unwrap().to_string();
    assert!(error.ends_with("left, 1125.9 TB are needed: give a smaller --size"), "{error}");
    assert!(!path.exists());
}
