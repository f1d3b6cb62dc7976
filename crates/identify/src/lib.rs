//! What is this device, and may it be overwritten?
//!
//! Knows Linux's `/sys` and `/proc`, and what lies in a device's first and last sectors. It writes nothing, ever; what it
//! hands out for writing is a [`Permit`].
//!
//! Invariants:
//! - A fact that can't be found out is absent, never made up.
//! - A [`Permit`] exists only while the kernel gives this process the device for itself (`O_EXCL`), and everything that
//!   could speak against overwriting was looked at after the kernel gave it.
//! - A [`Refusal`] has all reasons that could be found, each with its remedy.
//! - No byte on media and no file in `/sys` or `/proc` makes this crate panic.

mod confirmation;
mod device;
mod error;
mod facts;
mod file;
mod file_system;
mod health;
mod host;
mod identity;
mod model;
mod mounts;
mod queue;
mod safety;
pub mod signatures;
mod stable_name;
mod stack;
mod system;
mod text;
mod thermometer;

#[cfg(test)]
mod fake;

pub use confirmation::{Confirmation, ConfirmationKind};
pub use device::Device;
pub use error::IdentifyError;
pub use file_system::FileSystem;
pub use health::{DriveHealth, HealthError, drive_health, drive_smart};
pub use identity::Identity;
pub use model::Model;
pub use mounts::MountPoint;
pub use queue::Queue;
pub use safety::{HolderKind, Permit, Reason, Refusal};
pub use system::{DeviceNumber, System};
pub use thermometer::Thermometer;

use std::path::{Path, PathBuf};

/// Identifies a block device.
pub fn block_device(path: impl AsRef<Path>) -> Result<Identity, IdentifyError> {
    System::default().block_device(path.as_ref())
}

/// Identifies the layers under a file: its file system and, where it can be found, the device. A file that doesn't
/// exist yet is judged by its directory.
pub fn file(path: impl AsRef<Path>) -> Result<Identity, IdentifyError> {
    System::default().file(path.as_ref())
}

/// This machine, without its name, which is private.
pub fn host() -> results::HostInfo {
    System::default().host()
}

/// The right to overwrite a block device, or everything that speaks against it.
pub fn may_be_overwritten(identity: &Identity) -> Result<Permit, Refusal> {
    System::default().may_be_overwritten(identity)
}

/// The name in `/dev/disk/by-id` of the device that a path names, which it keeps wherever it is plugged in.
pub fn stable_name(path: impl AsRef<Path>) -> Option<PathBuf> {
    stable_name::stable_name(&System::default(), path.as_ref())
}

/// Everybody who uses a block device now: mounts, volumes, swap, programs that have it open for writing.
pub fn users(device: &Device) -> Vec<Reason> {
    System::default().users(device)
}

/// Lists the mounts that this process sees, in the order in which they were mounted.
pub fn mount_points() -> Vec<MountPoint> {
    mounts::points(&System::default())
}

/// All block devices that have a size, partitions among them.
pub fn block_devices() -> Vec<Device> {
    let system = System::default();
    let devices = system.block_devices().into_iter().filter_map(|name| Device::named(&system, &name));
    devices.filter(|device| device.size_bytes > 0).collect()
}
