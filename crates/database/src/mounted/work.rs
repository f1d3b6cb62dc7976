//! The directory that everything lies in.

use crate::mounted::{MountedError, undo};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where such directories are made.
pub const WORK_DIR: &str = "/run/flashrig";
/// How their names begin.
const PREFIX: &str = "database-";
/// A guard has this long to undo what a process that was killed has left, before another process takes it for forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(120);

/// Files and directories of a work directory.
pub(crate) struct Names {
    /// The card's server mounts it here.
    pub card: PathBuf,
    /// The file system is mounted here.
    pub data: PathBuf,
    pub control: PathBuf,
    /// The server's process, as `/proc` calls it.
    pub server: PathBuf,
    /// The file of the server's messages.
    pub log: PathBuf,
    /// Locked by whoever made the directory, as long as that lives.
    pub lock: PathBuf,
}

impl Names {
    pub fn of(work: &Path) -> Names {
        let name = |name: &str| work.join(name);
        Names {
            card: name("card"),
            data: name("data"),
            control: name("control.sock"),
            server: name("server.pid"),
            log: name("server.log"),
            lock: name("lock"),
        }
    }

    pub fn files(&self) -> [&Path; 4] {
        [&self.control, &self.server, &self.log, &self.lock]
    }
}

/// Makes a work directory. It belongs to the process that holds the file, which is its lock.
pub(crate) fn make() -> Result<(PathBuf, File), MountedError> {
    let parent = Path::new(WORK_DIR);
    DirBuilder::new().recursive(true).mode(0o755).create(parent).map_err(MountedError::io(parent))?;
    let mut number = 0;
    let work = loop {
        let work = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        // The database's own user passes through it, and sees nothing.
        match DirBuilder::new().mode(0o711).create(&work) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => number += 1,
            made => break made.map(|()| work.clone()).map_err(MountedError::io(&work))?,
        }
    };
    let names = Names::of(&work);
    for dir in [&names.card, &names.data] {
        fs::create_dir(dir).map_err(MountedError::io(dir))?;
    }
    let lock = File::create(&names.lock).map_err(MountedError::io(&names.lock))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|e| MountedError::io(&names.lock)(e.into()))?;
    Ok((work, lock))
}

/// Undoes what processes have left that are gone, and their guards too. Steps that did not work are returned as errors.
pub fn undo_stale() -> Vec<MountedError> {
    let entries = fs::read_dir(WORK_DIR).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    ours.map(|entry| entry.path()).filter(|work| is_forgotten(work)).flat_map(|work| undo(&work)).collect()
}

fn is_forgotten(work: &Path) -> bool {
    let lock = Names::of(work).lock;
    let old = |at: &Path| {
        let made = fs::metadata(at).and_then(|metadata| metadata.modified()).ok();
        made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age > FORGOTTEN_AFTER)
    };
    match File::open(&lock) {
        Ok(file) => flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() && old(&lock),
        // It was being made, or being undone.
        Err(_) => old(work),
    }
}
