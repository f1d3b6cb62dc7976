//! The file in a card's folder in which reservations survive a loss of power.

use crate::nvme::Reservations;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The reason why the file does not say which reservations there are.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum KeptError {
    /// The system does not read it.
    #[error("{}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A server has not written it so.
    #[error(
        "{}: damaged; hosts may rely on the reservations in it: move it away to start without any, when no host does",
        .path.display()
    )]
    Damaged { path: PathBuf },
}

/// Reads the reservations; `None` if none were ever kept.
pub(crate) fn read(path: &Path) -> Result<Option<Reservations>, KeptError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(KeptError::Read { path: path.into(), source }),
    };
    let kept = Reservations::of_bytes(&bytes).ok_or_else(|| KeptError::Damaged { path: path.into() })?;
    Ok(Some(kept))
}

/// Makes them durable: whenever the power goes, the file is the old one or the new one.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = File::create(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)?;
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}
