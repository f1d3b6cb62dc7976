//! Loop devices, mounts and programs that are gone when a test is over, however it ends.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub fn has(tool: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&paths).any(|dir| dir.join(tool).exists());
    if !there {
        eprintln!("skipped: no {tool}");
    }
    there
}

/// `losetup --find` opens devices for a moment that another test may be looking at: one of both at a time.
pub fn quiet() -> std::sync::MutexGuard<'static, ()> {
    static QUIET: std::sync::Mutex<()> = std::sync::Mutex::new(());
    QUIET.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns whether it went well, and what was said.
pub fn run(tool: &str, arguments: &[&str]) -> (bool, String) {
    let output = Command::new(tool).args(arguments).output().unwrap_or_else(|error| panic!("{tool}: {error}"));
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), said)
}

pub fn run_ok(tool: &str, arguments: &[&str]) -> String {
    let (ok, said) = run(tool, arguments);
    assert!(ok, "{tool} {arguments:?}: {said}");
    said
}

pub fn root_only() -> bool {
    use std::os::unix::fs::MetadataExt;
    let root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    if !root {
        eprintln!("skipped: not root");
    }
    root
}

/// Undone at the end.
pub struct AtEnd(pub &'static str, pub Vec<String>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        let _ = Command::new(self.0).args(&self.1).output();
    }
}

pub struct LoopDevice {
    path: PathBuf,
    // Dropped in this order: first detached, then its file removed.
    _detach: AtEnd,
    dir: tempfile::TempDir,
}

impl LoopDevice {
    pub fn new(size: u64) -> Option<Self> {
        Self::bind(size, |_| {}, &[])
    }

    pub fn read_only(size: u64) -> Option<Self> {
        Self::bind(size, |_| {}, &["--read-only"])
    }

    /// With one partition of half its size, from 1 MiB on.
    pub fn partitioned(size: u64) -> Option<Self> {
        let table = |file: &File| {
            use std::os::unix::fs::FileExt;
            let mut sector = [0; 512];
            sector[450] = 0x83;
            sector[454..458].copy_from_slice(&2048u32.to_le_bytes());
            sector[458..462].copy_from_slice(&((size / 1024) as u32).to_le_bytes());
            sector[510..].copy_from_slice(&[0x55, 0xaa]);
            file.write_all_at(&sector, 0).unwrap();
        };
        Self::bind(size, table, &["--partscan"])
    }

    /// A loop device on a block device.
    pub fn on(below: &Path) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        Self::attach(dir, below, &[])
    }

    fn bind(size: u64, write: impl FnOnce(&File), options: &[&str]) -> Option<Self> {
        if !root_only() || !has("losetup") {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().canonicalize().unwrap().join("image");
        let image = File::create(&file).unwrap();
        image.set_len(size).unwrap();
        write(&image);
        Self::attach(dir, &file, options)
    }

    fn attach(dir: tempfile::TempDir, file: &Path, options: &[&str]) -> Option<Self> {
        // Two tests that look for a free one at once may find the same.
        for _ in 0..50 {
            let arguments = [options, &["--find", "--show", file.to_str().unwrap()]].concat();
            let (ok, said) = {
                let _quiet = quiet();
                run("losetup", &arguments)
            };
            if ok {
                let path = PathBuf::from(said.trim());
                let detach = AtEnd("losetup", vec!["--detach".into(), said.trim().into()]);
                return Some(LoopDevice { path, _detach: detach, dir });
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        eprintln!("skipped: no free loop device");
        None
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn name(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }

    pub fn directory(&self, name: &str) -> PathBuf {
        let dir = self.dir.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    pub fn image(&self, name: &str, size: u64) -> PathBuf {
        let path = self.dir.path().canonicalize().unwrap().join(name);
        File::create(&path).unwrap().set_len(size).unwrap();
        path
    }
}

pub struct Mount(#[allow(dead_code)] AtEnd);

impl Mount {
    pub fn new(device: &Path, point: &Path, options: &[&str]) -> Self {
        let (device, point) = (device.to_str().unwrap(), point.to_str().unwrap());
        let arguments = [options, &[device, point]].concat();
        // A child that another test is making has, until it is the other program, whatever this process had open: a
        // device too, and for itself.
        let began = Instant::now();
        loop {
            let (ok, said) = run("mount", &arguments);
            if ok {
                break;
            }
            assert!(said.contains("busy") && began.elapsed() < Duration::from_secs(10), "mount {arguments:?}: {said}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Mount(AtEnd("umount", vec![point.into()]))
    }
}

/// A program that is ended, and waited for, at the end.
pub struct Child(std::process::Child);

impl Child {
    pub fn start(tool: &str, arguments: &[&str]) -> Self {
        Child(Command::new(tool).args(arguments).stdout(Stdio::piped()).spawn().unwrap())
    }

    pub fn wait_for_line(&mut self) {
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty());
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
