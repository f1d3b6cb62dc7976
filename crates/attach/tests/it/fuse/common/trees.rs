//! File systems, and trees of files with the checksums of what they hold.

use super::{Loop, is_mounted, run, run_ok};
use device::Rng;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub fn has(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&paths).any(|dir| dir.join(program).exists());
    if !there {
        eprintln!("skipped: no {program}");
    }
    there
}

/// A file system on a device.
pub struct Mount(TempDir);

impl Mount {
    pub fn new(device: &Loop) -> Mount {
        let folder = tempfile::tempdir().unwrap();
        run_ok("mount", &[&device.0, folder.path().to_str().unwrap()]);
        Mount(folder)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn unmount(self) {
        run_ok("umount", &[self.0.path().to_str().unwrap()]);
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let path = self.0.path().to_str().unwrap();
        if is_mounted(self.0.path()) && !run("umount", &[path]).0 {
            run("umount", &["--lazy", path]);
        }
    }
}

/// Files and the checksums of what they hold.
pub type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// Writes files of all sizes in folders, and makes some of them durable.
pub fn write_tree(root: &Path, seed: u64, files: u32) -> Tree {
    let mut rng = Rng::stream(seed, "tree");
    let mut tree = Tree::new();
    for number in 0..files {
        let folder = root.join(format!("seed-{seed}")).join((number % 7).to_string());
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(number.to_string());
        let most = 1 << (6 + rng.below(14));
        let len = rng.below(most);
        let bytes: Vec<u8> = (0..len).map(|_| rng.bits() as u8).collect();
        fs::write(&path, &bytes).unwrap();
        if rng.below(8) == 0 {
            fs::File::open(&path).unwrap().sync_all().unwrap();
        }
        tree.insert(path, Sha256::digest(&bytes).to_vec());
    }
    tree
}

/// All files hold what was written.
pub fn is_as(root: &Path, tree: &Tree) {
    for (path, checksum) in tree {
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(Sha256::digest(&bytes).to_vec() == *checksum, "{} in {}", path.display(), root.display());
    }
}
