//! Damage is found, what can't be is refused by name, and what is newer is told from what is damaged.

use crate::common::*;
use format::*;

/// Every byte of `bytes`, changed in three ways.
fn each_damage(bytes: &[u8], mut judge: impl FnMut(&[u8], usize)) {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() {
        for damage in [0x01, 0x80, 0xff] {
            bytes[at] ^= damage;
            judge(&bytes, at);
            bytes[at] ^= damage;
        }
    }
}

#[test]
fn every_damaged_byte_of_a_spare_area_is_found() {
    each_damage(&encoded(&spare()), |bytes, at| match Spare::decode(bytes) {
        Err(SpareError::Magic { .. }) => assert_eq!(at, 0),
        Err(SpareError::Checksum { .. }) => assert!(at > 0),
        other => panic!("byte {at}: {other:?}"),
    });
}

#[test]
fn every_damaged_byte_of_a_header_is_found() {
    each_damage(&header().encode(), |bytes, at| match ModuleHeader::decode(bytes) {
        Err(HeaderError::Magic { .. }) => assert!(at < 8),
        Err(HeaderError::Checksum { .. }) => assert!(at >= 8),
        other => panic!("byte {at}: {other:?}"),
    });
}

#[test]
fn every_damaged_byte_of_a_checkpoint_is_found() {
    each_damage(&checkpoint().encode(), |bytes, at| match Checkpoint::decode(bytes) {
        Err(CheckpointError::Magic { .. }) => assert!(at < 8),
        Err(CheckpointError::Checksum { .. }) => assert!((8..CHECKPOINT_HEAD_BYTES).contains(&at)),
        Err(CheckpointError::BodyChecksum { .. }) => assert!(at >= CHECKPOINT_HEAD_BYTES),
        other => panic!("byte {at}: {other:?}"),
    });
}

#[test]
fn what_is_cut_short_or_too_long_is_refused() {
    let (spare, header, checkpoint) = (encoded(&spare()), header().encode(), checkpoint().encode());
    for size in 0..SPARE_BYTES {
        assert_eq!(Spare::decode(&spare[..size]), Err(SpareError::Size { found: size }));
    }
    assert_eq!(Spare::decode(&[0xf1; 65]), Err(SpareError::Size { found: 65 }));
    for size in [0, 1, 4095] {
        assert_eq!(ModuleHeader::decode(&header[..size]), Err(HeaderError::Size { found: size }));
    }
    for size in 0..checkpoint.len() {
        let needed = if size < CHECKPOINT_HEAD_BYTES { CHECKPOINT_HEAD_BYTES } else { checkpoint.len() } as u64;
        let error = CheckpointError::Size { found: size as u64, needed };
        assert_eq!(Checkpoint::decode(&checkpoint[..size]), Err(error));
    }
}

#[test]
fn a_blank_header_is_told_from_a_foreign_one() {
    for blank in [0, 0xff] {
        assert_eq!(ModuleHeader::decode(&[blank; HEADER_BYTES]), Err(HeaderError::Blank));
    }
    let mut bytes = [0; HEADER_BYTES];
    bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
    let error = ModuleHeader::decode(&bytes).unwrap_err();
    assert_eq!(error, HeaderError::Magic { found: [0; 8] });
    assert_eq!(
        error.to_string(),
        r#"module header: magic "\x00\x00\x00\x00\x00\x00\x00\x00" at offset 0 instead of "FLASHRIG""#
    );
}

#[test]
fn a_blank_spare_area_is_none() {
    for blank in [0, 0xff] {
        assert_eq!(Spare::decode(&[blank; SPARE_BYTES]), Err(SpareError::Magic { found: blank }));
    }
}

#[test]
fn other_versions_are_refused_by_name() {
    let mut bytes = encoded(&spare());
    bytes[1] = 2;
    put_crc(&mut bytes, 60);
    let error = Spare::decode(&bytes).unwrap_err();
    assert_eq!(error, SpareError::NewerVersion { found: 2, supported: VERSION });
    assert_eq!(error.to_string(), "spare area: format version 2, supported up to 1");

    let mut bytes = header().encode();
    bytes[8..10].copy_from_slice(&0x0102u16.to_le_bytes());
    // A newer version may have bytes that this one doesn't know.
    bytes[3000] = 1;
    put_crc(&mut bytes, 4092);
    let error = ModuleHeader::decode(&bytes).unwrap_err();
    assert_eq!(error, HeaderError::NewerVersion { found: 0x0102, supported: VERSION });
    assert_eq!(error.to_string(), "module header: format version 258, supported up to 1");

    bytes[8..10].copy_from_slice(&0u16.to_le_bytes());
    put_crc(&mut bytes, 4092);
    let error = ModuleHeader::decode(&bytes).unwrap_err();
    assert_eq!(error, HeaderError::OlderVersion { found: 0, supported: format::OLDEST_VERSION });

    let mut bytes = checkpoint().encode();
    bytes[8] = 2;
    put_crc(&mut bytes, 76);
    let error = Checkpoint::decode(&bytes).unwrap_err();
    assert_eq!(error, CheckpointError::NewerVersion { found: 2, supported: VERSION });
    assert_eq!(error.to_string(), "checkpoint: format version 2, supported up to 1");
}

#[test]
fn a_spare_areas_fields_have_limits() {
    for (at, value, field) in
        [(1, 0, "format version"), (2, 0, "role"), (2, 8, "role"), (3, 2, "slc"), (6, 64, "unit"), (7, 64, "sector")]
    {
        let mut bytes = encoded(&spare());
        bytes[at] = value;
        put_crc(&mut bytes, 60);
        assert_eq!(Spare::decode(&bytes), Err(SpareError::Field { field, offset: at, value: value.into() }));
    }
}

#[test]
fn a_headers_fields_have_limits() {
    let user_sectors = 3 * 4 * 1024 * 64 * 2 + 1;
    for (offset, bytes_of, value, field) in [
        (10, 2, 3, "slot"),
        (12, 4, 32, "flags"),
        (64, 4, 0, "modules"),
        (64, 4, 65, "modules"),
        (64, 4, u64::from(u32::MAX), "modules"),
        (68, 4, 0, "dies_per_module"),
        (72, 4, 0, "blocks_per_die"),
        (76, 4, 0, "rows_per_block"),
        (80, 4, 0, "unit_sectors"),
        (80, 4, 65, "unit_sectors"),
        (84, 4, 15, "payload_bytes"),
        (84, 4, 4097, "payload_bytes"),
        (88, 4, 0, "rows_sharing_cells"),
        (92, 4, 0, "stripe_width"),
        (92, 4, 5, "stripe_width"),
        (92, 4, 65, "stripe_width"),
        (96, 4, 2, "parity_units"),
        (100, 4, 2, "slot_count"),
        (100, 4, u64::from(u32::MAX), "slot_count"),
        (104, 8, 0, "user_sectors"),
        (104, 8, user_sectors, "user_sectors"),
        (192, 4, 0, "slc_bits_per_cell"),
        (192, 4, 9, "slc_bits_per_cell"),
        (196, 1, 1, "reserved byte"),
        (199, 1, 1, "reserved byte"),
        (232, 1, 1, "reserved byte"),
        (255, 1, 1, "reserved byte"),
        (272, 1, 4, "slot state"),
        (273, 1, 1, "reserved byte"),
        (352, 1, 1, "reserved byte"),
        (2303, 1, 1, "reserved byte"),
        (4091, 1, 1, "reserved byte"),
    ] {
        let mut bytes = header().encode();
        bytes[offset..offset + bytes_of].copy_from_slice(&u64::to_le_bytes(value)[..bytes_of]);
        put_crc(&mut bytes, 4092);
        assert_eq!(ModuleHeader::decode(&bytes), Err(HeaderError::Field { field, offset, value }));
    }
}

#[test]
fn a_card_has_fewer_than_two_to_the_32_sectors() {
    let wrong = |shape: [u32; 3]| {
        let mut bytes = header().encode();
        for (at, value) in shape.into_iter().enumerate() {
            bytes[68 + at * 4..][..4].copy_from_slice(&value.to_le_bytes());
        }
        // As many bits per cell as the fewest rows.
        bytes[192] = 1;
        put_crc(&mut bytes, 4092);
        ModuleHeader::decode(&bytes)
    };
    // Times 3 modules and 2 sectors.
    let product = |value| Err(HeaderError::Field { field: "product of the shape", offset: 64, value });
    assert!(wrong([1, 715_827_882, 1]).is_ok());
    assert_eq!(wrong([1, 715_827_883, 1]), product(4_294_967_298));
    assert_eq!(wrong([u32::MAX, 1, 1]), product(25_769_803_770));
    assert_eq!(wrong([u32::MAX; 3]), product(u64::MAX));
}

#[test]
fn a_checkpoints_sizes_are_checked_before_anything_is_allocated() {
    // A head that promises 80 GiB, with nothing behind it.
    let mut bytes = checkpoint().encode();
    bytes[12..16].fill(0xff);
    bytes[64..68].fill(0xff);
    put_crc(&mut bytes, 76);
    let error = CheckpointError::Field { field: "body_bytes", offset: 56, value: 52 };
    assert_eq!(Checkpoint::decode(&bytes), Err(error));
    let body_bytes = 20 * u64::from(u32::MAX) + 2 * 4;
    bytes[56..64].copy_from_slice(&body_bytes.to_le_bytes());
    put_crc(&mut bytes, 76);
    let error = CheckpointError::Size { found: 132, needed: body_bytes + 80 };
    assert_eq!(Checkpoint::decode(&bytes), Err(error));
}

#[test]
fn a_checkpoints_reserved_bytes_are_0() {
    for (at, field) in [(10, "reserved"), (80 + 12 + 13, "reserved bytes of a band")] {
        let mut bytes = checkpoint().encode();
        bytes[at] = 1;
        let body_crc = payload_crc(&bytes[80..]);
        bytes[68..72].copy_from_slice(&body_crc.to_le_bytes());
        put_crc(&mut bytes, 76);
        assert_eq!(Checkpoint::decode(&bytes), Err(CheckpointError::Field { field, offset: at as u64, value: 1 }));
    }
}

#[test]
#[should_panic(expected = "slot_count at offset 100 is 65")]
fn a_header_of_too_many_slots_is_a_bug() {
    let slot = header().slots[0];
    ModuleHeader { slots: vec![slot; 65], ..header() }.encode();
}

#[test]
#[should_panic(expected = "unit 64 of a stripe")]
fn a_spare_area_of_a_unit_too_many_is_a_bug() {
    encoded(&Spare { unit: 64, ..spare() });
}
