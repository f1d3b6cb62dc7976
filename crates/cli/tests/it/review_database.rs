//! PostgreSQL in a directory: what is refused, what is written, and that nothing is left.

use crate::common::reviews::{assert_to_schema, read_json, refusal};
use crate::common::{command, run, run_in};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A directory that the server's user gets to; none, and a line that says so, where there is no PostgreSQL.
fn ground() -> Option<TempDir> {
    if let Err(error) = database::Binaries::find(None) {
        println!("skipped: {error}");
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    Some(dir)
}

fn left(dir: &Path) -> Vec<String> {
    fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

const SMALL: [&str; 6] = ["--db-size", "48m", "--shared-buffers", "8m", "--point", "2s"];

#[test]
fn what_can_not_be_is_refused_in_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let refused = |arguments: &[&str], says: &str| {
        let words = [&["review"], arguments].concat();
        let said = refusal(&run_in(dir.path(), &words));
        assert!(said.contains(says), "{said}");
    };
    refused(&["/etc/passwd", "--database", "postgres"], "/etc/passwd: no directory");
    refused(&["/no/such", "--database", "postgres"], "/no/such: no directory");
    refused(&[path], "is a directory: --database postgres runs a database in it");
    refused(&[path, "--database", "oracle"], "invalid value 'oracle'");
    refused(&[path, "--sessions", "1,2"], "--database <DATABASE>");
    refused(&[path, "--database", "postgres", "--sessions", "4,2"], "--sessions is a rising list");
    refused(&[path, "--database", "postgres", "--size", "1g"], "--size has no effect");
    refused(&[path, "--database", "postgres", "--only", "fill"], "--only has no effect");
    refused(&[path, "--database", "postgres", "--slob", "SCALES=1"], "--slob SCALES: SLOB has UPDATE_PCT");
    refused(&[path, "--database", "postgres", "--mix", "ROWS=0"], "ROWS is 0: must be 1 to 1000");
    refused(&[path, "--database", "postgres", "--pg-bin", "/no/such"], "has no initdb");
    refused(&[path, "--database", "postgres", "--cycles", "2"], "--crash");
    refused(&[path, "--database", "postgres", "--crash"], "there is no power to cut");
    assert!(left(dir.path()).is_empty());
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn what_lacks_room_or_is_not_installed_is_refused_in_a_line() {
    let Some(dir) = ground() else { return };
    let path = dir.path().to_str().unwrap();
    let said = refusal(&run(&["review", path, "--database", "postgres", "--db-size", "900t"]));
    assert!(said.contains("MiB are free") && said.contains("--db-size"), "{said}");
    let fake = tempfile::tempdir().unwrap();
    for program in ["initdb", "postgres", "pgbench"] {
        let file = fake.path().join(program);
        fs::write(&file, "#!/bin/sh\necho 'postgres (PostgreSQL) 12.22'\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let bin = fake.path().to_str().unwrap();
    let said = refusal(&run(&["review", path, "--database", "postgres", "--pg-bin", bin]));
    assert!(said.contains("has PostgreSQL 12.22, and at least 13 is needed"), "{said}");
    assert!(left(dir.path()).is_empty());
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_review_prints_tables_writes_its_files_and_leaves_nothing() {
    let Some(dir) = ground() else { return };
    let out = tempfile::tempdir().unwrap();
    let mut words = vec!["review", dir.path().to_str().unwrap(), "--database", "postgres", "--sessions", "1,4"];
    words.extend(SMALL);
    words.extend(["--slob", "SCALE=500,WORK_UNIT=8", "--price", "500", "--out", "it", "--tables"]);
    let output = run_in(out.path(), &words);
    let (text, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{stderr}");
    for line in text.lines().chain(stderr.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(stderr.contains("settings: ") && stderr.contains("fsync=on"), "{stderr}");
    for part in
        ["80/20 mix on", "p99.9", "peak ", "Commit path:", "SLOB method:", "top wait", "transactions a second at"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let result = read_json(&out.path().join("it.json"));
    assert_to_schema(&result);
    assert_eq!(result["target"]["kind"], "directory");
    assert_eq!(result["database"]["mix"]["points"].as_array().unwrap().len(), 2);
    assert!(fs::read_to_string(out.path().join("it.html")).unwrap().contains("What does a real database make of it?"));
    assert!(out.path().join("it-logs/postgres.log").is_file());
    let compared = run_in(out.path(), &["compare", "it.json", "again=it.json"]);
    let compared = String::from_utf8(compared.stdout).unwrap();
    assert!(compared.contains("PostgreSQL 80/20") && compared.contains("peak, transactions a second"), "{compared}");
    assert!(left(dir.path()).is_empty());
    assert!(database::processes_in(dir.path()).is_empty());
}

/// A review that goes on for minutes, and whose server is at work.
fn begin(dir: &Path, out: &Path) -> Child {
    let child = command()
        .current_dir(out)
        .args(["review", dir.to_str().unwrap(), "--database", "postgres", "--sessions", "1,2"])
        .args(["--db-size", "48m", "--shared-buffers", "8m", "--point", "60s", "--out", "it"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let began = Instant::now();
    while database::processes_in(dir).len() < 5 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
    }
    child
}

fn signal(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Directories of a process' sockets.
fn sockets(pid: u32) -> Vec<String> {
    let all = left(&std::env::temp_dir());
    all.into_iter().filter(|name| name.starts_with(&format!("flashrig-pg-{pid}-"))).collect()
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn ctrl_c_stops_the_server_and_removes_its_directory() {
    let Some(dir) = ground() else { return };
    let out = tempfile::tempdir().unwrap();
    let mut child = begin(dir.path(), out.path());
    signal(&child, "-INT");
    // Once more, by somebody who has no patience.
    std::thread::sleep(Duration::from_millis(20));
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(left(dir.path()).is_empty());
    assert!(database::processes_in(dir.path()).is_empty());
}

#[test]
#[ignore = "proof: a real PostgreSQL"]
fn a_review_that_is_killed_leaves_neither_server_nor_directories() {
    let Some(dir) = ground() else { return };
    let out = tempfile::tempdir().unwrap();
    let mut child = begin(dir.path(), out.path());
    assert_eq!(sockets(child.id()).len(), 1);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let began = Instant::now();
    let is_there = || !left(dir.path()).is_empty() || !sockets(child.id()).is_empty();
    while is_there() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!is_there(), "{:?} {:?}", left(dir.path()), sockets(child.id()));
    assert!(database::processes_in(dir.path()).is_empty());
}
