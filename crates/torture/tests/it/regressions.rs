//! Lives that ended badly once, as small as they could be made: `tests/regressions/*.json`, as `flashrig torture`
//! writes them.

use std::fs;
use std::path::{Path, PathBuf};
use torture::campaign::Reproducer;
use torture::sim::Life;

fn lives_in(folder: &str) -> Vec<(PathBuf, Life)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    // Without a life that is open there is no folder of them.
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let live = |path: PathBuf| {
        let reproducer = Reproducer::from_json(&fs::read_to_string(&path).unwrap()).unwrap();
        (path, reproducer.trial().run())
    };
    entries.map(live).collect()
}

#[test]
fn lives_that_ended_badly_once_end_well() {
    let mut lives = 0;
    for (path, life) in lives_in("regressions") {
        assert!(life.failure.is_none(), "{}: {}", path.display(), life.failure.unwrap());
        assert!(!life.fired.is_empty(), "{}: nothing happens", path.display());
        lives += 1;
    }
    assert!(lives >= 5);
}

/// A life that ends well moves to `regressions`.
#[test]
fn lives_that_are_kept_as_open_still_end_badly() {
    for (path, life) in lives_in("open") {
        assert!(life.failure.is_some(), "{}: move it to tests/regressions", path.display());
    }
}
