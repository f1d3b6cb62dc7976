//! Requests are divided, and cover exactly what was asked for.

use crate::model::{Act, Kind, LIMITS, Pace, Rig};
use device::{Operation, SECTOR_BYTES};
use proptest::prelude::*;

fn carried_out(kind: Kind, offset_bytes: u64, len_bytes: u32) -> Rig {
    let mut rig = Rig::new(Pace::InAnyOrder, 3);
    let client = rig.session.connect();
    let act = Act { client: 0, kind, offset_bytes, len_bytes, steps: 0 };
    let mut plain = rig.model.bytes.clone();
    act.apply(1, &mut plain);
    rig.submit(client, &act.request(1, &act.bytes(1)));
    rig.settle();
    assert_eq!(rig.replies.len(), 1);
    assert!(rig.model.bytes == plain, "{act:?}");
    rig
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_trim_covers_exactly_its_whole_sectors(from in 0..100_000u64, len in 0..100_000u32) {
        let rig = carried_out(Kind::Trim, from, len);
        let end = from + u64::from(len);
        let mut at = from.next_multiple_of(SECTOR_BYTES);
        for piece in &rig.model.submitted {
            prop_assert_eq!((piece.operation, piece.range.offset_bytes), (Operation::Trim, at));
            prop_assert!(u64::from(piece.range.len_bytes) <= LIMITS.max_trim_bytes);
            at += u64::from(piece.range.len_bytes);
        }
        let end_whole = end / SECTOR_BYTES * SECTOR_BYTES;
        prop_assert_eq!(at, end_whole.max(from.next_multiple_of(SECTOR_BYTES)));
    }

    #[test]
    fn zeroes_cover_exactly_their_range(from in 0..100_000u64, len in 0..100_000u32, keeps_room in any::<bool>()) {
        let rig = carried_out(Kind::Zeroes { keeps_room }, from, len);
        let mut pieces = rig.model.submitted.clone();
        pieces.sort_by_key(|piece| piece.range.offset_bytes);
        let mut at = from;
        for piece in &pieces {
            prop_assert_eq!(piece.range.offset_bytes, at);
            prop_assert!(!keeps_room || piece.operation == Operation::Write && u64::from(piece.range.len_bytes) <= LIMITS.max_zeroes_bytes);
            // Zeroes are written only where nothing can be trimmed.
            let is_edge = u64::from(piece.range.len_bytes) < SECTOR_BYTES;
            prop_assert!(keeps_room || is_edge == (piece.operation == Operation::Write));
            at += u64::from(piece.range.len_bytes);
        }
        prop_assert_eq!(at, from + u64::from(len));
    }
}
