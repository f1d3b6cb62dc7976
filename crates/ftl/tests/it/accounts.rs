//! The counters of flash management, against the programmed stripes.

use crate::common::{Card, PACED, PLAIN, STOP_THE_WORLD, is_read_only};
use device::Rng;
use ftl::{
    BandId, CompressionCounters, Counters, FoundBlock, Ftl, Lba, MapCounters, Persistence, SealedStripe, StreamId,
    StripeId, StripeKind,
};
use media::nand::Endurance;

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
        map: MapCounters {
            hits: 8 * factor,
            misses: 9 * factor,
            reads: 10 * factor,
            dirtied: 11 * factor,
            written: 12 * factor,
            moved: 13 * factor,
        },
        compression: None,
    };
    assert_eq!(counters(11).since(&counters(3)), counters(8));
    assert_eq!(counters(7).waf(), 28.0);
    assert_eq!(counters(7).map.plus(&counters(1).map), counters(8).map);
    assert_eq!(Counters::default().waf(), 0.0);
    // Granules of 512 bytes.
    let compressed = |factor: u64| Counters {
        compression: Some(CompressionCounters {
            sector_granules: 8,
            host_granules: 5 * factor,
            unused_granules: 6 * factor,
        }),
        map: MapCounters::default(),
        ..counters(factor)
    };
    assert_eq!(compressed(11).since(&compressed(3)), compressed(8));
    assert_eq!((compressed(7).waf(), compressed(8).pages(100)), (7.0 / 8.0, 12.5));
    let [one, other] = [2, 3].map(|factor| compressed(factor).compression.unwrap());
    assert_eq!(Some(one.plus(&other)), compressed(5).compression);
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
    // An outdated version only needs a place on flash.
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
    assert!(ftl.rebuild_snapshot_is_durable());
    ftl.write_now(Lba(sectors - 1)).unwrap();
    ftl.take_rebuild_snapshot();
    assert!(!ftl.rebuild_snapshot_is_durable(), "what is open was sealed, and is not on flash");
    ftl.settle_now();
    assert!(ftl.rebuild_snapshot_is_durable());
    // Stripes that held something then are needed until the rebuild ends, wherever the sectors are by now.
    (9..18).for_each(|lba| ftl.write_now(Lba(lba)).unwrap());
    let second = ftl::Ppa(first.0 + ftl.layout().stripe_sectors);
    assert_eq!(needed(&ftl).first(), Some(&1));
    let was_there = (second.0..second.0 + 9).map(ftl::Ppa).filter(|ppa| !ftl.is_current(*ppa) && ftl.is_needed(*ppa));
    assert!(was_there.count() > 0);
    assert!(!ftl.is_needed(first));
    ftl.drop_rebuild_snapshot();
    assert!(ftl.rebuild_snapshot_is_durable());
    assert!(needed(&ftl).into_iter().eq(2..stripes));
    // In a band without a summary every stripe is needed, because its contents are unknown.
    let open = ftl.open_band_of(StreamId::Host).unwrap();
    assert!(!ftl.has_summary(open));
    assert!((0..stripes).all(|index| ftl.stripe_is_needed(StripeId { band: open, index })));
    assert!(data_stripes < stripes);
}

#[test]
fn lists_of_holes_have_all_the_room_that_is_left() {
    for (factory_bad_ppm, dies) in [(0, 8), (60_000, 8), (60_000, 12)] {
        let mut ftl = Card { dies, endurance: Endurance { factory_bad_ppm, ..CARD.endurance }, ..CARD }.empty();
        let whole = ftl.data_sectors() as usize;
        assert_eq!(factory_bad_ppm == 0, whole as u64 == ftl.new_data_sectors());
        for written in 0..600 {
            let left = whole - written;
            assert!(ftl.has_room_for_holes(left) && !ftl.has_room_for_holes(left + 1), "{written} of {whole}");
            ftl.write(Lba(written as u32));
        }
        // The padding of a stripe is no room any more.
        let before = ftl.counters();
        ftl.seal_early(StreamId::Host);
        let left = whole - 600 - ftl.counters().since(&before).padding_sectors as usize;
        assert!(ftl.has_room_for_holes(left) && !ftl.has_room_for_holes(left + 1));
    }
}

#[test]
fn the_last_free_band_is_not_opened_for_what_moves() {
    let mut ftl = CARD.empty();
    ftl.keep_free(2);
    let mut lbas = (0..ftl.user_sectors() as u32).cycle().map(Lba);
    while ftl.free_bands() > 0 {
        let free = ftl.free_bands();
        assert_eq!((ftl.can_rewrite(), ftl.can_relocate(1)), (free > 1, free > 2), "{free} free");
        while ftl.free_bands() == free {
            ftl.write(lbas.next().unwrap());
        }
    }
    // An open band takes as many sectors as it has room for.
    let mut ftl = CARD.empty();
    let place = ftl.write(Lba(0));
    ftl.rewrite(place);
    while ftl.free_bands() > 1 {
        ftl.write(lbas.next().unwrap());
    }
    ftl.keep_free(2);
    assert!(ftl.can_rewrite());
    let band = BandId(ftl.open_band_of(StreamId::Relocation).unwrap().0);
    let (_, data_stripes) = ftl.band_stripes(band);
    let room = data_stripes * 3 * 3 - 1;
    assert!(ftl.can_relocate(room) && !ftl.can_relocate(room + 1));
}

#[test]
fn what_shares_cells_is_durable_together() {
    let persistence = Some(Persistence { cell_rows: 2, ..CARD.persistence.unwrap() });
    let mut ftl = Card { persistence, ..CARD }.empty();
    assert_eq!(ftl.host_barrier(), 0);
    // Stripes of nine sectors; four of them, in two rows, share cells.
    for written in 1..180u32 {
        ftl.write(Lba(written));
        assert_eq!(ftl.host_barrier(), u64::from(written.div_ceil(9).next_multiple_of(4)), "{written} sectors");
    }
    let barrier = ftl.host_barrier();
    ftl.seal_for_durability(StreamId::Host);
    assert_eq!(ftl.host_barrier(), barrier);
    while let Some(stripe) = ftl.pop_sealed() {
        assert!(!ftl.host_is_durable(barrier) && !ftl.stream_is_durable(StreamId::Host, barrier));
        ftl.stripe_durable(stripe.stream, stripe.sequence);
    }
    assert!(ftl.host_is_durable(barrier) && ftl.stream_is_durable(StreamId::Host, barrier));
    assert!(!ftl.stream_is_durable(StreamId::Host, barrier + 1));
}

#[test]
fn a_full_band_is_settled_when_all_of_it_is_on_flash() {
    let mut ftl = CARD.empty();
    let mut sealed = Vec::new();
    let mut lbas = (0..ftl.user_sectors() as u32).map(Lba);
    let first = ftl.write(lbas.next().unwrap());
    let band = ftl.layout().band_of(first);
    while ftl.open_band_of(StreamId::Host) == Some(band) {
        ftl.write(lbas.next().unwrap());
    }
    sealed.extend(std::iter::from_fn(|| ftl.pop_sealed()));
    assert!(ftl.has_summary(band));
    for stripe in sealed {
        assert!(!ftl.is_settled(band));
        ftl.stripe_durable(stripe.stream, stripe.sequence);
    }
    assert!(ftl.is_settled(band));
}

#[test]
fn blocks_that_their_medium_tells_of_are_taken_over() {
    let mut ftl = CARD.empty();
    let whole = ftl.data_sectors();
    // Bands without a die's block: stripes of two units instead of three, in one of two groups.
    ftl.take_over_blocks(|band, die| die == 1 && band < 4);
    let narrow = ftl.data_sectors();
    assert!(narrow < whole && (0..4).all(|band| ftl.blocks().is_bad(band, 1)));
    assert!(!ftl.blocks().is_bad(4, 1));
    // A die is gone, and another one comes in its place: of what lies on it nothing is known, nor used before its
    // erase.
    ftl.set_die_dead(2, true);
    let without = ftl.data_sectors();
    assert!(without < narrow);
    ftl.dies_came([2].into_iter(), |band, die| FoundBlock { bad: (band, die) == (7, 2), cycles: band + 3 });
    assert!(ftl.blocks().is_bad(7, 2) && !ftl.blocks().is_bad(6, 2));
    assert_eq!((ftl.blocks().cycles(6, 2), ftl.data_sectors()), (9, without));
    let erases = ftl.counters().erases;
    (0..ftl.bands()).filter(|band| *band != 7).for_each(|band| ftl.block_erased(BandId(band), 2));
    assert_eq!((ftl.counters().erases - erases, ftl.blocks().cycles(6, 2)), (63, 10));
    let of_one = (whole - narrow) / 4;
    assert_eq!(ftl.data_sectors(), narrow - of_one);
}

#[test]
fn a_card_is_read_only_when_its_spare_is_used_up_and_not_before() {
    let endurance = Endurance { rated_cycles: 20, factory_bad_ppm: 0, erase_fail_ppm_at_rated: 50_000 };
    for (gc, separate_streams) in [(PACED, true), (STOP_THE_WORLD, true), (PACED, false)] {
        let card = Card { bands: 48, pages_per_block: 4, persistence: None, endurance, gc, separate_streams, ..CARD };
        let mut ftl = card.filled();
        let mut rng = Rng::stream(5, "wear");
        loop {
            let was_read_only = is_read_only(&ftl);
            if ftl.write_now(Lba(rng.below(ftl.user_sectors()) as u32)).is_err() {
                break;
            }
            assert!(!was_read_only);
        }
        assert!(ftl.counters().retired_blocks > 0 && is_read_only(&ftl));
    }
}
