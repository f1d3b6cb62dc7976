//! Volumes of a card, as a person makes them and as hosts find them.

use crate::common::nbd::{Client, FLUSH, WRITE};
use crate::common::server::{Server, serve, serve_with};
use crate::common::small_card::fsck;
use crate::common::{json, run, succeed};
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;
/// The error of a write for which the card has no room.
const NO_SPACE: u32 = 28;

fn create(dir: &Path) -> PathBuf {
    let card = dir.join("card");
    succeed(&["create", card.to_str().unwrap(), "--size", "64MiB"]);
    card
}

fn refusal(arguments: &[&str]) -> String {
    let output = run(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    said
}

/// Each MiB of a volume has a sector that says which it is.
fn write(card: &Path, volume: &str, fill: u8, mib: std::ops::Range<u64>) {
    let mut client = Client::connect_to(&card.join("nbd.sock"), volume).unwrap();
    for at in mib {
        assert_eq!(client.done(WRITE, at * MIB + 4096, &[fill ^ at as u8; 4096]).unwrap(), 0);
    }
    assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
}

fn is_there(card: &Path, volume: &str, fill: u8, mib: std::ops::Range<u64>) {
    let mut client = Client::connect_to(&card.join("nbd.sock"), volume).unwrap();
    for at in mib {
        let read = client.read(at * MIB, 8192).unwrap().unwrap();
        assert!(read[..4096].iter().all(|byte| *byte == 0), "{volume}: {at}");
        assert!(read[4096..].iter().all(|byte| *byte == fill ^ at as u8), "{volume}: {at}");
    }
}

fn killed(server: &mut Server) {
    server.0.kill().unwrap();
    server.0.wait().unwrap();
}

#[test]
fn volumes_come_and_go_with_the_card_served_and_not_and_survive_kills() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = create(dir.path());
    let at = card.to_str().unwrap();
    assert!(refusal(&["volume", "list", at]).contains("has no volumes: flashrig volume create"));
    succeed(&["volume", "create", at, "data", "--size", "20MiB"]);
    succeed(&["volume", "create", at, "log", "--size", "900MiB"]);
    let (mut server, _) = serve(&card);
    write(&card, "data", 0x40, 0..20);
    // The card has 63 extents of a MiB: the rest is the table's.
    write(&card, "log", 0x80, 0..30);
    for round in 0..3 {
        killed(&mut server);
        (server, _) = serve(&card);
        is_there(&card, "data", 0x40, 0..20);
        is_there(&card, "log", 0x80 + round, 0..30);
        write(&card, "log", 0x81 + round, 0..30);
    }
    // Made while the card is served, it is there for the next client.
    let listed = json(&["volume", "create", at, "more", "--size", "40MiB", "--json"]);
    assert_eq!(listed["volumes"].as_array().unwrap().len(), 3);
    write(&card, "more", 0x11, 0..5);
    let mut client = Client::connect_to(&card.join("nbd.sock"), "more").unwrap();
    let errors: Vec<u32> = (5..40).map(|at| client.done(WRITE, at * MIB, &[1; 4096]).unwrap()).collect();
    assert_eq!(errors.iter().position(|error| *error == NO_SPACE), Some(8), "{errors:?}");
    assert!(refusal(&["volume", "delete", at, "log"]).contains("--destroy-data deletes it nevertheless"));
    assert!(refusal(&["volume", "delete", at, "more", "--destroy-data"]).contains("has 1 clients"));
    succeed(&["volume", "delete", at, "log", "--destroy-data"]);
    assert!(Client::connect_to(&card.join("nbd.sock"), "log").is_err());
    assert_eq!(client.done(WRITE, 39 * MIB, &[7; 4096]).unwrap(), 0, "the room of a deleted volume is there again");
    assert_eq!(client.read(39 * MIB + 4096, 4096).unwrap().unwrap(), [0; 4096]);
    drop(client);
    succeed(&["volume", "grow", at, "more", "--size", "41MiB"]);
    server.end();
    assert!(refusal(&["volume", "grow", at, "data", "--size", "1MiB"]).contains("volumes only grow"));
    assert!(refusal(&["volume", "create", at, "../data", "--size", "1MiB"]).contains("can't be the name"));
    assert!(refusal(&["volume", "create", at, "big", "--size", "1TiB"]).contains("can't have 1099511627776 bytes"));
    let looked = json(&["fsck", at, "--json"]);
    assert_eq!(looked["volumes"], serde_json::json!({ "volumes": 2, "refused": null }));
    let listed = json(&["volume", "list", at, "--json"]);
    let sizes: Vec<u64> =
        listed["volumes"].as_array().unwrap().iter().map(|one| one["size_bytes"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [20 * MIB, 41 * MIB]);
    let (_server, _) = serve(&card);
    is_there(&card, "data", 0x40, 0..20);
    is_there(&card, "more", 0x11, 0..5);
}

#[test]
fn a_card_that_holds_data_is_not_divided_and_a_damaged_table_is_not_believed() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = create(dir.path());
    let at = card.to_str().unwrap();
    let (server, mut client) = serve(&card);
    assert!(refusal(&["volume", "create", at, "data", "--size", "1MiB"]).contains("is served as one disk"));
    assert_eq!(client.done(WRITE, MIB, &[5; 4096]).unwrap(), 0);
    drop(client);
    server.end();
    assert!(refusal(&["volume", "create", at, "data", "--size", "1MiB"]).contains("holds data"));
    let (server, mut client) = serve(&card);
    assert_eq!(client.read(MIB, 4096).unwrap().unwrap(), [5; 4096]);
    assert_eq!(client.trim(MIB, 4096).unwrap(), 0);
    drop(client);
    server.end();
    succeed(&["volume", "create", at, "data", "--size", "1MiB"]);
    let found = String::from_utf8(run(&["fsck", at]).stdout).unwrap();
    assert!(!found.contains("refuses") && found.contains("volumes: 1, and their table is whole"), "{found}");
    // A description from before would show the table itself to hosts.
    let description = card.join("card.toml");
    let text = std::fs::read_to_string(&description).unwrap();
    std::fs::write(&description, text.replace("volumes = true\n", "")).unwrap();
    let (server, mut client) = serve_with(&card, &[]);
    assert_eq!(&client.read(4096, 8).unwrap().unwrap(), b"FRIGVOLS");
    for copy in [0, 4096] {
        assert_eq!(client.done(WRITE, copy + 100, &[1]).unwrap(), 0);
    }
    drop(client);
    server.end();
    std::fs::write(&description, text).unwrap();
    let said = refusal(&["serve", at, "--nbd", &format!("unix:{at}/nbd.sock")]);
    let words = "page 0 of the volume table can't be read: the checksum of the page is wrong";
    assert!(said.contains(words), "{said}");
    let (starts, found) = fsck(&card, &[]);
    assert!(!starts && found.contains(words), "{found}");
}
