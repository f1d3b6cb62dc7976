//! The kernel's request queue of a disk: its `queue` directory in `/sys`.

use crate::system::{read_flag, read_text, read_u64};
use std::path::Path;

/// The kernel's request queue of a disk. A partition has its disk's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// The smallest request that the device takes.
    pub logical_sector_bytes: Option<u32>,
    /// Smallest write that needs no read before it.
    pub physical_sector_bytes: Option<u32>,
    /// It turns, says the kernel, also of virtual disks: [`crate::Device::turns`] is to be asked.
    pub rotational: Option<bool>,
    /// The scheduler in use: `none`, `mq-deadline` …
    pub scheduler: Option<String>,
    /// `write back` or `write through`, as the kernel treats the device.
    pub write_cache: Option<String>,
    /// Writes that bypass the cache (force unit access).
    pub fua: Option<bool>,
    /// Most bytes of one discard; 0: discard isn't supported.
    pub discard_max_bytes: Option<u64>,
    /// Discards are rounded to this.
    pub discard_granularity_bytes: Option<u64>,
    /// Requests that wait in the kernel's queue.
    pub nr_requests: Option<u64>,
    /// Largest request, KiB.
    pub max_sectors_kb: Option<u64>,
    /// `none`, `host-aware`, `host-managed`.
    pub zoned: Option<String>,
}

impl Queue {
    /// Reads a whole disk's directory in `/sys`.
    pub(crate) fn read(disk: &Path) -> Self {
        let queue = disk.join("queue");
        let bytes = |name: &str| read_u64(queue.join(name)).and_then(|value| u32::try_from(value).ok());
        Queue {
            logical_sector_bytes: bytes("logical_block_size"),
            physical_sector_bytes: bytes("physical_block_size"),
            rotational: read_flag(queue.join("rotational")),
            scheduler: read_text(queue.join("scheduler")).and_then(|text| chosen(&text)),
            write_cache: read_text(queue.join("write_cache")),
            fua: read_flag(queue.join("fua")),
            discard_max_bytes: read_u64(queue.join("discard_max_bytes")),
            discard_granularity_bytes: read_u64(queue.join("discard_granularity")),
            nr_requests: read_u64(queue.join("nr_requests")),
            max_sectors_kb: read_u64(queue.join("max_sectors_kb")),
            zoned: read_text(queue.join("zoned")),
        }
    }

    /// A flush has something to do. Says what the kernel believes, which the drive told it or an administrator set.
    pub fn volatile_write_cache(&self) -> Option<bool> {
        match self.write_cache.as_deref()? {
            "write back" => Some(true),
            "write through" => Some(false),
            _ => None,
        }
    }
}

/// The one in brackets; a list of one has none.
fn chosen(text: &str) -> Option<String> {
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
    match inside {
        Some(name) => Some(name.to_string()),
        None if !text.contains(char::is_whitespace) => Some(text.to_string()),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq").as_deref(), Some("mq-deadline"));
        assert_eq!(chosen("[none] mq-deadline").as_deref(), Some("none"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!(chosen("none mq-deadline"), None);
    }
}
