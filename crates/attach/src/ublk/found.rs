//! Disks of this program as the driver has them, for those who are not their server.

use crate::ublk::disk::JOURNALS;
use crate::ublk::mark::{is_ours, journal_path, mark};
use std::fs;
use std::path::{Path, PathBuf};
use ublk::{Control, DeviceInfo, DeviceState, UblkError, block_path};

/// How a disk stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has a server.
    Served,
    /// Its server has ended, and it waits for the next one.
    Waits,
    /// Its server has died, and nothing will come of it.
    Dead,
}

/// A disk of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The path of the disk.
    pub device: PathBuf,
    /// How it stands.
    pub standing: Standing,
    pub(crate) number: u32,
    mark: u64,
}

fn found(info: DeviceInfo) -> Found {
    let standing = match info.state {
        DeviceState::Waiting => Standing::Waits,
        DeviceState::Dead => Standing::Dead,
        DeviceState::Live | DeviceState::Other(_) => Standing::Served,
    };
    Found { device: block_path(info.number), standing, number: info.number, mark: info.mark }
}

/// The reason why no disk can be made here; `None`: one can.
pub fn missing() -> Option<UblkError> {
    Control::open().err()
}

/// All disks of this program; none where the driver is not there, or may not be asked.
pub fn all() -> Vec<Found> {
    let Ok(mut control) = Control::open() else { return Vec::new() };
    control.all().into_iter().filter(|info| is_ours(info.mark)).map(found).collect()
}

/// The disk of a card or volume that outlives its server, by its UUID.
pub fn of_card(id: [u8; 16]) -> Option<Found> {
    all().into_iter().find(|found| found.mark == mark(id) && found.standing != Standing::Dead)
}

/// Stops a disk that may be in use, and forgets what was kept for its next server. Programs that use it get errors.
pub fn give_up(found: &Found) -> Result<(), UblkError> {
    let mut control = Control::open()?;
    control.stop(found.number)?;
    let _ = fs::remove_file(journal_path(Path::new(JOURNALS), found.mark));
    control.remove_later(found.number)
}

/// Removes a disk, whoever serves it, and forgets what was kept for its next server.
pub fn remove(found: &Found) -> Result<(), UblkError> {
    let mut control = Control::open()?;
    // One that is stopped already, or gone, is what is wanted.
    match control.stop(found.number) {
        Err(error) if !error.is_gone() => return Err(error),
        _ => {}
    }
    match control.remove(found.number) {
        Err(error) if !error.is_gone() => return Err(error),
        _ => {}
    }
    let _ = fs::remove_file(journal_path(Path::new(JOURNALS), found.mark));
    Ok(())
}
