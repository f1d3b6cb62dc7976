//! `flashrig fsck` on cards whose state is known. `UPDATE_GOLDEN=1` writes the expected texts anew; read what changed.

#[path = "../../../fsck/tests/it/common/mod.rs"]
#[allow(dead_code, reason = "the tests of fsck use the rest")]
mod on_media;

use crate::common::{run_in, succeed};
use on_media::{cut, fresh, lose_two_units, used};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use torture::Kind;
use torture::sim::CutOutcome;

const SCHEMA: &str = include_str!("../../../../docs/fsck-result.schema.json");

/// Cards that the tests look at, in a folder.
struct Cards(tempfile::TempDir);

impl Cards {
    fn new() -> Cards {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fresh(Kind::Protected).save_image(&at("fresh")).unwrap();
        for name in ["used", "missing", "lost", "few"] {
            used(Kind::Protected, 3).save_image(&at(name)).unwrap();
        }
        fs::remove_file(at("missing").join("module-01.frm")).unwrap();
        (1..3).for_each(|slot| fs::remove_file(at("few").join(format!("module-0{slot}.frm"))).unwrap());
        lose_two_units(&at("lost"));
        cut(Kind::Unprotected, 2, CutOutcome::TornGarbage).save_image(&at("torn")).unwrap();
        Cards(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// The text that is printed, and the exit status.
    fn fsck(&self, words: &str) -> (String, i32) {
        let words: Vec<&str> = words.split(' ').collect();
        let output = run_in(self.path(), &[&["fsck"], words.as_slice()].concat());
        assert!(output.stderr.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
    }
}

fn golden(name: &str, text: &str) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "golden", &format!("fsck-{name}.txt")].iter().collect();
    if std::env::var("UPDATE_GOLDEN").is_ok() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{} differs: see the head of this file", path.display());
}

#[test]
fn what_is_printed_of_each_card_is_as_it_was() {
    let cards = Cards::new();
    for (name, words, status) in [
        ("fresh", "fresh", 0),
        ("used", "used", 0),
        ("used-verify", "used --verify", 0),
        ("used-lba", "used --lba 0..5", 0),
        ("missing", "missing --verify", 1),
        ("few", "few", 1),
        ("lost", "lost --verify", 1),
        ("torn", "torn", 1),
    ] {
        let (text, code) = cards.fsck(words);
        assert!(text.lines().all(|line| line.chars().count() <= 80 && line.trim_end() == line), "{words}:\n{text}");
        golden(name, &text);
        assert_eq!(code, status, "{words}");
    }
}

#[test]
fn lost_sectors_are_explained_with_their_stripe_and_its_members() {
    let cards = Cards::new();
    let (json, _) = cards.fsck("lost --verify --json");
    let json: Value = serde_json::from_str(&json).unwrap();
    let lost = &json["report"]["lost_sectors"][0];
    let (lba, band, stripe) = (&lost["lba"], &lost["band"], &lost["stripe"]);
    let (text, status) = cards.fsck(&format!("lost --lba {lba}"));
    assert_eq!(status, 1);
    golden("lost-lba", &text);
    let (text, status) = cards.fsck(&format!("lost --stripe {band}:{stripe}"));
    assert_eq!(status, 1);
    golden("lost-stripe", &text);
    let (text, status) = cards.fsck(&format!("lost --band {band}"));
    assert_eq!(status, 1);
    golden("lost-band", &text);
}

#[test]
fn every_answer_is_to_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let cards = Cards::new();
    for card in ["fresh", "used", "missing", "lost", "few", "torn"] {
        for words in ["", " --verify", " --lba 0..35", " --band 3", " --stripe 3:1"] {
            if card == "few" && words.len() > 10 {
                continue;
            }
            let words = format!("{card}{words} --json");
            let (text, _) = match card {
                "few" if words.contains("--lba") || words.contains("--band") => continue,
                _ => cards.fsck(&words),
            };
            let answer: Value = serde_json::from_str(&text).unwrap();
            let errors: Vec<String> =
                validator.iter_errors(&answer).map(|e| format!("{} at {}", e, e.instance_path())).collect();
            assert!(errors.is_empty(), "{words}: {errors:#?}");
        }
    }
}

#[test]
fn nothing_is_written() {
    let cards = Cards::new();
    let contents = |dir: &Path| -> Vec<(PathBuf, Vec<u8>)> {
        let mut files: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
    };
    let dir = cards.path().join("torn");
    let before = contents(&dir);
    for words in ["torn --verify", "torn --lba 0..35", "torn --band 1", "torn --stripe 1:1"] {
        cards.fsck(words);
    }
    assert!(contents(&dir) == before);
}

fn refused(cards: &Cards, words: &[&str], expected: &[&str]) {
    let output = run_in(cards.path(), words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{words:?}: {stderr}");
    assert!(output.stdout.is_empty());
    expected.iter().for_each(|part| assert!(stderr.contains(part), "{words:?} does not say {part:?}: {stderr}"));
}

#[test]
fn images_that_are_none_are_refused_with_module_and_offset() {
    let cards = Cards::new();
    let module = cards.path().join("used").join("module-01.frm");
    let whole = fs::read(&module).unwrap();
    let mut cases: Vec<(Vec<u8>, &[&str])> = vec![
        (whole[..whole.len() / 2].to_vec(), &["used/module-01.frm: cut off", "offset"]),
        (Vec::new(), &["used/module-01.frm", "magic at offset 0"]),
        (b"#!/bin/sh".to_vec(), &["used/module-01.frm", "magic at offset 0"]),
    ];
    let changed = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        bytes
    };
    cases.push((changed(8, 2), &["used/module-01.frm: version 2 at offset 8"]));
    cases.push((changed(40, 9), &["used/module-01.frm: the checksum of the head at offset 0"]));
    cases.push((changed(150, 9), &["used/module-01.frm: the checksum of the tables", "offset 128"]));
    cases.push((changed(whole.len() - 9, 0xaa), &["used/module-01.frm: the checksum of a block's contents at offset"]));
    for (bytes, expected) in cases {
        fs::write(&module, bytes).unwrap();
        refused(&cards, &["fsck", "used"], expected);
    }
    fs::remove_file(&module).unwrap();
    fs::write(cards.path().join("used").join("module-07.frm"), &whole).unwrap();
    let (text, status) = cards.fsck("used");
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("verdict: refuses to start"), "{text}");
    refused(&cards, &["fsck", "fresh/module-00.frm"], &["fresh/module-00.frm", "name the folder"]);
    refused(&cards, &["fsck", "fresh", "--lba", "36"], &["fresh: there is no sector 36: the card has 36"]);
    refused(&cards, &["fsck", "fresh", "--band", "20"], &["fresh: there is no band 20: the card has 20"]);
}

#[test]
fn the_help_says_what_the_exit_status_means() {
    assert!(succeed(&["fsck", "--help"]).contains("Exit status: 0 when nothing is wrong"));
}

#[test]
fn a_card_in_files_is_looked_at_and_not_changed() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = dir.path().join("card");
    assert!(run_in(dir.path(), &["create", "card", "--size", "48MiB"]).status.success());
    let fsck = |more: &[&str]| run_in(dir.path(), &[&["fsck", "card"], more].concat());
    let module = |slot: u32| card.join(format!("module-{slot:02}"));
    let bytes = || (0..16).map(|slot| fs::read(module(slot)).unwrap()).collect::<Vec<_>>();
    let before = bytes();
    let output = fsck(&["--verify", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["report"]["verdict"]["state"], "clean", "{answer}");
    assert!(output.stderr.is_empty() && bytes() == before);
    // One that was cut off counts as missing, and is named; one that was never a module likewise.
    fs::OpenOptions::new().write(true).open(module(3)).unwrap().set_len(1 << 20).unwrap();
    let output = fsck(&[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("slot 3: ") && said.contains("module-03: has 1048576 of "), "{said}");
    // Nothing can be said where there is nothing.
    for slot in 0..16 {
        fs::write(module(slot), [7; 9000]).unwrap();
    }
    let output = fsck(&[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("module-00: holds no module"), "{said}");
}
