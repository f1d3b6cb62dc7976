//! Long writes to a card on files, which its own threads carry out.

use crate::files::{Card, Client};
use live::{Action, Live, ReplyError, Request};
use std::time::{Duration, Instant};

/// The bytes of each write.
const BYTES: usize = 256 << 10;
/// Writes at once.
const WRITES: u64 = 32;

/// The bytes of a write of a client.
fn bytes(client: u64, write: u64) -> Vec<u8> {
    let word = |at: usize| (client << 56 | write << 40 | at as u64).to_le_bytes();
    (0..BYTES / 8).flat_map(word).collect()
}

/// All that a client writes at once, each client in its own place.
fn contents(client: u64) -> Vec<Vec<u8>> {
    (0..WRITES).map(|write| bytes(client, write)).collect()
}

fn offset(client: u64, write: u64) -> u64 {
    (client * WRITES + write) * BYTES as u64
}

fn writes(client: u64, contents: &[Vec<u8>]) -> Vec<Request<'_>> {
    (0..).zip(contents).map(|(write, bytes)| Request::write(write, offset(client, write), bytes)).collect()
}

/// All that a client has written reads as that.
fn is_written(of: &mut Client, client: u64) -> bool {
    contents(client).iter().zip(0..).all(|(bytes, write)| {
        let read = of.call(Request::read(0, offset(client, write), BYTES as u32));
        read.result.expect("readable").to_vec() == *bytes
    })
}

#[test]
fn long_writes_of_several_clients_are_answered_once_each_and_read_as_they_were_written() {
    for shards in [1, 3] {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (card, live) = Card::new(dir.path(), shards);
        let begin = |client: u64| {
            let mut asks = Client::listening(&live);
            let contents = contents(client);
            let replies = asks.begin(&writes(client, &contents));
            assert_eq!((asks.heard(), replies.len()), (vec![], 0), "the card's own threads hear the media");
            let mut tags: Vec<u64> = asks
                .wait(replies, WRITES as usize)
                .into_iter()
                .map(|reply| reply.result.map(|_| reply.tag).expect("written"))
                .collect();
            tags.sort_unstable();
            assert_eq!(tags, (0..WRITES).collect::<Vec<_>>());
            // Writes that do not cover whole sectors are carried out by their client.
            let (first, odd) = (offset(client, 0), vec![0xA5; BYTES]);
            asks.call(Request::write(0, first + 1, &odd[..BYTES - 2])).result.expect("written");
            asks.call(Request::flush(0)).result.expect("flushed");
            let read = asks.call(Request::read(0, first, BYTES as u32)).result.expect("readable").to_vec();
            let (whole, last) = (&contents[0], BYTES - 1);
            assert!(read[0] == whole[0] && read[last] == whole[last] && read[1..last] == odd[1..last]);
            asks.call(Request::write(0, first, whole)).result.expect("written");
            assert!(is_written(&mut asks, client));
        };
        std::thread::scope(|scope| (0..3).for_each(|client| drop(scope.spawn(move || begin(client)))));
        drop(live);
        let live = card.open();
        let mut asks = Client::listening(&live);
        assert!((0..3).all(|client| is_written(&mut asks, client)), "after a start");
    }
}

#[test]
fn a_client_that_submits_nothing_goes_on_hearing_the_medium() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (card, live) = Card::new(dir.path(), 1);
    Client::listening(&live).ask(&writes(0, &contents(0)));
    drop(live);
    // Nothing of it is in the buffer.
    let live = card.open();
    let mut asks = Client::listening(&live);
    for write in 0..WRITES {
        let mut replies = asks.begin(&[Request::read(write, offset(0, write), BYTES as u32)]);
        replies.extend(asks.begin(&[]));
        assert!(replies.len() == 1 || asks.heard() == [0], "nobody hears the medium");
        asks.wait(replies, 1);
    }
}

#[test]
fn what_a_client_has_posted_is_carried_out_though_it_goes() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (_card, live) = Card::new(dir.path(), 1);
    for client in 0..3 {
        let contents = contents(client);
        assert!(Client::listening(&live).begin(&writes(client, &contents)).is_empty());
    }
    let (mut asks, began) = (Client::listening(&live), Instant::now());
    while !(0..3).all(|client| is_written(&mut asks, client)) {
        assert!(began.elapsed() < Duration::from_secs(20), "some of it is not there");
    }
}

#[test]
fn posted_writes_are_answered_when_the_power_goes_and_when_the_card_ends() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (_card, mut live) = Card::new(dir.path(), 1);
    let (mut asks, contents) = (Client::listening(&live), contents(0));
    let mut answered = |live: &mut Live, act: fn(&mut Live)| {
        let replies = asks.begin(&writes(0, &contents));
        act(live);
        let replies = asks.wait(replies, WRITES as usize);
        assert_eq!(replies.len(), WRITES as usize);
        let error = |reply: &live::Reply| reply.result.as_ref().err().copied();
        assert!(replies.iter().filter_map(error).all(|error| error == ReplyError::NoPower), "{replies:?}");
    };
    for _ in 0..5 {
        answered(&mut live, |live| live.act(Action::PowerCut).map(drop).unwrap());
        answered(&mut live, |_| {});
        live.act(Action::PowerOn).unwrap();
        answered(&mut live, |_| {});
    }
    assert!(is_written(&mut asks, 0));
    let replies = asks.begin(&writes(0, &contents));
    live.shut_down();
    asks.wait(replies, WRITES as usize);
    assert!(asks.call(Request::write(0, 0, &contents[0])).result.is_err(), "the card has ended");
}
