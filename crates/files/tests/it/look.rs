//! Module files that are only looked at.

use crate::common::{SHAPE, block, holds, some, unit};
use files::{Files, FilesError, Options};
use media::{HEADER_BYTES, Media, MediaError, Unit, UnitAt};
use std::fs;
use std::path::PathBuf;

#[test]
fn what_is_only_looked_at_is_read_and_stays_as_it_is() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let paths: Vec<PathBuf> = (0..SHAPE.modules).map(|slot| folder.path().join(format!("module-{slot}"))).collect();
    let at = UnitAt { block: block(0, 0, 1), row: 0 };
    let mut files = Files::create(SHAPE, &paths, &Options::default()).unwrap();
    files.program(at, &unit(&SHAPE, at, 7)).unwrap();
    files.sync(0).unwrap();
    files.write_header(0, 1, &[5; HEADER_BYTES]).unwrap();
    let some_paths = some(&paths);
    assert!(matches!(Files::look(&some_paths), Err(FilesError::InUse { .. })), "while somebody writes");
    drop(files);
    // One copy of its superblock is lost: whoever opens it writes it anew, and who looks at it does not.
    let mut bytes = fs::read(&paths[0]).unwrap();
    bytes[100] ^= 1;
    fs::write(&paths[0], &bytes).unwrap();
    let all = || paths.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    let before = all();
    let mut files = Files::look(&some_paths).unwrap();
    let mut another = Files::look(&some_paths).unwrap();
    for files in [&mut files, &mut another] {
        let mut found = Unit::new(&SHAPE);
        files.read(at, &mut found).unwrap();
        assert_eq!(holds(&SHAPE, at, &found)[0], crate::common::Holds::Version(7));
        assert_eq!(files.read_header(0, 1).unwrap().unwrap(), [5; HEADER_BYTES]);
    }
    let next = UnitAt { row: 1, ..at };
    assert_eq!(files.program(next, &unit(&SHAPE, next, 8)), Err(MediaError::Host));
    assert_eq!(files.erase(block(0, 0, 2)), Err(MediaError::Host));
    assert_eq!(files.write_header(0, 0, &[6; HEADER_BYTES]), Err(MediaError::Host));
    assert_eq!(files.claim(0, 9), Err(MediaError::Host));
    assert_eq!(files.sync(0), Err(MediaError::Host));
    let new = folder.path().join("new");
    assert!(files.create_module(&new, &Options::default()).is_err() && !new.exists());
    drop((files, another));
    assert!(all() == before, "it was changed");
}
