//! The drives that the modules of a card lie on, and how they say that they are.

use crate::words::Drive;
use identify::HealthError;
use live::Live;
use std::path::PathBuf;
use std::thread;

/// The drives of a card, by slot: none of a card in memory or in files. Asks each of them, all at once.
pub(crate) fn drives(live: &Live) -> Vec<Drive> {
    let paths = (0..).zip(live.module_paths()).filter_map(|(slot, path)| Some((slot, path?)));
    thread::scope(|scope| {
        let asked: Vec<_> = paths.map(|(slot, path)| scope.spawn(move || drive(slot, path))).collect();
        asked.into_iter().filter_map(|asked| asked.join().unwrap_or(None)).collect()
    })
}

/// The drive at this path; `None` if it is no block device.
fn drive(slot: u32, path: PathBuf) -> Option<Drive> {
    let identity = identify::block_device(&path).ok()?;
    let disk = identity.disk().or(identity.device.as_ref())?;
    let health = identify::drive_health(&disk.node());
    let unknown = health.as_ref().err().map(HealthError::to_string);
    Some(Drive { slot, by_id: identify::stable_name(&path), path, health: health.ok(), unknown })
}
