//! How many volumes does a trace speak of?

use rustc_hash::FxHashSet;
use std::hash::{BuildHasher, BuildHasherDefault};

/// Volumes that are told apart.
pub const VOLUMES_LIMIT: usize = 1 << 16;

/// Counts volumes. Names are not kept: two with the same hash count as one.
#[derive(Debug, Default)]
pub(crate) struct Volumes {
    last: Vec<u8>,
    hashes: FxHashSet<u64>,
}

impl Volumes {
    /// A request of this volume.
    #[inline]
    pub fn note(&mut self, name: &[u8]) {
        // Most lines are of the volume of the line before.
        if self.hashes.is_empty() || self.last != name {
            self.last.clear();
            self.last.extend_from_slice(name);
            if self.hashes.len() < VOLUMES_LIMIT {
                self.hashes.insert(BuildHasherDefault::<rustc_hash::FxHasher>::default().hash_one(name));
            }
        }
    }

    /// Returns the number of volumes, at most [`VOLUMES_LIMIT`].
    pub fn count(&self) -> u64 {
        self.hashes.len() as u64
    }
}
