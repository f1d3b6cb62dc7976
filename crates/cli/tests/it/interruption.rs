//! Readers that go away, and Ctrl-C.

use crate::common::command;
use serde_json::Value;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [["show", "tachion-400", "--json"], ["completions", "bash", ""], ["run", "--help", ""]] {
        let arguments = arguments.iter().filter(|word| !word.is_empty());
        let mut child = command()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        // Closed before anything can have been written.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    }
}

#[test]
fn ctrl_c_ends_a_run_with_what_it_has_measured() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.json");
    let mut child = command()
        .args(["run", "tachion-400", "--load", "rndrd", "--fresh", "--seconds", "2000", "--json"])
        .arg(&path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(Duration::from_secs(1));
    let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(sent.success());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("PARTIAL: stopped by Ctrl-C"), "{text}");
    let result: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(result["partial"], true);
}
