//! Reviews that run, are stopped, and leave files behind.

use super::command;
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Only a bug takes so long, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(300);

/// The shortest review of a real device: two points of a second.
pub const SHORT: [&str; 5] = ["--quick", "--only", "sync", "--budget", "6s"];

/// A folder on a disk, which `/tmp` often is not.
pub fn disk_folder() -> TempDir {
    tempfile::Builder::new().prefix("flashrig-test-").tempdir_in("/var/tmp").unwrap()
}

/// Looks until it is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "never came: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Names in a directory, sorted.
pub fn entries(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A JSON file.
pub fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Points of all sweeps, in order.
pub fn points(review: &Value) -> Vec<Value> {
    let sweeps = review["sweeps"].as_array().unwrap();
    sweeps.iter().flat_map(|sweep| sweep["points"].as_array().unwrap().clone()).collect()
}

/// Holds a review against its published schema.
pub fn assert_to_schema(review: &Value) {
    let schema: Value = serde_json::from_str(include_str!("../../../../../docs/review-result.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(review).map(|e| format!("{} at {}", e, e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Standard error of a command that refused: one line, no escapes, exit code 2, nothing on standard output.
pub fn refusal(output: &Output) -> String {
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(2), 1), "{stderr}");
    assert!(stderr.starts_with("flashrig: error: ") && stderr.ends_with('\n'), "{stderr}");
    assert!(!stderr.trim_end().contains(char::is_control), "{stderr:?}");
    stderr
}

/// The one error of a review that had begun: its plan stands before.
pub fn error_at_the_end(output: &Output) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert_eq!(stderr.lines().filter(|line| line.starts_with("flashrig: ")).count(), 1, "{stderr}");
    let last = stderr.lines().last().unwrap().to_owned();
    assert!(last.starts_with("flashrig: error: "), "{stderr}");
    last
}

/// Asserts a success, and returns what was printed.
pub fn success(output: &Output) -> String {
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A command that runs; it is killed when a test fails.
pub struct Running {
    child: Child,
    /// Its output goes to files: a pipe that nobody reads would stop it.
    printed: TempDir,
}

impl Running {
    /// Starts it in a directory.
    pub fn start(dir: &Path, arguments: &[&str]) -> Running {
        let mut flashrig = command();
        flashrig.current_dir(dir).args(arguments);
        Running::of(flashrig, "")
    }

    /// Starts it at a terminal, and types `typed`. `None`, and a line that says so, where there is no `script`.
    pub fn at_a_terminal(dir: &Path, arguments: &[&str], typed: &str) -> Option<Running> {
        if Command::new("script").arg("--version").output().is_err() {
            eprintln!("skipped: no script(1), which makes a terminal");
            return None;
        }
        let words = [env!("CARGO_BIN_EXE_flashrig")].into_iter().chain(arguments.iter().copied());
        let line: Vec<String> = words.map(|word| format!("'{word}'")).collect();
        let mut script = Command::new("script");
        script.current_dir(dir).args(["-q", "-e", "-c", &line.join(" "), "/dev/null"]);
        Some(Running::of(script, typed))
    }

    fn of(mut command: Command, typed: &str) -> Running {
        let printed = tempfile::tempdir().unwrap();
        let to = |name: &str| File::create(printed.path().join(name)).unwrap();
        command.stdin(if typed.is_empty() { Stdio::null() } else { Stdio::piped() });
        let mut child = command.stdout(to("stdout")).stderr(to("stderr")).spawn().expect("the command starts");
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(typed.as_bytes()).unwrap();
            // It stays open: a terminal has no end.
            std::mem::forget(stdin);
        }
        Running { child, printed }
    }

    /// Waits until it has saved a review that is so.
    pub fn until_saved(&mut self, json: &Path, is_so: impl Fn(&Value) -> bool) {
        let saved = || fs::read_to_string(json).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
        until("a saved review", || {
            if saved().is_some_and(|review| is_so(&review)) {
                return true;
            }
            let ended = self.child.try_wait().unwrap();
            let said = || fs::read_to_string(self.printed.path().join("stderr")).unwrap();
            assert!(ended.is_none(), "it ended before: {}", said());
            false
        });
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Output {
        let mut status: Option<ExitStatus> = None;
        until("the end of the command", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let read = |name: &str| fs::read(self.printed.path().join(name)).unwrap();
        Output { status: status.unwrap(), stdout: read("stdout"), stderr: read("stderr") }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// NAME.json and NAME.html in a directory.
pub fn files(dir: &Path, name: &str) -> (PathBuf, PathBuf) {
    (dir.join(format!("{name}.json")), dir.join(format!("{name}.html")))
}
