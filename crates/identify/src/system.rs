//! Directories in which the kernel tells what it knows; tests put a directory of their own in their place.

use crate::text;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A device's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// Number of the driver.
    pub major: u32,
    /// Device of that driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// From `st_dev` or `st_rdev`.
    pub fn from_raw(raw: u64) -> Self {
        DeviceNumber { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }

    /// Parses the kernel's form, such as `259:0`.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Directories in which the kernel tells what it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// Directory that stands for `/sys`.
    pub sys: PathBuf,
    /// Directory that stands for `/proc`.
    pub proc: PathBuf,
    /// Directory that stands for `/dev`.
    pub dev: PathBuf,
}

impl Default for System {
    fn default() -> Self {
        System { sys: "/sys".into(), proc: "/proc".into(), dev: "/dev".into() }
    }
}

impl System {
    /// The directory of a block device in `/sys`, all links resolved.
    pub(crate) fn dir_of_number(&self, number: DeviceNumber) -> Option<PathBuf> {
        fs::canonicalize(self.sys.join("dev/block").join(number.to_string())).ok()
    }

    /// The same by the kernel's name.
    pub(crate) fn dir_of_name(&self, name: &str) -> Option<PathBuf> {
        // A name with a slash or `..` would lead out of the directory.
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return None;
        }
        fs::canonicalize(self.sys.join("class/block").join(name)).ok()
    }

    /// Names of all block devices and partitions.
    pub(crate) fn block_devices(&self) -> Vec<String> {
        names(&self.sys.join("class/block"))
    }

    /// The kernel's name of the block device that a path names: `sda1` of `/dev/sda1`, `dm-0` of `/dev/mapper/vg-lv`.
    pub(crate) fn name_of_path(&self, path: &Path) -> Option<String> {
        let path = match path.strip_prefix("/dev") {
            Ok(rest) => self.dev.join(rest),
            Err(_) => path.to_path_buf(),
        };
        let real = fs::canonicalize(path).ok()?;
        // By number first: a node may have any name (`mknod /tmp/x`).
        if let Ok(meta) = fs::metadata(&real) {
            use std::os::unix::fs::{FileTypeExt, MetadataExt};
            if meta.file_type().is_block_device() {
                let dir = self.dir_of_number(DeviceNumber::from_raw(meta.rdev()))?;
                return Some(dir.file_name()?.to_str()?.to_string());
            }
        }
        let node = real.strip_prefix(fs::canonicalize(&self.dev).ok()?).ok()?.to_str()?.replace('/', "!");
        self.dir_of_name(&node).map(|_| node)
    }
}

/// The device node of a kernel's name, as people know it. The kernel writes `/` as `!` (`cciss!c0d0`).
pub(crate) fn node(name: &str) -> PathBuf {
    Path::new("/dev").join(name.replace('!', "/"))
}

/// An attribute's text; absent or empty: none.
pub(crate) fn read_text(path: impl AsRef<Path>) -> Option<String> {
    text::clean_bytes(&fs::read(path).ok()?)
}

/// An attribute's number.
pub(crate) fn read_u64(path: impl AsRef<Path>) -> Option<u64> {
    read_text(path)?.parse().ok()
}

/// A flag: `1` or `0`.
pub(crate) fn read_flag(path: impl AsRef<Path>) -> Option<bool> {
    read_u64(path).map(|value| value != 0)
}

/// Names in a directory, sorted as people count (`sda2` before `sda10`); none when it can't be read.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_by(|a, b| natural(a).cmp(&natural(b)));
    names
}

fn natural(name: &str) -> (&str, u64, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem, name[stem.len()..].parse().unwrap_or(0), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_shown() {
        let number = DeviceNumber { major: 259, minor: 3 };
        assert_eq!(DeviceNumber::parse(&number.to_string()), Some(number));
        assert_eq!(DeviceNumber::parse("259"), None);
    }

    #[test]
    fn names_never_lead_out_of_the_directory() {
        let system = System::default();
        assert_eq!(system.dir_of_name("../block"), None);
        assert_eq!(system.dir_of_name(".."), None);
        assert_eq!(system.dir_of_name(""), None);
    }
}
