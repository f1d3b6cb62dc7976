//! The kernel's request queue of a block device, as `/sys` tells it: the device's cache, and discards.

use rustix::fs::{FileType, major, minor};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// The text of a cache that a sync has nothing to empty of.
const WRITE_THROUGH: &[u8] = b"write through";

/// The queue of an open device; of a file there is none.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The attribute stays open, because an administrator may change it at any time.
    write_cache: Option<File>,
    pub can_discard: bool,
}

impl Queue {
    pub fn of(file: &File) -> Queue {
        let Ok(stat) = rustix::fs::fstat(file) else { return Queue::default() };
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return Queue::default();
        }
        let device = PathBuf::from(format!("/sys/dev/block/{}:{}", major(stat.st_rdev), minor(stat.st_rdev)));
        // A partition has the queue of its disk.
        let folders = [device.join("queue"), device.join("../queue")];
        let Some(folder) = folders.into_iter().find(|folder| folder.is_dir()) else { return Queue::default() };
        let number = |name: &str| {
            std::fs::read_to_string(folder.join(name)).ok().and_then(|text| text.trim().parse::<u64>().ok())
        };
        // A place that is discarded has to read as zeroes, for which the kernel needs the second one.
        let has = |name| number(name).is_some_and(|number| number > 0);
        let can_discard = ["discard_granularity", "discard_max_bytes", "write_zeroes_max_bytes"].into_iter().all(has);
        Queue { write_cache: File::open(folder.join("write_cache")).ok(), can_discard }
    }

    /// A write is durable when it ends, as the kernel knows by the same attribute: it sends no flush to the device.
    pub fn is_write_through(&self) -> bool {
        self.write_cache.as_ref().is_some_and(is_through)
    }
}

fn is_through(attribute: &File) -> bool {
    let mut text = [0; WRITE_THROUGH.len()];
    attribute.read_exact_at(&mut text, 0).is_ok() && text == *WRITE_THROUGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_written_through_as_long_as_the_kernel_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("write_cache");
        let said = |text: &str| {
            std::fs::write(&path, text).unwrap();
            is_through(&File::open(&path).unwrap())
        };
        assert!(said("write through\n"));
        assert!(!said("write back\n") && !said("") && !said("write"));
        // A regular file has a file system below it, whatever its device is.
        let queue = Queue::of(&File::open(&path).unwrap());
        assert!(!queue.is_write_through() && !queue.can_discard);
    }
}
