//! Modules of a card that is divided over shards: each shard has a region of every module.

use crate::common::{Holds, SHAPE, paths, some, unit};
use crate::real::{all_units, read, version_of};
use files::{Files, FilesError, Options, PAGE_BYTES};
use media::Media;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const SHARDS: u32 = 3;

fn paths_in(folder: &Path) -> Vec<PathBuf> {
    paths(SHAPE.modules).into_iter().map(|name| folder.join(name)).collect()
}

fn version(shard: usize, at: media::UnitAt) -> u64 {
    version_of(at) + 1000 * shard as u64
}

/// Modules whose regions hold different things.
fn written(paths: &[PathBuf]) {
    let mut shards = Files::create_shards(SHAPE, SHARDS, paths, &Options::default()).unwrap();
    assert_eq!(shards.len(), SHARDS as usize);
    for (shard, files) in shards.iter_mut().enumerate() {
        for at in all_units(&SHAPE) {
            files.program(at, &unit(&SHAPE, at, version(shard, at))).unwrap();
        }
    }
}

fn hold_what_was_written(shards: &mut [Files]) {
    for (shard, files) in shards.iter_mut().enumerate() {
        for at in all_units(&SHAPE) {
            assert_eq!(read(files, at), [Holds::Version(version(shard, at)); 10], "shard {shard}, {at:?}");
        }
    }
}

#[test]
fn each_shard_finds_what_it_wrote_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let paths = paths_in(folder.path());
    written(&paths);
    let of_one = Files::module_bytes(SHAPE, 1, &paths[0]).unwrap();
    assert_eq!(Files::module_bytes(SHAPE, SHARDS, &paths[0]).unwrap(), of_one * u64::from(SHARDS));
    assert_eq!(fs::metadata(&paths[0]).unwrap().len(), of_one * u64::from(SHARDS));
    let mut shards = Files::open_shards(&some(&paths), SHARDS).unwrap();
    assert!(shards.iter().all(|files| files.notes().is_empty()));
    hold_what_was_written(&mut shards);
    drop(shards);
    for shard in 0..SHARDS {
        let mut looked = Files::look_shard(&some(&paths), shard, SHARDS).unwrap();
        let at = all_units(&SHAPE)[7];
        assert_eq!(read(&mut looked, at), [Holds::Version(version(shard as usize, at)); 10]);
    }
}

#[test]
fn a_module_is_found_by_any_superblock_of_its_front_or_end() {
    let folder = tempfile::tempdir().unwrap();
    let paths = paths_in(folder.path());
    written(&paths);
    let bytes = fs::metadata(&paths[0]).unwrap().len();
    let region = bytes / u64::from(SHARDS);
    let damage = |offset: u64| {
        let file = fs::OpenOptions::new().write(true).open(&paths[0]).unwrap();
        file.write_all_at(&[0xa5; 512], offset).unwrap();
    };
    for front in (0..SHARDS).map(|shard| u64::from(shard) * region) {
        damage(front);
    }
    let mut shards = Files::open_shards(&some(&paths), SHARDS).unwrap();
    hold_what_was_written(&mut shards);
    drop(shards);
    // The next opening has written the damaged copies anew. Both copies at once are too much for one region, and the
    // others are there.
    damage(region);
    damage(2 * region - PAGE_BYTES);
    let mut shards = Files::open_shards(&some(&paths), SHARDS).unwrap();
    let there: Vec<bool> = shards.iter().map(|files| files.has_module(0)).collect();
    assert_eq!(there, [true, false, true]);
    assert!(shards[1].notes()[0].text.contains("holds no module"), "{:?}", shards[1].notes());
    let at = all_units(&SHAPE)[0];
    assert_eq!(read(&mut shards[2], at), [Holds::Version(version(2, at)); 10]);
}

#[test]
fn modules_of_another_number_of_shards_are_refused_and_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let paths = paths_in(folder.path());
    written(&paths);
    let before = fs::read(&paths[0]).unwrap();
    for shards in [1, 2, 4] {
        let error = Files::open_shards(&some(&paths), shards).unwrap_err().to_string();
        assert!(error.contains(&format!("has 3 shards, the card {shards}")), "{error}");
    }
    assert!(fs::read(&paths[0]).unwrap() == before);
}

#[test]
fn a_module_is_pulled_from_all_shards_and_comes_back_to_all() {
    let folder = tempfile::tempdir().unwrap();
    let paths = paths_in(folder.path());
    written(&paths);
    let mut shards = Files::open_shards(&some(&paths), SHARDS).unwrap();
    assert!(shards[..2].iter_mut().all(|files| files.pull(1)));
    // One shard still has it: the file is locked for this process.
    assert!(matches!(Files::open_shards(&some(&paths), SHARDS), Err(FilesError::InUse { .. })));
    shards[0].insert(1, &paths[1]).unwrap();
    assert!(shards[2].pull(1));
    for files in &mut shards[1..] {
        files.insert(1, &paths[1]).unwrap();
    }
    hold_what_was_written(&mut shards);
    // A new module has the regions of all shards, whichever of them makes it.
    let new = folder.path().join("new");
    assert!(shards.iter_mut().all(|files| files.pull(0)));
    shards[2].create_module(&new, &Options::default()).unwrap();
    for files in &mut shards {
        files.insert(0, &new).unwrap();
        assert_eq!(read(files, all_units(&SHAPE)[0]), [Holds::Erased; 10]);
    }
}
