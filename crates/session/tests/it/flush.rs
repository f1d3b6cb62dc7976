//! A flush covers what was acknowledged before it, to all clients.

use crate::model::{Rig, any_pace};
use device::SECTOR_BYTES;
use proptest::prelude::*;
use session::Request;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_flush_covers_what_was_acknowledged_to_any_client(
        steps in proptest::collection::vec((0..3usize, any::<bool>(), 0..6u32), 1..40),
        pace in any_pace(),
        seed in any::<u64>(),
    ) {
        let mut rig = Rig::new(pace, seed);
        let clients = [rig.session.connect(), rig.session.connect(), rig.session.connect()];
        // Each write has a sector of its own.
        let mut flushes: Vec<(u64, Vec<u64>)> = Vec::new();
        let mut checked = 0;
        let mut check = |rig: &Rig, flushes: &mut Vec<(u64, Vec<u64>)>| {
            flushes.retain(|(tag, covered)| {
                let is_done = rig.is_answered(*tag);
                for write in covered.iter().filter(|_| is_done) {
                    let at = (write * SECTOR_BYTES) as usize;
                    assert_eq!(rig.model.durable[at], *write as u8, "flush {tag} does not cover write {write}");
                    checked += 1;
                }
                !is_done
            });
        };
        for (tag, (client, is_flush, moves)) in (0u64..).zip(&steps) {
            if *is_flush {
                let covered = rig.replies.iter().filter(|reply| reply.range.len_bytes > 0).map(|reply| reply.tag).collect();
                flushes.push((tag, covered));
                rig.submit(clients[*client], &Request::flush(tag));
            } else {
                let bytes = vec![tag as u8; SECTOR_BYTES as usize];
                rig.submit(clients[*client], &Request::write(tag, tag * SECTOR_BYTES, &bytes));
            }
            for _ in 0..*moves {
                rig.step();
                check(&rig, &mut flushes);
            }
        }
        rig.settle();
        check(&rig, &mut flushes);
        prop_assert!(flushes.is_empty());
    }
}
