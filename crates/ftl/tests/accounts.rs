//! What flash management counts, against what is programmed, stripe by stripe.

mod common;

use common::{Card, PLAIN};
use device::Rng;
use ftl::{BandId, Counters, Ftl, Lba, Persistence, SealedStripe, StreamId, StripeId, StripeKind};

/// Two groups of four dies, units of three sectors; summaries of 8 entries in a sector.
const CARD: Card = Card {
    bands: 64,
    dies: 8,
    width: 4,
    parity_units: 1,
    pages_per_block: 12,
    page_bytes: 3 * 4096,
    u: 0.5,
    persistence: Some(Persistence { payload_bytes: 128, cell_rows: 1, checkpoint_every_bands: 0 }),
    ..PLAIN
};

/// Sectors of a stripe by what they are: data and parity.
fn sectors(ftl: &Ftl, stripe: StripeId) -> (u64, u64) {
    let (units, of_unit) = (ftl.stripe_units(stripe), u64::from(ftl.layout().unit_sectors));
    (u64::from(units.data.count_ones()) * of_unit, u64::from(units.parity.count_ones()) * of_unit)
}

/// Programs what waits, and adds it up.
fn program(ftl: &mut Ftl, sum: &mut Counters) {
    while let Some(SealedStripe {
        stripe,
        stream,
        sequence,
        kind,
        padding_sectors,
        host_sectors,
        relocated_sectors,
        ..
    }) = ftl.pop_sealed()
    {
        let (data, parity) = sectors(ftl, stripe);
        sum.parity_sectors += parity;
        match kind {
            StripeKind::Summary => sum.metadata_sectors += data,
            StripeKind::Data => {
                assert_eq!(u64::from(host_sectors + relocated_sectors + padding_sectors), data);
                sum.padding_sectors += u64::from(padding_sectors);
                sum.host_sectors += u64::from(host_sectors);
                sum.relocated_sectors += u64::from(relocated_sectors);
            }
        }
        ftl.stripe_durable(stream, sequence);
    }
}

#[test]
fn every_sector_that_is_programmed_is_counted_once() {
    let mut ftl = CARD.empty();
    let mut rng = Rng::stream(1, "accounts");
    let (mut sum, mut lists) = (Counters::default(), 0);
    // Less than the card has room for without collection.
    for _ in 0..ftl.user_sectors() {
        ftl.write(Lba(rng.below(ftl.user_sectors()) as u32));
        match rng.below(64) {
            0 => ftl.seal_early(StreamId::Host),
            1 => {
                lists += 1;
                ftl.write_holes(rng.below(2) as u32);
            }
            _ => {}
        }
        program(&mut ftl, &mut sum);
    }
    ftl.seal_early(StreamId::Host);
    program(&mut ftl, &mut sum);
    let counters = ftl.counters();
    assert!(lists > 0 && sum.metadata_sectors > 0 && sum.padding_sectors > 0);
    assert_eq!(counters.host_sectors, sum.host_sectors);
    assert_eq!((counters.parity_sectors, counters.padding_sectors), (sum.parity_sectors, sum.padding_sectors));
    // A list of holes comes as relocated sectors do, and is the card's own.
    assert_eq!(sum.relocated_sectors, lists);
    assert_eq!((counters.metadata_sectors, counters.relocated_sectors), (sum.metadata_sectors + lists, 0));
    ftl.check().unwrap();
}

#[test]
fn what_was_done_since_is_the_difference_of_each_figure() {
    let counters = |factor: u64| Counters {
        host_sectors: factor,
        relocated_sectors: 2 * factor,
        parity_sectors: 3 * factor,
        padding_sectors: 4 * factor,
        metadata_sectors: 5 * factor,
        erases: 6 * factor,
        retired_blocks: 7 * factor,
    };
    assert_eq!(counters(11).since(&counters(3)), counters(8));
    assert_eq!(counters(7).waf(), 3.0);
    assert_eq!(Counters::default().waf(), 0.0);
}

#[test]
fn sectors_that_hold_something_are_the_hosts_and_the_lists() {
    let mut ftl = CARD.empty();
    assert_eq!(ftl.valid_sectors(), 0);
    for lba in 0..50 {
        ftl.write(Lba(lba % 40));
    }
    assert_eq!(ftl.valid_sectors(), 40);
    for _ in 0..3 {
        ftl.write_holes(1);
    }
    assert_eq!(ftl.valid_sectors(), 41);
    (10..60).for_each(|lba| ftl.trim(Lba(lba)));
    assert_eq!(ftl.valid_sectors(), 11);
    assert_eq!(ftl.lookup(ftl.holes_lba(1)), ftl.lookup(Lba(ftl.user_sectors() as u32 + 1)));
    assert!(ftl.lookup(ftl.holes_lba(1)).is_some() && ftl.lookup(ftl.holes_lba(0)).is_none());
    ftl.check().unwrap();
}

#[test]
fn a_rewrite_and_an_outdated_version_are_relocated_sectors() {
    let mut ftl = CARD.empty();
    let places: Vec<_> = (0..5).map(|lba| ftl.write(Lba(lba))).collect();
    let to = ftl.rewrite(places[2]);
    assert_eq!((ftl.lookup(Lba(2)), ftl.is_current(places[2]), ftl.is_current(to)), (Some(to), false, true));
    assert_eq!(ftl.counters().relocated_sectors, 1);
    // Of an outdated version only a place on flash is asked.
    let old = ftl.write_outdated(Lba(3));
    assert_eq!((ftl.lookup(Lba(3)), ftl.written_for(old), ftl.is_current(old)), (Some(places[3]), Lba(3), false));
    assert_eq!((ftl.counters().relocated_sectors, ftl.valid_sectors()), (2, 5));
    ftl.check().unwrap();
}

#[test]
fn parts_of_a_summary_are_numbered_from_its_first_stripe_on() {
    let ftl = CARD.empty();
    let band = BandId(3);
    let (stripes, data_stripes) = ftl.band_stripes(band);
    assert!(stripes - data_stripes > 2, "{data_stripes} of {stripes}");
    let mut expected = 0;
    for index in data_stripes..stripes {
        let stripe = StripeId { band, index };
        assert_eq!(ftl.summary_ordinal(stripe), expected);
        expected += sectors(&ftl, stripe).0 as u32;
    }
    assert_eq!(expected, (stripes - data_stripes) * 3 * 3);
}

#[test]
fn rows_that_share_cells_begin_and_end_together() {
    for (cell_rows, stripes) in [(1, 1), (2, 4), (3, 6)] {
        let persistence = Some(Persistence { cell_rows, ..CARD.persistence.unwrap() });
        let ftl = Card { persistence, ..CARD }.empty();
        for index in 0..24 {
            let stripe = StripeId { band: BandId(5), index };
            let begin = index / stripes * stripes;
            assert_eq!(
                (ftl.cells_begin(stripe), ftl.cells_end(stripe)),
                (begin, begin + stripes),
                "{cell_rows} {index}"
            );
        }
    }
    let ftl = Card { persistence: None, ..CARD }.empty();
    assert_eq!(ftl.cells_end(StripeId { band: BandId(5), index: 7 }), 8);
}

#[test]
fn a_band_that_is_open_will_be_filled_up_to_its_end() {
    let mut ftl = CARD.empty();
    let places: Vec<_> = (0..3 * 9 + 1).map(|lba| ftl.write(Lba(lba))).collect();
    let band = ftl.layout().band_of(places[0]);
    // Three stripes are full, the fourth one is begun.
    let filled = |index: u32| !ftl.will_fill_before(StripeId { band, index });
    assert!((0..=3).all(filled) && !(4..24).any(filled));
    assert!(!ftl.will_fill_before(StripeId { band: BandId(band.0 + 1), index: 9 }));
}

#[test]
fn what_a_rebuild_has_to_restore_is_what_held_something_when_it_began() {
    let mut ftl = CARD.empty();
    let sectors = ftl.user_sectors() as u32;
    (0..sectors).for_each(|lba| ftl.write_now(Lba(lba)).unwrap());
    let first = ftl.lookup(Lba(0)).unwrap();
    let band = ftl.layout().band_of(first);
    let (stripes, data_stripes) = ftl.band_stripes(band);
    assert!(ftl.has_summary(band));
    let needed = |ftl: &Ftl| -> Vec<u32> {
        (0..stripes).filter(|index| ftl.stripe_is_needed(StripeId { band, index: *index })).collect()
    };
    assert!(needed(&ftl).into_iter().eq(0..stripes));
    // The first stripe's sectors go elsewhere: but its summary nothing of it is needed.
    (0..9).for_each(|lba| ftl.write_now(Lba(lba)).unwrap());
    assert!(needed(&ftl).into_iter().eq(1..stripes));
    assert!(!ftl.is_needed(first));
    assert!(ftl.needed_is_known());
    ftl.write_now(Lba(sectors - 1)).unwrap();
    ftl.note_needed();
    assert!(!ftl.needed_is_known(), "what is open was sealed, and is not on flash");
    ftl.settle_now();
    assert!(ftl.needed_is_known());
    // What held something then is needed until that is forgotten, wherever it is by now.
    (9..18).for_each(|lba| ftl.write_now(Lba(lba)).unwrap());
    let second = ftl::Ppa(first.0 + ftl.layout().stripe_sectors);
    assert_eq!(needed(&ftl).first(), Some(&1));
    let was_there = (second.0..second.0 + 9).map(ftl::Ppa).filter(|ppa| !ftl.is_current(*ppa) && ftl.is_needed(*ppa));
    assert!(was_there.count() > 0);
    assert!(!ftl.is_needed(first));
    ftl.forget_needed();
    assert!(ftl.needed_is_known());
    assert!(needed(&ftl).into_iter().eq(2..stripes));
    // Of a band without a summary all is needed: nobody knows what it held.
    let open = ftl.open_band_of(StreamId::Host).unwrap();
    assert!(!ftl.has_summary(open));
    assert!((0..stripes).all(|index| ftl.stripe_is_needed(StripeId { band: open, index })));
    assert!(data_stripes < stripes);
}
