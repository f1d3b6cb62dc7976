//! Cards whose layout is chosen by measuring the files or drives of their modules.

use crate::common::command;
use crate::common::disks::{Loop, MIB};
use crate::common::reviews::disk_folder;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn names(folder: &Path, modules: usize) -> Vec<PathBuf> {
    (0..modules).map(|slot| folder.join(format!("module-{slot}"))).collect()
}

fn joined(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>().join(",")
}

fn create(card: &Path, modules: &[PathBuf], more: &[&str]) -> Output {
    command().arg("create").arg(card).args(["--modules", &joined(modules)]).args(more).output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(output: &Output, part: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains(part), "it does not say {part:?}: {said}");
}

#[test]
fn files_are_measured_and_the_card_says_so() {
    let folder = disk_folder();
    let (card, modules) = (folder.path().join("card"), names(folder.path(), 4));
    let made = json(&create(&card, &modules, &["--size", "64MiB", "--json"]));
    let array = &made["array"];
    let sweep = array["sweep"].as_array().unwrap();
    let units: Vec<u64> = sweep.iter().map(|row| row["payload_bytes"].as_u64().unwrap() >> 10).collect();
    assert_eq!(units, [16, 32, 64, 128]);
    for row in sweep {
        assert!(row["medium_bytes"].as_u64() > row["payload_bytes"].as_u64(), "{row}");
        assert!(row["write_bw_bytes"].as_f64().unwrap() > 0.0, "{row}");
        for figures in ["write", "read"] {
            assert!(row[figures]["p50_ns"].as_u64() <= row[figures]["p99_ns"].as_u64(), "{row}");
            assert!(row[figures]["p50_ns"].as_u64() > Some(0), "{row}");
        }
    }
    assert!(units.contains(&(array["unit_bytes"].as_u64().unwrap() >> 10)), "{array}");
    assert_eq!(
        (&array["measured"], &array["stripe_width"], &array["smallest"]),
        (&true.into(), &4.into(), &Value::Null)
    );
    let description = fs::read_to_string(card.join("card.toml")).unwrap();
    assert_eq!(description.matches("basis = \"measured\"").count(), 4, "{description}");
    // The files are modules, and nothing else is left.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
    assert_eq!(fs::read_dir(&card).unwrap().count(), 1);
    let looked = command().arg("fsck").arg(&card).output().unwrap();
    assert!(looked.status.success(), "{}", String::from_utf8_lossy(&looked.stdout));
}

#[test]
fn numbers_that_were_given_are_kept_and_not_called_measured() {
    let folder = disk_folder();
    let (card, modules) = (folder.path().join("card"), names(folder.path(), 3));
    let set = ["--set", "geometry.page_bytes=128KiB", "--set", "buffer.bytes=24MiB"];
    let made = json(&create(&card, &modules, &[&["--size", "64MiB", "--json"], &set[..]].concat()));
    let array = &made["array"];
    assert_eq!((&array["unit_bytes"], &array["buffer_bytes"]), (&(128 << 10).into(), &(24 << 20).into()));
    assert_eq!(array["sweep"].as_array().unwrap().len(), 1, "other sizes need not be measured");
    let description = fs::read_to_string(card.join("card.toml")).unwrap();
    assert_eq!(description.matches("basis = \"measured\"").count(), 2, "{description}");
}

#[test]
fn a_quick_card_says_that_nothing_was_measured() {
    let folder = disk_folder();
    let (card, modules) = (folder.path().join("card"), names(folder.path(), 5));
    let output = create(&card, &modules, &["--size", "64MiB", "--quick"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        said.contains("Nothing was measured (--quick)") && said.contains("64 KiB, a stripe over 5 modules"),
        "{said}"
    );
    assert!(!fs::read_to_string(card.join("card.toml")).unwrap().contains("\"measured\""));
}

#[test]
fn nothing_is_measured_where_no_card_can_be() {
    let folder = disk_folder();
    let (card, mut modules) = (folder.path().join("card"), names(folder.path(), 3));
    modules[2] = modules[0].clone();
    refused(&create(&card, &modules, &["--size", "64MiB"]), "is named twice");
    modules[2] = folder.path().join("precious");
    fs::write(&modules[2], "precious").unwrap();
    refused(&create(&card, &modules, &["--size", "64MiB"]), "exists already");
    assert_eq!(fs::read(&modules[2]).unwrap(), b"precious");
    modules[2] = folder.path().join("module-2");
    refused(&create(&card, &modules, &["--size", "900TB"]), "make it smaller");
    refused(&create(&card, &modules, &["--size", "3TB"]), "no room for ");
    refused(&create(&card, &modules, &["--size", "64MiB", "--set", "geometry.page_bytes=1MiB"]), "program unit");
    refused(&create(&card, &modules, &["--size", "64MiB", "--set", "geometry.modules=6"]), "the card has 6 modules");
    assert!(!card.exists() && fs::read_dir(folder.path()).unwrap().count() == 1);
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let folder = disk_folder();
    let (card, modules) = (folder.path().join("card"), names(folder.path(), 3));
    let mut child = command()
        .arg("create")
        .arg(&card)
        .args(["--size", "64MiB", "--modules", &joined(&modules)])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first file is there: it measures, or is about to.
    while !modules[2].exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something is left behind");
}

#[test]
fn drives_of_unequal_size_have_modules_of_the_smallest() {
    let sizes_bytes = [700 * MIB, 600 * MIB, 650 * MIB];
    let Some(devices) = Loop::several(&sizes_bytes) else { return };
    let folder = disk_folder();
    let card = folder.path().join("card");
    let modules: Vec<PathBuf> = devices.iter().map(|device| PathBuf::from(&device.device)).collect();
    refused(&create(&card, &modules, &["--quick"]), "--destroy-data");
    let made = json(&create(&card, &modules, &["--quick", "--destroy-data", "--json"]));
    let smallest = &made["array"]["smallest"];
    assert_eq!(
        (&smallest["module"], &smallest["size_bytes"], &smallest["unused_bytes"]),
        (&devices[1].device.as_str().into(), &(600 * MIB).into(), &(150 * MIB).into())
    );
    assert_eq!(made["module_bytes"], 600 * MIB, "{made}");
    let looked = command().arg("fsck").arg(&card).output().unwrap();
    assert!(looked.status.success(), "{}", String::from_utf8_lossy(&looked.stdout));
}

#[test]
fn a_drive_among_files_is_not_written_to_before_all_is_known() {
    let Some(device) = Loop::new(96 * MIB) else { return };
    let folder = disk_folder();
    let (card, mut modules) = (folder.path().join("card"), names(folder.path(), 3));
    modules[1] = PathBuf::from(&device.device);
    refused(&create(&card, &modules, &["--destroy-data"]), "say with --size");
    refused(&create(&card, &modules, &["--size", "8MiB"]), "--destroy-data");
    refused(&create(&card, &modules, &["--size", "8GiB", "--destroy-data"]), "a module takes");
    assert!(device.bytes().iter().all(|byte| *byte == 0), "the drive was written to");
}
