//! Clients that share threads.

use crate::common::{SHARE_THREADS, card_in_files, serve_card};
use crate::hostile::Raw;
use serve::{Limits, Protocol, Security};
use std::process::Command;
use std::sync::Barrier;
use std::time::{Duration, Instant};

const SIZE: u64 = 64 << 20;
const BLOCK: u32 = 8 << 10;

/// The tests of clients, once more in a process in which all clients share threads.
#[test]
fn all_of_it_holds_where_clients_share_threads() {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["clients::", "hostile::", "slow::", "tls::", "nvme::", "--test-threads=2"]);
    let output = again.env(SHARE_THREADS, "yes").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let passed = text.matches("... ok").count();
    assert!(passed > 60, "{passed} tests:\n{text}");
}

/// The names of this process's threads.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok()).collect()
}

/// The bytes of a block that a client writes in a round.
fn block(client: u64, round: u64, at: u64) -> Vec<u8> {
    let word = ((client << 40) | (round << 20) | at).to_le_bytes();
    word.into_iter().cycle().take(BLOCK as usize).collect()
}

/// Writes blocks of a client's own, some of them flushed by another client's flush, and reads them.
fn work(raw: &mut Raw, client: u64, rounds: u64) {
    let base = client << 20;
    for round in 0..rounds {
        for at in 0..4 {
            let fua = u16::from(at % 2 == 0);
            let place = base + (at * 7 + round) % 128 * u64::from(BLOCK);
            assert!(raw.request(fua, 1, place, BLOCK, &block(client, round, at)));
            assert_eq!(raw.error(), 0);
        }
        assert!(raw.request(0, 3, 0, 0, &[]));
        assert_eq!(raw.error(), 0);
        for at in 0..4 {
            assert!(raw.request(0, 0, base + (at * 7 + round) % 128 * u64::from(BLOCK), BLOCK, &[]));
            assert_eq!(raw.error(), 0);
            assert!(raw.take(BLOCK as usize) == block(client, round, at), "client {client}, round {round}");
        }
    }
}

#[test]
fn many_clients_of_slow_media_are_served_side_by_side() {
    for (shards, own_threads) in [(1, 2), (3, 0), (3, 1000)] {
        let limits = Limits { own_threads, ..Limits::default() };
        let served = serve_card(card_in_files(SIZE, shards), Security::Plain, limits);
        let (socket, clients) = (served.socket(), 24);
        // Those that say nothing, and one that has begun to say something.
        let mut silent: Vec<Raw> = (0..4).map(|_| Raw::ready(&socket)).collect();
        let mut halfway = Raw::ready(&socket);
        assert!(halfway.request(0, 1, 63 << 20, 1 << 20, &[1; 100_000]));
        let all_are_there = Barrier::new(clients as usize + 1);
        std::thread::scope(|scope| {
            for client in 0..clients {
                let (socket, all_are_there) = (&socket, &all_are_there);
                scope.spawn(move || {
                    let mut raw = Raw::ready(socket);
                    work(&mut raw, client, 4);
                    all_are_there.wait();
                    work(&mut raw, client, 8);
                    // Some come again; others leave while they are answered.
                    if client % 3 == 0 {
                        drop(raw);
                        work(&mut Raw::ready(socket), client, 4);
                    } else if client % 3 == 1 {
                        raw.request(0, 0, 0, 32 << 20, &[]);
                    }
                });
            }
            all_are_there.wait();
            let threads = threads();
            let crews = threads.iter().filter(|name| name.trim() == "crew").count();
            let own = threads.iter().filter(|name| name.starts_with("nbd ")).count();
            let shares = own_threads < clients as usize;
            assert!(crews > 0 || !shares, "{threads:?}");
            assert!(own >= if shares { 0 } else { clients as usize }, "{threads:?}");
            assert!(served.server.clients().iter().all(|client| client.protocol == Protocol::Nbd));
        });
        silent.iter_mut().for_each(Raw::works);
        assert!(halfway.send(&[1; (1 << 20) - 100_000]));
        assert_eq!(halfway.error(), 0);
        drop(silent.drain(..2));
        let began = Instant::now();
        while served.server.clients().len() > 3 {
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", served.server.clients());
            std::thread::sleep(Duration::from_millis(5));
        }
        served.server.stop();
        assert!(began.elapsed() < Duration::from_secs(4), "the server has waited for those that say nothing");
        assert!(served.server.clients().is_empty());
        silent.iter_mut().for_each(Raw::is_let_go);
    }
}

/// A client that takes nothing keeps nobody waiting, though it is served by the same thread.
#[test]
fn a_client_that_takes_nothing_does_not_hold_up_those_of_its_thread() {
    let limits = Limits { own_threads: 0, stall: Duration::from_secs(1), ..Limits::default() };
    let served = serve_card(card_in_files(SIZE, 1), Security::Plain, limits);
    let greedy = || {
        let mut raw = Raw::ready(&served.socket());
        assert!(raw.request(0, 0, 0, 32 << 20, &[]));
        raw
    };
    let _greedy: Vec<Raw> = (0..3).map(|_| greedy()).collect();
    let mut raw = Raw::ready(&served.socket());
    let mut longest = Duration::ZERO;
    for _ in 0..50 {
        let began = Instant::now();
        raw.works();
        longest = longest.max(began.elapsed());
    }
    assert!(longest < Duration::from_millis(900), "{longest:?}");
    let began = Instant::now();
    while served.server.clients().len() > 1 {
        assert!(began.elapsed() < Duration::from_secs(10), "they are still connected: {:?}", served.server.clients());
        std::thread::sleep(Duration::from_millis(20));
    }
    raw.works();
}
