//! A client of a card that is divided over shards is told the same as by one device.

use crate::model::{Pace, Rig, SIZE_BYTES, any_pace};
use device::{Operation, SECTOR_BYTES, Time};
use proptest::prelude::*;
use session::{ClientId, Division, Joined, ReplyError, Request, Router, ToShard};

const CHUNK_BYTES: u64 = 2 * SECTOR_BYTES;

/// Shards that are devices of their own, and the router of a client.
struct Shards {
    rigs: Vec<(Rig, ClientId, usize)>,
    router: Router<Vec<u8>>,
    answered: Vec<(u64, Result<Vec<u8>, ReplyError>)>,
}

impl Shards {
    fn new(shards: u32, pace: Pace, seed: u64) -> Shards {
        let division = Division::new(shards, CHUNK_BYTES, u64::from(shards) * SIZE_BYTES);
        let rig = |shard: u32| {
            let mut rig = Rig::new(pace, seed + u64::from(shard));
            let client = rig.session.connect();
            (rig, client, 0)
        };
        Shards { rigs: (0..shards).map(rig).collect(), router: Router::new(division), answered: Vec::new() }
    }

    fn submit(&mut self, request: &Request) {
        let mut parts: Vec<ToShard> = Vec::new();
        match self.router.whole(request) {
            Some(whole) => parts.push(whole),
            None => self.router.divide(request, Time::ZERO, &mut parts),
        }
        for (shard, part) in parts {
            let (rig, client, _) = &mut self.rigs[shard as usize];
            rig.submit(*client, &part);
        }
        self.collect();
    }

    fn step(&mut self) {
        self.rigs.iter_mut().for_each(|(rig, ..)| _ = rig.step());
        self.collect();
    }

    fn collect(&mut self) {
        for (shard, (rig, _, seen)) in (0..).zip(&mut self.rigs) {
            for reply in rig.replies[*seen..].iter().cloned() {
                if !reply.is_part {
                    self.answered.push((reply.tag, reply.result.map(|()| reply.data)));
                } else if let Some(joined) = self.router.join(shard, reply.tag, reply.result, reply.data) {
                    let Joined { tag, result, data, .. } = joined;
                    self.answered.push((tag, result.map(|()| data.concat())));
                }
            }
            *seen = rig.replies.len();
        }
    }

    fn settle(&mut self) {
        self.rigs.iter_mut().for_each(|(rig, ..)| rig.settle());
        self.collect();
    }

    fn answer(&self, tag: u64) -> Option<&Result<Vec<u8>, ReplyError>> {
        self.answered.iter().find(|(answered, _)| *answered == tag).map(|(_, result)| result)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn shards_hold_what_one_device_would(
        shards in 1..=3u32,
        steps in proptest::collection::vec((0..4u8, 0..120u64, 1..40u64, any::<u8>()), 1..40),
        pace in any_pace(),
        seed in any::<u64>(),
    ) {
        let size_bytes = u64::from(shards) * SIZE_BYTES;
        let mut copy = vec![0xee; size_bytes as usize];
        let mut card = Shards::new(shards, pace, seed % 1000);
        for (tag, (what, at, len, byte)) in (0u64..).zip(steps) {
            // Units of an eighth of a sector: parts of sectors as well as whole ones.
            let (at, len) = (at * 512, len * 512);
            let range = at as usize..(at + len) as usize;
            let bytes: Vec<u8> = (0..len).map(|i| byte.wrapping_add((i / 512) as u8)).collect();
            let request = match what {
                0 => Request::write(tag, at, &bytes),
                1 => Request::write_zeroes(tag, at, len as u32, byte % 2 == 0),
                2 => Request::flush(tag),
                _ => Request::read(tag, at, len as u32),
            };
            card.submit(&request);
            card.settle();
            let answer = card.answer(tag).expect("it is answered").clone().expect("it works");
            match request.operation {
                Operation::Write => copy[range].copy_from_slice(&bytes),
                Operation::Trim => copy[range].fill(0),
                Operation::Read => prop_assert_eq!(&answer, &copy[range]),
                Operation::Flush => {}
            }
        }
        prop_assert!(card.router.is_idle());
        for (shard, (rig, ..)) in (0..).zip(&card.rigs) {
            for at in (0..SIZE_BYTES).step_by(512) {
                let outer = card.router.division().outer(shard, at) as usize;
                prop_assert_eq!(rig.model.bytes[at as usize], copy[outer]);
            }
        }
    }

    #[test]
    fn a_flush_covers_writes_to_all_shards(
        steps in proptest::collection::vec((any::<bool>(), 0..4u32), 1..60),
        pace in any_pace(),
        seed in 0..1000u64,
    ) {
        let mut card = Shards::new(3, pace, seed);
        let mut flushes: Vec<(u64, Vec<u64>)> = Vec::new();
        for (tag, (is_flush, moves)) in (0u64..).zip(steps) {
            if is_flush {
                let covered = card.answered.iter().map(|(tag, _)| *tag).filter(|tag| tag % 2 == 1).collect();
                flushes.push((2 * tag, covered));
                card.submit(&Request::flush(2 * tag));
            } else {
                let bytes = vec![tag as u8; SECTOR_BYTES as usize];
                card.submit(&Request::write(2 * tag + 1, tag * SECTOR_BYTES, &bytes));
            }
            for _ in 0..moves {
                card.step();
                for (flush, covered) in flushes.extract_if(.., |(flush, _)| card.answer(*flush).is_some()) {
                    for write in covered {
                        let (shard, at) = card.router.division().inner(write / 2 * SECTOR_BYTES);
                        let durable = card.rigs[shard as usize].0.model.durable[at as usize];
                        prop_assert_eq!(durable, (write / 2) as u8, "flush {} and write {}", flush, write);
                    }
                }
            }
        }
    }
}

#[test]
fn a_request_in_one_chunk_is_not_divided_and_one_beyond_the_end_is_refused() {
    let mut card = Shards::new(2, Pace::AtOnce, 1);
    let whole = |card: &Shards, at, len| card.router.whole(&Request::read(1, at, len));
    let (shard, request) = whole(&card, CHUNK_BYTES, CHUNK_BYTES as u32).expect("a chunk");
    assert_eq!((shard, request.range.offset_bytes, request.tag, request.is_part), (1, 0, 1, false));
    assert!(whole(&card, CHUNK_BYTES - 1, 2).is_none());
    for (tag, at, len) in [(2, 2 * SIZE_BYTES - 1, 2), (3, u64::MAX, 5), (4, 2 * SIZE_BYTES + 1, 0)] {
        card.submit(&Request::read(tag, at, len));
        assert_eq!(card.answer(tag), Some(&Err(ReplyError::OutOfRange)));
    }
}

#[test]
fn the_error_of_a_part_is_the_error_of_the_request_at_the_address_of_the_card() {
    let division = Division::new(2, CHUNK_BYTES, 8 * CHUNK_BYTES);
    let unreadable = |offset_bytes| Err(ReplyError::Unreadable { offset_bytes });
    let cases = [
        ([Ok(()), unreadable(SECTOR_BYTES)], unreadable(CHUNK_BYTES + SECTOR_BYTES)),
        ([unreadable(SECTOR_BYTES), unreadable(0)], unreadable(SECTOR_BYTES)),
        ([unreadable(0), Err(ReplyError::Halted)], Err(ReplyError::Halted)),
        ([Err(ReplyError::NoPower), unreadable(0)], Err(ReplyError::NoPower)),
    ];
    for (results, expected) in cases {
        let mut router: Router<()> = Router::new(division);
        let mut parts = Vec::new();
        router.divide(&Request::read(7, 0, 2 * CHUNK_BYTES as u32), Time::ZERO, &mut parts);
        assert_eq!(parts.iter().map(|(shard, _)| *shard).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(router.join(0, parts[0].1.tag, results[0], ()), None);
        let joined = router.join(1, parts[1].1.tag, results[1], ()).expect("the last part");
        assert_eq!((joined.tag, joined.result), (7, expected));
    }
}
