//! The file against a plain copy, its ends and holes, and how it comes and goes. Needs root and /dev/fuse; says so
//! otherwise.

use super::common::{Card, Loop, MIB, is_mounted, mount, run};
use attach::fuse::{FuseError, Options};
use device::Rng;
use live::{Action, Timing};
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZE: u64 = 64 * MIB;
const HOLE: FallocateFlags = FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);
const ZEROES: FallocateFlags = FallocateFlags::ZERO_RANGE.union(FallocateFlags::KEEP_SIZE);

fn open(card: &Card) -> File {
    open_at(card.folder.path())
}

fn open_at(folder: &Path) -> File {
    File::options().read(true).write(true).open(folder.join(attach::fuse::FILE)).unwrap()
}

fn errno(error: io::Error) -> i32 {
    error.raw_os_error().unwrap()
}

/// Writes, holes, zeroes and reads of any alignment within a part of the file.
fn a_while(file: &File, plain: &mut [u8], base: u64, seed: u64, requests: u32) {
    let mut rng = Rng::stream(seed, "requests");
    let size = plain.len() as u64;
    for i in 0..requests {
        let align = [1, 512, 4096, 4096, 4096][rng.below(5) as usize];
        let len = (rng.below(256 << 10) / align + 1) * align;
        let offset = rng.below((size - len) / align + 1) * align;
        let range = offset as usize..(offset + len) as usize;
        match rng.below(10) {
            0..6 => {
                let bytes: Vec<u8> = (0..len).map(|at| (u64::from(i) + at * 7) as u8 | 1).collect();
                file.write_all_at(&bytes, base + offset).unwrap();
                plain[range].copy_from_slice(&bytes);
            }
            6 => {
                fallocate(file, HOLE, base + offset, len).unwrap();
                plain[range].fill(0);
            }
            7 => {
                fallocate(file, ZEROES, base + offset, len).unwrap();
                plain[range].fill(0);
            }
            8 => file.sync_data().unwrap(),
            _ => is_as(file, &plain[range], base + offset),
        }
    }
}

fn is_as(file: &File, plain: &[u8], base: u64) {
    let mut bytes = vec![0; plain.len()];
    file.read_exact_at(&mut bytes, base).unwrap();
    assert!(bytes == plain, "{} bytes at {base}", plain.len());
}

#[test]
fn the_file_reads_as_what_was_written_to_it() {
    for timing in [Timing::None, Timing::Model] {
        let Some(card) = Card::new(SIZE, timing) else { return };
        assert_eq!(std::fs::metadata(card.file()).unwrap().len(), SIZE);
        let requests = if timing == Timing::None { 1_000 } else { 100 };
        // Each thread has its part, so that each knows what it reads; their parts meet within a sector.
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (base, end) = ((SIZE / 4) * thread, (SIZE / 4) * (thread + 1));
                let (base, end) = (base + 100 * thread, (end + 100 * (thread + 1)).min(SIZE));
                let file = open(&card);
                scope.spawn(move || {
                    let mut plain = vec![0; (end - base) as usize];
                    a_while(&file, &mut plain, base, thread, requests);
                    is_as(&file, &plain, base);
                });
            }
        });
    }
}

/// Each mount hears the modules only while no other client does. So reads of one make the other look in vain, and it must not
/// miss the answers to its own afterwards.
#[test]
fn two_mounts_of_a_card_in_files_hear_its_modules_by_turns() {
    for shards in [1, 3] {
        let Some(card) = Card::in_files(SIZE, shards) else { return };
        let second = tempfile::tempdir().unwrap();
        let _mounted = mount(&card.live, second.path());
        let (sender, ends) = std::sync::mpsc::channel();
        let part = SIZE / 4;
        for thread in 0..4 {
            let file = open_at(if thread % 2 == 0 { card.folder.path() } else { second.path() });
            let sender = sender.clone();
            std::thread::spawn(move || {
                let mut plain = vec![0; part as usize];
                for turn in 0..20 {
                    a_while(&file, &mut plain, part * thread, 100 * thread + turn, 15);
                    plain.chunks(8192).enumerate().step_by(16).for_each(|(at, chunk)| {
                        is_as(&file, chunk, part * thread + 8192 * at as u64);
                    });
                    std::thread::sleep(Duration::from_millis(turn % 4));
                }
                sender.send(()).unwrap();
            });
        }
        for _ in 0..4 {
            ends.recv_timeout(Duration::from_secs(60)).expect("all requests are answered");
        }
    }
}

#[test]
fn the_file_ends_as_a_disk_does() {
    let Some(card) = Card::new(SIZE, Timing::None) else { return };
    let file = open(&card);
    let bytes = [1; 8192];
    assert_eq!(file.write_at(&bytes, SIZE - 4096).unwrap(), 4096);
    assert_eq!(errno(file.write_at(&bytes, SIZE).unwrap_err()), 28, "ENOSPC");
    assert_eq!(file.read_at(&mut [0; 8192], SIZE - 4096).unwrap(), 4096);
    assert_eq!(file.read_at(&mut [0; 8192], SIZE).unwrap(), 0);
    for size in [0, 1, SIZE - 4096, SIZE + 4096] {
        assert_eq!(errno(file.set_len(size).unwrap_err()), 1, "EPERM");
    }
    file.set_len(SIZE).unwrap();
    assert_eq!(fallocate(&file, FallocateFlags::ZERO_RANGE, SIZE - 4096, 8192).unwrap_err().raw_os_error(), 28);
    fallocate(&file, ZEROES, SIZE - 4096, 8192).unwrap();
    is_as(&file, &[0; 4096], SIZE - 4096);
    fallocate(&file, FallocateFlags::empty(), 0, SIZE).unwrap();
    assert_eq!(file.metadata().unwrap().len(), SIZE);
    assert!(File::create(card.folder.path().join("other")).is_err());
    assert_eq!(std::fs::read_dir(card.folder.path()).unwrap().count(), 1);
}

#[test]
fn holes_are_found_where_nothing_is_written() {
    let Some(card) = Card::new(256 * MIB, Timing::None) else { return };
    let file = open(&card);
    for at in [1, 2, 100, 200] {
        file.write_all_at(&vec![7; MIB as usize], at * MIB).unwrap();
    }
    fallocate(&file, HOLE, MIB + 4096, 8192).unwrap();
    let mut found = Vec::new();
    let mut at = 0;
    while let Ok(data) = seek(&file, SeekFrom::Data(at)) {
        at = seek(&file, SeekFrom::Hole(data)).unwrap();
        found.push((data, at));
    }
    assert_eq!(found, [(MIB, MIB + 4096), (MIB + 12288, 3 * MIB), (100 * MIB, 101 * MIB), (200 * MIB, 201 * MIB)]);
    assert_eq!(seek(&file, SeekFrom::Hole(256 * MIB - 1)).unwrap(), 256 * MIB - 1);
    assert_eq!(seek(&file, SeekFrom::Data(256 * MIB)).unwrap_err().raw_os_error(), 6, "ENXIO");
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(std::fs::metadata(card.file()).unwrap().blocks() * 512, 4 * MIB - 8192);
}

#[test]
fn without_power_there_are_errors_and_afterwards_what_was_durable() {
    let Some(card) = Card::new(SIZE, Timing::Model) else { return };
    let file = open(&card);
    let plain = vec![5; MIB as usize];
    file.write_all_at(&plain, 0).unwrap();
    file.sync_all().unwrap();
    // Writers that are under way when power goes get an answer as well.
    std::thread::scope(|scope| {
        let writers: Vec<_> = (2..6)
            .map(|place| {
                let file = &file;
                scope.spawn(move || {
                    let bytes = vec![place as u8; MIB as usize];
                    let began = Instant::now();
                    loop {
                        if let Err(error) = file.write_all_at(&bytes, place * MIB) {
                            return errno(error);
                        }
                        assert!(began.elapsed() < Duration::from_secs(60), "no error without power");
                    }
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(50));
        card.live.act(Action::PowerCut).unwrap();
        for writer in writers {
            assert_eq!(writer.join().unwrap(), 5, "EIO");
        }
    });
    assert_eq!(errno(file.read_at(&mut [0; 4096], 0).unwrap_err()), 5, "EIO");
    assert_eq!(errno(file.sync_all().unwrap_err()), 5, "EIO");
    card.live.act(Action::PowerOn).unwrap();
    is_as(&file, &plain, 0);
    file.write_all_at(&plain, 8 * MIB).unwrap();
    is_as(&file, &plain, 8 * MIB);
}

#[test]
fn what_is_in_use_stays_mounted_until_it_is_dropped() {
    let Some(mut card) = Card::new(SIZE, Timing::None) else { return };
    let Some(device) = Loop::on(&card.file()) else { return };
    let mut mounted = card.mounted.take().unwrap();
    let error = mounted.unmount().unwrap_err();
    assert!(matches!(error, FuseError::Busy { .. }), "{error}");
    assert!(is_mounted(card.folder.path()));
    let again = attach::fuse::mount(Arc::clone(&card.live), card.folder.path(), &Options::default());
    assert!(matches!(again, Err(FuseError::Taken { .. })));

    // A program that still uses the device gets errors, and nothing hangs.
    drop(mounted);
    assert!(!is_mounted(card.folder.path()));
    let (ok, said) = run("dd", &["if=/dev/zero", &format!("of={}", device.0), "bs=4096", "count=1", "oflag=direct"]);
    assert!(!ok && said.contains("Input/output error"), "{said}");
    drop(device);

    // The card is as it was, and can be mounted again.
    let mut mounted = attach::fuse::mount(Arc::clone(&card.live), card.folder.path(), &Options::default()).unwrap();
    open(&card).write_all_at(&[3; 4096], 0).unwrap();
    mounted.unmount().unwrap();
    assert!(!is_mounted(card.folder.path()));
}

#[test]
fn what_is_unmounted_by_others_is_noticed_and_nothing_else_is_unmounted() {
    let Some(mut card) = Card::new(SIZE, Timing::None) else { return };
    let first = card.mounted.take().unwrap();
    super::common::run_ok("umount", &[card.folder.path().to_str().unwrap()]);
    let began = Instant::now();
    while !first.is_gone() {
        assert!(began.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = attach::fuse::mount(Arc::clone(&card.live), card.folder.path(), &Options::default()).unwrap();
    drop(first);
    assert!(is_mounted(card.folder.path()));
    open(&card).write_all_at(&[3; 4096], 0).unwrap();
    drop(second);
    assert!(!is_mounted(card.folder.path()));
}

#[test]
fn a_card_that_is_mounted_read_only_takes_no_writes() {
    let Some(mut card) = Card::new(SIZE, Timing::None) else { return };
    drop(card.mounted.take());
    let options = Options { read_only: true, ..Options::default() };
    let _mounted = attach::fuse::mount(Arc::clone(&card.live), card.folder.path(), &options).unwrap();
    let error = File::options().write(true).open(card.file()).unwrap_err();
    assert_eq!(errno(error), 30, "EROFS");
    is_as(&File::open(card.file()).unwrap(), &[0; 4096], 0);
}

#[test]
fn what_can_not_be_a_mount_point_is_refused() {
    let Some(mut card) = Card::new(SIZE, Timing::None) else { return };
    drop(card.mounted.take());
    let file = card.folder.path().join("file");
    File::create(&file).unwrap();
    for path in [file.as_path(), &card.folder.path().join("missing")] {
        let refused = attach::fuse::mount(Arc::clone(&card.live), path, &Options::default());
        assert!(matches!(refused, Err(FuseError::Mountpoint { .. })), "{}", path.display());
    }
    assert!(matches!(
        attach::fuse::mount(Arc::clone(&card.live), "/proc".as_ref(), &Options::default()),
        Err(FuseError::Taken { .. })
    ));
}

#[test]
fn nothing_is_left_behind_after_a_panic() {
    let Some(card) = Card::new(SIZE, Timing::None) else { return };
    let (mountpoint, file) = (card.folder.path().to_owned(), card.file());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let card = card;
        let _device = Loop::on(&card.file()).unwrap();
        panic!("as if something had gone wrong");
    }));
    assert!(panicked.is_err());
    assert!(!is_mounted(&mountpoint));
    let (_, devices) = run("losetup", &["--list", "--noheadings", "--output", "NAME,BACK-FILE"]);
    assert!(!devices.contains(file.to_str().unwrap()), "{devices}");
}
