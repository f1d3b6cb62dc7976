//! Cards on drives of several kinds: logical sectors, caches, discards, and drives that are exchanged.

use crate::common::command;
use crate::common::disks::{Loop, MIB};
use crate::common::nbd::{Client, FLUSH, WRITE};
use crate::common::reviews::disk_folder;
use crate::common::server::{ctl, serve, serve_by, serve_with, until_degraded};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const BLOCK_BYTES: usize = 64 << 10;
const BLOCKS: u64 = 200;

/// A card of a device and two files.
fn create(folder: &Path, device: &Loop) -> PathBuf {
    let card = folder.join("card");
    let modules = [folder.join("a"), PathBuf::from(&device.device), folder.join("b")];
    let modules = modules.map(|path| path.display().to_string()).join(",");
    let words = ["--quick", "--size", "16MiB", "--destroy-data", "--modules", &modules];
    // Blocks of one die make the card small.
    let set = ["--set", "geometry.dies_per_channel=1", "--set", "geometry.blocks_per_plane=28608"];
    let made = command().arg("create").arg(&card).args(words).args(set).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    card
}

fn block(number: u64, version: u64) -> Vec<u8> {
    (number << 32 | version).to_le_bytes().repeat(BLOCK_BYTES / 8)
}

fn write_all(client: &mut Client, version: u64) {
    for number in 0..BLOCKS {
        let error = client.done(WRITE, number * BLOCK_BYTES as u64, &block(number, version)).unwrap();
        assert_eq!(error, 0, "block {number}");
    }
    assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
}

fn read_all(client: &mut Client, version: u64) {
    for number in 0..BLOCKS {
        let read = client.read(number * BLOCK_BYTES as u64, BLOCK_BYTES as u32).unwrap().unwrap();
        assert!(read == block(number, version), "block {number} is not version {version}");
    }
}

/// Writes the device over several times, is killed, and reads everything back.
fn survives(card: &Path, more: &[&str]) {
    let (mut server, mut client) = serve_with(card, more);
    (1..=6).for_each(|version| write_all(&mut client, version));
    read_all(&mut client, 6);
    server.0.kill().unwrap();
    drop(server);
    let (server, mut client) = serve_with(card, more);
    read_all(&mut client, 6);
    write_all(&mut client, 7);
    drop(client);
    server.end();
    let (_server, mut client) = serve_with(card, more);
    read_all(&mut client, 7);
}

#[test]
fn a_drive_with_logical_sectors_of_4096_bytes_is_a_module() {
    let Some(device) = Loop::with_sectors(160 * MIB, 4096) else { return };
    let folder = disk_folder();
    survives(&create(folder.path(), &device), &[]);
}

/// A smartctl whose drive says how it is.
fn smartctl(folder: &Path, answer: &str) -> String {
    let tool = folder.join("smartctl");
    fs::write(&tool, format!("#!/bin/sh\ncat <<'END'\n{answer}\nEND\nexit 4\n")).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[test]
fn status_shows_what_drives_say_of_their_health() {
    let Some(device) = Loop::new(160 * MIB) else { return };
    let folder = disk_folder();
    let card = create(folder.path(), &device);
    let drives = |path: &str| {
        let mut command = command();
        command.env("PATH", path);
        let (server, _client) = serve_by(command, &card, &[]);
        let (_, json) = ctl(&card, &["status", "--json"]);
        let (_, text) = ctl(&card, &["status"]);
        server.end();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        (serde_json::from_str::<serde_json::Value>(&json).unwrap()["drives"].clone(), text)
    };
    let nvme = r#"{"smart_status": {"passed": true}, "temperature": {"current": 41}, "power_on_time": {"hours": 8765},
        "nvme_smart_health_information_log": {"percentage_used": 12, "available_spare": 97, "media_errors": 0}}"#;
    let (said, text) = drives(&smartctl(folder.path(), nvme));
    // The other two modules are files.
    assert_eq!(said.as_array().map(Vec::len), Some(1), "{said}");
    assert_eq!((&said[0]["slot"], &said[0]["path"]), (&1.into(), &device.device.as_str().into()));
    assert_eq!((&said[0]["health"]["used_percent"], &said[0]["health"]["passed"]), (&12.into(), &true.into()));
    assert!(text.contains("well") && text.contains("12 %") && text.contains("8,765"), "{text}");
    let (said, text) = drives(&smartctl(folder.path(), "{\"smartctl\": {\"exit_status\": 1}}"));
    assert_eq!((&said[0]["health"], &said[0]["unknown"]), (&serde_json::Value::Null, &"no SMART data".into()));
    assert!(text.contains("health of drives: no SMART data"), "{text}");
}

#[test]
fn discards_change_nothing_that_is_read() {
    let Some(device) = Loop::new(160 * MIB) else { return };
    let folder = disk_folder();
    let card = create(folder.path(), &device);
    survives(&card, &["--no-discard"]);
    survives(&card, &[]);
}

#[test]
fn a_cache_that_is_written_through_is_not_synced_and_loses_nothing() {
    let Some(device) = Loop::new(160 * MIB) else { return };
    let folder = disk_folder();
    let card = create(folder.path(), &device);
    let attribute = format!("/sys/block/{}/queue/write_cache", device.name());
    if fs::write(&attribute, "write through").is_err() {
        eprintln!("skipped: the kernel's view of the cache can't be changed");
        return;
    }
    survives(&card, &[]);
    let said = fs::read_to_string(card.join("errors.txt")).unwrap();
    assert!(said.contains("its cache is written through, so nothing has to be synced"), "{said}");
    fs::write(&attribute, "write back").unwrap();
    survives(&card, &[]);
    assert!(!fs::read_to_string(card.join("errors.txt")).unwrap().contains("written through"));
}

#[test]
fn a_drive_takes_the_place_of_a_module_unless_something_speaks_against_it() {
    let Some(device) = Loop::new(160 * MIB) else { return };
    let folder = disk_folder();
    let card = folder.path().join("card");
    let modules = ["a", "b", "c"].map(|name| folder.path().join(name).display().to_string()).join(",");
    let words = ["--quick", "--size", "16MiB", "--modules", &modules];
    let set = ["--set", "geometry.dies_per_channel=1", "--set", "geometry.blocks_per_plane=28608"];
    assert!(command().arg("create").arg(&card).args(words).args(set).output().unwrap().status.success());
    let (_server, mut client) = serve(&card);
    write_all(&mut client, 1);
    assert!(ctl(&card, &["module", "pull", "1"]).0);
    let refused = |words: &[&str], part: &str| {
        let was = device.bytes();
        let (taken, said) = ctl(&card, &[&["module", "insert", "1"], words].concat());
        assert!(!taken && said.contains(part) && said.lines().count() == 1, "{words:?}: {said}");
        assert!(device.bytes() == was, "the drive was written to");
    };
    let path = device.device.as_str();
    refused(&[path], "holds no module");
    refused(&[path, "--new"], "--destroy-data");
    if device.ext4() {
        refused(&[path, "--new", "--destroy-data"], "ext4");
        device.fill();
    }
    let (taken, said) = ctl(&card, &["module", "insert", "1", path, "--new", "--destroy-data"]);
    assert!(taken, "{said}");
    until_degraded(&card, false, "filled anew");
    read_all(&mut client, 1);
    assert!(ctl(&card, &["module", "pull", "2"]).0);
    read_all(&mut client, 1);
    // Now it is a module, and there is no second one in it.
    refused_as_module(&card, path);
}

fn refused_as_module(card: &Path, path: &str) {
    let (taken, said) = ctl(card, &["module", "insert", "2", path, "--new", "--destroy-data"]);
    assert!(!taken && said.lines().count() == 1, "{said}");
    let (taken, said) = ctl(card, &["module", "insert", "2", path]);
    assert!(!taken && said.contains("in use"), "{said}");
}
