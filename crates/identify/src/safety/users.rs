//! Programs that have a device open for writing. A database on a raw device or a virtual machine doesn't open it
//! exclusively, so the kernel would let us have it.

use super::reason::Reason;
use crate::device::Device;
use crate::system::{DeviceNumber, System, names, read_text};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Lists all processes that may be looked at, but not this one.
pub(super) fn writing(system: &System, devices: &[&Device]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for name in names(&system.proc) {
        let Ok(process) = name.parse::<u32>() else { continue };
        if process == std::process::id() {
            continue;
        }
        let dir = system.proc.join(&name);
        let mut found: Vec<&Device> = Vec::new();
        for descriptor in names(&dir.join("fd")) {
            let Some(device) = opened(system, &dir.join("fd").join(&descriptor), devices) else { continue };
            let writes = || for_writing(&dir.join("fdinfo").join(&descriptor));
            if !found.iter().any(|known| known.name == device.name) && writes() {
                found.push(device);
            }
        }
        reasons.extend(found.into_iter().map(|device| Reason::OpenForWriting {
            device: device.node(),
            process,
            program: read_text(dir.join("comm")).unwrap_or_else(|| "a program without a name".into()),
        }));
    }
    reasons
}

/// Finds the device that a descriptor has open.
fn opened<'a>(system: &System, descriptor: &Path, devices: &[&'a Device]) -> Option<&'a Device> {
    let target = fs::read_link(descriptor).ok()?;
    // Nothing else is looked at: a file on a dead network file system would hang us.
    if !target.starts_with("/dev") && !target.starts_with(&system.dev) {
        return None;
    }
    // Through the descriptor and not by name: a container has a `/dev` of its own.
    let meta = fs::metadata(descriptor).ok()?;
    if meta.file_type().is_block_device() {
        let number = DeviceNumber::from_raw(meta.rdev());
        return devices.iter().find(|device| device.number == number).copied();
    }
    let name = system.name_of_path(&target)?;
    devices.iter().find(|device| device.name == name).copied()
}

/// By `flags: 0100002`, octal; the last two bits are how it was opened.
fn for_writing(info: &Path) -> bool {
    let text = fs::read_to_string(info).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // A descriptor whose flags can't be read may be gone; one that is there says so.
    flags.is_some_and(|flags| flags & 0b11 != 0)
}
