//! Search for attached devices, by record and by the kernel's own account.

use crate::fuse;
use crate::record::{Kind, Record, Records};
use crate::source::{cards, is_dead};
use crate::ublk;
use identify::Device;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// State of an attached device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nobody uses it.
    Free,
    /// It is mounted, or held, or open for writing.
    InUse,
    /// A device whose server has died.
    Dead,
    /// A device whose server has ended, and that goes on with the next one.
    Waiting,
}

/// A device that is attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attached {
    /// Path of the device, such as `/dev/loop0`.
    pub device: PathBuf,
    /// Kind of the attachment.
    pub kind: Kind,
    /// The file or server that it lies on.
    pub on: String,
    /// The card's mount, where it lies on one.
    pub mountpoint: Option<PathBuf>,
    /// Size of the device in bytes.
    pub size_bytes: u64,
    /// State of the device.
    pub state: State,
    /// Users of the device, and the remedy for each.
    pub users: Vec<String>,
    /// It has a record; without one it was found by what it lies on.
    pub recorded: bool,
    #[serde(skip)]
    pub(crate) found: Found,
}

/// The device as the kernel has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found(pub Device);

/// Everything that is attached. Records of what is no longer there are left out.
pub fn list(records: &Records) -> Vec<Attached> {
    let (records, cards, disks) = (records.read(), cards(), ublk::all());
    let mut all = Vec::new();
    for device in identify::block_devices() {
        if device.partition.is_some() {
            continue;
        }
        let node = Path::new("/dev").join(&device.name);
        let record = records.iter().find(|record| record.device == node && is_of(record, &device));
        let card = device.backing_file.as_deref().and_then(|file| card_of(file, &cards));
        let disk = disks.iter().find(|disk| disk.device == node);
        let (kind, on) = match (record, &device.backing_file) {
            (Some(record), _) => (record.kind, record.on.clone()),
            (None, _) if disk.is_some() => (Kind::Ublk, String::new()),
            (None, Some(file)) if card.is_some() => (Kind::Loop, file.clone()),
            _ => continue,
        };
        let users: Vec<String> = identify::users(&device).iter().map(ToString::to_string).collect();
        let lost = match kind {
            Kind::Loop => card.as_deref().is_some_and(is_dead) || (card.is_none() && !Path::new(&on).exists()),
            Kind::Nbd | Kind::Ublk => false,
        };
        let waits = disk.is_some_and(|disk| disk.standing == ublk::Standing::Waits);
        let state = match (lost, users.is_empty()) {
            _ if waits => State::Waiting,
            (true, _) => State::Dead,
            (false, false) => State::InUse,
            (false, true) => State::Free,
        };
        let recorded = record.is_some();
        let size_bytes = device.size_bytes;
        all.push(Attached {
            device: node,
            kind,
            on,
            mountpoint: card,
            size_bytes,
            state,
            users,
            recorded,
            found: Found(device),
        });
    }
    all
}

/// The users of a device, and the remedy for each.
pub fn users(device: &Path) -> Vec<String> {
    let found = identify::block_devices().into_iter().find(|found| found.node() == device);
    found.iter().flat_map(identify::users).map(|user| user.to_string()).collect()
}

/// The record tells of the device that has this name now.
fn is_of(record: &Record, device: &Device) -> bool {
    match record.kind {
        // The kernel has another name for a file that was removed, or lies on a mount that was taken away.
        Kind::Loop => device.backing_file.as_deref().is_some_and(|file| names_same(file, &record.on)),
        Kind::Nbd => device.name.starts_with("nbd"),
        Kind::Ublk => device.name.starts_with("ublkb"),
    }
}

/// The kernel's name for a file: it ends so where the file was removed, and begins at the root of a mount taken away.
fn names_same(kernel: &str, on: &str) -> bool {
    let kernel = kernel.strip_suffix(" (deleted)").unwrap_or(kernel);
    kernel == on || (Path::new(kernel).parent() == Some(Path::new("/")) && on.ends_with(kernel))
}

fn card_of(file: &str, cards: &[PathBuf]) -> Option<PathBuf> {
    cards.iter().find(|card| Path::new(file) == card.join(fuse::FILE)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_under_the_names_that_the_kernel_gives_it_later() {
        for kernel in ["/mnt/card/disk", "/mnt/card/disk (deleted)", "/disk"] {
            assert!(names_same(kernel, "/mnt/card/disk"), "{kernel}");
        }
        for kernel in ["/mnt/other/disk", "/isk", "/card/disk", "/", ""] {
            assert!(!names_same(kernel, "/mnt/card/disk"), "{kernel}");
        }
    }
}
