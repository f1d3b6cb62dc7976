//! Files on a disk, loop devices, file systems on them. Files and devices that tests make are unmade, after a panic
//! too.

use drive::{Drive, DriveOptions};
use load::{FileioConfig, FileioMode, LoadConfig};
use results::{HostInfo, TargetInfo, TargetKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use target::{Effort, Measurement, Pattern, Progress, State};
use tempfile::TempDir;

pub const MIB: u64 = 1 << 20;

/// `/var/tmp` is on a disk where `/tmp` often is not.
pub fn folder() -> TempDir {
    tempfile::Builder::new().prefix("flashrig-test-").tempdir_in("/var/tmp").unwrap()
}

pub fn info() -> TargetInfo {
    TargetInfo {
        kind: TargetKind::File,
        name: "test".into(),
        title: "A test".into(),
        capacity_bytes: 0,
        sold_bytes: None,
        facts: Vec::new(),
        power_loss_protection: None,
        volatile_write_cache: None,
        profile: None,
    }
}

pub fn create(folder: &TempDir, size_bytes: u64, options: DriveOptions) -> Drive {
    Drive::create_file(folder.path().join("file"), size_bytes, info(), HostInfo::default(), options).unwrap()
}

pub fn fileio(mode: FileioMode, file_bytes: u64) -> FileioConfig {
    FileioConfig { mode, block_bytes: 4096, threads: 4, file_bytes, ..FileioConfig::default() }
}

pub fn measurement(config: FileioConfig, seconds: f64) -> Measurement {
    Measurement { load: LoadConfig::Fileio(config), fill: 1.0, seconds: Some(seconds), seed: 5 }
}

pub fn filled(fill: f64, sequential_passes: u32) -> State {
    State { fill, pattern: Pattern::None, effort: Effort { sequential_passes, round_s: 0.0, max_rounds: 0 } }
}

/// Says stop after so long.
pub struct StopAfter(pub Instant, pub Duration);

impl StopAfter {
    pub fn milliseconds(milliseconds: u64) -> StopAfter {
        StopAfter(Instant::now(), Duration::from_millis(milliseconds))
    }
}

impl Progress for StopAfter {
    fn begin(&self, _: &str, _: u64) {}
    fn at(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        self.0.elapsed() >= self.1
    }
}

fn output(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    if !output.status.success() {
        eprintln!("{program} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A loop device over a file of its own.
pub struct Loop {
    pub device: PathBuf,
    pub backing: PathBuf,
    _folder: TempDir,
}

impl Loop {
    /// `None`, and a line that says so, where there are no loop devices or no right to them.
    pub fn new(size_bytes: u64) -> Option<Loop> {
        let folder = folder();
        let backing = folder.path().join("backing");
        std::fs::File::create_new(&backing).unwrap().set_len(size_bytes).unwrap();
        let Some(device) = output("losetup", &["--find", "--show", "--direct-io=on", backing.to_str().unwrap()]) else {
            eprintln!("skipped: no loop device (not root, or not permitted)");
            return None;
        };
        Some(Loop { device: device.into(), backing, _folder: folder })
    }

    pub fn open(&self, options: DriveOptions) -> Drive {
        Drive::open_block_device(&self.device, info(), HostInfo::default(), options).unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        output("losetup", &["--detach", self.device.to_str().unwrap()]);
    }
}

/// A file system on a loop device.
pub struct Mount {
    pub folder: TempDir,
    pub device: Loop,
}

impl Mount {
    pub fn new(size_bytes: u64) -> Option<Mount> {
        let device = Loop::new(size_bytes)?;
        let name = device.device.to_str().unwrap();
        let folder = folder();
        let path: &Path = folder.path();
        if output("mkfs.ext4", &["-q", "-m", "0", name]).is_none()
            || output("mount", &[name, path.to_str().unwrap()]).is_none()
        {
            eprintln!("skipped: no ext4 can be made and mounted here");
            return None;
        }
        Some(Mount { folder, device })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let path = self.folder.path().to_str().unwrap();
        if output("umount", &[path]).is_none() {
            output("umount", &["--lazy", path]);
        }
    }
}
