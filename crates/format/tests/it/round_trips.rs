//! Encoded values decode to the same, and bytes that decode were encoded that way.

use crate::common::*;
use format::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_spare_area_comes_back(spare in any_spare()) {
        prop_assert_eq!(Spare::decode(&encoded(&spare)), Ok(spare));
    }

    #[test]
    fn a_header_comes_back(header in any_header()) {
        let bytes = header.encode();
        prop_assert_eq!(bytes.len(), HEADER_BYTES);
        prop_assert_eq!(ModuleHeader::decode(&bytes), Ok(header));
    }

    #[test]
    fn a_checkpoint_comes_back_whatever_follows(checkpoint in any_checkpoint(), padding in 0usize..200) {
        let bytes = checkpoint.encode();
        let mut padded = bytes.clone();
        padded.resize(bytes.len() + padding, 0);
        let decoded = Checkpoint::decode(&padded).expect("it was encoded");
        prop_assert_eq!((&decoded.map, &decoded.bands), (&checkpoint.map, &checkpoint.bands));
        prop_assert_eq!(&decoded.owed_segments, &checkpoint.owed_segments);
        let head = CheckpointHead {
            map_entries: checkpoint.map.len() as u32,
            bands: checkpoint.bands.len() as u32,
            owed_segments: checkpoint.owed_segments.len() as u32,
            body_bytes: (bytes.len() - CHECKPOINT_HEAD_BYTES) as u64,
            body_crc: payload_crc(&bytes[CHECKPOINT_HEAD_BYTES..]),
            ..checkpoint.head
        };
        prop_assert_eq!(decoded.head, head);
        prop_assert_eq!(decoded.encode(), bytes);
    }

    #[test]
    fn a_checkpoint_takes_the_sectors_that_it_says(checkpoint in any_checkpoint(), payload_bytes in 16u32..=4096) {
        let parts = checkpoint.encode().chunks(payload_bytes as usize).count();
        let Checkpoint { map, bands, owed_segments, .. } = &checkpoint;
        let count = |len: usize| len as u32;
        let sectors = Checkpoint::sectors(count(map.len()), count(bands.len()), count(owed_segments.len()), payload_bytes);
        prop_assert_eq!(sectors as usize, parts);
    }

    #[test]
    fn a_summary_comes_back_and_zeros_follow(entries in any_summary(), spare_bytes in 0usize..100) {
        let mut payload = vec![0xff; entries.len() * SUMMARY_ENTRY_BYTES + spare_bytes];
        encode_summary(&entries, &mut payload);
        let decoded: Vec<_> = decode_summary(&payload).collect();
        prop_assert_eq!(decoded.len(), entries_per_sector(payload.len()));
        prop_assert_eq!(&decoded[..entries.len()], &entries[..]);
        prop_assert!(decoded[entries.len()..].iter().all(|entry| *entry == SummaryEntry::default()));
        prop_assert!(payload[entries.len() * SUMMARY_ENTRY_BYTES..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn holes_are_those_that_were_set(
        set in proptest::collection::btree_set(0u32..448, 0..100),
        clear in proptest::collection::btree_set(0u32..448, 0..100),
    ) {
        let mut payload = [0; 64];
        set_holes_as_of(&mut payload, 7);
        set.iter().for_each(|index| set_hole(&mut payload, *index));
        clear.iter().for_each(|index| clear_hole(&mut payload, *index));
        let left: Vec<u32> = set.difference(&clear).copied().collect();
        prop_assert_eq!(holes_as_of(&payload), 7);
        prop_assert_eq!(holes(&payload).collect::<Vec<_>>(), left.clone());
        prop_assert!((0..hole_segment_lbas(64)).all(|index| is_hole(&payload, index) == left.contains(&index)));
    }
}

#[test]
fn each_lba_has_one_place_among_the_holes() {
    for payload_bytes in [16, 4096] {
        let lbas = hole_segment_lbas(payload_bytes);
        for lba in [0, 1, lbas - 1, lbas, lbas + 1, u32::MAX] {
            let (segment, index) = hole_place(lba, payload_bytes);
            assert!(index < lbas);
            assert_eq!(u64::from(segment) * u64::from(lbas) + u64::from(index), u64::from(lba));
        }
    }
}

#[test]
fn the_largest_checkpoint_has_a_number_of_sectors() {
    assert_eq!(Checkpoint::sectors(0, 0, 0, 4096), 1);
    assert_eq!(Checkpoint::sectors(100_000_000, 10_000, 0, 4096), 97_696);
    assert_eq!(Checkpoint::sectors(u32::MAX, u32::MAX, 0, 1), u32::MAX);
}

/// The spare areas of parity and the other members give that of the lost member.
#[test]
fn a_lost_members_spare_area_follows_from_the_others() {
    let members: Vec<Spare> = (0..3u8)
        .map(|unit| Spare {
            unit,
            lba: 1000 + u32::from(unit) * 77,
            version: 1 << (unit * 20),
            role: [Role::Data, Role::Holes, Role::Lost][usize::from(unit)],
            payload_crc: payload_crc(&[unit; 16]),
            ..spare()
        })
        .collect();
    let xor = |of: fn(&Spare) -> u64, among: &[Spare]| among.iter().map(of).fold(0, |all, one| all ^ one);
    let parity = Spare {
        role: Role::Parity,
        unit: 3,
        lba: xor(|spare| spare.lba.into(), &members) as u32,
        version: xor(|spare| spare.version, &members),
        member_role: xor(|spare| spare.role as u64, &members) as u8,
        member_crc: xor(|spare| spare.payload_crc.into(), &members) as u32,
        ..spare()
    };
    let parity = Spare::decode(&encoded(&parity)).expect("it was encoded");
    let (lost, left) = members.split_first().expect("there are three");
    let rebuilt = Spare {
        role: Role::from_byte(parity.member_role ^ xor(|spare| spare.role as u64, left) as u8).expect("a role"),
        unit: 0,
        lba: parity.lba ^ xor(|spare| spare.lba.into(), left) as u32,
        version: parity.version ^ xor(|spare| spare.version, left),
        payload_crc: parity.member_crc ^ xor(|spare| spare.payload_crc.into(), left) as u32,
        member_role: 0,
        member_crc: 0,
        ..parity
    };
    assert_eq!(rebuilt, *lost);
}
