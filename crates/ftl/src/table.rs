//! The large tables: arrays of 4-byte entries that are read all over.
//!
//! A full card's map has hundreds of megabytes, and every host write touches it at random. On pages of 4 KiB nearly each
//! touch misses the TLB as well as the cache, so the tables ask the system for huge pages. Where it has none to give
//! they work just the same.

use memmap2::MmapMut;
use std::ops::{Deref, DerefMut};

/// An array of `u32` of fixed length.
#[derive(Debug)]
pub struct Table {
    memory: MmapMut,
    len: usize,
}

impl Table {
    /// `len` entries of `value`.
    ///
    /// # Panics
    /// When the system has no memory left, as `Vec` does.
    pub fn new(len: usize, value: u32) -> Table {
        let mut table = Table::uninitialised(len);
        table.fill(value);
        table
    }

    fn uninitialised(len: usize) -> Table {
        // A mapping can't be empty.
        let memory = MmapMut::map_anon((len * 4).max(4)).expect("out of memory");
        // A hint: without huge pages the table is slower, no more.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Table { memory, len }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.memory.len()
    }
}

impl Clone for Table {
    fn clone(&self) -> Table {
        let mut table = Table::uninitialised(self.len);
        table.copy_from_slice(self);
        table
    }
}

impl Deref for Table {
    type Target = [u32];
    #[inline]
    fn deref(&self) -> &[u32] {
        &bytemuck::cast_slice(&self.memory)[..self.len]
    }
}

impl DerefMut for Table {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u32] {
        &mut bytemuck::cast_slice_mut(&mut self.memory)[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn a_table_is_an_array_and_a_clone_is_another_one() {
        let mut a = Table::new(10_000, 7);
        let b = a.clone();
        a[9_999] = 1;
        assert_eq!((a[0], a[9_999], b[9_999], b.len()), (7, 1, 7, 10_000));
        assert!(Table::new(0, 7).is_empty());
    }
}
