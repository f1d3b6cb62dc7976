//! A card in files that is divided over shards is one card to its hosts and operators.

use crate::common::nbd::{Client, FLUSH, WRITE};
use crate::common::server::{serve, until_degraded};
use crate::common::small_card::{PAGE, card_with, start};
use crate::common::versions::sector;
use crate::common::{command, run_in};
use serde_json::Value;
use std::fs;
use std::path::Path;

const SHARDS: u64 = 3;
/// Sectors that are written: three chunks and a part of another one.
const SECTORS: u64 = 800;

fn write_all(client: &mut Client, version: u32) {
    // Four sectors at once: some requests cross from one shard to the next.
    for first in (2..SECTORS - 4).step_by(4) {
        let bytes: Vec<u8> = (first..first + 4).flat_map(|number| sector(number, version)).collect();
        assert_eq!(client.done(WRITE, first * PAGE, &bytes).unwrap(), 0);
    }
    assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
}

fn read_all(client: &mut Client, version: u32) {
    for number in 2..SECTORS - 6 {
        assert!(client.read(number * PAGE, 4096).unwrap().unwrap() == sector(number, version), "sector {number}");
    }
}

fn fsck(card: &Path, more: &[&str]) -> (Option<i32>, Value, String) {
    let output = command().arg("fsck").arg(card).arg("--json").args(more).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default(), errors)
}

#[test]
fn a_card_of_shards_serves_and_is_examined_as_one() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = card_with(dir.path(), "card", "24MiB", &["--shards", "3"], false);
    assert!(fs::read_to_string(card.join("card.toml")).unwrap().contains("\nshards = 3\n"));
    let (server, mut client) = serve(&card);
    write_all(&mut client, 3);
    // A module goes and comes back, in all shards.
    for (words, degraded) in [(["pull", "2"], true), (["insert", "2"], false)] {
        let done = command().arg("ctl").arg(&card).arg("module").args(words).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        until_degraded(&card, degraded, words[0]);
        read_all(&mut client, 3);
    }
    server.end();
    let (code, found, errors) = fsck(&card, &["--verify"]);
    assert_eq!((code, found["shards"].as_array().map(Vec::len)), (Some(0), Some(SHARDS as usize)), "{errors}");
    // Addresses of the host, in any shard.
    let (code, found, _) = fsck(&card, &["--lba", "250..520"]);
    let sectors = found["sectors"].as_array().unwrap();
    assert_eq!((code, sectors.len()), (Some(0), 271));
    for (lba, sector) in (250u64..).zip(sectors) {
        assert_eq!((sector["lba"].as_u64(), sector["reads_as"].as_str()), (Some(lba), Some("data")));
    }
    assert_eq!(fsck(&card, &["--shard", "1"]).0, Some(0));
    for (words, said) in [
        (&["--band", "0"][..], "3 shards, each with bands of its own"),
        (&["--shard", "3"], "the card has shards 0 to 2"),
        (&["--lba", "6144"], "sector 6144"),
    ] {
        let (code, _, errors) = fsck(&card, words);
        assert_eq!(code, Some(2), "{words:?}: {errors}");
        assert!(errors.contains(said), "{words:?}: {errors}");
    }
    // After a kill everything is there that was flushed.
    let (mut server, mut client) = serve(&card);
    write_all(&mut client, 4);
    server.0.kill().unwrap();
    server.0.wait().unwrap();
    let (server, mut client) = serve(&card);
    read_all(&mut client, 4);
    server.end();
    // A description that says otherwise is refused by both.
    let description = fs::read_to_string(card.join("card.toml")).unwrap();
    fs::write(card.join("card.toml"), description.replace("shards = 3", "shards = 2")).unwrap();
    let refused = start(&card, &[]).expect("it is refused");
    let (code, _, errors) = fsck(&card, &[]);
    assert!(code == Some(2) && errors.contains(&refused), "{code:?} {errors}: {refused}");
    fs::write(card.join("card.toml"), description.replace("shards = 3", "shards = 65")).unwrap();
    assert!(start(&card, &[]).unwrap().contains("a card has 1 to 64"));
}

#[test]
fn a_card_has_no_more_shards_than_chunks() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (shards, said) in [("0", "1..=64"), ("65", "1..=64"), ("9", "--shards 9: the card has room for 8")] {
        let made = run_in(dir.path(), &["create", "card", "--size", "8MiB", "--shards", shards]);
        let errors = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.code() == Some(2) && errors.contains(said), "{errors}");
        assert!(!dir.path().join("card").exists());
    }
}
