//! Modules in files of this machine.

use crate::common::{Holds, SHAPE, block, holds, some, unit};
use files::{Files, FilesError, Options};
use media::{Ended, HEADER_BYTES, Media, MediaError, SectorState, Shape, Unit, UnitAt};
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

fn folder() -> TempDir {
    // Not /tmp, which may be memory.
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn paths_in(folder: &Path, shape: &Shape) -> Vec<PathBuf> {
    (0..shape.modules).map(|slot| folder.join(format!("module-{slot}"))).collect()
}

pub fn all_units(shape: &Shape) -> Vec<UnitAt> {
    let mut all = Vec::new();
    for number in 0..shape.blocks_per_die {
        for row in 0..shape.rows_per_block {
            for die in 0..shape.dies_per_module {
                for module in 0..shape.modules {
                    all.push(UnitAt { block: block(module, die, number), row });
                }
            }
        }
    }
    all
}

pub fn read(files: &mut Files, at: UnitAt) -> Vec<Holds> {
    let shape = *files.shape();
    let mut found = Unit::new(&shape);
    files.read(at, &mut found).unwrap();
    holds(&shape, at, &found)
}

pub fn version_of(at: UnitAt) -> u64 {
    u64::from(at.block.module * 1_000_000 + at.block.die * 10_000 + at.block.block * 100 + at.row)
}

/// Programs all units, on all dies at once.
fn fill(files: &mut Files) {
    let shape = *files.shape();
    let mut ended = Vec::new();
    for stripe in all_units(&shape).chunks((shape.modules * shape.dies_per_module) as usize) {
        for at in stripe {
            files.begin_program(*at, &unit(&shape, *at, version_of(*at)));
        }
        assert!(stripe.iter().all(|at| files.is_under_way(at.block.module, at.block.die)));
        let mut told = 0;
        while told < stripe.len() {
            files.wait(Some(Duration::from_secs(30)), &mut ended).unwrap();
            told += ended.drain(..).filter(|ended| matches!(ended, Ended::Die { .. })).count();
        }
        for at in stripe {
            assert!(!files.is_under_way(at.block.module, at.block.die));
            files.program(*at, &unit(&shape, *at, version_of(*at))).unwrap();
        }
    }
}

#[test]
fn modules_are_found_again_with_all_that_was_programmed() {
    let folder = folder();
    // More than a window is read ahead.
    let shape = Shape { payload_bytes: 4096, unit_sectors: 8, blocks_per_die: 8, ..SHAPE };
    let paths = paths_in(folder.path(), &shape);
    let mut files = Files::create(shape, &paths, &Options::default()).unwrap();
    assert!(files.notes().is_empty(), "{:?}", files.notes());
    fill(&mut files);
    for module in 0..shape.modules {
        files.begin_sync(module);
        let mut ended = Vec::new();
        while files.is_syncing(module) {
            files.wait(None, &mut ended).unwrap();
        }
        assert!(ended.contains(&Ended::Sync { module }));
        files.sync(module).unwrap();
    }
    files.erase(block(1, 2, 3)).unwrap();
    files.mark_bad(block(0, 1, 2)).unwrap();
    files.write_header(0, 1, &[7; HEADER_BYTES]).unwrap();
    drop(files);
    // In whatever slots: the card knows which is which.
    let mut files = Files::open(&some(&paths)).unwrap();
    assert_eq!(*files.shape(), shape);
    for at in all_units(&shape) {
        let expected = if at.block == block(1, 2, 3) { Holds::Erased } else { Holds::Version(version_of(at)) };
        assert_eq!(read(&mut files, at), [expected; 8], "{at:?}");
    }
    assert!(files.is_bad(block(0, 1, 2)) && !files.is_bad(block(0, 1, 3)));
    assert_eq!((files.cycles(block(1, 2, 3)), files.cycles(block(1, 2, 2))), (1, 0));
    assert_eq!(files.read_header(0, 1), Ok(Some(vec![7; HEADER_BYTES])));
    assert_eq!(files.read_header(0, 0), Ok(None));
    assert_eq!(files.program(UnitAt { block: block(0, 1, 2), row: 0 }, &Unit::new(&shape)), Err(MediaError::Failed));
    assert_eq!(files.erase(block(0, 1, 2)), Err(MediaError::Failed));
    // An erased block takes new contents, and gives them back without a sync when the process is gone.
    let at = UnitAt { block: block(1, 2, 3), row: 0 };
    files.program(at, &unit(&shape, at, 5)).unwrap();
    drop(files);
    let mut files = Files::open(&some(&paths)).unwrap();
    assert_eq!(read(&mut files, at), [Holds::Version(5); 8]);
    assert_eq!(read(&mut files, UnitAt { row: 1, ..at }), [Holds::Erased; 8]);
}

/// The bell rings for what the ring holds, and not for what a call has taken from it.
#[test]
fn ends_that_a_call_has_collected_are_told_of() {
    let folder = folder();
    let paths = paths_in(folder.path(), &SHAPE);
    let mut files = Files::create(SHAPE, &paths, &Options::default()).unwrap();
    let at = all_units(&SHAPE)[0];
    files.begin_program(at, &unit(&SHAPE, at, 1));
    assert!(!files.has_ended());
    let began = std::time::Instant::now();
    while !files.has_ended() {
        // Each waits for its own end, and the program ends meanwhile.
        files.write_header(1, 0, &[7; HEADER_BYTES]).unwrap();
        assert!(began.elapsed() < Duration::from_secs(20), "the program does not end");
    }
    let mut ended = Vec::new();
    files.take_ended(&mut ended);
    assert_eq!(ended, [Ended::Die { module: at.block.module, die: at.block.die }]);
    assert!(!files.has_ended());
}

#[test]
fn what_is_read_ahead_is_never_older_than_what_was_programmed() {
    let folder = folder();
    let paths = paths_in(folder.path(), &SHAPE);
    let mut files = Files::create(SHAPE, &paths, &Options::default()).unwrap();
    let of_module: Vec<UnitAt> = all_units(&SHAPE).into_iter().filter(|at| at.block.module == 0).collect();
    for (number, at) in of_module.iter().enumerate() {
        // The window around it is read while it is still erased.
        for before in &of_module[number.saturating_sub(3)..number] {
            assert_eq!(read(&mut files, *before), [Holds::Version(version_of(*before)); 10]);
        }
        assert_eq!(read(&mut files, *at), [Holds::Erased; 10]);
        if number % 2 == 0 {
            files.program(*at, &unit(&SHAPE, *at, version_of(*at))).unwrap();
        } else {
            files.begin_program(*at, &unit(&SHAPE, *at, version_of(*at)));
            files.program(*at, &unit(&SHAPE, *at, version_of(*at))).unwrap();
        }
    }
    for at in of_module {
        assert_eq!(read(&mut files, at), [Holds::Version(version_of(at)); 10]);
        files.erase(at.block).unwrap();
        assert_eq!(read(&mut files, at), [Holds::Erased; 10]);
        let row = UnitAt { row: 0, ..at };
        // The others of its block are gone with it: written again for the rest of the test.
        (0..SHAPE.rows_per_block).for_each(|row_number| {
            let again = UnitAt { row: row_number, ..row };
            files.program(again, &unit(&SHAPE, again, version_of(again))).unwrap();
        });
    }
}

#[test]
fn a_second_server_and_existing_files_are_refused() {
    let folder = folder();
    let paths = paths_in(folder.path(), &SHAPE);
    let files = Files::create(SHAPE, &paths, &Options::default()).unwrap();
    let error = Files::open(&some(&paths)).unwrap_err();
    assert!(matches!(error, FilesError::InUse { .. }), "{error}");
    let error = Files::create(SHAPE, &paths, &Options::default()).unwrap_err();
    assert!(matches!(error, FilesError::Exists { .. }), "{error}");
    drop(files);
    let overwrite = Options { overwrite: true, ..Options::default() };
    let error = Files::create(SHAPE, &paths, &overwrite).unwrap_err();
    assert!(matches!(error, FilesError::Exists { .. }), "only devices are overwritten: {error}");
    // The files made before the refused one are removed, and no others.
    fs::remove_file(&paths[0]).unwrap();
    Files::create(SHAPE, &paths, &Options::default()).unwrap_err();
    assert!(!paths[0].exists() && paths[1].exists());
}

#[test]
fn a_slot_whose_file_is_of_no_use_is_empty_and_a_note_says_why() {
    let folder = folder();
    let shape = Shape { modules: 5, ..SHAPE };
    let paths = paths_in(folder.path(), &shape);
    drop(Files::create(shape, &paths, &Options::default()).unwrap());
    fs::remove_file(&paths[0]).unwrap();
    let truncated = OpenOptions::new().write(true).open(&paths[1]).unwrap();
    truncated.set_len(truncated.metadata().unwrap().len() / 2).unwrap();
    fs::write(&paths[2], vec![0x55; 100_000]).unwrap();
    let mut named = some(&paths);
    named[3] = None;
    let files = Files::open(&named).unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(|slot| files.has_module(slot)), [false, false, false, false, true]);
    let notes: Vec<_> = files.notes().iter().map(|note| (note.slot, note.text.as_str())).collect();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[0].1.contains("can't open it") && notes[0].0 == 0, "{notes:?}");
    assert!(notes[1].1.contains("truncated") && notes[1].0 == 1, "{notes:?}");
    assert!(notes[2].1.contains("holds no module") && notes[2].0 == 2, "{notes:?}");
    assert_eq!(files.path(4), Some(&*paths[4]));
    drop(files);
    fs::remove_file(&paths[4]).unwrap();
    let error = Files::open(&named).unwrap_err();
    assert!(matches!(error, FilesError::Nothing(_)), "{error}");
}

#[test]
fn a_module_of_another_shape_is_refused() {
    let folder = folder();
    let paths = paths_in(folder.path(), &SHAPE);
    let mut files = Files::create(SHAPE, &paths, &Options::default()).unwrap();
    let other = folder.path().join("other");
    let shape = Shape { modules: 1, rows_per_block: 5, ..SHAPE };
    drop(Files::create(shape, std::slice::from_ref(&other), &Options::default()).unwrap());
    let error = files.insert(0, &other).unwrap_err();
    assert!(matches!(error, FilesError::Taken { slot: 0 }), "{error}");
    assert!(files.pull(0) && !files.pull(0));
    let error = files.insert(0, &other).unwrap_err();
    assert!(matches!(error, FilesError::Shape { field: "modules", found: 1, card: 2, .. }), "{error}");
    assert!(matches!(files.insert(2, &other).unwrap_err(), FilesError::NoSlot { slot: 2, modules: 2 }));
    assert!(!files.has_module(0));
    let new = folder.path().join("new");
    files.create_module(&new, &Options::default()).unwrap();
    files.insert(0, &new).unwrap();
    assert_eq!(files.read_header(0, 0), Ok(None));
    assert_eq!(read(&mut files, UnitAt { block: block(0, 0, 0), row: 0 }), [Holds::Erased; 10]);
    drop(files);
    let error = Files::open(&[Some(paths[1].clone())]).unwrap_err();
    assert!(matches!(error, FilesError::Count { found: 1, modules: 2 }), "{error}");
}

#[test]
fn what_is_under_way_on_a_module_that_is_pulled_ends_without_it() {
    let folder = folder();
    let paths = paths_in(folder.path(), &SHAPE);
    let mut files = Files::create(SHAPE, &paths, &Options::default()).unwrap();
    for round in 0..20 {
        for module in 0..2 {
            let row = round % 4;
            let at = |die| UnitAt { block: block(module, die, round / 4 % 4), row };
            files.begin_program(at(0), &unit(&SHAPE, at(0), 1));
            files.begin_read(at(1));
            files.begin_erase(at(2).block);
            files.begin_sync(module);
        }
        assert!(files.pull(0));
        assert!(!files.has_module(0));
        let mut ended = Vec::new();
        while (0..3).any(|die| files.is_under_way(1, die)) || files.is_syncing(1) {
            files.wait(None, &mut ended).unwrap();
        }
        files.submit();
        files.take_ended(&mut ended);
        ended.sort_by_key(|ended| format!("{ended:?}"));
        ended.dedup();
        assert_eq!(ended.len(), 8, "{ended:?}");
        let mut found = Unit::new(&SHAPE);
        for module in 0..2 {
            let row = round % 4;
            let at = |die| UnitAt { block: block(module, die, round / 4 % 4), row };
            let expected = if module == 0 { Err(MediaError::NoModule) } else { Ok(()) };
            assert_eq!(files.program(at(0), &unit(&SHAPE, at(0), 1)), expected);
            assert_eq!(files.read(at(1), &mut found).map(drop), expected);
            assert_eq!(files.erase(at(2).block), expected);
            assert_eq!(files.sync(module), expected);
        }
        // Nothing can be asked of it, and begun on it, and nothing panics.
        let at = UnitAt { block: block(0, 0, 0), row: 0 };
        files.begin_read(at);
        assert!(!files.is_under_way(0, 0));
        assert_eq!(files.read(at, &mut found), Err(MediaError::NoModule));
        assert_eq!(files.read_header(0, 0), Err(MediaError::NoModule));
        assert_eq!(files.mark_bad(at.block), Err(MediaError::NoModule));
        files.begin_header(0, 0, &[1; HEADER_BYTES]);
        assert_eq!(files.write_header(0, 0, &[1; HEADER_BYTES]), Err(MediaError::NoModule));
        files.insert(0, &paths[0]).unwrap();
        // An operation that was begun on a module that has gone does not reach another module.
        files.begin_header(0, 0, &[2; HEADER_BYTES]);
        files.begin_header(0, 1, &[2; HEADER_BYTES]);
        files.pull(0);
        assert_eq!(files.write_header(0, 0, &[2; HEADER_BYTES]), Err(MediaError::NoModule));
        files.insert(0, &paths[0]).unwrap();
        assert_eq!(files.write_header(0, 1, &[2; HEADER_BYTES]), Ok(()));
        assert_eq!(files.read_header(0, 1), Ok(Some(vec![2; HEADER_BYTES])));
    }
}

#[test]
fn the_ring_becomes_readable_when_something_has_ended() {
    let folder = folder();
    let paths = paths_in(folder.path(), &SHAPE);
    let mut files = Files::create(SHAPE, &paths, &Options::default()).unwrap();
    let mut ended = Vec::new();
    files.submit();
    files.take_ended(&mut ended);
    let is_readable = |files: &Files, ms: i64| {
        let fd = files.bell().unwrap();
        let mut fds = [rustix::event::PollFd::new(&fd, rustix::event::PollFlags::IN)];
        let timeout = rustix::time::Timespec { tv_sec: ms / 1000, tv_nsec: ms % 1000 * 1_000_000 };
        loop {
            match rustix::event::poll(&mut fds, Some(&timeout)) {
                Err(rustix::io::Errno::INTR) => {}
                readable => break readable.unwrap() == 1,
            }
        }
    };
    assert!(!is_readable(&files, 0));
    for round in 0..SHAPE.rows_per_block {
        let at = UnitAt { block: block(1, 2, 0), row: round };
        files.begin_program(at, &unit(&SHAPE, at, 1));
        files.submit();
        files.take_ended(&mut ended);
        while ended.is_empty() {
            assert!(is_readable(&files, 30_000));
            files.submit();
            files.take_ended(&mut ended);
        }
        assert_eq!(std::mem::take(&mut ended), [Ended::Die { module: 1, die: 2 }]);
        assert!(!is_readable(&files, 0));
        files.program(at, &unit(&SHAPE, at, 1)).unwrap();
    }
}

#[test]
fn a_file_that_is_cut_short_under_way_is_an_error_and_no_panic() {
    let folder = folder();
    let paths = paths_in(folder.path(), &SHAPE);
    let mut files = Files::create(SHAPE, &paths, &Options::default()).unwrap();
    fill(&mut files);
    OpenOptions::new().write(true).open(&paths[0]).unwrap().set_len(4096).unwrap();
    let mut found = Unit::new(&SHAPE);
    for at in all_units(&SHAPE) {
        let result = files.read(at, &mut found);
        assert_eq!(result.is_err(), at.block.module == 0, "{at:?}: {result:?}");
    }
    assert_eq!(files.read_header(0, 0), Err(MediaError::Host));
    // A name that is gone harms nobody who has the file.
    fs::remove_file(&paths[1]).unwrap();
    let at = UnitAt { block: block(1, 0, 0), row: 0 };
    assert_eq!(read(&mut files, at), [Holds::Version(version_of(at)); 10]);
}

#[test]
fn stale_and_foreign_bytes_are_no_contents() {
    let folder = folder();
    let paths = paths_in(folder.path(), &SHAPE);
    let mut files = Files::create(SHAPE, &paths, &Options::default()).unwrap();
    fill(&mut files);
    (0..2).for_each(|module| files.sync(module).unwrap());
    let layout = files.layout(0).unwrap();
    drop(files);
    let file = OpenOptions::new().read(true).write(true).open(&paths[0]).unwrap();
    let (from, to) = (UnitAt { block: block(0, 0, 0), row: 0 }, UnitAt { block: block(0, 1, 1), row: 2 });
    let mut bytes = vec![0; layout.unit_bytes()];
    file.read_exact_at(&mut bytes, layout.unit_offset(layout.unit(from))).unwrap();
    file.write_all_at(&bytes, layout.unit_offset(layout.unit(to))).unwrap();
    // The same unit of another module.
    let other = fs::File::open(&paths[1]).unwrap();
    let at = UnitAt { block: block(0, 2, 2), row: 1 };
    other.read_exact_at(&mut bytes, layout.unit_offset(layout.unit(at))).unwrap();
    file.write_all_at(&bytes, layout.unit_offset(layout.unit(at))).unwrap();
    let mut files = Files::open(&some(&paths)).unwrap();
    assert_eq!(read(&mut files, to), [Holds::Damaged; 10], "a write that went astray");
    assert_eq!(read(&mut files, at), [Holds::Damaged; 10], "another module's");
    assert_eq!(read(&mut files, from), [Holds::Version(0); 10]);
}

const CHILD: &str = "FILES_TEST_FOLDER";

/// Programs without end and says what was synced, until it is killed.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let paths = paths_in(Path::new(&folder), &SHAPE);
    let mut files = Files::open(&some(&paths)).unwrap();
    let (mut version, mut ended) = (1_000, Vec::new());
    loop {
        for number in 0..4 {
            for module in 0..2 {
                (0..3).for_each(|die| files.begin_erase(block(module, die, number)));
            }
            collect(&mut files, &mut ended, |files, module, die| files.erase(block(module, die, number)).unwrap());
            println!("erased {number}");
            for row in 0..4 {
                version += 1;
                let at = |module, die| UnitAt { block: block(module, die, number), row };
                for (module, die) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
                    files.begin_program(at(module, die), &unit(&SHAPE, at(module, die), version));
                }
                collect(&mut files, &mut ended, |files, module, die| {
                    files.program(at(module, die), &unit(&SHAPE, at(module, die), version)).unwrap();
                });
                println!("programmed {number} {row} {version}");
            }
        }
    }
}

fn collect(files: &mut Files, ended: &mut Vec<Ended>, mut take: impl FnMut(&mut Files, u32, u32)) {
    for (module, die) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
        while files.is_under_way(module, die) {
            files.wait(None, ended).unwrap();
        }
        take(files, module, die);
    }
    ended.clear();
}

#[test]
fn a_process_that_is_killed_leaves_what_it_was_told_is_done() {
    let folder = folder();
    let paths = paths_in(folder.path(), &SHAPE);
    drop(Files::create(SHAPE, &paths, &Options::default()).unwrap());
    for round in 0..10 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "real::child", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut told: Vec<String> = lines.by_ref().take(30 + round * 7).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        // The lines that it printed before it was killed count too.
        told.extend(lines);
        told.retain(|line| line.starts_with("erased") || line.starts_with("programmed"));
        assert!(told.len() > 20, "{told:?}");
        // By block and row; only what the last block under way holds is not known for sure.
        let mut known = std::collections::BTreeMap::new();
        let mut last = 0;
        for line in &told {
            let words: Vec<u64> = line.split(' ').skip(1).map(|word| word.parse().unwrap()).collect();
            last = words[0] as u32;
            match words[..] {
                [number] => known.retain(|(block, _), _| *block != number as u32),
                [number, row, version] => {
                    known.insert((number as u32, row as u32), version);
                }
                _ => unreachable!("{line}"),
            }
        }
        let mut files = Files::open(&some(&paths)).unwrap();
        for ((number, row), version) in known {
            // The operation after the last that was printed was in flight: a row of this block or the next block's
            // erase.
            let may_be_later = number == last || number == (last + 1) % 4;
            for (module, die) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
                let at = UnitAt { block: block(module, die, number), row };
                let held = read(&mut files, at);
                assert!(held.iter().all(|one| *one == held[0]), "{at:?}: {held:?}");
                let is_right = match held[0] {
                    Holds::Version(found) => found == version || may_be_later && found > version,
                    _ => may_be_later,
                };
                assert!(is_right, "round {round}: {at:?} holds {:?} and not {version}", held[0]);
            }
        }
    }
}

#[test]
fn a_disk_without_room_is_an_error_of_one_line() {
    let folder = folder();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(folder.path()).status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: no tmpfs can be mounted here");
        return;
    }
    let shape = Shape { blocks_per_die: 200, ..SHAPE };
    let paths = paths_in(folder.path(), &shape);
    let error = Files::create(shape, &paths, &Options::default()).unwrap_err();
    let is_left = paths[0].exists();
    let unmounted = Command::new("umount").arg(folder.path()).status().unwrap();
    assert!(matches!(error, FilesError::NoRoom { .. }) && !error.to_string().contains('\n'), "{error}");
    assert!(!is_left && unmounted.success());
}

#[test]
fn a_block_device_is_overwritten_only_when_that_was_said() {
    let folder = folder();
    let image = folder.path().join("image");
    fs::write(&image, vec![0xa5; 4 << 20]).unwrap();
    let output = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        println!("skipped: no loop device can be made here");
        return;
    };
    let device = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
    let shape = Shape { modules: 1, ..SHAPE };
    let tried = std::panic::catch_unwind(|| {
        let paths = [device.clone()];
        let error = Files::create(shape, &paths, &Options::default()).unwrap_err();
        assert!(matches!(error, FilesError::Device { .. }), "{error}");
        assert!(fs::read(&image).unwrap().iter().all(|byte| *byte == 0xa5));
        let overwrite = Options { overwrite: true, ..Options::default() };
        let mut files = Files::create(shape, &paths, &overwrite).unwrap();
        assert!(files.layout(0).unwrap().total_bytes() == 4 << 20);
        let mut found = Unit::new(&shape);
        for at in all_units(&shape) {
            files.read(at, &mut found).unwrap();
            assert!((0..10).all(|sector| found.state(sector) == SectorState::Erased));
        }
        fill(&mut files);
        files.sync(0).unwrap();
        drop(files);
        let mut files = Files::open(&some(&paths)).unwrap();
        for at in all_units(&shape) {
            assert_eq!(read(&mut files, at), [Holds::Version(version_of(at)); 10]);
        }
        assert!(matches!(Files::open(&some(&paths)).unwrap_err(), FilesError::InUse { .. }));
    });
    let detached = Command::new("losetup").arg("--detach").arg(&device).status().unwrap();
    assert!(detached.success());
    tried.unwrap();
}
