//! Loop devices and file systems on them. Each is removed at its end, after a panic too.

use super::reviews::disk_folder;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tempfile::TempDir;

pub const MIB: u64 = 1 << 20;

fn succeeds(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    if !output.status.success() {
        eprintln!("{program} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// `losetup --find` opens all devices for a moment, and a device that somebody has open is refused: whoever asks for
/// one of these devices is the only one that makes any.
static MAKERS: RwLock<()> = RwLock::new(());

/// Held while a loop device is made that is no [`Loop`].
pub fn among_makers() -> RwLockReadGuard<'static, ()> {
    MAKERS.read().unwrap_or_else(PoisonError::into_inner)
}

/// A loop device over a file of its own. A test that needs several makes them together.
pub struct Loop {
    /// The path of the device: `/dev/loop3`.
    pub device: String,
    backing: PathBuf,
    size_bytes: u64,
    _folder: TempDir,
    _alone: Rc<RwLockWriteGuard<'static, ()>>,
}

impl Loop {
    /// `None`, and a line that says so, where there are no loop devices or no right to them.
    pub fn new(size_bytes: u64) -> Option<Loop> {
        Loop::several(&[size_bytes])?.pop()
    }

    /// One device of each size.
    pub fn several(sizes_bytes: &[u64]) -> Option<Vec<Loop>> {
        let alone = Rc::new(MAKERS.write().unwrap_or_else(PoisonError::into_inner));
        sizes_bytes.iter().map(|size_bytes| Loop::made(*size_bytes, 512, &alone)).collect()
    }

    /// A device with logical sectors of this size.
    pub fn with_sectors(size_bytes: u64, sector_bytes: u32) -> Option<Loop> {
        let alone = Rc::new(MAKERS.write().unwrap_or_else(PoisonError::into_inner));
        Loop::made(size_bytes, sector_bytes, &alone)
    }

    fn made(size_bytes: u64, sector_bytes: u32, alone: &Rc<RwLockWriteGuard<'static, ()>>) -> Option<Loop> {
        let folder = disk_folder();
        let backing = folder.path().join("backing");
        File::create_new(&backing).unwrap().set_len(size_bytes).unwrap();
        let path = backing.to_str().unwrap();
        let sector = format!("--sector-size={sector_bytes}");
        let made = succeeds("losetup", &["--find", "--show", "--direct-io=on", &sector, path])
            .or_else(|| succeeds("losetup", &["--find", "--show", &sector, path]));
        let Some(device) = made else {
            eprintln!("skipped: no loop device (not root, or not permitted)");
            return None;
        };
        Some(Loop { device, backing, size_bytes, _folder: folder, _alone: Rc::clone(alone) })
    }

    /// `loop3`: it has neither serial number nor model.
    pub fn name(&self) -> &str {
        self.device.strip_prefix("/dev/").unwrap()
    }

    /// All bytes of it.
    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.backing).unwrap()
    }

    /// Fills it with bytes that are nothing in particular.
    pub fn fill(&self) {
        let line: Vec<u8> = (0..4096_u32).map(|i| (i * 7 + 13) as u8 | 1).collect();
        fs::write(&self.backing, line.repeat(self.size_bytes as usize / line.len())).unwrap();
        // A page that the loop device had read before is not what is there now.
        let _ = Command::new("blockdev").args(["--flushbufs", &self.device]).output();
    }

    /// Cuts its medium off behind it: it answers with I/O errors.
    pub fn break_it(&self) {
        File::options().write(true).open(&self.backing).unwrap().set_len(MIB).unwrap();
    }

    /// Gives the medium back.
    pub fn repair(&self) {
        File::options().write(true).open(&self.backing).unwrap().set_len(self.size_bytes).unwrap();
    }

    /// Makes a file system on it.
    pub fn ext4(&self) -> bool {
        let made =
            succeeds("mkfs.ext4", &["-q", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", &self.device]);
        if made.is_none() {
            eprintln!("skipped: no ext4 can be made here");
        }
        made.is_some()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        succeeds("losetup", &["--detach", &self.device]);
    }
}

/// A file system on a loop device.
pub struct Mount {
    folder: TempDir,
    pub device: Loop,
}

impl Mount {
    /// `None`, and a line that says so, where it can't be had.
    pub fn new(size_bytes: u64, options: &str) -> Option<Mount> {
        let device = Loop::new(size_bytes)?;
        let folder = disk_folder();
        let path = folder.path().to_str().unwrap();
        if !device.ext4() {
            return None;
        }
        if succeeds("mount", &["-o", options, &device.device, path]).is_none() {
            eprintln!("skipped: no ext4 can be mounted here");
            return None;
        }
        Some(Mount { folder, device })
    }

    /// Returns the directory on which it is mounted.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let path = self.folder.path().to_str().unwrap();
        if succeeds("umount", &[path]).is_none() {
            succeeds("umount", &["--lazy", path]);
        }
    }
}
