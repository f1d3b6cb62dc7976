//! Reviews of block devices: nothing is written unless everything is right, and a device that fails costs one point.
//! Needs root and loop devices; says so otherwise.

use crate::common::disks::{Loop, MIB, Mount};
use crate::common::reviews::{
    Running, SHORT, assert_to_schema, disk_folder, entries, error_at_the_end, files, points, read_json, refusal,
    success,
};
use crate::common::run_in;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;

/// `flashrig review DEVICE` and the shortest plan, with more words.
fn words<'a>(device: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["review", device], &SHORT[..], more].concat()
}

/// The shortest review that reads in its second point.
const READS: [&str; 5] = ["--quick", "--only", "redo", "--budget", "6s"];

#[test]
fn nothing_is_written_until_the_device_was_named() {
    let Some(device) = Loop::new(16 * MIB) else { return };
    device.fill();
    let before = device.bytes();
    let folder = disk_folder();
    let refused = |more: &[&str]| {
        let line = refusal(&run_in(folder.path(), &words(&device.device, more)));
        assert!(line.contains(&device.device), "{line}");
        line
    };
    let line = refused(&[]);
    assert!(line.contains("--destroy-data") && line.contains(&format!("--serial '{}'", device.name())), "{line}");
    for wrong in ["loop", "LOOP0", "", " ", "y", "yes", &device.device, &format!("{}x", device.name())] {
        let line = refused(&["--destroy-data", "--serial", wrong]);
        assert!(line.contains("nothing was written") && line.contains("name"), "{line}");
    }
    let line = refused(&["--destroy-data"]);
    assert!(line.contains("nobody is there to type its name") && line.contains("--serial"), "{line}");
    for (more, option) in [(&["--size", "16m"][..], "--size"), (&["--keep"], "--keep")] {
        let line = refusal(&run_in(folder.path(), &words(&device.device, more)));
        assert!(line.contains(&format!("{option} has no effect")), "{line}");
    }
    for command in ["format", "sanitize"] {
        let more = ["--destroy-data", "--serial", device.name(), "--purge", command];
        let said = format!("is no NVMe drive: leave out --purge {command}, and it is discarded");
        assert!(refused(&more).trim_end().ends_with(&said), "{}", refused(&more));
    }
    success(&run_in(folder.path(), &words(&device.device, &["--plan"])));
    assert_eq!(entries(folder.path()), [""; 0]);
    assert!(device.bytes() == before, "not a byte was written");
}

#[test]
fn at_a_terminal_the_name_is_typed_and_a_wrong_one_writes_nothing() {
    let Some(device) = Loop::new(64 * MIB) else { return };
    device.fill();
    let before = device.bytes();
    let folder = disk_folder();
    let asked = words(&device.device, &["--destroy-data"]);
    for wrong in ["no\n", "\n", "y\n"] {
        let Some(running) = Running::at_a_terminal(folder.path(), &asked, wrong) else { return };
        let output = running.wait();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("Everything on it will be destroyed") && said.contains("nothing was written"), "{said}");
        assert!(!said.contains("phase "), "{said}");
    }
    assert_eq!(entries(folder.path()), [""; 0]);
    assert!(device.bytes() == before, "not a byte was written");

    let right = format!("{}\n", device.name());
    let Some(running) = Running::at_a_terminal(folder.path(), &asked, &right) else { return };
    let said = success(&running.wait());
    assert!(said.contains("Type its name") && said.contains("page:   "), "{said}");
    let (json, html) = files(folder.path(), device.name());
    let result = read_json(&json);
    assert_to_schema(&result);
    assert_eq!((points(&result).len(), &result["partial"]), (2, &serde_json::Value::Null));
    assert_eq!(
        (&result["target"]["kind"], &result["target"]["name"]),
        (&"block_device".into(), &(*device.device).into())
    );
    assert_eq!(result["target"]["capacity_bytes"], 64 * MIB);
    assert!(html.exists() && device.bytes() != before);
    let again = words(&device.device, &["--destroy-data", "--serial", device.name()]);
    assert!(refusal(&run_in(folder.path(), &again)).contains("--overwrite"));
    assert_eq!(read_json(&json), result);
}

#[test]
fn a_device_in_use_is_refused_with_reason_and_remedy() {
    let folder = disk_folder();
    let asked = |device: &Loop| {
        let output = run_in(folder.path(), &words(&device.device, &["--destroy-data", "--serial", device.name()]));
        let line = refusal(&output);
        assert!(line.contains(&device.device), "{line}");
        line
    };
    // Read-only, so that the file system itself writes nothing meanwhile.
    if let Some(mount) = Mount::new(16 * MIB, "ro") {
        let before = mount.device.bytes();
        let line = asked(&mount.device);
        assert!(line.contains("mounted") && line.contains("umount"), "{line}");
        assert!(line.contains(mount.path().to_str().unwrap()), "{line}");
        assert!(mount.device.bytes() == before);
    }
    let Some(device) = Loop::new(16 * MIB) else { return };
    if device.ext4() {
        let before = device.bytes();
        let line = asked(&device);
        assert!(line.contains("ext4") && line.contains("wipefs"), "{line}");
        assert!(device.bytes() == before);
    }
    device.fill();
    let before = device.bytes();
    const O_EXCL: i32 = 0o200;
    let held = File::options().read(true).custom_flags(O_EXCL).open(&device.device).unwrap();
    let line = asked(&device);
    assert!(line.contains("in use"), "{line}");
    assert!(device.bytes() == before);
    drop(held);
    assert_eq!(entries(folder.path()), [""; 0]);
}

#[test]
fn a_device_that_fails_leaves_a_part_that_is_gone_on_with_after_its_repair() {
    let Some(device) = Loop::new(64 * MIB) else { return };
    let folder = disk_folder();
    // A loop device whose medium was cut off takes writes, which make it longer again: its reads fail.
    let asked = [&["review", &device.device, "--destroy-data", "--serial", device.name()], &READS[..]].concat();
    let (json, html) = files(folder.path(), device.name());
    let mut running = Running::start(folder.path(), &asked);
    running.until_saved(&json, |review| points(review).len() == 1);
    device.break_it();
    let output = running.wait();
    let line = error_at_the_end(&output);
    assert!(line.contains(&device.device) && line.contains("failed: Input/output error"), "{line}");
    assert!(line.contains(&format!("{}.json", device.name())) && line.contains("--resume"), "{line}");
    let part = read_json(&json);
    assert_to_schema(&part);
    assert_eq!(points(&part).len(), 1);
    assert!(part["partial"].as_str().unwrap().contains("Input/output error"), "{}", part["partial"]);
    assert!(std::fs::read_to_string(html).unwrap().contains("This review is not complete"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("PARTIAL: "));

    device.repair();
    let again: Vec<&str> = asked.iter().copied().chain(["--resume"]).collect();
    // A person who was asked for a serial number is asked again.
    let mut wrong = again.clone();
    wrong[4] = "x";
    refusal(&run_in(folder.path(), &wrong));
    assert_eq!(read_json(&json), part);
    success(&run_in(folder.path(), &again));
    let rest = read_json(&json);
    assert_eq!((points(&rest).len(), &rest["partial"]), (2, &serde_json::Value::Null));
    assert_eq!(points(&rest)[0], points(&part)[0]);
}
