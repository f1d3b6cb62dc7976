//! The command `flashrig torture`, its output and its exit codes.

use crate::common::{command, run_in};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const SHORT: [&str; 7] = ["torture", "--seed", "3", "--lives", "21", "--operations", "400"];

fn kept(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../torture/tests/regressions").join(name).display().to_string()
}

#[test]
fn the_same_seed_lives_the_same_lives_whatever_the_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let lives = |more: &[&str]| {
        let output = run_in(dir.path(), &[&SHORT[..], &["--json"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let mut json: Value = serde_json::from_slice(&output.stdout).unwrap();
        json.as_object_mut().unwrap().remove("wall_seconds").unwrap();
        json
    };
    let first = lives(&["--threads", "1"]);
    assert_eq!(first, lives(&["--threads", "3"]));
    assert_eq!(first["lives"], 21);
    assert_eq!(first["lived_twice"], 2);
    assert_eq!(first["violation"], Value::Null);
    assert!(first["power_cuts"].as_u64().unwrap() > 21, "{first}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    assert_ne!(first["trace"], lives(&["--card", "unprotected"])["trace"]);
}

#[test]
fn the_table_says_what_was_tried_in_80_columns() {
    let dir = tempfile::tempdir().unwrap();
    let text = String::from_utf8(run_in(dir.path(), &SHORT).stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for what in ["seed 3", "21 lives", "power cuts", "dead module", "came to rest", "no violation"] {
        assert!(text.contains(what), "{what}: {text}");
    }
}

#[test]
fn a_campaign_that_tried_too_little_says_what_and_fails() {
    let dir = tempfile::tempdir().unwrap();
    let output = run_in(dir.path(), &[&SHORT[..], &["--require-coverage", "1000"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("too rare: dead module"), "{text}");
}

#[test]
fn a_kept_life_is_lived_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = kept("a-band-with-one-good-block-left.json");
    let output = run_in(dir.path(), &["torture", "--replay", &path]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("program failure") && text.ends_with("no violation\n"), "{text}");
}

/// A life that can't go well, on any card: more than the card may take.
#[test]
fn a_broken_promise_is_told_and_the_exit_code_is_1() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(kept("a-read-fails-once-during-a-rebuild.json")).unwrap();
    let mut life: Value = serde_json::from_str(&text).unwrap();
    for bound in ["answer_steps", "answer_ns"] {
        life["case"]["bounds"][bound] = 1.into();
    }
    std::fs::write(dir.path().join("life.json"), life.to_string()).unwrap();
    let output = run_in(dir.path(), &["torture", "--replay", "life.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().contains("VIOLATION: no answer in"));
}

#[test]
fn what_is_no_life_is_an_error_of_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(kept("a-read-fails-once-during-a-rebuild.json")).unwrap();
    let life: Value = serde_json::from_str(&text).unwrap();
    let mut beyond_the_end = life.clone();
    beyond_the_end["case"]["steps"][0] = serde_json::json!({"ask": {"read": {"lba": 36, "count": 1}}});
    let mut unknown = life;
    unknown["colour"] = 1.into();
    for (name, text) in [("a", "no JSON".into()), ("b", beyond_the_end.to_string()), ("c", unknown.to_string())] {
        std::fs::write(dir.path().join(name), text).unwrap();
        let output = run_in(dir.path(), &["torture", "--replay", name]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(error.contains("holds no life that can be lived again"), "{error}");
    }
    let missing = run_in(dir.path(), &["torture", "--replay", "missing.json"]);
    assert_eq!(missing.status.code(), Some(2));
    let card = run_in(dir.path(), &["torture", "--card", "tachion-400"]);
    let error = String::from_utf8(card.stderr).unwrap();
    assert!(card.status.code() == Some(2) && error.contains("protected, unprotected, shared-cells"), "{error}");
}

#[test]
fn ctrl_c_ends_a_campaign_with_what_was_done() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = command()
        .current_dir(dir.path())
        .args(["torture", "--for", "1h", "--operations", "200"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(Duration::from_secs(1));
    assert!(Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap().success());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{text}");
    assert!(text.contains("PARTIAL: stopped by Ctrl-C") && text.contains("no violation"), "{text}");
}

#[test]
fn what_a_life_leaves_can_be_saved_and_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let asked = ["torture", "--lives", "1", "--operations", "300", "--image", "left"];
    assert_eq!(run_in(dir.path(), &asked).status.code(), Some(0));
    let fsck = run_in(dir.path(), &["fsck", "left"]);
    assert!(String::from_utf8(fsck.stdout).unwrap().contains("verdict: "), "{:?}", fsck.status);
    let again = run_in(dir.path(), &asked);
    let error = String::from_utf8(again.stderr).unwrap();
    assert!(again.status.code() == Some(2) && error.contains("it is there already"), "{error}");
}
