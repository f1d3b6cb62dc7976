//! Large tables: arrays of 4-byte entries that are accessed at random.
//!
//! A full card's map has hundreds of megabytes, and every host write touches it at random. On pages of 4 KiB nearly
//! each touch misses the TLB as well as the cache, so the tables ask the system for huge pages. Where it has none to
//! give they work just the same.

use memmap2::MmapMut;
use std::ops::{Deref, DerefMut};

/// Below this number of entries, a mapping costs more than it saves: a system call, and a fault for each page of each
/// copy.
const MIN_MAPPED_ENTRIES: usize = (2 << 20) / 4;

/// An array of `u32` of fixed length.
#[derive(Debug)]
pub struct Table {
    memory: Memory,
    len: usize,
}

#[derive(Debug)]
enum Memory {
    Mapped(MmapMut),
    Heap(Vec<u32>),
}

impl Table {
    /// A table of `len` entries that are all `value`.
    ///
    /// # Panics
    /// When the system has no memory left, as `Vec` does.
    pub fn new(len: usize, value: u32) -> Table {
        if len < MIN_MAPPED_ENTRIES {
            return Table { memory: Memory::Heap(vec![value; len]), len };
        }
        let mut table = Table::uninitialised(len);
        table.fill(value);
        table
    }

    fn uninitialised(len: usize) -> Table {
        let memory = MmapMut::map_anon(len * 4).expect("out of memory");
        // This is a hint; without huge pages the table is only slower.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Table { memory: Memory::Mapped(memory), len }
    }
}

impl Clone for Table {
    fn clone(&self) -> Table {
        if let Memory::Heap(entries) = &self.memory {
            return Table { memory: Memory::Heap(entries.clone()), len: self.len };
        }
        let mut table = Table::uninitialised(self.len);
        table.copy_from_slice(self);
        table
    }
}

impl Deref for Table {
    type Target = [u32];
    #[inline]
    fn deref(&self) -> &[u32] {
        match &self.memory {
            Memory::Mapped(memory) => &bytemuck::cast_slice(memory)[..self.len],
            Memory::Heap(entries) => entries,
        }
    }
}

impl DerefMut for Table {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u32] {
        match &mut self.memory {
            Memory::Mapped(memory) => &mut bytemuck::cast_slice_mut(memory)[..self.len],
            Memory::Heap(entries) => entries,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn a_table_is_an_array_and_a_clone_is_another_one() {
        for len in [10_000, super::MIN_MAPPED_ENTRIES] {
            let mut a = Table::new(len, 7);
            let b = a.clone();
            a[len - 1] = 1;
            assert_eq!((a[0], a[len - 1], b[len - 1], b.len()), (7, 1, 7, len));
        }
        assert!(Table::new(0, 7).is_empty());
    }
}
