//! A card of several shards is one card to its clients and to its operator.

use crate::bytes::{Client, SIZE, a_while, is_as, start};
use device::Rng;
use live::{Action, Change, Live, ReplyError, Request, Start, Timing};
use media::{Flash, Medium, Physics};
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

pub(crate) fn sharded(card: &str, shards: u32, size_bytes: u64) -> Live {
    let of_shard = Live::shard_bytes(size_bytes, shards);
    let config = profile::Profile::builtin(card).unwrap().with_contents(Some(of_shard)).unwrap();
    let start = Start { config, ..start(card, Timing::None) };
    let medium = |shard: u32| Medium::from(Flash::new(card::shape(&config), Physics::IDEAL, shard.into()));
    Live::format_shards((0..shards).map(medium).collect(), &start, size_bytes).unwrap()
}

fn until(live: &Live, what: &str, is_so: impl Fn(&live::Status) -> bool) {
    let began = Instant::now();
    while !is_so(&live.status()) {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}: {:?}", live.status());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_card_of_shards_reads_as_what_was_written() {
    for (card, shards) in [("tachion-400", 2), ("iodrive-320-mlc", 3)] {
        let live = sharded(card, shards, SIZE);
        assert_eq!((live.size_bytes(), live.shards(), live.status().shards), (SIZE, shards, shards));
        let mut client = Client::new(&live);
        let mut plain = vec![0; SIZE as usize];
        a_while(&mut client, &mut plain, 1, 6_000);
        is_as(&mut client, &plain);
        // Longer than a chunk, and from the middle of one.
        let long: Vec<u8> = (0..5 * MIB).map(|at| (at / 777) as u8).collect();
        client.write(3 * MIB / 2 + 100, &long, true);
        assert!(client.read(3 * MIB / 2 + 100, long.len() as u32) == long);
        for (at, len) in [(SIZE, 512), (SIZE - 511, 512), (u64::MAX - 5, 4096)] {
            assert_eq!(client.call(Request::read(0, at, len)).result.unwrap_err(), ReplyError::OutOfRange);
        }
    }
}

/// The last chunk of a card may be shorter than the others, and shards are as long as their share.
#[test]
fn a_card_may_have_any_number_of_sectors() {
    for sectors in [3 * 256 + 1, 5 * 256 + 255, 6 * 256] {
        let size_bytes = sectors * 4096;
        let live = sharded("tachion-400", 3, size_bytes);
        let mut client = Client::new(&live);
        let bytes: Vec<u8> = (0..size_bytes).map(|at| (at / 4096) as u8).collect();
        client.write(0, &bytes, false);
        assert!(client.read(0, size_bytes as u32) == bytes);
        let beyond = client.call(Request::read(0, size_bytes, 1)).result;
        assert_eq!(beyond.unwrap_err(), ReplyError::OutOfRange);
    }
}

#[test]
fn a_request_counts_once_on_whichever_shards_it_lies() {
    let live = sharded("tachion-400", 3, SIZE);
    let mut client = Client::new(&live);
    client.write(MIB - 4096, &[1; 8192], false);
    client.write(0, &[1; 4096], false);
    client.call(Request::flush(0)).result.unwrap();
    client.read(0, 4 * MIB as u32);
    client.call(Request::trim(0, 0, 9 * MIB as u32)).result.unwrap();
    client.call(Request::read(0, SIZE, 1)).result.unwrap_err();
    let stats = live.status().stats;
    let counts = [stats.reads, stats.writes, stats.flushes, stats.trims].map(|kind| (kind.count, kind.bytes));
    assert_eq!(counts, [(1, 4 * MIB), (2, 8192 + 4096), (1, 0), (1, 9 * MIB)]);
    assert_eq!(stats.errors, 1);
    assert_eq!(live.snapshot().status.stats, stats);
    assert_eq!(live.latencies(live::Kind::Flush).len(), 1);
}

#[test]
fn holes_are_found_over_all_shards() {
    let live = sharded("tachion-400", 2, SIZE);
    let mut client = Client::new(&live);
    client.write(2 * MIB - 8192, &vec![1; 2 * MIB as usize], false);
    let found = client.port.extents(MIB, 5 * MIB, 10);
    let hole = MIB - 8192;
    assert_eq!(found, [(hole, false), (2 * MIB, true), (5 * MIB - 2 * MIB - hole, false)]);
    assert_eq!(client.port.extents(MIB, 5 * MIB, 1), [(hole, false)]);
}

#[test]
fn a_power_cut_strikes_all_shards_and_costs_nothing_durable() {
    let live = sharded("tachion-400", 3, SIZE);
    let mut client = Client::new(&live);
    let mut plain = vec![0; SIZE as usize];
    for round in 0..4 {
        a_while(&mut client, &mut plain, round, 200);
        client.call(Request::flush(0)).result.unwrap();
        live.act(Action::PowerCut).unwrap();
        assert!(!live.status().powered && live.health().is_none());
        for at in 0..3 {
            let read = client.call(Request::read(0, at * MIB, 4096));
            assert_eq!(read.result.unwrap_err(), ReplyError::NoPower);
        }
        assert_eq!(client.call(Request::flush(0)).result.unwrap_err(), ReplyError::NoPower);
        live.act(Action::PowerOn).unwrap();
        assert_eq!(live.status().power_cuts, round + 1);
        is_as(&mut client, &plain);
    }
}

#[test]
fn a_module_goes_from_all_shards_and_comes_back_to_all() {
    let live = sharded("tachion-400", 2, SIZE);
    let mut client = Client::new(&live);
    let mut plain = vec![0; SIZE as usize];
    for (round, new) in [(1, false), (2, true)] {
        let slot = round as u32 * 3;
        a_while(&mut client, &mut plain, round, 300);
        live.act(Action::Pull { slot, force: false }).unwrap();
        assert!(live.status().degraded);
        assert!(!live.modules()[slot as usize].present);
        live.act(Action::Pull { slot, force: false }).unwrap_err();
        a_while(&mut client, &mut plain, round + 10, 300);
        is_as(&mut client, &plain);
        live.act(Action::Insert { slot, new }).unwrap();
        a_while(&mut client, &mut plain, round + 20, 300);
        until(&live, "it is rebuilt", |status| !status.degraded);
        is_as(&mut client, &plain);
    }
    live.act(Action::Insert { slot: 0, new: true }).unwrap_err();
    live.act(Action::Scrub).unwrap();
    until(&live, "it is scrubbed", |status| status.scrub.is_none());
}

#[test]
fn a_rate_is_shared_by_the_shards() {
    let live = sharded("tachion-400", 3, SIZE);
    let before = live.status().settings;
    let rate = Some(Some(100_000_001));
    live.act(Action::Set(Change { rebuild_bytes_per_s: rate, ..Change::default() })).unwrap();
    let after = live.status().settings;
    assert_eq!((Some(after.rebuild_bytes_per_s), after.target_free_bands), (rate, before.target_free_bands));
    live.act(Action::Set(Change { rebuild_bytes_per_s: Some(Some(0)), ..Change::default() })).unwrap_err();
    assert_eq!(live.status().settings, after);
    live.act(Action::Set(Change { rebuild_bytes_per_s: Some(None), ..Change::default() })).unwrap();
    assert_eq!(live.status().settings, before);
}

/// Each client has a part of every shard to itself, and asks for many things at once.
#[test]
fn clients_on_several_threads_ask_all_shards_at_once() {
    let live = sharded("tachion-400", 2, SIZE);
    let one = &|number: u64| {
        let mut client = Client::new(&live);
        let mut rng = Rng::stream(number, "client");
        let (first, count) = (number * SIZE / 4096 / 4, SIZE / 4096 / 4);
        let mut plain = vec![0u8; count as usize];
        for _ in 0..400 {
            let writes: Vec<(u64, Vec<u8>)> =
                (0..16).map(|_| (rng.below(count), vec![rng.below(256) as u8; 4096])).collect();
            let request = |(tag, (at, bytes))| Request::write(tag, (first + at) * 4096, bytes);
            let mut requests: Vec<Request> =
                (0u64..).zip(writes.iter().map(|(at, bytes)| (*at, &bytes[..]))).map(request).collect();
            requests.push(Request::flush(16));
            let mut replies = Vec::new();
            client.port.submit(&requests, &mut replies);
            while replies.len() < requests.len() {
                client.rings.recv_timeout(Duration::from_secs(20)).expect("a reply");
                client.port.replies(&mut replies);
            }
            assert!(replies.iter().all(|reply| reply.result.is_ok()));
            for (at, bytes) in &writes {
                plain[*at as usize] = bytes[0];
            }
        }
        for (at, byte) in (0..).zip(plain) {
            assert!(client.read((first + at) * 4096, 4096) == [byte; 4096], "client {number}, sector {at}");
        }
    };
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || one(number));
        }
    });
}
