//! Keeping the kernel's page cache from answering the database's reads.
//!
//! A machine with more memory than the database would read every block from the device once, and then never again. The
//! remedy that needs no privileges and works on every file system: a thread tells the kernel a few times a second that
//! the cluster's data files will not be needed (`POSIX_FADV_DONTNEED`). Pages that wait to be written are written
//! first, as a machine with little memory would do; pages that are read stay for a fraction of a second. The cache's
//! answers in spite of it are measured: bytes that the device read against bytes that the database asked for.

use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two rounds.
const EVERY: Duration = Duration::from_millis(50);
/// Between two looks at which files there are.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Files that are smaller are catalogues, and hot.
const SMALLEST_BYTES: u64 = 1 << 20;
/// More files than this are left alone, so that the thread can't use up this process's descriptors.
const MAX_FILES: usize = 512;

/// In words, for the result.
pub(crate) const WORDS: &str = "the kernel is told twenty times a second to forget the cluster's data files";

/// The thread that makes the kernel forget.
#[derive(Debug)]
pub struct Evictor {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Evictor {
    /// For the files below a directory.
    pub fn start(dir: &Path) -> Evictor {
        let stop = Arc::new(AtomicBool::new(false));
        let (flag, dir) = (stop.clone(), dir.to_owned());
        let thread = std::thread::spawn(move || evict(&dir, &flag));
        Evictor { stop, thread: Some(thread) }
    }
}

impl Drop for Evictor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It holds files of the cluster open, which stand in the way of an unmount.
            let _ = thread.join();
        }
    }
}

fn evict(dir: &Path, stop: &AtomicBool) {
    let mut files = Vec::new();
    let mut looked: Option<Instant> = None;
    while !stop.load(Ordering::Relaxed) {
        if looked.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
            files = large_files(dir);
            looked = Some(Instant::now());
        }
        for file in &files {
            // Advice is taken or not: what it came to is measured.
            let _ = fadvise(file, 0, None, Advice::DontNeed);
        }
        std::thread::sleep(EVERY);
    }
}

fn large_files(dir: &Path) -> Vec<File> {
    let mut found: Vec<(u64, PathBuf)> = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        // Files come and go while the database works.
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                dirs.push(entry.path());
            } else if meta.is_file() && meta.len() >= SMALLEST_BYTES {
                found.push((meta.len(), entry.path()));
            }
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.into_iter().take(MAX_FILES).filter_map(|(_, path)| File::open(path).ok()).collect()
}
