//! Flushes of little on cards in files: the log answers them, and what it holds survives kills.

use crate::common::nbd::{Client, FLUSH, WRITE};
use crate::common::server::{ctl, serve};
use crate::common::versions::{Rng, Versions, kills, sector};
use crate::common::{command, run_in};
use serde_json::Value;
use std::path::{Path, PathBuf};

const SECTORS: u64 = (128 << 20) / 4096;
/// Sectors that are written in small pieces.
const HOT: u64 = 300;
const CLIENTS: usize = 3;

fn create(dir: &Path) -> PathBuf {
    let card = dir.join("card");
    let made = command().arg("create").arg(&card).args(["--size", "128MiB"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    card
}

fn log_of(card: &Path) -> Value {
    let (_, status) = ctl(card, &["status", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap_or_else(|e| panic!("{e}: {status}"));
    assert!(status["log"].is_object(), "{status}");
    status["log"].clone()
}

struct Host {
    clients: Vec<Client>,
    versions: Vec<Versions>,
    rng: Rng,
}

impl Host {
    /// Every client asks for a write of a sector; the sectors.
    fn ask_writes(&mut self) -> Vec<u64> {
        let mut written = Vec::new();
        for client in &mut self.clients {
            let mut number = self.rng.below(HOT);
            // Two writes of a sector at a time could end in any order.
            while written.contains(&number) {
                number = self.rng.below(HOT);
            }
            let asked = &mut self.versions[number as usize].asked;
            *asked += 1;
            client.ask(WRITE, number, number * 4096, 4096, &sector(number, *asked)).unwrap();
            client.ask(FLUSH, u64::MAX, 0, 0, &[]).unwrap();
            written.push(number);
        }
        written
    }

    /// Writes that end, and flushes at the same time, of all clients or of one of them for all.
    fn write_and_flush(&mut self) {
        let written = self.ask_writes();
        for client in &mut self.clients {
            assert_eq!(client.answer().unwrap().1, 0);
            assert_eq!(client.answer().unwrap().1, 0);
        }
        // A flush that was asked for beside a write need not cover it: one that comes after all of them does.
        let one = self.rng.below(self.clients.len() as u64) as usize;
        assert_eq!(self.clients[one].done(FLUSH, 0, &[]).unwrap(), 0);
        for number in written {
            let versions = &mut self.versions[number as usize];
            versions.durable = versions.asked;
        }
    }

    /// A run of sectors, which fills stripes and is not flushed.
    fn write_run(&mut self) {
        let first = HOT + self.rng.below(SECTORS - HOT - 300);
        for number in first..first + 200 {
            let asked = &mut self.versions[number as usize].asked;
            *asked += 1;
            assert_eq!(self.clients[0].done(WRITE, number * 4096, &sector(number, *asked)).unwrap(), 0);
        }
    }
}

#[test]
fn what_small_flushes_covered_survives_kills_and_modules_that_were_away() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = create(dir.path());
    let socket = card.join("nbd.sock");
    let others = || (1..CLIENTS).map(|_| Client::connect(&socket).unwrap());
    let (mut server, client) = serve(&card);
    let clients = [client].into_iter().chain(others()).collect();
    let versions = vec![Versions::default(); SECTORS as usize];
    let mut host = Host { clients, versions, rng: Rng(0x1234_5678_9abc_def1) };
    let (mut records, mut replayed) = (0, 0);
    for kill in 0..kills() {
        for _ in 0..host.rng.below(60) {
            host.write_and_flush();
            if host.rng.below(20) == 0 {
                host.write_run();
            }
        }
        // The module is in its place again at the next start, with a log that may be old.
        if kill % 4 == 1 {
            let slot = host.rng.below(16).to_string();
            assert!(ctl(&card, &["module", "pull", &slot]).0);
            for _ in 0..10 {
                host.write_and_flush();
            }
        }
        records += log_of(&card)["records"].as_u64().unwrap();
        // Killed with writes and flushes under way.
        host.ask_writes();
        server.0.kill().unwrap();
        server.0.wait().unwrap();
        let client;
        (server, client) = serve(&card);
        host.clients = [client].into_iter().chain(others()).collect();
        replayed += log_of(&card)["replayed_sectors"].as_u64().unwrap();
        let when = format!("kill {kill}");
        for number in 0..SECTORS {
            if number < HOT || number % 64 == kill % 64 {
                host.versions[number as usize].read_back(&mut host.clients[0], number, &when);
            }
        }
        // A module that was away is whole again before another one goes.
        if kill % 4 == 1 {
            crate::common::server::until_degraded(&card, false, &when);
        }
    }
    assert!(records > 100 && replayed > 30, "{records} records, {replayed} sectors were replayed");
    server.end();
    let (_server, mut client) = serve(&card);
    assert_eq!(log_of(&card)["replayed_sectors"], 0, "an orderly end leaves nothing in the log only");
    for number in (0..SECTORS).filter(|number| *number < HOT || number % 5 == 0) {
        host.versions[number as usize].read_back(&mut client, number, "ended");
    }
}

#[test]
fn fsck_finds_sectors_in_the_log_and_after_a_start_in_stripes() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = create(dir.path());
    let (server, mut client) = serve(&card);
    for number in [5, 9] {
        assert_eq!(client.done(WRITE, number * 4096, &sector(number, 1)).unwrap(), 0);
        assert_eq!(client.done(FLUSH, 0, &[]).unwrap(), 0);
    }
    // Dropped, it is killed.
    drop(server);
    let fsck = |more: &[&str]| {
        let output = run_in(dir.path(), &[&["fsck", "card", "--json"], more].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let because = || fsck(&["--lba", "5"])["sectors"][0]["because"].as_str().unwrap().to_owned();
    assert_eq!(fsck(&["--verify"])["report"]["sectors"]["mapped"], 2);
    assert!(because().starts_with("in the log: version "), "{}", because());
    let (server, _client) = serve(&card);
    assert_eq!(log_of(&card)["replayed_sectors"], 2);
    server.end();
    assert_eq!(fsck(&["--verify"])["report"]["verdict"]["state"], "clean");
    assert!(!because().contains("in the log"), "{}", because());
}
