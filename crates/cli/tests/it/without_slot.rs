//! A module of another card, or a copy, in one slot: the way out that the refusal names, and what it leaves alone.

use crate::common::server::{serve, serve_with, until_degraded};
use crate::common::small_card::{PAGE, card, copy, copy_file, fsck, start, write};
use crate::common::versions::sector;
use crate::common::{command, run_in};
use std::fs;
use std::path::Path;

/// The bytes of a module, in place of a digest.
fn bytes(card: &Path, slot: u32) -> Vec<u8> {
    fs::read(card.join(format!("module-0{slot}"))).unwrap()
}

/// The words behind the folder in the command that a refusal names; fsck names it as well.
fn way_out(card: &Path) -> Vec<String> {
    let refused = start(card, &[]).expect("it is refused");
    assert!(fsck(card, &[]).1.contains(refused.trim_start_matches(&format!("{}: ", card.display()))), "{refused}");
    let command = format!("flashrig serve {} ", card.display());
    let (_, words) = refused.split_once(&command).unwrap_or_else(|| panic!("no way out: {refused}"));
    words.split(' ').map(str::to_owned).collect()
}

fn reads(client: &mut crate::common::nbd::Client, version: u32) {
    for number in 0..200 {
        assert!(client.read(number * PAGE, 4096).unwrap().unwrap() == sector(number, version), "sector {number}");
    }
}

/// It takes longer than others do, because each of the three modules is served three times, and the time goes to syncs.
#[test]
fn a_foreign_module_is_left_out_by_the_command_that_the_refusal_names_and_never_written() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let pristine = card(dir.path(), "pristine", "4MiB", false);
    let alike = card(dir.path(), "alike", "4MiB", false);
    let larger = card(dir.path(), "larger", "8MiB", false);
    let tried = dir.path().join("tried");
    for (from, place, slot, what) in [
        (&alike, 2, 2, "of a card that is alike"),
        (&larger, 0, 0, "of a card that is divided otherwise"),
        (&pristine, 1, 3, "a copy"),
    ] {
        copy(&pristine, &tried);
        let own = bytes(&tried, slot);
        copy_file(&from.join(format!("module-0{place}")), &tried.join(format!("module-0{slot}")));
        let was = bytes(&tried, slot);
        let words = way_out(&tried);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(words, ["--without-slot", &slot.to_string()], "{what}");
        assert!(bytes(&tried, slot) == was, "{what}: a start that is refused writes to it");
        let (starts, found) = fsck(&tried, &words);
        assert!(starts && found.contains(&format!("module {slot} is missing")), "{what}: {found}");
        // Load, an orderly end, a start without the word, another with it.
        let (server, mut client) = serve_with(&tried, &words);
        reads(&mut client, 1);
        write(&mut client, 2);
        server.end();
        assert!(bytes(&tried, slot) == was, "{what}: written to under load");
        assert!(start(&tried, &[]).is_some(), "{what}");
        let (server, mut client) = serve_with(&tried, &words);
        reads(&mut client, 2);
        write(&mut client, 3);
        server.end();
        assert!(bytes(&tried, slot) == was, "{what}: written to by another start");
        // The card's own module comes back, and is filled.
        fs::write(tried.join(format!("module-0{slot}")), own).unwrap();
        let (server, mut client) = serve(&tried);
        until_degraded(&tried, false, what);
        reads(&mut client, 3);
        server.end();
    }
}

#[test]
fn no_more_is_left_out_than_parity_stands_for() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let pristine = card(dir.path(), "pristine", "4MiB", false);
    let other = card(dir.path(), "other", "4MiB", false);
    let refused = |words: &[&str], expected: &str| {
        let output = command().args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{words:?}: {said}");
        assert!(said.contains(expected), "{words:?}: {said}");
    };
    let card = pristine.to_str().unwrap();
    let before: Vec<Vec<u8>> = (0..4).map(|slot| bytes(&pristine, slot)).collect();
    for command in [&["serve", card, "--nbd", "unix:/nowhere"][..], &["fsck", card]] {
        let with = |more: &[&'static str]| [command, more].concat();
        let two = "2 of its modules are left out, and parity stands for 1";
        refused(&with(&["--without-slot", "1", "--without-slot", "2"]), two);
        refused(&with(&["--without-slot", "9"]), "slot 9: the card has slots 0 to 3");
    }
    refused(
        &["serve", card, other.to_str().unwrap(), "--nbd", "unix:/nowhere", "--without-slot", "1"],
        "several cards",
    );
    refused(&["fsck", dir.path().to_str().unwrap(), "--without-slot", "1"], "--without-slot has no effect on images");
    // Where another module is missing, there is no such way out, and none is named.
    copy_file(&other.join("module-02"), &pristine.join("module-02"));
    fs::rename(pristine.join("module-01"), dir.path().join("aside")).unwrap();
    let said = start(&pristine, &[]).expect("it is refused");
    assert!(said.contains("slot 2: its module belongs to card ") && !said.contains("--without-slot"), "{said}");
    let tried = run_in(dir.path(), &["fsck", "pristine", "--without-slot", "2"]);
    assert!(String::from_utf8_lossy(&tried.stdout).contains("verdict: refuses to start"));
    for slot in [0, 3] {
        assert!(bytes(&pristine, slot) == before[slot as usize], "module {slot}: a refused start has written to it");
    }
}
