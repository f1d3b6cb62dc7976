//! Place of the cluster: a new directory on the device, one for the socket elsewhere, and both gone afterwards.

use crate::DatabaseError;
use crate::account::Account;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Longest path of a socket's directory: a unix socket's address has 108 bytes, with `/.s.PGSQL.5432` and a zero in it.
const SOCKET_DIR_BYTES: usize = 108 - 15;
/// Names that are tried before giving up.
const NAMES: u32 = 1_000;

/// The two directories. Dropping it removes them.
#[derive(Debug)]
pub(crate) struct Place {
    /// On the device.
    pub work: PathBuf,
    /// The socket's; nobody else may enter.
    pub socket: PathBuf,
}

impl Place {
    /// Makes both for a user; what lies on the device is called after `name`.
    pub fn create(dir: &Path, name: &str, account: &Account) -> Result<Place, DatabaseError> {
        let dir = check_directory(dir)?;
        let not_writable = |source| DatabaseError::NotWritable { dir: dir.clone(), source };
        let work = fresh(&dir, name).map_err(not_writable)?;
        let place = match socket_dir() {
            Ok(socket) => Place { work, socket },
            Err(error) => {
                let _ = fs::remove_dir(&work);
                return Err(error);
            }
        };
        account.give(&place.work)?;
        account.give(&place.socket)?;
        if !account.reaches(&place.work) {
            return Err(DatabaseError::Unreachable { dir, user: account.name.as_str().into() });
        }
        Ok(place)
    }

    /// Returns the cluster's data directory.
    pub fn data(&self) -> PathBuf {
        self.work.join("data")
    }

    /// Removes both; the first that can't be removed is told.
    pub fn remove(&self) -> Result<(), DatabaseError> {
        let remove = |path: &Path| match fs::remove_dir_all(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(DatabaseError::io(path)(e)),
            _ => Ok(()),
        };
        remove(&self.socket).and(remove(&self.work))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            eprintln!("flashrig: left behind: {error}");
        }
    }
}

/// A directory, without links on the way.
pub(crate) fn check_directory(dir: &Path) -> Result<PathBuf, DatabaseError> {
    match fs::canonicalize(dir) {
        Ok(dir) if dir.is_dir() => Ok(dir),
        _ => Err(DatabaseError::NoDirectory(dir.to_owned())),
    }
}

fn socket_dir() -> Result<PathBuf, DatabaseError> {
    let places = [std::env::temp_dir(), PathBuf::from("/tmp"), PathBuf::from("/run")];
    let mut last = io::Error::other("no place for a socket");
    for place in places.iter().filter(|place| place.as_os_str().as_bytes().len() + 32 <= SOCKET_DIR_BYTES) {
        match fresh(place, "flashrig-pg") {
            Ok(dir) => return Ok(dir),
            Err(e) => last = e,
        }
    }
    Err(DatabaseError::io("/tmp")(last))
}

/// A directory that was not there, for nobody but its owner.
fn fresh(parent: &Path, name: &str) -> io::Result<PathBuf> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..NAMES {
        let path = parent.join(format!("{name}-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => last = e,
            Err(e) => return Err(e),
        }
    }
    Err(last)
}

/// Bytes that a user without privileges can still write there.
pub(crate) fn free_bytes(dir: &Path) -> Result<u64, DatabaseError> {
    let found = rustix::fs::statvfs(dir).map_err(|e| DatabaseError::io(dir)(e.into()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_private_and_go_with_their_owner() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let account = Account::find().unwrap();
        let (one, two) =
            (Place::create(root.path(), "x", &account).unwrap(), Place::create(root.path(), "x", &account).unwrap());
        assert_ne!(one.work, two.work);
        assert_eq!(fs::metadata(&one.socket).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(one.socket.as_os_str().len() <= SOCKET_DIR_BYTES);
        let socket = one.socket.clone();
        drop(one);
        assert!(!socket.exists());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_directory_is_told() {
        for path in ["/etc/passwd", "/no/such"] {
            let error = check_directory(Path::new(path)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{path}: no directory")), "{error}");
        }
    }
}
