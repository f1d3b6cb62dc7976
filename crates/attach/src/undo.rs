//! Detaching, also what a server that has died left behind.

use crate::error::AttachError;
use crate::find::{Attached, State, list};
use crate::privilege::as_root;
use crate::program::run;
use crate::record::{Kind, Records};
use crate::source::{cards, is_dead, mount_of};
use crate::ublk;
use rustix::mount::UnmountFlags;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bound on the time in which the kernel lets go of a device that nobody uses.
const LETS_GO_WITHIN: Duration = Duration::from_secs(5);

/// The attachments that were undone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// Devices that were detached.
    pub detached: Vec<PathBuf>,
    /// Mounts of servers that have died, which were taken away.
    pub unmounted: Vec<PathBuf>,
}

/// Detaches a device, or everything that lies on the card mounted at a directory. If any of it is in use, nothing is
/// done. The mount itself goes with it where its server has died; else it is its server's.
pub fn detach(target: &Path, records: &Records) -> Result<Undone, AttachError> {
    as_root("detach")?;
    let all = list(records);
    let absolute = std::path::absolute(target).unwrap_or_else(|_| target.to_owned());
    if let Some(device) = all.iter().find(|attached| attached.device == absolute) {
        check(device)?;
        return undo(&[device], &[], records);
    }
    // A device by another name. A path on a dead mount can't be asked for, and is no device.
    let mountpoint = mount_of(&absolute);
    if mountpoint.is_none()
        && let Ok(real) = absolute.canonicalize()
    {
        if let Some(device) = all.iter().find(|attached| attached.device == real) {
            check(device)?;
            return undo(&[device], &[], records);
        }
        if let Some(mountpoint) = mount_of(&real) {
            return detach_mount(&mountpoint, &all, records);
        }
        // A file that is no card's.
        let on: Vec<&Attached> = all.iter().filter(|attached| Path::new(&attached.on) == real).collect();
        if !on.is_empty() {
            on.iter().try_for_each(|attached| check(attached))?;
            return undo(&on, &[], records);
        }
    }
    match mountpoint {
        Some(mountpoint) => detach_mount(&mountpoint, &all, records),
        None => Err(AttachError::NotOurs { path: target.to_owned() }),
    }
}

/// Detaches a disk that waits for its server also where it is in use: programs that use it get errors.
pub fn give_up(target: &Path, records: &Records) -> Result<Undone, AttachError> {
    as_root("detach")?;
    let all = list(records);
    let absolute = std::path::absolute(target).unwrap_or_else(|_| target.to_owned());
    let device = all.iter().find(|attached| attached.device == absolute);
    match device.filter(|attached| attached.state == State::Waiting) {
        Some(device) => {
            ublk::all().iter().filter(|disk| disk.device == device.device).try_for_each(ublk::give_up)?;
            records.remove(&device.device);
            Ok(Undone { detached: vec![device.device.clone()], unmounted: Vec::new() })
        }
        None => Err(AttachError::NotWaiting { path: target.to_owned() }),
    }
}

fn detach_mount(mountpoint: &Path, all: &[Attached], records: &Records) -> Result<Undone, AttachError> {
    let on: Vec<&Attached> = all.iter().filter(|attached| attached.mountpoint.as_deref() == Some(mountpoint)).collect();
    on.iter().try_for_each(|attached| check(attached))?;
    let dead = is_dead(mountpoint).then(|| mountpoint.to_owned());
    undo(&on, dead.as_slice(), records)
}

/// Detaches everything that is not in use, takes away the mounts of servers that have died, and forgets what is no
/// longer there. The first error of those that could not be detached is told, after all else is done.
pub fn detach_all(records: &Records) -> Result<(Undone, Vec<AttachError>), AttachError> {
    as_root("detach")?;
    let mut all = Undone::default();
    let mut errors = Vec::new();
    let attached = list(records);
    for device in &attached {
        match check(device).and_then(|()| undo(&[device], &[], records)) {
            Ok(undone) => all.detached.extend(undone.detached),
            Err(error) => errors.push(error),
        }
    }
    for card in cards().into_iter().filter(|card| is_dead(card)) {
        // A device that is still in use keeps its mount: by it it is found again.
        let kept =
            |device: &Attached| device.mountpoint.as_ref() == Some(&card) && !all.detached.contains(&device.device);
        if attached.iter().any(kept) {
            continue;
        }
        match undo(&[], std::slice::from_ref(&card), records) {
            Ok(undone) => all.unmounted.extend(undone.unmounted),
            Err(error) => errors.push(error),
        }
    }
    for disk in ublk::all().iter().filter(|disk| disk.standing == ublk::Standing::Dead) {
        match ublk::remove(disk) {
            Ok(()) => all.detached.push(disk.device.clone()),
            Err(error) => errors.push(error.into()),
        }
    }
    let left = list(records);
    for record in records.read() {
        if !left.iter().any(|device| device.device == record.device) {
            records.remove(&record.device);
        }
    }
    Ok((all, errors))
}

fn check(attached: &Attached) -> Result<(), AttachError> {
    // Now, and not when it was listed.
    let users = identify::users(&attached.found.0);
    if users.is_empty() {
        return Ok(());
    }
    let reasons = users.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    Err(AttachError::InUse { device: attached.device.clone(), reasons: reasons.into() })
}

fn undo(devices: &[&Attached], mounts: &[PathBuf], records: &Records) -> Result<Undone, AttachError> {
    let mut undone = Undone::default();
    for attached in devices {
        release(&attached.device, attached.kind)?;
        records.remove(&attached.device);
        undone.detached.push(attached.device.clone());
    }
    for mountpoint in mounts {
        // Nobody answers there: what still has it open gets errors either way.
        rustix::mount::unmount(mountpoint, UnmountFlags::DETACH)
            .map_err(|error| AttachError::Unmount { mountpoint: mountpoint.clone(), source: error.into() })?;
        undone.unmounted.push(mountpoint.clone());
    }
    Ok(undone)
}

/// Has the kernel let go of a device, and waits until it has.
pub(crate) fn release(device: &Path, kind: Kind) -> Result<(), AttachError> {
    let node = device.display().to_string();
    let name = device.file_name().unwrap_or_default();
    let holds = match kind {
        Kind::Loop => Path::new("/sys/block").join(name).join("loop/backing_file"),
        Kind::Nbd => Path::new("/sys/block").join(name).join("pid"),
        Kind::Ublk => Path::new("/sys/block").join(name),
    };
    match kind {
        Kind::Loop => run("losetup", "util-linux", &["--detach", &node]).map(|_| ())?,
        Kind::Nbd => run("nbd-client", "nbd-client", &["-d", &node]).map(|_| ())?,
        Kind::Ublk => ublk::all().iter().filter(|disk| disk.device == device).try_for_each(ublk::remove)?,
    };
    // losetup says yes to a device that somebody has open, and the kernel lets go of it later.
    let began = Instant::now();
    while holds.exists() {
        if began.elapsed() > LETS_GO_WITHIN {
            return Err(AttachError::StillThere { device: device.to_owned() });
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
