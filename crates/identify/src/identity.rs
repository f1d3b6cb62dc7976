//! The target of a path.

use crate::device::Device;
use crate::error::IdentifyError;
use crate::file_system::FileSystem;
use crate::stack;
use crate::system::{DeviceNumber, System};
use results::{TargetInfo, TargetKind};
use std::fs::{self, FileType, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A file or a block device.
    pub kind: TargetKind,
    /// As it was named: `/dev/disk/by-id/…`.
    pub named: PathBuf,
    /// All links resolved: `/dev/nvme0n1`.
    pub path: PathBuf,
    /// Size of the device, or of the file; 0 for a file that doesn't exist yet.
    pub size_bytes: u64,
    /// The block device, or the one under the file system; absent where a file system has none (tmpfs, NFS, overlay).
    pub device: Option<Device>,
    /// The disks at the bottom, through partitions, volumes and arrays; of a disk itself.
    pub disks: Vec<Device>,
    /// From the device down to a disk, or to where it branches: `dm-0 (vg-root)`, `sda3`, `sda`.
    pub layers: Vec<String>,
    /// File system of a file; absent for a device.
    pub file_system: Option<FileSystem>,
}

impl Identity {
    /// For people: the best name there is.
    pub fn title(&self) -> String {
        match (self.kind, &self.device, self.disk()) {
            (TargetKind::File, Some(_), Some(disk)) => format!("file on {}", disk.title()),
            (TargetKind::File, Some(device), None) => format!("file on {}", device.title()),
            (TargetKind::File, None, _) => match &self.file_system {
                Some(file_system) => format!("file on {}", file_system.fs_type),
                None => "file".into(),
            },
            (_, Some(device), Some(disk)) if device.partition.is_some() => {
                format!("{}, partition {}", disk.title(), device.name)
            }
            (_, Some(device), _) => device.title(),
            (_, None, _) => self.path.display().to_string(),
        }
    }

    /// One of its disks is known to turn.
    pub fn turns(&self) -> bool {
        self.disks.iter().any(|disk| disk.turns() == Some(true))
    }

    /// The one disk at the bottom; none where there are several, or none is known.
    pub fn disk(&self) -> Option<&Device> {
        match self.disks.as_slice() {
            [disk] => Some(disk),
            _ => None,
        }
    }

    /// Both are block devices and one drive, or the same partition of it: under two names, or over two of its ports.
    pub fn is_same_device(&self, other: &Identity) -> bool {
        let (Some(device), Some(other_device)) = (&self.device, &other.device) else { return false };
        let both_devices = self.kind == TargetKind::BlockDevice && other.kind == TargetKind::BlockDevice;
        let same_disk = || device.model.wwid.is_some() && device.model.wwid == other_device.model.wwid;
        let same_port = device.number == other_device.number;
        both_devices && (same_port || (same_disk() && device.partition == other_device.partition))
    }

    /// A flush has something to do somewhere below; absent when nobody says.
    pub fn volatile_write_cache(&self) -> Option<bool> {
        let said: Vec<bool> = self.disks.iter().filter_map(|disk| disk.queue.volatile_write_cache()).collect();
        if said.contains(&true) {
            return Some(true);
        }
        (!said.is_empty() && said.len() == self.disks.len()).then_some(false)
    }

    /// As results have it. `capacity_bytes` is what is under test, which for a file the caller knows.
    pub fn target_info(&self, capacity_bytes: u64) -> TargetInfo {
        TargetInfo {
            kind: self.kind,
            name: self.named.display().to_string(),
            title: self.title(),
            capacity_bytes,
            // Bought is the disk, not the file or partition on it, nor one of several disks.
            sold_bytes: self.disk().map(|disk| disk.size_bytes).filter(|&size| size > 0),
            facts: self.facts(),
            // Drives don't say.
            power_loss_protection: None,
            volatile_write_cache: self.volatile_write_cache(),
            profile: None,
        }
    }
}

impl System {
    /// Identifies a block device.
    pub fn block_device(&self, named: &Path) -> Result<Identity, IdentifyError> {
        let (path, meta) = look(named)?;
        if !meta.file_type().is_block_device() {
            return Err(match not_a_file(named, meta.file_type()) {
                Some(error) => error,
                None => IdentifyError::RegularFile { path: named.into() },
            });
        }
        self.numbered(named, path, DeviceNumber::from_raw(meta.rdev()))
    }

    /// A block device by its number.
    pub(crate) fn numbered(
        &self,
        named: &Path,
        path: PathBuf,
        number: DeviceNumber,
    ) -> Result<Identity, IdentifyError> {
        let device = self
            .dir_of_number(number)
            .as_deref()
            .and_then(Device::read)
            .ok_or_else(|| IdentifyError::NotInSys { path: named.into(), number, sys: self.sys.join("dev/block") })?;
        Ok(Identity {
            kind: TargetKind::BlockDevice,
            named: named.into(),
            path,
            size_bytes: device.size_bytes,
            disks: stack::disks(self, &device),
            layers: stack::layers(self, &device),
            device: Some(device),
            file_system: None,
        })
    }
}

/// Resolves a path, and looks at what is there.
pub(crate) fn look(named: &Path) -> Result<(PathBuf, Metadata), IdentifyError> {
    let path = fs::canonicalize(named).map_err(|error| IdentifyError::from_io(named, error))?;
    let meta = fs::metadata(&path).map_err(|error| IdentifyError::from_io(named, error))?;
    Ok((path, meta))
}

/// Explains why something that is neither a file nor a block device can't be reviewed.
pub(crate) fn not_a_file(named: &Path, kind: FileType) -> Option<IdentifyError> {
    let path = named.to_path_buf();
    if kind.is_char_device() {
        Some(IdentifyError::CharacterDevice { path })
    } else if kind.is_dir() {
        Some(IdentifyError::Directory { path })
    } else if kind.is_socket() {
        Some(IdentifyError::Socket { path })
    } else if kind.is_fifo() {
        Some(IdentifyError::Fifo { path })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    #[test]
    fn a_drive_is_the_same_under_each_name_and_over_each_port() {
        let fake = Fake::new();
        for (name, number) in [("sda", "8:16"), ("sdb", "8:32"), ("sdc", "8:48"), ("sdd", "8:64")] {
            fake.disk(name, number, "virtual/block", 1 << 30);
            fake.partition(name, &format!("{name}1"), 1, &format!("{number}1"), 1 << 20);
            fake.partition(name, &format!("{name}2"), 2, &format!("{number}2"), 1 << 20);
        }
        // Two ports of one disk; the other two say nothing of theirs.
        for name in ["sda", "sdb"] {
            fake.attribute(name, "wwid", "naa.5000c500a1b2c3d4");
        }
        let same = |one: &str, other: &str| fake.identity(one).is_same_device(&fake.identity(other));
        assert!(same("sdc", "sdc") && same("sda", "sdb") && same("sda1", "sdb1"));
        assert!(!same("sdc", "sdd") && !same("sda", "sdc") && !same("sda1", "sdb2") && !same("sda", "sda1"));
    }

    #[test]
    fn two_files_of_a_drive_are_two() {
        let dir = tempfile::tempdir().unwrap();
        let of = |name: &str| crate::file(dir.path().join(name)).unwrap();
        assert!(!of("a").is_same_device(&of("b")));
    }
}
