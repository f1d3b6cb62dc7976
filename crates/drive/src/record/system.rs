//! A recording's needs, and whether this machine has them.

use crate::record::RecordError;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Where to look. Tests look elsewhere.
#[derive(Clone, Debug)]
pub struct System {
    /// The process runs as root.
    pub is_root: bool,
    /// Folders of programs, as in `PATH`.
    pub programs: OsString,
    /// The kernel's list of mounts.
    pub mounts: PathBuf,
    /// The kernel's word on lockdown.
    pub lockdown: PathBuf,
    /// Whether files may stand for devices.
    pub files_are_devices: bool,
}

impl System {
    /// The machine that this process runs on.
    pub fn this() -> System {
        System {
            is_root: rustix::process::geteuid().is_root(),
            programs: std::env::var_os("PATH").unwrap_or_default(),
            mounts: "/proc/mounts".into(),
            lockdown: "/sys/kernel/security/lockdown".into(),
            files_are_devices: false,
        }
    }

    /// All that can be known beforehand; the places of blktrace, blkparse and debugfs.
    pub(crate) fn check(&self, device: &Path) -> Result<Found, RecordError> {
        let kind = fs::metadata(device).map(|found| found.file_type());
        if !kind.is_ok_and(|kind| kind.is_block_device() || (self.files_are_devices && kind.is_file())) {
            return Err(RecordError::NotADevice { path: device.to_owned() });
        }
        if !self.is_root {
            return Err(RecordError::NotRoot);
        }
        let blktrace = self.program("blktrace")?;
        let blkparse = self.program("blkparse")?;
        if let Some(mode) = self.locked_down() {
            return Err(RecordError::LockedDown { mode: mode.into() });
        }
        Ok(Found { blktrace, blkparse, debugfs: self.debugfs()? })
    }

    fn program(&self, program: &'static str) -> Result<PathBuf, RecordError> {
        // Where administrators' programs lie is not in everybody's PATH.
        let folders = std::env::split_paths(&self.programs).chain(["/usr/sbin".into(), "/sbin".into()]);
        let executable = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        folders.map(|folder| folder.join(program)).find(executable).ok_or(RecordError::Missing { program })
    }

    /// `none [integrity] confidentiality`: the one in brackets holds.
    fn locked_down(&self) -> Option<String> {
        let text = fs::read_to_string(&self.lockdown).ok()?;
        let mode = text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))?;
        (mode != "none").then(|| mode.to_owned())
    }

    fn debugfs(&self) -> Result<PathBuf, RecordError> {
        let text = fs::read_to_string(&self.mounts).map_err(|_| RecordError::NoDebugfs)?;
        let mount = |line: &str| {
            let mut words = line.split_whitespace().skip(1);
            let place = words.next()?;
            (words.next()? == "debugfs").then(|| PathBuf::from(place))
        };
        text.lines().find_map(mount).ok_or(RecordError::NoDebugfs)
    }
}

/// The programs and places that a recording uses, once they were found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub blktrace: PathBuf,
    pub blkparse: PathBuf,
    pub debugfs: PathBuf,
}
