//! Memory of this machine, and whether the shared buffers get huge pages.
//!
//! Each of PostgreSQL's processes maps the shared buffers for itself. With pages of 4 KiB that is a fault for every 16 of
//! them and process, which costs as much as a transaction's own work when there are gigabytes and a hundred processes.

use std::fs;

/// Shared memory besides the buffers, in bytes, and their share for what describes them.
const MORE_BYTES: u64 = 64 << 20;
const MORE_SHARE: u64 = 20;
/// From so many on small pages are worth a remark.
pub(crate) const MANY_BYTES: u64 = 1 << 30;

/// The kernel's figures of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Bytes that programs can still have, huge pages aside.
    pub available_bytes: u64,
    /// Bytes in huge pages that nobody has.
    pub huge_free_bytes: u64,
    huge_page_bytes: u64,
}

impl Memory {
    /// Now; None: the kernel does not say.
    pub fn now() -> Option<Memory> {
        Memory::parse(&fs::read_to_string("/proc/meminfo").ok()?)
    }

    fn parse(text: &str) -> Option<Memory> {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let huge_page_bytes = value("Hugepagesize").unwrap_or(0) * 1024;
        // Some are promised to who has not touched them yet.
        let free = value("HugePages_Free").unwrap_or(0).saturating_sub(value("HugePages_Rsvd").unwrap_or(0));
        Some(Memory {
            available_bytes: value("MemAvailable")? * 1024,
            huge_free_bytes: free * huge_page_bytes,
            huge_page_bytes,
        })
    }

    /// All of the shared memory that goes with so many buffers fits the free huge pages.
    pub fn has_huge_pages_for(&self, shared_buffers_bytes: u64) -> bool {
        self.huge_free_bytes >= needed(shared_buffers_bytes)
    }

    /// Huge pages that would do.
    pub fn huge_pages_for(&self, shared_buffers_bytes: u64) -> Option<u64> {
        (self.huge_page_bytes > 0).then(|| needed(shared_buffers_bytes).div_ceil(self.huge_page_bytes))
    }
}

fn needed(shared_buffers_bytes: u64) -> u64 {
    shared_buffers_bytes + shared_buffers_bytes / MORE_SHARE + MORE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "MemTotal:       24684132 kB\nMemAvailable:   20000000 kB\nHugePages_Total:    1000\n\
                        HugePages_Free:      900\nHugePages_Rsvd:      100\nHugepagesize:       2048 kB\n";

    #[test]
    fn pages_that_are_promised_are_not_free() {
        let memory = Memory::parse(TEXT).unwrap();
        assert_eq!((memory.available_bytes, memory.huge_free_bytes), (20_480_000_000, 800 << 21));
        assert!(memory.has_huge_pages_for(1400 << 20) && !memory.has_huge_pages_for(1500 << 20));
        assert_eq!(memory.huge_pages_for(1000 << 20), Some(557));
        let none = Memory::parse("MemAvailable: 1 kB").unwrap();
        assert!(!none.has_huge_pages_for(0) && none.huge_pages_for(1).is_none());
        assert_eq!(Memory::parse("MemTotal: 1 kB"), None);
    }
}
