//! Headers that the media contradict, or that contradict themselves.

use crate::recover::writer::{CARD, SMALL, Writer};
use ftl::recover::{Card, ScanError, scan};
use media::{Flash, Physics, Shape};

/// The refusal, as field and both figures.
fn refused(result: Result<ftl::recover::Found, ScanError>) -> Option<(&'static str, u64, u64)> {
    match result {
        Ok(_) => None,
        Err(ScanError::Geometry { field, card, media }) => Some((field, card, media)),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn each_field_of_the_layout_is_held_against_the_media() {
    type Change = fn(&mut ftl::Layout);
    let changes: [(Change, (&str, u64, u64)); 11] = [
        (|layout| layout.dies = 4, ("dies", 4, 3)),
        (|layout| layout.width = 65, ("stripe width", 65, 64)),
        (|layout| layout.width = 64, ("dies of all groups", 64, 3)),
        (|layout| layout.groups = 2, ("dies of all groups", 6, 3)),
        (|layout| layout.parity_units = 2, ("parity units", 3, 2)),
        (|layout| (layout.width, layout.groups) = (1, 3), ("parity units", 2, 1)),
        (|layout| layout.rows = 9, ("rows", 9, 8)),
        (|layout| layout.unit_sectors = 2, ("sectors of a unit", 2, 1)),
        (|layout| layout.stripe_sectors = 4, ("sectors of a stripe", 4, 3)),
        (|layout| layout.band_sectors = 25, ("sectors of a band", 25, 24)),
        (|layout| layout.summary_entries = 9, ("entries of a summary's sector", 9, 8)),
    ];
    for (change, expected) in changes {
        let mut writer = Writer::new(SMALL);
        change(&mut writer.layout);
        assert_eq!(refused(writer.scan()), Some(expected));
    }
}

#[test]
fn what_just_fits_is_taken() {
    let mut writer = Writer::new(SMALL);
    assert_eq!(refused(writer.scan()), None);
    // 8 bands of 24 sectors: 191 of the host, and the list of holes of their only segment.
    assert_eq!(refused(writer.scan_with(|card| card.user_sectors = 191)), None);
    assert_eq!(refused(writer.scan_with(|card| card.user_sectors = 192)), Some(("entries of the map", 193, 192)));
    assert_eq!(refused(writer.scan_with(|card| card.modules = &[Some(2), None, Some(0)])), None);
    let beyond = writer.scan_with(|card| card.modules = &[Some(3), Some(1), Some(0)]);
    assert_eq!(refused(beyond), Some(("slots", 4, 3)));
    writer.layout.summary_entries = 0;
    assert_eq!(refused(writer.scan()), None);
}

fn scan_empty(shape: Shape, user_sectors: u32) -> Result<ftl::recover::Found, ScanError> {
    let made = crate::recover::writer::Made { rows: shape.rows_per_block, bands: shape.blocks_per_die, ..SMALL };
    let entries = format::entries_per_sector(shape.payload_bytes as usize) as u32;
    let layout = ftl::Layout { summary_entries: entries, ..made.layout() };
    let modules = [Some(0), Some(1), Some(2)];
    let card = Card {
        layout: &layout,
        modules: &modules,
        bands: shape.blocks_per_die,
        card: CARD,
        user_sectors,
        payload_bytes: shape.payload_bytes,
        slc_bits_per_cell: 1,
        watermark: Default::default(),
        power_loss_protection: false,
        log_begins: 0,
        use_checkpoints: false,
        use_summaries: false,
    };
    scan(&mut Flash::new(shape, Physics::IDEAL, 1), &card)
}

#[test]
fn a_payload_has_room_for_holes() {
    let shape = |payload_bytes| Shape { payload_bytes, ..SMALL.shape() };
    let head = format::HOLES_HEAD_BYTES as u32;
    assert_eq!(refused(scan_empty(shape(head + 1), 8)), None);
    let refused = refused(scan_empty(shape(head), 8));
    assert_eq!(refused, Some(("bytes of a list of holes", u64::from(head) + 1, u64::from(head))));
}

#[test]
fn addresses_fit_the_map() {
    // The number above all of them stands for no address.
    let shape = Shape { rows_per_block: 1 << 29, blocks_per_die: 4, ..SMALL.shape() };
    let expected = ("sectors", (4 * 3) << 29, u64::from(u32::MAX) - 1);
    assert_eq!(refused(scan_empty(shape, 8)), Some(expected));
}
