//! Large tables: arrays of 4-byte entries that are accessed at random.
//!
//! A full card's map has hundreds of megabytes, and every host write touches it at random. On pages of 4 KiB nearly
//! each touch misses the TLB as well as the cache, so the tables ask the system for huge pages. Where it has none to
//! give they work just the same.

use memmap2::MmapMut;

/// Below this number of entries, a mapping costs more than it saves: a system call, and a fault for each page of each
/// copy.
const MIN_MAPPED_ENTRIES: usize = (2 << 20) / 4;

/// An array of `u32` of fixed length whose entries are `EMPTY` until they are set.
///
/// Entries are stored so that `EMPTY` is zero, which is how the system hands memory out: a table of gigabytes is made at once,
/// and takes memory where it was written.
#[derive(Debug)]
pub struct Table<const EMPTY: u32> {
    memory: Memory,
    len: usize,
}

#[derive(Debug)]
enum Memory {
    Mapped(MmapMut),
    Heap(Vec<u32>),
}

impl<const EMPTY: u32> Table<EMPTY> {
    /// A table of `len` entries that are all `EMPTY`.
    ///
    /// # Panics
    /// When the system has no memory left, as `Vec` does.
    pub fn new(len: usize) -> Table<EMPTY> {
        if len < MIN_MAPPED_ENTRIES {
            return Table { memory: Memory::Heap(vec![0; len]), len };
        }
        let memory = MmapMut::map_anon(len * 4).expect("out of memory");
        // This is a hint; without huge pages the table is only slower.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Table { memory: Memory::Mapped(memory), len }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// # Panics
    /// Beyond the end, as a slice does.
    #[inline]
    pub fn get(&self, index: usize) -> u32 {
        self.stored()[index] ^ EMPTY
    }

    /// # Panics
    /// Beyond the end, as a slice does.
    #[inline]
    pub fn set(&mut self, index: usize, value: u32) {
        self.stored_mut()[index] = value ^ EMPTY;
    }

    /// Every entry, from the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.stored().iter().map(|stored| stored ^ EMPTY)
    }

    /// Prefetches an entry.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) {
        crate::prefetch::prefetch(self.stored(), index);
    }

    #[inline]
    fn stored(&self) -> &[u32] {
        match &self.memory {
            Memory::Mapped(memory) => &bytemuck::cast_slice(memory)[..self.len],
            Memory::Heap(entries) => entries,
        }
    }

    #[inline]
    fn stored_mut(&mut self) -> &mut [u32] {
        match &mut self.memory {
            Memory::Mapped(memory) => &mut bytemuck::cast_slice_mut(memory)[..self.len],
            Memory::Heap(entries) => entries,
        }
    }
}

impl<const EMPTY: u32> Clone for Table<EMPTY> {
    fn clone(&self) -> Table<EMPTY> {
        if let Memory::Heap(entries) = &self.memory {
            return Table { memory: Memory::Heap(entries.clone()), len: self.len };
        }
        let mut table = Table::new(self.len);
        table.stored_mut().copy_from_slice(self.stored());
        table
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn a_table_is_an_array_and_a_clone_is_another_one() {
        for len in [10_000, super::MIN_MAPPED_ENTRIES] {
            let mut a: Table<7> = Table::new(len);
            let b = a.clone();
            a.set(len - 1, 1);
            a.set(len - 2, 0);
            assert_eq!((a.get(0), a.get(len - 2), a.get(len - 1), b.get(len - 1), b.len()), (7, 0, 1, 7, len));
            assert_eq!(a.iter().filter(|entry| *entry != 7).count(), 2);
        }
        assert!(Table::<7>::new(0).is_empty());
    }
}
