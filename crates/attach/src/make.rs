//! Making a device.

use crate::error::AttachError;
use crate::privilege::as_root;
use crate::program::{run, typed};
use crate::record::{Kind, Record, Records};
use crate::source::{SECTOR_BYTES, Source};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Times that a loop device is looked for: another program may find the same at the same time.
const TRIES: u32 = 20;

/// A device that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Made {
    /// Path of the device, such as `/dev/loop0`.
    pub device: PathBuf,
    /// Kind of the attachment.
    pub kind: Kind,
    /// The file or server that it lies on.
    pub on: String,
    /// The command that made it, as it can be typed.
    pub command: String,
}

/// Makes a device of a source. `said` is told each command before it runs.
pub fn attach(
    source: &Source,
    read_only: bool,
    records: &Records,
    mut said: impl FnMut(&str),
) -> Result<Made, AttachError> {
    as_root("attach")?;
    let made = match source {
        Source::File(file) => on_file(file, read_only, &mut said)?,
        Source::NbdUnix { socket, export } => {
            let address = [String::from("-unix"), socket.display().to_string()];
            let on = format!("nbd:unix:{}", socket.display());
            on_nbd(&address, export, &on, read_only, &mut said)?
        }
        Source::NbdTcp { host, port, export } => {
            let address = [host.clone(), port.to_string()];
            on_nbd(&address, export, &format!("nbd://{host}:{port}"), read_only, &mut said)?
        }
    };
    let record = Record { device: made.device.clone(), kind: made.kind, on: made.on.clone() };
    records.write(&record).map_err(|source| {
        // A device that nobody knows of later is worse than none. The first error is the one to tell.
        let _ = crate::undo::release(&made.device, made.kind);
        AttachError::Record { folder: records.folder.clone(), source }
    })?;
    Ok(made)
}

fn on_file(file: &Path, read_only: bool, said: &mut dyn FnMut(&str)) -> Result<Made, AttachError> {
    let bound = |device: &identify::Device| device.backing_file.as_deref().map(Path::new) == Some(file);
    if let Some(device) = identify::block_devices().into_iter().find(bound) {
        return Err(AttachError::Already { path: file.to_owned(), device: device.node() });
    }
    let sector = SECTOR_BYTES.to_string();
    let mut words: Vec<&str> = vec!["--direct-io=on", "--sector-size", &sector, "--find", "--show"];
    if read_only {
        words.push("--read-only");
    }
    let path = file.display().to_string();
    words.push(&path);
    let command = typed("losetup", &words);
    said(&command);
    let mut tries = 0;
    let device = loop {
        match run("losetup", "util-linux", &words) {
            Err(AttachError::Program { said, .. }) if said.as_str().contains("busy") && tries < TRIES => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(50));
            }
            done => break done?,
        }
    };
    Ok(Made { device: device.into(), kind: Kind::Loop, on: path, command })
}

fn on_nbd(
    address: &[String; 2],
    export: &str,
    on: &str,
    read_only: bool,
    said: &mut dyn FnMut(&str),
) -> Result<Made, AttachError> {
    if !Path::new("/sys/block/nbd0").exists() {
        // A machine without modprobe has no module either.
        let _ = run("modprobe", "kmod", &["--quiet", "nbd"]);
    }
    let device = free_nbd()?.display().to_string();
    let sector = SECTOR_BYTES.to_string();
    let mut words = vec![address[0].as_str(), address[1].as_str(), device.as_str(), "-block-size", sector.as_str()];
    if !export.is_empty() {
        words.extend(["-name", export]);
    }
    if read_only {
        words.push("-readonly");
    }
    let command = typed("nbd-client", &words);
    said(&command);
    run("nbd-client", "nbd-client", &words)?;
    let on = if export.is_empty() { on.to_owned() } else { format!("{on}/{export}") };
    Ok(Made { device: device.into(), kind: Kind::Nbd, on, command })
}

/// The first device of the NBD client that has no connection.
fn free_nbd() -> Result<PathBuf, AttachError> {
    let block = Path::new("/sys/block");
    if !block.join("nbd0").exists() {
        return Err(AttachError::NoNbd);
    }
    let names = (0..).map(|number| format!("nbd{number}")).take_while(|name| block.join(name).exists());
    let free = names.into_iter().find(|name| !block.join(name).join("pid").exists());
    free.map(|name| Path::new("/dev").join(name)).ok_or(AttachError::NoFreeNbd)
}
