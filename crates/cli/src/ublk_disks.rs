//! Disks of this machine that a server makes of its cards with ublk.

use crate::error::{Failure, ServeFailure};
use attach::ublk::{Disk, Options, Standing};
use attach::{Kind, Record, Records};
use parking_lot::Mutex;
use serve::{Backing, Export};
use std::path::Path;

/// The disks of a server, by the names of their exports.
#[derive(Default)]
pub struct UblkDisks {
    all: Mutex<Vec<Made>>,
    wanted: bool,
    records: Records,
}

struct Made {
    export: String,
    id: [u8; 16],
    /// `None`: it was detached, and is not made again.
    disk: Option<Disk>,
}

/// Makes a disk of each export, if they are wanted. A disk that waits for an export is taken back before anything else may
/// write to the card; without `--ublk` the card is not served.
pub fn made(wanted: bool, exports: &[Export]) -> Result<UblkDisks, Failure> {
    if !wanted {
        let waits = |export: &&Export| outlives_server(export).then(|| attach::ublk::of_card(export.id)).flatten();
        let waiting = exports.iter().find_map(|export| Some((export, waits(&export)?)));
        return match waiting.filter(|(_, found)| found.standing == Standing::Waits) {
            Some((export, found)) => {
                Err(ServeFailure::DiskWaits { card: export.name.as_str().into(), device: found.device }.into())
            }
            None => Ok(UblkDisks::default()),
        };
    }
    let disks = UblkDisks { all: Mutex::default(), wanted, records: Records::default() };
    for export in exports {
        disks.make(export).map_err(ServeFailure::Ublk)?;
    }
    Ok(disks)
}

/// A card in a folder has a file for reservations, and is there for the next server.
fn outlives_server(export: &Export) -> bool {
    export.reservations.is_some()
}

/// The card's folder, or its name; and the volume.
fn place(export: &Export, volume: Option<u32>) -> String {
    let folder = export.reservations.as_deref().and_then(Path::parent).and_then(|folder| folder.canonicalize().ok());
    match folder {
        Some(folder) if volume.is_some() => format!("{}/{}", folder.display(), export.name),
        Some(folder) => folder.display().to_string(),
        None => export.name.clone(),
    }
}

/// A server that fails after it took a disk back leaves it waiting, as one that ends does.
impl Drop for UblkDisks {
    fn drop(&mut self) {
        self.end();
    }
}

impl UblkDisks {
    fn make(&self, export: &Export) -> Result<(), attach::ublk::DiskError> {
        let Backing::Card { live, volume } = &export.backing else { return Ok(()) };
        let options = Options {
            id: export.id,
            volume: *volume,
            read_only: export.read_only,
            outlives_server: outlives_server(export),
        };
        let disk = attach::ublk::serve(live, &options)?;
        let device = disk.path();
        match disk.repeated() {
            None => eprintln!("flashrig: {}: disk {}", export.name, device.display()),
            Some(0) => eprintln!("flashrig: {}: disk {} goes on", export.name, device.display()),
            Some(changes) => eprintln!(
                "flashrig: {}: disk {} goes on: {changes} changes that were not flushed are repeated",
                export.name,
                device.display()
            ),
        }
        let record = Record { device, kind: Kind::Ublk, on: place(export, *volume) };
        if let Err(error) = self.records.write(&record) {
            // Without it the disk is found by its mark.
            eprintln!("flashrig: no record in {}: {error}", self.records.folder.display());
        }
        self.all.lock().push(Made { export: export.name.clone(), id: export.id, disk: Some(disk) });
        Ok(())
    }

    /// Makes disks of exports that are new.
    pub fn follow(&self, exports: &[Export]) {
        if !self.wanted {
            return;
        }
        self.all.lock().retain(|made| exports.iter().any(|export| export.id == made.id));
        for export in exports {
            let is_known = self.all.lock().iter().any(|made| made.id == export.id);
            if !is_known && let Err(error) = self.make(export) {
                tracing::error!(export = export.name, %error, "a new volume does not become a disk");
            }
        }
    }

    /// Lets go of disks that were detached, and says so.
    pub fn forget_detached(&self) {
        for made in self.all.lock().iter_mut() {
            if made.disk.as_ref().is_some_and(Disk::is_gone)
                && let Some(disk) = made.disk.take()
            {
                eprintln!("flashrig: {}: disk {} was detached", made.export, disk.path().display());
            }
        }
    }

    /// The disk of an export, as an address.
    pub fn address(&self, export: &str) -> Option<String> {
        let all = self.all.lock();
        let made = all.iter().find(|made| made.export == export)?;
        made.disk.as_ref().filter(|disk| !disk.is_gone()).map(|disk| disk.path().display().to_string())
    }

    /// Removes the disks. One that is in use stays for the next server, if its card does.
    pub fn end(&self) {
        for disk in self.all.lock().drain(..).filter_map(|made| made.disk) {
            let device = disk.path();
            let used = !attach::users(&device).is_empty();
            if used && disk.outlives_server() {
                eprintln!(
                    "flashrig: {} is in use: it waits for the next flashrig serve --ublk; what is asked of it waits too",
                    device.display()
                );
                disk.leave();
                continue;
            }
            if used {
                eprintln!("flashrig: {} is in use, and gives errors from now on", device.display());
            }
            drop(disk);
            self.records.remove(&device);
        }
    }
}
