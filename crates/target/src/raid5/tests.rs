//! RAID 5 over cards whose times are known.

use super::{Gone, Raid5};
use crate::fixed::Fixed;
use device::{Completion, Device, Operation, Request, RequestId, Rng, Time};

const READ_NS: u64 = 100;
const WRITE_NS: u64 = 300;
const CHUNK: u64 = 64 << 10;
const ROWS: u64 = 40;

fn raid(cards: usize, gone: Option<Gone>) -> Raid5<Fixed> {
    let there = cards - usize::from(gone.is_some_and(|gone| gone.rebuild_bytes_per_s == 0));
    let card = || Fixed::new(READ_NS, WRITE_NS, ROWS * CHUNK / 4096);
    Raid5::new((0..there).map(|_| card()).collect(), CHUNK, gone, 16, false)
}

fn dead(card: usize) -> Option<Gone> {
    Some(Gone { card, rebuild_bytes_per_s: 0 })
}

/// Asks for one thing; returns how long it took, and the reads and writes of the cards that it was.
fn ask(raid: &mut Raid5<Fixed>, now: &mut Time, request: Request) -> (u64, usize, usize) {
    let before = counts(raid);
    let (began, mut done) = (*now, Vec::new());
    raid.submit(began, RequestId(0), request, &mut done);
    while done.is_empty() {
        *now = raid.next_event();
        raid.advance(*now, &mut done);
    }
    let after = counts(raid);
    (*now - began, after.0 - before.0, after.1 - before.1)
}

fn counts(raid: &Raid5<Fixed>) -> (usize, usize) {
    let of = |operation| raid.cards().iter().map(|card| card.asked(operation).len()).sum();
    (of(Operation::Read), of(Operation::Write))
}

#[test]
fn a_small_write_reads_twice_writes_twice_and_takes_both_times() {
    let (mut raid, mut now) = (raid(6, None), Time::ZERO);
    assert_eq!(ask(&mut raid, &mut now, Request::write(8192, 4096)), (READ_NS + WRITE_NS, 2, 2));
    assert_eq!(ask(&mut raid, &mut now, Request::read(8192, 4096)), (READ_NS, 1, 0));
    // A whole row: nothing is read.
    assert_eq!(ask(&mut raid, &mut now, Request::write(5 * CHUNK, 5 * CHUNK as u32)), (WRITE_NS, 0, 6));
    assert_eq!(ask(&mut raid, &mut now, Request::flush()), (WRITE_NS, 0, 0));
    assert_eq!(ask(&mut raid, &mut now, Request::trim(0, 4096)), (0, 0, 0));
}

#[test]
fn a_read_of_a_dead_card_is_one_of_each_of_the_others() {
    for card in 0..6 {
        let (mut raid, mut now) = (raid(6, dead(card)), Time::ZERO);
        // Thirty chunks are six rows, in which each card has five of data.
        let read = |i: u64| {
            let (ns, reads, writes) = ask(&mut raid, &mut now, Request::read(i * CHUNK, 4096));
            assert_eq!((ns, writes), (READ_NS, 0), "all at once");
            reads
        };
        let reads: Vec<usize> = (0..30).map(read).collect();
        assert_eq!(reads.iter().filter(|reads| **reads == 5).count(), 5, "{reads:?}");
        assert_eq!(reads.iter().filter(|reads| **reads == 1).count(), 25);
    }
}

#[test]
fn a_write_of_a_dead_card_reads_the_rest_of_its_row_and_one_whose_parity_is_gone_reads_nothing() {
    let (mut raid, mut now) = (raid(6, dead(0)), Time::ZERO);
    let mut costs: Vec<(u64, usize, usize)> =
        (0..30).map(|i| ask(&mut raid, &mut now, Request::write(i * CHUNK, 4096))).collect();
    costs.sort_unstable();
    costs.dedup();
    assert_eq!(costs, [(WRITE_NS, 0, 1), (READ_NS + WRITE_NS, 2, 2), (READ_NS + WRITE_NS, 4, 1)]);
}

#[test]
fn small_writes_wear_each_card_by_twice_its_share_and_whole_rows_by_their_parity() {
    let wear = |request_bytes: u64, requests: u64| {
        let (mut raid, mut now) = (raid(5, None), Time::ZERO);
        let mut rng = Rng::stream(1, "places");
        let places = raid.capacity_bytes() / request_bytes;
        for _ in 0..requests {
            let at = rng.below(places) * request_bytes;
            ask(&mut raid, &mut now, Request::write(at, request_bytes as u32));
        }
        let written = |card: &Fixed| card.written_bytes() as f64;
        let host = (requests * request_bytes) as f64;
        raid.cards().iter().map(|card| written(card) / host).collect::<Vec<f64>>()
    };
    for share in wear(4096, 20_000) {
        assert!((share / (2.0 / 5.0) - 1.0).abs() < 0.03, "{share}");
    }
    // Four chunks of data and one of parity: exactly the same for each card.
    for share in wear(4 * CHUNK, 200) {
        assert!((share - 1.0 / 4.0).abs() < 1e-9, "{share}");
    }
}

#[test]
fn writes_to_the_same_bytes_of_a_row_go_one_after_the_other() {
    let mut raid = raid(6, None);
    let mut done = Vec::new();
    (0..4).for_each(|id| raid.submit(Time(0), RequestId(id), Request::write(0, 4096), &mut done));
    // The same place of the parity, of another chunk; and other bytes of the row, which wait for nobody.
    raid.submit(Time(0), RequestId(4), Request::write(CHUNK, 4096), &mut done);
    raid.submit(Time(0), RequestId(5), Request::write(2 * CHUNK + 8192, 4096), &mut done);
    let mut ended = Vec::new();
    while raid.next_event() != Time::NEVER {
        let now = raid.next_event();
        raid.advance(now, &mut done);
        ended.extend(done.drain(..).map(|done| (done.id.0, now.0 / (READ_NS + WRITE_NS))));
    }
    assert_eq!(ended, [(0, 1), (5, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
}

#[test]
fn a_spare_is_rebuilt_at_its_rate_and_then_a_card_like_the_others() {
    // A chunk each millisecond.
    let rate = CHUNK * 1_000;
    let mut raid = raid(5, Some(Gone { card: 2, rebuild_bytes_per_s: rate }));
    let mut done: Vec<Completion> = Vec::new();
    let mut now = Time::ZERO;
    while raid.rebuilt().0 < ROWS / 2 {
        now = raid.next_event();
        raid.advance(now, &mut done);
    }
    assert!(now.0.abs_diff(ROWS / 2 * 1_000_000) <= 1_000_000 + READ_NS + WRITE_NS, "{now:?}");
    // It is read for the rows that it has, and not for the others.
    let spare = |raid: &Raid5<Fixed>| raid.cards()[2].asked(Operation::Read).len();
    for i in 0..ROWS * 4 {
        raid.submit(now, RequestId(0), Request::read(i * CHUNK, 4096), &mut done);
        while done.is_empty() {
            now = raid.next_event();
            raid.advance(now, &mut done);
        }
        done.clear();
    }
    assert_eq!(spare(&raid), 16, "of 20 rows, it has parity in four");
    while raid.next_event() != Time::NEVER {
        now = raid.next_event();
        raid.advance(now, &mut done);
    }
    assert_eq!((raid.rebuilt(), raid.spare()), ((ROWS, ROWS), None));
    assert_eq!(raid.cards()[2].written_bytes(), ROWS * CHUNK);
}

#[test]
fn every_request_ends_once_with_and_without_a_card() {
    let spare = Some(Gone { card: 3, rebuild_bytes_per_s: CHUNK * 10_000 });
    for (seed, gone) in [None, dead(0), dead(4), spare].into_iter().enumerate() {
        let mut raid = raid(5, gone);
        let mut rng = Rng::stream(seed as u64, "storm");
        let (mut free, mut done, mut now): (Vec<u32>, Vec<Completion>, _) = ((0..16).collect(), vec![], Time::ZERO);
        let (mut asked, mut finished) = (0, 0);
        while finished < 5_000 {
            let next = raid.next_event();
            if asked < 5_000 && !free.is_empty() && (next == Time::NEVER || rng.below(3) == 0) {
                let len = (rng.below(900) + 1) * 512;
                let at = rng.below((raid.capacity_bytes() - len) / 512) * 512;
                let request = match rng.below(10) {
                    0 => Request::flush(),
                    1..=5 => Request::read(at, len as u32),
                    _ => Request::write(at, len as u32),
                };
                raid.submit(now, RequestId(free.pop().unwrap()), request, &mut done);
                asked += 1;
            } else {
                assert_ne!(next, Time::NEVER, "a request was lost");
                now = next;
                raid.advance(now, &mut done);
            }
            finished += done.len();
            free.extend(done.drain(..).map(|done| done.id.0));
        }
        assert_eq!((raid.in_flight(), asked), (0, 5_000));
    }
}
