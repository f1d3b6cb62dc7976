//! Cards that earlier builds made start with today's code and hold what they held.
//!
//! They lie compressed in `tests/data/stored`, a folder for each. A build that changes what lies on media makes its own
//! beside them: `MAKER=flashrig NAME=0.1.1 cargo test -p flashrig --test it stored_cards::what_is_made`.

use crate::common::nbd::{Client, FLUSH, WRITE};
use crate::common::run_in;
use crate::common::server::{serve, serve_by, until_degraded};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The options of a card of four modules, one of which may be lost, with erase blocks of 64 KiB.
const CREATE: &str = "--card memory-16 --size 1MiB --set geometry.modules=4 --set ftl.stripe_width=4 \
    --set card.user_bytes=6GB --set geometry.pages_per_block=8 --set geometry.page_bytes=8KiB \
    --set buffer.bytes=512KiB";
const SECTORS: u64 = (1 << 20) / 4096;
const MODULES: u32 = 4;

/// The way in which a stored card was left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// It was ended by SIGTERM.
    Ended,
    /// It was ended by SIGKILL, with writes after the last flush.
    Killed,
    /// It was ended by SIGTERM, with a module that was pulled before the last writes.
    Degraded,
}

const LEFT: [(&str, Left); 3] = [("ended", Left::Ended), ("killed", Left::Killed), ("degraded", Left::Degraded)];

/// The contents of a sector in a version of it, which compress well; version 0 is zeroes.
fn sector(number: u64, version: u32) -> Vec<u8> {
    let stamp = if version == 0 { 0 } else { number << 32 | u64::from(version) };
    stamp.to_le_bytes().repeat(512)
}

/// Versions whose writes are flushed. All of them together are more than the card's flash, so that it collects.
const FLUSHED: u32 = 64;
/// The sectors that a version is written to: all, then two thirds in turn.
fn written_in(version: u32) -> impl Iterator<Item = u64> {
    (0..SECTORS).filter(move |number| version == 1 || (number + u64::from(version)) % 3 != 0)
}

/// The sectors that are trimmed after a version.
fn trimmed_after(version: u32) -> std::ops::Range<u64> {
    let first = u64::from(version) * 3;
    if version.is_multiple_of(8) { first..first + 5 } else { 0..0 }
}

/// The sectors that are written after the last flush.
const UNFLUSHED: std::ops::Range<u64> = 100..140;

/// The versions that the sectors hold when all is flushed.
fn flushed() -> Vec<u32> {
    let mut versions = vec![0; SECTORS as usize];
    for version in 1..=FLUSHED {
        written_in(version).for_each(|number| versions[number as usize] = version);
        trimmed_after(version).for_each(|number| versions[number as usize] = 0);
    }
    versions
}

fn write(client: &mut Client, number: u64, version: u32) {
    assert_eq!(client.done(WRITE, number * 4096, &sector(number, version)).unwrap(), 0);
}

/// Writes all that [`flushed`] tells.
fn live(client: &mut Client, mut before: impl FnMut(u32)) {
    for version in 1..=FLUSHED {
        before(version);
        written_in(version).for_each(|number| write(client, number, version));
        let trimmed = trimmed_after(version);
        if !trimmed.is_empty() {
            let len = (trimmed.end - trimmed.start) as u32 * 4096;
            assert_eq!(client.trim(trimmed.start * 4096, len).unwrap(), 0);
        }
        assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
    }
}

fn stored() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "data", "stored"].iter().collect()
}

/// A stored card in a folder of its own.
fn unpacked(stored: &Path, dir: &Path) -> PathBuf {
    let card = dir.join("card");
    fs::create_dir(&card).unwrap();
    fs::copy(stored.join("card.toml"), card.join("card.toml")).unwrap();
    for slot in 0..MODULES {
        let packed = File::open(stored.join(format!("module-{slot:02}.gz"))).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
        let file = File::create(card.join(format!("module-{slot:02}"))).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
        for (block, contents) in bytes.chunks(4096).enumerate() {
            if contents.iter().any(|byte| *byte != 0) {
                file.write_all_at(contents, block as u64 * 4096).unwrap();
            }
        }
    }
    card
}

/// Reads all sectors. Each is what was flushed, or a later write of a card that was killed.
fn holds_all(client: &mut Client, left: Left) {
    for (number, version) in (0..).zip(flushed()) {
        let read = client.read(number * 4096, 4096).unwrap().unwrap_or_else(|e| panic!("sector {number}: error {e}"));
        let later = left == Left::Killed && UNFLUSHED.contains(&number) && read == sector(number, FLUSHED + 1);
        assert!(later || read == sector(number, version), "sector {number} is not version {version}");
    }
}

/// The verdict of fsck on a card in this folder, when it has read every stripe.
fn verdict(dir: &Path) -> Value {
    let output = run_in(dir, &["fsck", "card", "--verify", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    answer["report"]["verdict"]["state"].clone()
}

/// Starts the cards of a build, each of which holds what it held, is whole after a start and goes on.
fn cards_start_and_hold(build: &Path) {
    for (name, left) in LEFT {
        eprintln!("{}: {name}", build.display());
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let card = unpacked(&build.join(name), dir.path());
        let found = verdict(dir.path());
        let expected: &[&str] = match left {
            Left::Ended => &["clean"],
            // A kill can leave stripes torn, which the next start repairs.
            Left::Killed => &["clean", "recoverable"],
            Left::Degraded => &["degraded"],
        };
        assert!(expected.iter().any(|state| found == *state), "{name}: {found}");
        let (server, mut client) = serve(&card);
        holds_all(&mut client, left);
        // A module that went stale is filled again.
        until_degraded(&card, false, name);
        holds_all(&mut client, left);
        server.end();
        assert_eq!(verdict(dir.path()), "clean", "{name}, ended");
        // It is in use again, over all of its flash.
        let (server, mut client) = serve(&card);
        holds_all(&mut client, left);
        live(&mut client, |_| ());
        holds_all(&mut client, Left::Ended);
        server.end();
        assert_eq!(verdict(dir.path()), "clean", "{name}, written over and ended");
    }
}

#[test]
fn cards_of_earlier_builds_start_and_hold_what_they_held() {
    let mut builds: Vec<PathBuf> = fs::read_dir(stored()).unwrap().map(|entry| entry.unwrap().path()).collect();
    builds.sort();
    assert!(!builds.is_empty());
    builds.iter().for_each(|build| cards_start_and_hold(build));
}

#[test]
fn the_stored_cards_are_small() {
    fn bytes(path: &Path) -> u64 {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
        entries
            .map(|entry| if entry.path().is_dir() { bytes(&entry.path()) } else { entry.metadata().unwrap().len() })
            .sum()
    }
    let found = bytes(&stored());
    assert!(found < 2 << 20, "{found} bytes");
}

/// Makes such cards with this build and starts them; with `MAKER`, the path of another build, and `NAME` they are kept.
#[test]
fn what_is_made_to_be_stored_starts_and_holds() {
    let unkept = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (maker, to) = match std::env::var_os("MAKER") {
        None => (env!("CARGO_BIN_EXE_flashrig").into(), unkept.path().to_owned()),
        Some(maker) => (maker, stored().join(std::env::var_os("NAME").expect("NAME is the name of the build"))),
    };
    for (left_name, left) in LEFT {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let card = dir.path().join("card");
        let made = Command::new(&maker).arg("create").arg(&card).args(CREATE.split_whitespace()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let (server, mut client) = serve_by(Command::new(&maker), &card, &[]);
        live(&mut client, |version| {
            if left == Left::Degraded && version == FLUSHED - 3 {
                let pulled = Command::new(&maker).arg("ctl").arg(&card).args(["module", "pull", "2"]).status().unwrap();
                assert!(pulled.success());
            }
        });
        match left {
            Left::Killed => {
                UNFLUSHED.for_each(|number| write(&mut client, number, FLUSHED + 1));
                // Dropped, it is killed.
                drop(server);
            }
            Left::Ended | Left::Degraded => server.end(),
        }
        pack(&card, &to.join(left_name));
    }
    cards_start_and_hold(&to);
}

fn pack(card: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::copy(card.join("card.toml"), to.join("card.toml")).unwrap();
    for slot in 0..MODULES {
        let packed = File::create(to.join(format!("module-{slot:02}.gz"))).unwrap();
        let mut packer = GzEncoder::new(packed, Compression::best());
        packer.write_all(&fs::read(card.join(format!("module-{slot:02}"))).unwrap()).unwrap();
        packer.finish().unwrap().sync_all().unwrap();
    }
}
