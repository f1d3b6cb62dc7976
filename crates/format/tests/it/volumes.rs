//! Pages of the volume table: what is written is read again, and damage is told.

use format::*;

fn directory() -> VolumePage {
    let volume = |id: u32, name: &str| VolumeRecord {
        id,
        name: name.into(),
        size_bytes: u64::from(id) << 20,
        uuid: [id as u8; 16],
    };
    let volumes = vec![volume(1, "data"), volume(3, &"n".repeat(MAX_VOLUME_NAME_BYTES))];
    let directory = VolumeDirectory { extent_bytes: 1 << 20, extents: 77, next_id: 4, volumes };
    VolumePage { card: CardId([7; 16]), page: 0, sequence: 9, contents: VolumePageContents::Directory(directory) }
}

fn owners() -> VolumePage {
    let owner = |at: usize| match at % 3 {
        0 => Owner::Unused,
        1 => Owner::Freed,
        _ => Owner::Volume { volume: at as u32, extent: 2 * at as u32 },
    };
    let contents = VolumePageContents::Owners((0..OWNERS_PER_PAGE).map(owner).collect());
    VolumePage { card: CardId([8; 16]), page: 3, sequence: u64::MAX, contents }
}

/// Cards that people have look like this: when it changes, the format needs a new version.
#[test]
fn the_bytes_of_a_page_stay_what_they_are() {
    let bytes = directory().encode();
    assert_eq!(bytes[..12], *b"FRIGVOLS\x01\0\0\0");
    assert_eq!(bytes[16..24], 9u64.to_le_bytes());
    assert_eq!(bytes[24..40], [7; 16]);
    assert_eq!(bytes[48..56], (1u64 << 20).to_le_bytes());
    assert_eq!((bytes[56], bytes[60], bytes[64]), (77, 4, 2));
    assert_eq!((bytes[72], bytes[76], &bytes[104..108]), (1, 4, &b"data"[..]));
    assert_eq!(u32::from_le_bytes(bytes[12..16].try_into().unwrap()), payload_crc(&bytes[16..]));
    let bytes = owners().encode();
    assert_eq!((bytes[40], &bytes[48..56], &bytes[56..60]), (3, &[0; 8][..], &[255; 4][..]));
    assert_eq!((bytes[64], bytes[68]), (2, 4));
}

#[test]
fn pages_are_read_as_they_were_written_and_any_flipped_bit_is_noticed() {
    for page in [directory(), owners()] {
        let bytes = page.encode();
        assert_eq!(VolumePage::decode(&bytes), Ok(page));
        for bit in (0..bytes.len() * 8).step_by(5) {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            VolumePage::decode(&damaged).unwrap_err();
        }
        assert_eq!(VolumePage::decode(&bytes[..4095]), Err(VolumePageError::Short));
    }
    assert_eq!(VolumePage::decode(&[0; VOLUME_PAGE_BYTES]), Err(VolumePageError::Magic));
}

/// A field that a checksum covers may still make no sense.
#[test]
fn fields_that_are_never_written_are_refused() {
    let with = |page: &VolumePage, at: usize, value: &[u8]| {
        let mut bytes = page.encode();
        bytes[at..at + value.len()].copy_from_slice(value);
        let crc = payload_crc(&bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        VolumePage::decode(&bytes).unwrap_err()
    };
    assert_eq!(with(&directory(), 8, &[9]), VolumePageError::Version(9));
    for (at, value) in [
        (10, &[1][..]),
        (44, &[1]),
        // Extents of no power of two, more volumes than there is room for, an id that is yet to be given.
        (48, &[3]),
        (64, &[41]),
        (60, &[3]),
        // No id, the same one twice, no name, a name beyond its end, and one that is no text.
        (72, &[0]),
        (168, &[1]),
        (76, &[0]),
        (76, &[65]),
        (104, &[255]),
        (4090, &[1]),
    ] {
        assert_eq!(with(&directory(), at, value), VolumePageError::Field, "{value:?} at {at}");
    }
    assert_eq!(with(&owners(), 52, &[1]), VolumePageError::Field);
    assert_eq!(with(&owners(), 60, &[1]), VolumePageError::Field);
}
