//! Helpers of the tests with a real PostgreSQL.

use database::{
    Binaries, CrashConfig, DatabaseError, Engine, MixConfig, Part, Request, Sizes, SlobConfig, processes_in,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use target::Progress;
use tempfile::TempDir;

/// PostgreSQL, or nothing and a line that says so.
pub fn postgres() -> Option<Binaries> {
    match Binaries::find(None) {
        Ok(found) => Some(found),
        Err(error @ DatabaseError::NoPostgres { .. }) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// One at a time: leftovers of this process are counted.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A directory that the server's user gets to, and one for logs.
pub struct Ground {
    pub dir: TempDir,
    pub logs: TempDir,
    /// Shared memory that somebody had left before.
    shared: Vec<String>,
}

impl Ground {
    pub fn new() -> Ground {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Ground { dir, logs: tempfile::tempdir().unwrap(), shared: shared() }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Nothing is left: no process, no directory on the device, no socket, no shared memory.
    pub fn assert_clean(&self) {
        assert_eq!(processes_in(self.path()), Vec::<i32>::new());
        let left: Vec<PathBuf> = fs::read_dir(self.path()).unwrap().map(|e| e.unwrap().path()).collect();
        assert!(left.is_empty(), "{left:?}");
        let ours = format!("flashrig-pg-{}-", std::process::id());
        let sockets = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let sockets: Vec<_> = sockets.filter(|e| e.file_name().to_string_lossy().starts_with(&ours)).collect();
        assert!(sockets.is_empty(), "{sockets:?}");
        let left = || shared().into_iter().filter(|name| !self.shared.contains(name)).collect::<Vec<_>>();
        let began = Instant::now();
        // Others' servers have made theirs and not mapped it yet, or are about to remove it.
        while !left().is_empty() && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let shared = left();
        assert!(shared.is_empty(), "{shared:?}");
    }

    pub fn request(&self, parts: &[Part]) -> Request {
        Request {
            engine: Engine::Postgres,
            dir: self.path().to_owned(),
            logs: self.logs.path().to_owned(),
            guard: None,
            pg_bin: None,
            parts: parts.to_vec(),
            sessions: vec![1, 4],
            point_s: 2.0,
            sizes: Sizes { data_bytes: Some(48 << 20), shared_buffers_bytes: Some(8 << 20) },
            mix: MixConfig::default(),
            slob: SlobConfig { scale_blocks: 1_000, work_unit: 8, ..SlobConfig::default() },
            crash: CrashConfig { cycles: 1, sessions: 4, rows: 300, load_s: 2.0 },
            seed: 1,
            price: None,
            power_watts: None,
            rack_units: None,
        }
    }
}

/// Segments of shared memory of any PostgreSQL's that no process has mapped, and System V segments to which none is
/// attached: others have databases too, which live.
fn shared() -> Vec<String> {
    let posix = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    let mut names: Vec<String> = posix.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.starts_with("PostgreSQL."));
    if !names.is_empty() {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let maps = processes.map(|entry| fs::read_to_string(entry.path().join("maps")).unwrap_or_default());
        let maps: String = maps.collect();
        names.retain(|name| !maps.contains(name.as_str()));
    }
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    for words in text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>()) {
        if words.get(6) == Some(&"0") {
            names.push(format!("segment {}", words[1]));
        }
    }
    names
}

/// Progress that cancels when a phase begins.
pub struct CancelAt(pub &'static str, pub AtomicBool);

impl CancelAt {
    pub fn phase(phase: &'static str) -> CancelAt {
        CancelAt(phase, AtomicBool::new(false))
    }
}

impl Progress for CancelAt {
    fn begin(&self, phase: &str, _: u64) {
        self.step(phase);
    }
    fn at(&self, _: u64) {}
    fn step(&self, what: &str) {
        if what == self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
    fn cancelled(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }
}
