//! Lives that ended badly once, as small as they could be made: `tests/regressions/*.json`, as `flashrig torture` writes
//! them.

use std::fs;
use std::path::Path;
use torture::campaign::Reproducer;

#[test]
fn lives_that_ended_badly_once_end_well() {
    let mut lives = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/regressions")).unwrap() {
        let path = entry.unwrap().path();
        let reproducer = Reproducer::from_json(&fs::read_to_string(&path).unwrap()).unwrap();
        let life = reproducer.trial().run();
        assert!(life.failure.is_none(), "{}: {}", path.display(), life.failure.unwrap());
        assert!(!life.fired.is_empty(), "{}: nothing happens", path.display());
        lives += 1;
    }
    assert!(lives >= 5);
}
