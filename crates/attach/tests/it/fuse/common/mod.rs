//! Cards that are mounted, loop devices and file systems on them, all gone when a test is over, however it ends.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod trees;

use attach::fuse::{Mounted, Options};
use files::Files;
use live::{Live, Start, Timing, on_files};
use media::{Flash, Medium, Physics};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// `losetup --find` opens all devices for a moment, and the kernel's lists are looked at: one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub const MIB: u64 = 1 << 20;

/// Whether it went well, and what was said.
pub fn run(program: &str, words: &[&str]) -> (bool, String) {
    let output = Command::new(program).args(words).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), said)
}

pub fn run_ok(program: &str, words: &[&str]) -> String {
    let (ok, said) = run(program, words);
    assert!(ok, "{program} {words:?}: {said}");
    said.trim().to_owned()
}

fn permitted() -> bool {
    use std::os::unix::fs::MetadataExt;
    let root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    let fuse = Path::new("/dev/fuse").exists();
    if !root || !fuse {
        eprintln!("skipped: {}", if fuse { "not root" } else { "no /dev/fuse" });
    }
    root && fuse
}

pub fn mount(live: &Arc<Live>, folder: &Path) -> Mounted {
    let options = Options { threads: Some(2), ..Options::default() };
    attach::fuse::mount(Arc::clone(live), folder, &options).unwrap()
}

/// A mounted card. Fields are dropped in this order.
pub struct Card {
    pub mounted: Option<Mounted>,
    pub live: Arc<Live>,
    pub folder: TempDir,
    _modules: Option<TempDir>,
    _alone: MutexGuard<'static, ()>,
}

impl Card {
    /// `None`, and a line that says so, where nothing can be mounted.
    pub fn new(size_bytes: u64, timing: Timing) -> Option<Card> {
        if !permitted() {
            return None;
        }
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(size_bytes)).unwrap();
        let flash = Flash::new(card::shape(&config), Physics::IDEAL, 1);
        let start = Start { config, timing, id: Some(format::CardId([7; 16])), seed: 1, explains: false };
        Some(Card::mounted(Live::format(flash, start).unwrap(), None, alone))
    }

    /// A card of so many shards whose modules are files.
    pub fn in_files(size_bytes: u64, shards: u32) -> Option<Card> {
        if !permitted() {
            return None;
        }
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = Live::shard_bytes(size_bytes, shards);
        let config = profile::Profile::builtin("tachion-400").unwrap().with_contents(Some(bytes)).unwrap();
        let config = on_files(&config);
        let modules = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let paths: Vec<PathBuf> = (0..16).map(|slot| modules.path().join(format!("module-{slot}"))).collect();
        let media = Files::create_shards(card::shape(&config), shards, &paths, &files::Options::default()).unwrap();
        let media = media.into_iter().map(|files| Medium::Outside(Box::new(files))).collect();
        let id = Some(format::CardId([7; 16]));
        let start = Start { config, timing: Timing::None, id, seed: 1, explains: false };
        Some(Card::mounted(Live::format_shards(media, &start, size_bytes).unwrap(), Some(modules), alone))
    }

    fn mounted(live: Live, modules: Option<TempDir>, alone: MutexGuard<'static, ()>) -> Card {
        let (live, folder) = (Arc::new(live), tempfile::tempdir().unwrap());
        let mounted = Some(mount(&live, folder.path()));
        Card { mounted, live, folder, _modules: modules, _alone: alone }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join(attach::fuse::FILE)
    }
}

/// A loop device on a file.
pub struct Loop(pub String);

impl Loop {
    pub fn on(file: &Path) -> Option<Loop> {
        // Another program that looks for a free one at the same time may find the same.
        for _ in 0..50 {
            let words = ["--direct-io=on", "--sector-size", "4096", "--find", "--show", file.to_str().unwrap()];
            let (ok, said) = run("losetup", &words);
            if ok {
                return Some(Loop(said.trim().to_owned()));
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        eprintln!("skipped: no free loop device");
        None
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).output();
    }
}

pub fn is_mounted(path: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    mounts.lines().any(|line| line.split(' ').nth(4) == path.to_str())
}
