//! Scripts in the places of blktrace and blkparse: they end in order, whatever ends them, and nothing is left behind.

use drive::record::{RecordError, System, record};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Begins with a line, and ends with another when it is asked to. It notes its number and what it was called with.
const TRACER: &str = r#"#!/bin/sh
echo "$*" >> LOG
case "$*" in *-k*) exit 0;; esac
echo $$ > PID
trap 'echo last; exit 0' TERM
echo first
while :; do sleep 0.02; done
"#;

const PARSER: &str = "#!/bin/sh\ncat\necho summary\n";

struct Place {
    dir: TempDir,
    system: System,
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

impl Place {
    fn new(tracer: &str, parser: &str) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("bin")).unwrap();
        let text = tracer.replace("LOG", path("log").to_str().unwrap()).replace("PID", path("pid").to_str().unwrap());
        program(&path("bin/blktrace"), &text);
        program(&path("bin/blkparse"), parser);
        fs::write(path("mounts"), "proc /proc proc rw 0 0\nnone /debug debugfs rw 0 0\n").unwrap();
        fs::write(path("lockdown"), "[none] integrity confidentiality\n").unwrap();
        fs::write(path("device"), "").unwrap();
        let system = System {
            is_root: true,
            programs: path("bin").into(),
            mounts: path("mounts"),
            lockdown: path("lockdown"),
            files_are_devices: true,
        };
        Place { dir, system }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn record(
        &self,
        how_long: Option<Duration>,
        stop: &dyn Fn() -> bool,
    ) -> Result<drive::record::Recording, RecordError> {
        record(&self.system, &self.path("device"), &self.path("out"), how_long, stop)
    }

    /// Neither the tracer nor a half-written file is left.
    fn assert_clean(&self) {
        if let Ok(pid) = fs::read_to_string(self.path("pid")) {
            let process = Path::new("/proc").join(pid.trim());
            assert!(!process.exists(), "the tracer still runs");
        }
        let hidden = |entry: &fs::DirEntry| entry.file_name().to_str().unwrap().starts_with('.');
        assert!(!fs::read_dir(self.dir.path()).unwrap().any(|entry| hidden(&entry.unwrap())));
    }
}

fn until_it_traces(place: &Place) -> impl Fn() -> bool {
    let pid = place.path("pid");
    // The file is there before what is written into it.
    move || fs::read_to_string(&pid).is_ok_and(|number| number.ends_with('\n'))
}

#[test]
fn a_recording_ends_after_its_time_with_all_that_was_traced() {
    let place = Place::new(TRACER, PARSER);
    let recorded = place.record(Some(Duration::from_secs(1)), &|| false).unwrap();
    assert!(!recorded.stopped && recorded.took >= Duration::from_secs(1));
    assert_eq!(fs::read_to_string(place.path("out")).unwrap(), "first\nlast\nsummary\n");
    let called = fs::read_to_string(place.path("log")).unwrap();
    let device = place.path("device");
    assert_eq!(called, format!("-d {} -r /debug -a issue -o -\n", device.display()));
    place.assert_clean();
}

#[test]
fn a_recording_that_is_stopped_ends_in_the_same_order() {
    let place = Place::new(TRACER, PARSER);
    let stop = AtomicBool::new(false);
    let recorded = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !place.path("pid").exists() {
                std::thread::sleep(Duration::from_millis(10));
            }
            // The script has to come to its loop.
            std::thread::sleep(Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
        });
        place.record(None, &|| stop.load(Ordering::Relaxed)).unwrap()
    });
    assert!(recorded.stopped);
    assert_eq!(fs::read_to_string(place.path("out")).unwrap(), "first\nlast\nsummary\n");
    place.assert_clean();
}

#[test]
fn what_was_there_stays_when_a_recording_fails() {
    let refused = "#!/bin/sh\necho \"$*\" >> LOG\ncase \"$*\" in *-k*) exit 0;; esac\necho one >&2\n\
                   echo 'FAILED to start thread: Operation not permitted' >&2\nexit 1\n";
    let place = Place::new(refused, PARSER);
    fs::write(place.path("out"), "old").unwrap();
    let error = place.record(None, &|| false).unwrap_err().to_string();
    assert_eq!(error, "blktrace ended by itself: FAILED to start thread: Operation not permitted");
    assert_eq!(fs::read_to_string(place.path("out")).unwrap(), "old");
    // The kernel is told to end what the program may have begun.
    assert!(fs::read_to_string(place.path("log")).unwrap().lines().last().unwrap().ends_with("-k"));
    place.assert_clean();
}

#[test]
fn a_parser_that_dies_ends_the_tracer_too() {
    let place = Place::new(TRACER, "#!/bin/sh\nread line\necho 'no space' >&2\nexit 3\n");
    let error = place.record(None, &|| false).unwrap_err().to_string();
    assert_eq!(error, "blkparse ended by itself: no space");
    assert!(!place.path("out").exists());
    place.assert_clean();
}

#[test]
fn a_tracer_that_does_not_listen_is_killed_and_its_tracing_ended() {
    let deaf = TRACER.replace("trap 'echo last; exit 0' TERM", "trap '' TERM");
    let place = Place::new(&deaf, "#!/bin/sh\nread line\nexit 3\n");
    let stop = until_it_traces(&place);
    let _ = place.record(None, &stop).unwrap_err();
    assert!(fs::read_to_string(place.path("log")).unwrap().lines().last().unwrap().ends_with("-k"));
    place.assert_clean();
}

/// The message of a recording that a change of the place makes fail.
fn refusal(change: impl FnOnce(&mut Place)) -> String {
    let mut place = Place::new(TRACER, PARSER);
    change(&mut place);
    let message = place.record(Some(Duration::from_millis(1)), &|| false).unwrap_err().to_string();
    assert!(!place.path("pid").exists(), "nothing was begun");
    place.assert_clean();
    message
}

#[test]
fn what_is_missing_is_said_before_anything_begins() {
    assert_eq!(refusal(|place| place.system.is_root = false), "recording needs root: run it with sudo");
    let none = refusal(|place| fs::remove_file(place.path("device")).unwrap());
    assert!(none.ends_with("is no block device"), "{none}");
    let file = refusal(|place| place.system.files_are_devices = false);
    assert!(file.ends_with("is no block device"), "{file}");
    let debugfs = refusal(|place| fs::write(place.path("mounts"), "").unwrap());
    assert_eq!(debugfs, "debugfs is not mounted: mount -t debugfs none /sys/kernel/debug");
    let locked = refusal(|place| fs::write(place.path("lockdown"), "none [integrity] confidentiality").unwrap());
    assert!(locked.contains("locked down (integrity)"), "{locked}");
    let out = refusal(|place| fs::create_dir(place.path("out")).unwrap());
    assert!(out.contains("can't write"), "{out}");
}

#[test]
fn a_missing_program_is_named_with_its_package() {
    if ["/usr/sbin/blktrace", "/sbin/blktrace"].iter().any(|path| Path::new(path).exists()) {
        eprintln!("skipped: blktrace is installed here");
        return;
    }
    let message = refusal(|place| place.system.programs = OsString::new());
    assert_eq!(message, "blktrace is missing: install the package blktrace (apt install blktrace)");
}
