//! The device below the directory: the kernel's counters, and power.

use results::DeviceActivity;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The device below a database's directory.
pub trait Device: Sync {
    /// For people: `Samsung SSD 980 PRO 1TB`, `card tachion-400 on /dev/nbd0`.
    fn title(&self) -> String;

    /// The block device of which the kernel's counters are read, as `/sys/dev/block` calls it: `259:0`. None: there is
    /// none, or nobody knows.
    fn block_device(&self) -> Option<String>;

    /// Acknowledged writes survive a power cut without a flush; None: not known.
    fn power_loss_protection(&self) -> Option<bool> {
        None
    }

    /// The device has a cache that a flush must empty; None: nobody says.
    fn volatile_write_cache(&self) -> Option<bool> {
        None
    }

    /// Returns whether the kernel takes the device for a spinning disk.
    fn rotational(&self) -> bool {
        false
    }

    /// Memory of this machine that it may still come to need, because its contents lie there, in bytes.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Its power, where it can be cut.
    fn power(&self) -> Option<&dyn Power> {
        None
    }
}

/// The power of a device, and its modules.
///
/// The order of a crash test, with PostgreSQL's cluster in a directory on the device's file system:
///
/// 1. [`Power::pull`], sometimes, while sessions commit; and [`Power::insert`], sometimes, while they still do;
/// 2. [`Power::cut`], while sessions commit;
/// 3. every process that has a file open there is killed: nothing of ours is in the way of an unmount;
/// 4. [`Power::restore`]: the device starts, recovers and is attached again, its file system is mounted again, at the
///    same path;
/// 5. PostgreSQL is started in the same directory, recovers, and is checked;
/// 6. [`Power::insert`], if a module was pulled and is not back, and [`Power::rebuilt`].
pub trait Power: Sync {
    /// Says how power is cut, for people: `the server of the card is told to drop power`.
    fn how(&self) -> String;

    /// Cuts power now, whatever is under way. Requests to the device must fail from now on, not wait: processes that
    /// wait for it can't be ended.
    fn cut(&self) -> Result<(), String>;

    /// Power comes back, and the directory is there again.
    fn restore(&self) -> Result<(), String>;

    /// Modules that can be pulled while the device works; 0: none.
    fn modules(&self) -> u32 {
        0
    }

    /// Pulls a module out.
    fn pull(&self, _module: u32) -> Result<(), String> {
        Err("it has no modules".to_owned())
    }

    /// Puts the module back, to be rebuilt while the device works.
    fn insert(&self, _module: u32) -> Result<(), String> {
        Err("it has no modules".to_owned())
    }

    /// Waits until all modules are part of the device again.
    fn rebuilt(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The device below any directory.
#[derive(Clone, Debug)]
pub struct Mounted {
    dir: PathBuf,
    number: Option<String>,
}

impl Mounted {
    /// Finds the device of a directory. Network and memory file systems have no block device.
    pub fn of(dir: &Path) -> Mounted {
        let number = std::fs::metadata(dir).ok().and_then(|found| {
            let (major, minor) = (rustix::fs::major(found.dev()), rustix::fs::minor(found.dev()));
            let number = format!("{major}:{minor}");
            Path::new("/sys/dev/block").join(&number).exists().then_some(number)
        });
        Mounted { dir: dir.to_owned(), number }
    }
}

impl Device for Mounted {
    fn title(&self) -> String {
        match self.number.as_deref().and_then(name_of) {
            Some(name) => format!("{} on {name}", self.dir.display()),
            None => self.dir.display().to_string(),
        }
    }

    fn block_device(&self) -> Option<String> {
        self.number.clone()
    }

    fn volatile_write_cache(&self) -> Option<bool> {
        match self.queue("write_cache")?.as_str() {
            "write back" => Some(true),
            "write through" => Some(false),
            _ => None,
        }
    }

    fn rotational(&self) -> bool {
        identify::file(self.dir.join("database")).is_ok_and(|identity| identity.turns())
    }
}

impl Mounted {
    /// Reads a key of the device's queue; a partition's is its disk's.
    fn queue(&self, key: &str) -> Option<String> {
        let dir = Path::new("/sys/dev/block").join(self.number.as_ref()?);
        let read = |queue: &str| std::fs::read_to_string(dir.join(queue).join(key)).ok();
        Some(read("queue").or_else(|| read("../queue"))?.trim().to_owned())
    }
}

/// The kernel's name of a block device: `nvme0n1p2`.
pub(crate) fn name_of(number: &str) -> Option<String> {
    let target = std::fs::read_link(Path::new("/sys/dev/block").join(number)).ok()?;
    Some(target.file_name()?.to_string_lossy().into_owned())
}

/// The kernel's counters of a block device, since it was attached.
pub(crate) fn counters(number: &str) -> Option<DeviceActivity> {
    parse(&std::fs::read_to_string(Path::new("/sys/dev/block").join(number).join("stat")).ok()?)
}

/// The numbers of `/sys/block/*/stat`; sectors there are 512 bytes, whatever the device's are.
fn parse(text: &str) -> Option<DeviceActivity> {
    let numbers: Vec<u64> = text.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
    let at = |i: usize| numbers.get(i).copied();
    Some(DeviceActivity {
        reads: at(0)?,
        read_bytes: at(2)? * 512,
        writes: at(4)?,
        written_bytes: at(6)? * 512,
        // Kernels before 5.5 don't count flushes.
        flushes: at(15).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_counters_are_read_in_bytes() {
        let text = "  100 5 800 30  200 7 1600 40 0 50 70 1 0 8 2 9 3\n";
        let found = parse(text).unwrap();
        let expected =
            DeviceActivity { reads: 100, read_bytes: 409_600, writes: 200, written_bytes: 819_200, flushes: 9 };
        assert_eq!(found, expected);
        assert_eq!(parse("1 2 3"), None);
        assert_eq!(parse("1 2 3 4 5 6 7 8").unwrap().flushes, 0);
    }

    #[test]
    fn a_directory_on_no_block_device_has_no_counters() {
        let proc = Mounted::of(Path::new("/proc"));
        assert_eq!((proc.block_device(), proc.rotational()), (None, false));
        assert_eq!(proc.title(), "/proc");
    }
}
