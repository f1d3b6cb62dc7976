//! Places for modules that were named by mistake: one line, exit code 2, and no byte of any of them is written.

use crate::common::command;
use crate::common::disks::{Loop, MIB, Mount};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const MODULES: usize = 16;

/// A folder with names for the modules of a card, none of which is there yet.
struct Places {
    folder: TempDir,
    modules: Vec<PathBuf>,
}

impl Places {
    fn new() -> Places {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let modules = (0..MODULES).map(|slot| folder.path().join(format!("module-{slot}"))).collect();
        Places { folder, modules }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The bytes of all files in the folder, those that links lead to included.
    fn bytes(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| (path.clone(), fs::read(path.canonicalize().unwrap()).ok())).collect()
    }

    /// Makes a card of the modules, which works.
    fn create(&self, card: &Path, more: &[&str]) {
        let output = self.try_create(card, more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn try_create(&self, card: &Path, more: &[&str]) -> std::process::Output {
        let named: Vec<&str> = self.modules.iter().map(|path| path.to_str().unwrap()).collect();
        let size: &[&str] = if more.contains(&"--size") { &[] } else { &["--size", "48MiB"] };
        // Without a card's name the modules would be measured.
        let named_card: &[&str] = if more.contains(&"--card") { &[] } else { &["--card", "tachion-400"] };
        let modules = named.join(",");
        let words = [size, named_card, &["--modules", &modules], more].concat();
        command().arg("create").arg(card).args(words).output().unwrap()
    }

    /// Makes a card of the modules, which is refused, and leaves all as it is.
    fn refused(&self, more: &[&str], expected: &[&str]) {
        let (card, before) = (self.at("card"), self.bytes());
        assert_refused(&self.try_create(&card, more), expected);
        assert!(self.bytes() == before, "{expected:?}: something was written");
        assert!(!card.exists());
    }
}

fn assert_refused(output: &std::process::Output, expected: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    for part in expected {
        assert!(said.contains(part), "it does not say {part:?}: {said}");
    }
}

#[test]
fn a_file_is_one_module_under_all_its_names() {
    let mut places = Places::new();
    let (first, last) = (places.modules[0].clone(), MODULES - 1);
    places.modules[last] = first.clone();
    places.refused(&[], &["module-0 is named twice", "a place of its own"]);
    symlink(places.folder.path(), places.at("folder")).unwrap();
    places.modules[last] = places.at("folder/module-0");
    places.refused(&[], &["module-0 and ", "folder/module-0 are the same"]);
    fs::remove_file(places.at("folder")).unwrap();
    // The same for files that are there.
    fs::write(&first, "precious").unwrap();
    symlink(&first, places.at("link")).unwrap();
    fs::hard_link(&first, places.at("hard")).unwrap();
    for name in ["link", "hard"] {
        places.modules[last] = places.at(name);
        places.refused(&[], &["module-0 and ", &format!("{name} are the same")]);
    }
    places.modules[last] = places.at("module-last");
    places.refused(&[], &["module-0: exists already"]);
}

#[test]
fn a_module_of_another_card_stays_its_module() {
    let mut places = Places::new();
    let theirs = places.at("theirs");
    assert!(command().arg("create").arg(&theirs).args(["--size", "48MiB"]).output().unwrap().status.success());
    fs::rename(theirs.join("module-07"), &places.modules[7]).unwrap();
    places.refused(&[], &["module-7 is a module of a card: name another file"]);
    // Also where only the copy at its end is left, and by a link.
    let mut bytes = fs::read(&places.modules[7]).unwrap();
    bytes[..4096].fill(0);
    fs::write(&places.modules[7], bytes).unwrap();
    symlink(&places.modules[7], places.at("link")).unwrap();
    places.modules[7] = places.at("link");
    places.refused(&[], &["link is a module of a card"]);
}

#[test]
fn two_modules_are_too_few() {
    let mut places = Places::new();
    places.modules.truncate(2);
    let two = ["geometry.modules=2", "ftl.stripe_width=2", "card.user_bytes=400GB"].map(|set| format!("--set={set}"));
    let [modules, width, bytes] = &two;
    places.refused(
        &["--card", "drive-array-16", modules, width, bytes],
        &["2 modules are too few: a card that survives the loss of one has at least 3"],
    );
    places.refused(&[], &["the card has 16 modules, and 2 files or devices are named"]);
}

#[test]
fn a_file_system_without_room_for_all_gets_none() {
    let places = Places::new();
    places.refused(&["--card", "drive-array-16", "--size", "6TB"], &["no room for "]);
}

#[test]
fn a_card_is_not_started_from_one_file_in_two_slots() {
    let places = Places::new();
    let card = places.at("card");
    places.create(&card, &[]);
    let description = card.join("card.toml");
    let text = fs::read_to_string(&description).unwrap();
    symlink(&places.modules[3], places.at("link")).unwrap();
    for (wrong, said) in [("module-3", "module-3 is named twice"), ("link", "module-3 are the same")] {
        // A quotation mark ends the name of module 1 alone.
        fs::write(&description, text.replace("/module-1\"", &format!("/{wrong}\""))).unwrap();
        let before = places.bytes();
        let output = command().arg("serve").arg(&card).args(["--nbd", "unix:/nowhere/at/all"]).output().unwrap();
        assert_refused(&output, &[said]);
        assert!(places.bytes() == before, "something was written");
    }
}

/// Names the device as udev does, by a link.
fn by_id(places: &Places, device: &Loop) -> PathBuf {
    let link = places.at("ata-FLASH_S5GXNF0R123456");
    symlink(&device.device, &link).unwrap();
    link
}

#[test]
fn a_drive_is_refused_with_the_reason_and_taken_when_there_is_none() {
    let Some(device) = Loop::new(32 * MIB) else { return };
    let mut places = Places::new();
    let link = by_id(&places, &device);
    let was = device.bytes();
    let unchanged = || assert!(device.bytes() == was, "the drive was written to");
    (places.modules[2], places.modules[9]) = (PathBuf::from(&device.device), link.clone());
    places.refused(&["--destroy-data"], &[&device.device, "ata-FLASH_S5GXNF0R123456 are the same"]);
    unchanged();
    // A node of another name is the drive as well.
    let node = places.at("node");
    let (major, minor) = ("7", device.name().trim_start_matches("loop"));
    if Command::new("mknod").arg(&node).args(["b", major, minor]).status().is_ok_and(|status| status.success()) {
        places.modules[9] = node.clone();
        places.refused(&["--destroy-data"], &["node are the same"]);
        unchanged();
        fs::remove_file(node).unwrap();
    }
    places.modules[9] = places.at("module-9");
    places.modules[2] = link.clone();
    places.refused(&[], &["ata-FLASH_S5GXNF0R123456", "what lies on it is lost", "--destroy-data"]);
    unchanged();
    places.refused(&["--destroy-data", "--size", "4GiB"], &["has 33554432 bytes, and a module takes", "larger device"]);
    unchanged();
    // Now it is a module, under the name that stays when drives change places.
    let card = places.at("first");
    places.create(&card, &["--destroy-data"]);
    assert!(fs::read_to_string(card.join("card.toml")).unwrap().contains("/ata-FLASH_S5GXNF0R123456\""));
    let was = device.bytes();
    let mut others = Places::new();
    others.modules[5] = PathBuf::from(&device.device);
    others.refused(
        &["--destroy-data"],
        &["Flashrig superblock on it (module of a card, at byte 0)", "its card is not needed, then dd if=/dev/zero"],
    );
    assert!(device.bytes() == was, "the module was written to");
}

#[test]
fn a_drive_with_a_file_system_or_mounted_is_left_alone() {
    let Some(mount) = Mount::new(32 * MIB, "ro") else { return };
    let device = &mount.device;
    let mut places = Places::new();
    places.modules[4] = by_id(&places, device);
    let was = device.bytes();
    let mounted_at = format!("is mounted at {}", mount.path().display());
    places.refused(&["--destroy-data"], &["may not be overwritten", &mounted_at, "umount"]);
    assert!(Command::new("umount").arg(mount.path()).status().unwrap().success());
    places.refused(&["--destroy-data"], &["has ext4 on it (file system, ", "wipefs --all"]);
    assert!(device.bytes() == was, "the drive was written to");
}

#[test]
fn a_card_whose_drive_is_mounted_says_where() {
    let Some(device) = Loop::new(32 * MIB) else { return };
    let mut places = Places::new();
    places.modules[4] = by_id(&places, &device);
    let card = places.at("card");
    places.create(&card, &["--destroy-data"]);
    let point = places.at("point");
    fs::create_dir(&point).unwrap();
    let mounts = || Command::new("mount").args(["-o", "ro", &device.device]).arg(&point).status();
    if !device.ext4() || !mounts().is_ok_and(|status| status.success()) {
        return;
    }
    let output = command().arg("serve").arg(&card).args(["--nbd", "unix:/nowhere/at/all"]).output().unwrap();
    assert!(Command::new("umount").arg(&point).status().unwrap().success());
    assert_refused(&output, &["ata-FLASH_S5GXNF0R123456 is in use: ", "is mounted at ", "umount "]);
}
