//! `flashrig record`: what is missing is said; where this machine can trace, what was recorded can be replayed.

use crate::common::disks::{Loop, MIB};
use crate::common::{command, json, run};
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::process::Stdio;
use std::time::Duration;

#[test]
fn what_is_no_device_is_refused_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let refused = run(&["record", "/nowhere", "-o", out.to_str().unwrap(), "--for", "1s"]);
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(stderr, "flashrig: error: /nowhere is no block device\n");
    let refused = run(&["record", "/dev/null", "-o", out.to_str().unwrap(), "--for", "60"]);
    assert!(String::from_utf8(refused.stderr).unwrap().contains("write a time with its unit"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn what_a_loop_device_was_asked_can_be_replayed() {
    let Some(device) = Loop::new(16 * MIB) else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let path = out.to_str().unwrap();
    let mut child = command()
        .args(["record", &device.device, "-o", path, "--for", "3s", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut written = File::options().write(true).open(&device.device).unwrap();
    let mut wrote = 0;
    while child.try_wait().unwrap().is_none() {
        written.seek(SeekFrom::Start(wrote % 16 * MIB)).unwrap();
        written.write_all(&[7; 4096]).unwrap();
        written.sync_all().unwrap();
        wrote += 1;
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    if output.status.code() == Some(2) {
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(!out.exists());
        let ours = ["debugfs is not mounted", "blktrace is missing", "locked down", "blktrace ended by itself"];
        assert!(ours.iter().any(|reason| stderr.contains(reason)), "{stderr}");
        eprintln!("skipped: this machine can't trace: {stderr}");
        return;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let writes = said["writes"].as_u64().unwrap();
    assert!(writes > 10 && writes <= wrote + 10, "{said}");
    let result = json(&["run", "tachion-400", "--fresh", "--trace", path, "--json", "-"]);
    assert_eq!(
        (&result["load"]["format"], &result["trace"]["writes"]["requests"]),
        (&"blkparse".into(), &writes.into())
    );
}
