//! One block device, as `/sys` knows it.

use crate::model::Model;
use crate::queue::Queue;
use crate::system::{DeviceNumber, System, names, node, read_flag, read_text, read_u64};
use std::path::{Path, PathBuf};

/// One block device: a disk, a partition, or something the kernel makes of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The kernel's name: `nvme0n1`, `sda1`, `dm-0`.
    pub name: String,
    /// The kernel's number of the device, major and minor.
    pub number: DeviceNumber,
    /// The whole disk's name; of a disk its own.
    pub disk: String,
    /// Number of the partition on its disk; absent where the device is no partition.
    pub partition: Option<u32>,
    /// Size of the device in bytes.
    pub size_bytes: u64,
    /// The kernel refuses to write to it.
    pub read_only: bool,
    /// Counts how often a disk came under this name: tells a swapped disk from the one that was looked at.
    pub diskseq: Option<u64>,
    /// The kernel's request queue for the device.
    pub queue: Queue,
    /// Maker, model and serial number.
    pub model: Model,
    /// A loop device's file.
    pub backing_file: Option<String>,
    /// Device mapper's name: `vg-root`, `luks-…`.
    pub mapper_name: Option<String>,
    /// Device mapper's identifier, whose beginning says who made it: `LVM-…`, `CRYPT-LUKS2-…`.
    pub mapper_uuid: Option<String>,
    /// An md array's level: `raid1`.
    pub md_level: Option<String>,
    pub(crate) dir: PathBuf,
}

impl Device {
    /// By its directory in `/sys`.
    pub(crate) fn read(dir: &Path) -> Option<Self> {
        let name = file_name(dir)?;
        let partition = read_u64(dir.join("partition")).and_then(|number| u32::try_from(number).ok());
        let disk_dir = if partition.is_some() { dir.parent()? } else { dir };
        Some(Device {
            number: DeviceNumber::parse(&read_text(dir.join("dev"))?)?,
            disk: file_name(disk_dir)?,
            partition,
            // Always in units of 512 bytes, whatever the sectors are.
            size_bytes: read_u64(dir.join("size")).unwrap_or(0).saturating_mul(512),
            // A partition of a disk that is read-only says 0 on some kernels.
            read_only: read_flag(dir.join("ro")) == Some(true) || read_flag(disk_dir.join("ro")) == Some(true),
            diskseq: read_u64(disk_dir.join("diskseq")),
            queue: Queue::read(disk_dir),
            model: Model::read(disk_dir),
            backing_file: read_text(disk_dir.join("loop/backing_file")),
            mapper_name: read_text(dir.join("dm/name")),
            mapper_uuid: read_text(dir.join("dm/uuid")),
            md_level: read_text(dir.join("md/level")),
            dir: dir.to_path_buf(),
            name,
        })
    }

    /// By the kernel's name.
    pub(crate) fn named(system: &System, name: &str) -> Option<Self> {
        Device::read(&system.dir_of_name(name)?)
    }

    /// `/dev/` and its name.
    pub fn node(&self) -> PathBuf {
        node(&self.name)
    }

    /// Names of its partitions.
    pub fn partitions(&self) -> Vec<String> {
        names(&self.dir).into_iter().filter(|name| self.dir.join(name).join("partition").exists()).collect()
    }

    /// Names of what lies on it directly: volumes, arrays.
    pub(crate) fn holders(&self) -> Vec<String> {
        names(&self.dir.join("holders"))
    }

    /// Names of what it lies on directly.
    pub(crate) fn slaves(&self) -> Vec<String> {
        names(&self.dir.join("slaves"))
    }

    /// It turns; absent where nobody knows. The kernel takes a virtual disk that says nothing for one that turns.
    pub fn turns(&self) -> Option<bool> {
        match (self.model.rpm, self.queue.rotational) {
            (Some(_), _) => Some(true),
            (None, Some(true)) if self.model.is_virtual() => None,
            (None, rotational) => rotational,
        }
    }

    /// For people: the best name there is.
    pub fn title(&self) -> String {
        if let Some(title) = self.model.title() {
            return title;
        }
        if let Some(name) = &self.mapper_name {
            return format!("device mapper volume {name}");
        }
        if let Some(level) = &self.md_level {
            return format!("md array {} ({level})", self.name);
        }
        if let Some(file) = &self.backing_file {
            return format!("loop device {} on {file}", self.name);
        }
        match &self.model.transport {
            Some(transport) => format!("{transport} disk {}", self.disk),
            None => self.name.clone(),
        }
    }
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name()?.to_str().map(str::to_string)
}
