//! Clients that are never silent for long, and never done: their time and their memory are bounded, and the others go on.

use crate::common::served;
use crate::hostile::{Raw, SIZE};
use serve::{Limits, MIN_MEMORY_BYTES, Security};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

const MIB: u32 = 1 << 20;

/// Sends a byte every 20 ms until it is let go; the time that took.
fn trickle(mut stream: UnixStream) -> Duration {
    let began = Instant::now();
    while stream.write_all(&[1]).is_ok() {
        assert!(began.elapsed() < Duration::from_secs(20), "it is still connected");
        std::thread::sleep(Duration::from_millis(20));
    }
    began.elapsed()
}

/// Takes a byte every 5 ms until it is let go: so many bytes were taken.
fn sip(mut stream: UnixStream) -> usize {
    let began = Instant::now();
    let mut taken = 0;
    while stream.read_exact(&mut [0]).is_ok() {
        taken += 1;
        if began.elapsed() < Duration::from_secs(4) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    taken
}

/// The name of a message, and how it begins.
type Begun = (&'static str, fn(&mut Raw));

#[test]
fn a_request_has_to_arrive_whole_in_time_however_steadily_it_trickles() {
    let limits = Limits { request: Duration::from_secs(1), least_rate: 1 << 20, ..Limits::default() };
    let served = served(SIZE, Security::Plain, limits);
    let begun: [Begun; 3] = [
        ("the payload of a write", |raw| assert!(raw.request(0, 1, 0, MIB, &[1; 5000]))),
        ("the payload of a write that is refused", |raw| assert!(raw.request(0, 1, SIZE, MIB, &[1; 5000]))),
        ("a header", |raw| raw.0.write_all(&0x2560_9513u32.to_be_bytes()[..1]).unwrap()),
    ];
    for (what, begin) in begun {
        let mut raw = Raw::ready(&served.socket());
        begin(&mut raw);
        if what == "a header" {
            // A header of 28 bytes is longer than this takes.
            raw.0.write_all(&0x2560_9513u32.to_be_bytes()[1..]).unwrap();
            let began = Instant::now();
            for _ in 0..23 {
                std::thread::sleep(Duration::from_millis(100));
                if raw.0.write_all(&[0]).is_err() {
                    break;
                }
            }
            assert!(began.elapsed() < Duration::from_millis(2200), "{what}: it is still connected");
            continue;
        }
        let took = trickle(raw.0);
        assert!(took > Duration::from_millis(900), "{what}: let go after {took:?}");
    }
    // One that is slow, and fast enough, goes on; and so does one that has nothing to ask.
    let mut raw = Raw::ready(&served.socket());
    let mut silent = Raw::ready(&served.socket());
    assert!(raw.request(0, 1, 0, MIB, &[]));
    for _ in 0..8 {
        assert!(raw.0.write_all(&[3; MIB as usize / 8]).is_ok());
        std::thread::sleep(Duration::from_millis(150));
    }
    assert_eq!(raw.error(), 0);
    silent.works();
}

#[test]
fn answers_have_to_be_taken_in_time_however_steadily_they_are_sipped() {
    let limits = Limits { request: Duration::from_secs(1), least_rate: 64 << 20, ..Limits::default() };
    let served = served(SIZE, Security::Plain, limits);
    let mut raw = Raw::ready(&served.socket());
    assert!(raw.request(0, 0, 0, 32 * MIB, &[]));
    // It gets no more than the socket held.
    assert!(sip(raw.0) < 8 << 20);
}

/// Asks for the most that a request may ask for, and takes nothing.
fn greedy(socket: &Path) -> Raw {
    let mut raw = Raw::ready(socket);
    assert!(raw.request(0, 0, 0, 32 * MIB, &[]));
    raw
}

#[test]
fn who_wants_more_memory_than_there_is_waits_and_the_others_go_on() {
    let stall = Duration::from_secs(1);
    // The pool is half of the budget: two of the greedy ones have it.
    let limits = Limits { stall, memory_bytes: MIN_MEMORY_BYTES, ..Limits::default() };
    let served = served(SIZE, Security::Plain, limits);
    let mut small = Raw::ready(&served.socket());
    let greedy: Vec<Raw> = (0..6).map(|_| greedy(&served.socket())).collect();
    std::thread::sleep(stall / 4);
    // Small requests of others are not held up.
    let began = Instant::now();
    (0..20).for_each(|_| small.works());
    assert!(began.elapsed() < stall / 2, "small requests waited for {:?}", began.elapsed());
    // One that wants as much and takes it gets it in its turn: here a read, a write and a read of what was written.
    let mut large = Raw::ready(&served.socket());
    let payload = vec![7; 32 << 20];
    for _ in 0..2 {
        assert!(large.request(0, 1, 0, 32 * MIB, &payload));
        assert_eq!(large.error(), 0);
        assert!(large.request(0, 0, 0, 32 * MIB, &[]));
        assert_eq!(large.error(), 0);
        assert!(large.take(32 << 20) == payload);
    }
    // All were let go in turn, for they took nothing; whatever they held is free again.
    let began = Instant::now();
    while served.server.clients().len() > 2 {
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", served.server.clients());
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(greedy);
    // One that leaves while it waits leaves nothing behind.
    let holds: Vec<Raw> = (0..2).map(|_| self::greedy(&served.socket())).collect();
    let waits = self::greedy(&served.socket());
    drop(waits);
    drop(holds);
    assert!(large.request(0, 0, 0, 32 * MIB, &[]));
    assert_eq!(large.error(), 0);
    assert_eq!(large.take(32 << 20).len(), 32 << 20);
}

#[test]
fn a_server_stops_while_somebody_waits_for_memory() {
    let limits = Limits { memory_bytes: MIN_MEMORY_BYTES, ..Limits::default() };
    let served = served(SIZE, Security::Plain, limits);
    let greedy: Vec<Raw> = (0..4).map(|_| greedy(&served.socket())).collect();
    std::thread::sleep(Duration::from_millis(200));
    served.server.stop();
    assert!(served.server.clients().is_empty());
    drop(greedy);
}

#[test]
fn who_is_turned_away_is_counted() {
    let served = served(SIZE, Security::Plain, Limits { connections: 2, ..Limits::default() });
    let mut taken: Vec<Raw> = (0..2).map(|_| Raw::ready(&served.socket())).collect();
    for _ in 0..5 {
        let mut stream = UnixStream::connect(served.socket()).unwrap();
        assert!(!matches!(stream.read(&mut [0; 18]), Ok(1..)));
    }
    assert_eq!(served.server.turned_away(), 5);
    taken.iter_mut().for_each(Raw::works);
}
