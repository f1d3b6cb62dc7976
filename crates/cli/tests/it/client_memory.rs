//! The memory of a server whose clients ask for much and take nothing, and its word to clients that it turns away.

use crate::common::command;
use crate::common::nbd::{Client, READ, WRITE};
use crate::common::server::{Server, ctl};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;
const SIZE: u64 = 64 * MIB;

/// A server of a card in memory that holds something everywhere, at `nbd.sock` and `control.sock`.
fn served(dir: &Path, more: &[&str]) -> (Server, Client) {
    let mut serve = command();
    let at = |name: &str| dir.join(name).display().to_string();
    serve.args(["serve", "tachion-400", "--memory", "--size", "64MiB", "--nbd", &format!("unix:{}", at("nbd.sock"))]);
    serve.args(["--control", &at("control.sock")]).args(more);
    let said = dir.join("errors.txt");
    let errors = fs::File::create(&said).unwrap();
    let mut server = Server(serve.stdout(Stdio::null()).stderr(errors).spawn().unwrap(), said.clone());
    let began = Instant::now();
    let mut client = loop {
        if let Ok(client) = Client::connect(&dir.join("nbd.sock")) {
            break client;
        }
        let said = fs::read_to_string(&said).unwrap();
        assert!(server.0.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(60), "{said}");
        std::thread::sleep(Duration::from_millis(5));
    };
    for offset in (0..SIZE).step_by(MIB as usize) {
        assert_eq!(client.done(WRITE, offset, &vec![7; MIB as usize]).unwrap(), 0);
    }
    (server, client)
}

fn resident_bytes(server: &Server) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{}/statm", server.0.id())).unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn forty_clients_that_take_no_answers_hold_no_more_than_all_clients_may() {
    let dir = tempfile::tempdir().unwrap();
    let (server, mut small) = served(dir.path(), &["--client-memory", "128MiB"]);
    let before = resident_bytes(&server);
    let greedy: Vec<Client> = (0..40)
        .map(|_| {
            let mut client = Client::connect(&dir.path().join("nbd.sock")).unwrap();
            client.ask(READ, 1, 0, 32 << 20, &[]).unwrap();
            client
        })
        .collect();
    let began = Instant::now();
    let mut most = 0;
    while began.elapsed() < Duration::from_secs(2) {
        most = most.max(resident_bytes(&server).saturating_sub(before));
        // Others are served.
        assert_eq!(small.read(0, 4096).unwrap().unwrap(), [7; 4096]);
        std::thread::sleep(Duration::from_millis(10));
    }
    // The stacks and buffers of forty threads come on top.
    assert!(most > 30 * MIB && most < 160 * MIB, "{} MiB more", most / MIB);
    drop(greedy);
}

#[test]
fn clients_beyond_the_most_are_counted_and_the_log_says_so_once() {
    let dir = tempfile::tempdir().unwrap();
    let (server, mut client) = served(dir.path(), &["--max-clients", "1"]);
    for _ in 0..20 {
        assert!(Client::connect(&dir.path().join("nbd.sock")).is_err());
    }
    assert_eq!(client.read(0, 4096).unwrap().unwrap(), [7; 4096]);
    let socket = dir.path().join("control.sock");
    let (_, text) = ctl(&socket, &["status"]);
    assert!(text.lines().any(|line| line.split_whitespace().eq("clients turned away 20".split(' '))), "{text}");
    let (_, json) = ctl(&socket, &["status", "--json"]);
    assert!(json.contains("\"clients_turned_away\": 20"), "{json}");
    let log = fs::read_to_string(&server.1).unwrap();
    let lines = log.lines().filter(|line| line.contains("too many clients (--max-clients)")).count();
    assert!((1..=3).contains(&lines), "{log}");
}

#[test]
fn too_little_memory_for_a_request_is_refused() {
    let output = command()
        .args(["serve", "tachion-400", "--memory", "--nbd", "unix:/nowhere", "--client-memory", "64MiB"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("128m"), "{said}");
}
