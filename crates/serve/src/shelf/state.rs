//! The files in which a shelf keeps the state of a module: its name and its reservations.
//!
//! The name is made at the first start. It lies in `identity`, because hosts know the module by it:
//!
//! ```text
//!  0          4         8        24       28
//! ┌──────────┬─────────┬────────┬────────┐
//! │ "FSHF"   │ version │ UUID   │ CRC32C │
//! └──────────┴─────────┴────────┴────────┘
//! ```

use crate::kept;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const MAGIC: [u8; 4] = *b"FSHF";
const VERSION: u32 = 1;
const BYTES: usize = 28;

/// The reason why the state of a module is not known.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ShelfStateError {
    /// The system does not read or write it.
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A shelf has not written it so.
    #[error(
        "{}: damaged; hosts know the module by the name in it: restore it, or move it away to give the module a new name",
        .path.display()
    )]
    Damaged { path: PathBuf },
    /// The module has reservations, and no name to which they belong.
    #[error(
        "{}: there are reservations, and the name of the module is missing: restore it, or move the reservations away as \
         well",
        .path.display()
    )]
    NoName { path: PathBuf },
}

/// The state of a module in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShelfState {
    /// The name of the module, which is its UUID and NGUID, and which its NQN has in it.
    pub id: [u8; 16],
    /// The file of its reservations.
    pub reservations: PathBuf,
}

impl ShelfState {
    /// Reads the state in a folder. At the first start the folder and a name are made, and are durable when this returns.
    pub fn open(folder: &Path) -> Result<ShelfState, ShelfStateError> {
        let (path, reservations) = (folder.join("identity"), folder.join("reservations"));
        let failed = |source| ShelfStateError::Io { path: path.clone(), source };
        let id = match std::fs::read(&path) {
            Ok(bytes) => decode(&bytes).ok_or_else(|| ShelfStateError::Damaged { path: path.clone() })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if reservations.exists() {
                    return Err(ShelfStateError::NoName { path });
                }
                make_durably(folder).map_err(|source| ShelfStateError::Io { path: folder.into(), source })?;
                let id = new_id().map_err(failed)?;
                kept::write(&path, &encode(&id)).map_err(failed)?;
                id
            }
            Err(source) => return Err(failed(source)),
        };
        Ok(ShelfState { id, reservations })
    }
}

/// Makes a folder, and its entry durable.
fn make_durably(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::File::open(parent)?.sync_all()
}

/// A random UUID (RFC 9562, version 4).
fn new_id() -> io::Result<[u8; 16]> {
    let mut id = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut id)?;
    id[6] = id[6] & 0x0F | 0x40;
    id[8] = id[8] & 0x3F | 0x80;
    Ok(id)
}

fn encode(id: &[u8; 16]) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], &VERSION.to_le_bytes(), id].concat();
    let sum = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<[u8; 16]> {
    if bytes.len() != BYTES {
        return None;
    }
    let id = bytes[8..24].try_into().ok()?;
    (encode(&id) == bytes).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_once_and_damage_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("m.shelf");
        let first = ShelfState::open(&folder).unwrap();
        assert_eq!(ShelfState::open(&folder).unwrap(), first);
        let path = folder.join("identity");
        let whole = std::fs::read(&path).unwrap();
        for (at, bit) in (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            std::fs::write(&path, &bytes).unwrap();
            assert!(matches!(ShelfState::open(&folder), Err(ShelfStateError::Damaged { .. })), "byte {at}");
        }
        for bytes in [&whole[..27], &[], &[&whole[..], &[0]].concat()] {
            std::fs::write(&path, bytes).unwrap();
            assert!(matches!(ShelfState::open(&folder), Err(ShelfStateError::Damaged { .. })));
        }
        // A lost name is not made anew beside reservations of the old one.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&first.reservations, "x").unwrap();
        assert!(matches!(ShelfState::open(&folder), Err(ShelfStateError::NoName { .. })));
        std::fs::remove_file(&first.reservations).unwrap();
        assert_ne!(ShelfState::open(&folder).unwrap().id, first.id);
    }
}
