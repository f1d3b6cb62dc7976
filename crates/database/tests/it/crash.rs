//! The crash test passes a device that keeps what it acknowledged, and catches one that does not.

use crate::common::{Ground, alone, postgres};
use database::{Device, Mounted, Part, Power, prepare, processes_in, review};
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;
use target::Silent;

/// A power that goes only in words: the directory keeps what was written, or is put back to what it was a while before.
pub struct Fake {
    dir: PathBuf,
    forgets: bool,
    /// A row's page comes back in an older state, after everything else was recovered.
    copy: Mutex<Option<JoinHandle<()>>>,
    kept: PathBuf,
    pulled: Mutex<Vec<String>>,
    modules: u32,
}

impl Fake {
    pub fn of(dir: &Path, kept: &Path, forgets: bool) -> Fake {
        let (copy, pulled) = (Mutex::new(None), Mutex::default());
        Fake { dir: dir.to_owned(), forgets, copy, kept: kept.join("kept"), pulled, modules: 0 }
    }

    fn signal(dir: &Path, signal: Signal) {
        for pid in processes_in(dir) {
            let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
        }
    }

    /// Copies the directory when the sessions have been at work for a while, as it was at one moment.
    pub fn remember_soon(&self, is_loaded: fn(&Path) -> bool) {
        let (dir, kept) = (self.dir.clone(), self.kept.clone());
        *self.copy.lock().unwrap() = Some(std::thread::spawn(move || {
            let began = std::time::Instant::now();
            while began.elapsed() < Duration::from_secs(60) && !is_loaded(&dir) {
                std::thread::sleep(Duration::from_millis(10));
            }
            std::thread::sleep(Duration::from_millis(700));
            Fake::signal(&dir, Signal::STOP);
            copy(&dir, &kept);
            Fake::signal(&dir, Signal::CONT);
        }));
    }
}

/// Four sessions are connected, and one that makes checkpoints, besides the server and five workers of its own. While the
/// tables are made there is one connection, and three more workers at most.
fn is_loaded(dir: &Path) -> bool {
    processes_in(dir).len() >= 11
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

impl Device for Fake {
    fn title(&self) -> String {
        "a device in words".to_owned()
    }
    fn block_device(&self) -> Option<String> {
        None
    }
    fn power(&self) -> Option<&dyn Power> {
        Some(self)
    }
}

impl Power for Fake {
    fn how(&self) -> String {
        "in words".to_owned()
    }
    fn cut(&self) -> Result<(), String> {
        Ok(())
    }
    fn restore(&self) -> Result<(), String> {
        assert!(processes_in(&self.dir).is_empty(), "a process stands in the way of an unmount");
        if self.forgets {
            self.copy.lock().unwrap().take().unwrap().join().unwrap();
            for entry in std::fs::read_dir(&self.dir).unwrap() {
                std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
            }
            copy(&self.kept.join("."), &self.dir);
        }
        Ok(())
    }
    fn modules(&self) -> u32 {
        self.modules
    }
    fn pull(&self, module: u32) -> Result<(), String> {
        self.pulled.lock().unwrap().push(format!("pull {module}"));
        Ok(())
    }
    fn insert(&self, module: u32) -> Result<(), String> {
        self.pulled.lock().unwrap().push(format!("insert {module}"));
        Ok(())
    }
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_device_that_keeps_everything_passes() {
    let (Some(_), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let fake = Fake { modules: 2, ..Fake::of(ground.path(), ground.logs.path(), false) };
    let mut request = ground.request(&[Part::Crash]);
    request.crash.cycles = 3;
    let plan = prepare(&request, &fake).unwrap();
    let done = review(&request, &plan, &fake, &Silent).unwrap();
    assert!(done.ended.is_none(), "{:?}", done.ended);
    let crash = done.report.crash.unwrap();
    assert!(crash.passed, "{crash:#?}");
    assert!(crash.cycles.iter().all(|c| c.acknowledged > 10 && c.recovery_s.is_some()), "{crash:#?}");
    assert!(crash.verdict.contains("acknowledged transactions are there"), "{}", crash.verdict);
    assert_eq!(*fake.pulled.lock().unwrap(), ["pull 0", "insert 0", "pull 0", "insert 0"]);
    assert!(crash.cycles[2].fault.contains("put back"), "{crash:#?}");
    ground.assert_clean();
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_device_that_forgets_what_it_acknowledged_is_caught() {
    let (Some(_), _alone) = (postgres(), alone()) else { return };
    let ground = Ground::new();
    let fake = Fake::of(ground.path(), ground.logs.path(), true);
    let request = ground.request(&[Part::Crash]);
    let plan = prepare(&request, &fake).unwrap();
    fake.remember_soon(is_loaded);
    let done = review(&request, &plan, &fake, &Silent).unwrap();
    assert!(done.ended.is_none(), "{:?}", done.ended);
    let crash = done.report.crash.unwrap();
    assert!(!crash.passed && crash.cycles[0].lost > 0, "{crash:#?}");
    // The state to which it came back was whole: only the newest is missing.
    assert_eq!((crash.cycles[0].torn, crash.cycles[0].stale_rows), (0, 0), "{crash:#?}");
    let said = format!("lost {} acknowledged transactions", crash.cycles[0].lost);
    assert!(crash.verdict.contains(&said), "{}", crash.verdict);
    assert!(done.verdict[0].text.contains(&said));
    ground.assert_clean();
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn without_power_to_cut_there_is_no_crash_test() {
    let Some(_) = postgres() else { return };
    let ground = Ground::new();
    let error = prepare(&ground.request(&[Part::Crash]), &Mounted::of(ground.path())).unwrap_err().to_string();
    assert!(error.contains("would only test the database, not the device"), "{error}");
}
