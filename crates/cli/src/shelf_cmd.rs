//! `flashrig shelf`: files and drives as modules for cards of other machines.

use crate::args::ShelfArgs;
use crate::cancel;
use crate::error::{Failure, ShelfFailure};
use crate::module_places;
use crate::nvme_secrets;
use crate::server_log;
use crate::units::capacity;
use serve::{Backing, Export, Limits, Protocol, RawDisk, RawDiskError, Security, Server, Services, ShelfState};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The time after which a request to end is seen at the latest.
const LOOKS: Duration = Duration::from_millis(500);
/// The folder of the states of drives. Beside a drive is `/dev`, which is made anew with each start of the system.
const STATES_OF_DRIVES: &str = "/var/lib/flashrig/shelves";

pub fn shelf(args: &ShelfArgs) -> Result<ExitCode, Failure> {
    let secrets = nvme_secrets::of_server(args.nvme_secret.as_ref(), args.nvme_controller_secret.as_ref())?;
    cancel::listen()?;
    server_log::begin(&args.log);
    let mut states: BTreeMap<PathBuf, &PathBuf> = BTreeMap::new();
    let mut exports = Vec::new();
    for path in &args.disks {
        // The lock comes first: nobody else has the state then.
        let disk = RawDisk::open(path).map_err(refused)?;
        let folder = state_folder(path, args.state.as_deref())?;
        if let Some(first) = states.insert(folder.clone(), path) {
            return Err(ShelfFailure::SameState { first: first.clone(), second: path.clone(), state: folder }.into());
        }
        let ShelfState { id, reservations } = ShelfState::open(&folder).map_err(ShelfFailure::from)?;
        if let Some(note) = disk.note() {
            eprintln!("flashrig: {}: {note}", path.display());
        }
        exports.push(Export {
            name: name_of(path).to_string_lossy().into_owned(),
            id,
            reservations: Some(reservations),
            description: path.display().to_string(),
            backing: Backing::Disk(Arc::new(disk)),
            read_only: false,
            lease: None,
        });
    }
    let usual = Limits::default();
    let memory_bytes = args.client_memory.map_or(usual.memory_bytes, |bytes| bytes.0);
    let limits = Limits { connections: args.max_clients as usize, memory_bytes, ..usual };
    let (nvme, insecure) = (args.listen.clone(), args.insecure);
    let services = Services { nvme, secrets, insecure, ..Services::default() };
    let server = Server::start(exports.clone(), &services, Security::Plain, limits)?;
    for (export, nqn) in exports.iter().zip(server.subsystems()) {
        eprintln!("flashrig: {}: {}, {nqn}", export.description, capacity(export.size_bytes()));
    }
    for address in server.addresses(Protocol::Nvme) {
        eprintln!("flashrig: NVMe at {address}");
    }
    while !cancel::requested() {
        std::thread::park_timeout(LOOKS);
    }
    eprintln!("flashrig: ending: what is under way is answered");
    server.stop();
    Ok(ExitCode::SUCCESS)
}

/// The kernel's refusal of a device is turned into the reasons for it.
fn refused(error: RawDiskError) -> Failure {
    match error {
        RawDiskError::File(error) => module_places::why_in_use(error),
        error => ShelfFailure::Disk(error).into(),
    }
}

fn name_of(path: &Path) -> OsString {
    path.file_name().unwrap_or(path.as_os_str()).to_owned()
}

/// The folder of a module's state. It belongs to the file or drive, whatever name of it was given.
fn state_folder(path: &Path, state: Option<&Path>) -> Result<PathBuf, ShelfFailure> {
    let real = path.canonicalize().unwrap_or_else(|_| path.into());
    let is_device = std::fs::metadata(&real).is_ok_and(|meta| meta.file_type().is_block_device());
    let named = match is_device {
        true => identify::stable_name(path),
        false => Some(real.clone()),
    };
    let mut name = match (&named, state) {
        (Some(named), _) => name_of(named),
        (None, Some(_)) => name_of(&real),
        (None, None) => return Err(ShelfFailure::NoStableName { path: path.into() }),
    };
    name.push(".shelf");
    Ok(match state {
        Some(state) => state.join(name),
        None if is_device => Path::new(STATES_OF_DRIVES).join(name),
        None => real.with_file_name(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_state_belongs_to_the_file_whatever_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("m.img"), dir.path().join("link"));
        std::fs::write(&file, "x").unwrap();
        symlink(&file, &link).unwrap();
        let folder = state_folder(&file, None).unwrap();
        assert_eq!(folder, file.canonicalize().unwrap().with_file_name("m.img.shelf"));
        assert_eq!(state_folder(&link, None).unwrap(), folder);
        assert_eq!(state_folder(&link, Some(Path::new("/s"))).unwrap(), Path::new("/s/m.img.shelf"));
    }
}
