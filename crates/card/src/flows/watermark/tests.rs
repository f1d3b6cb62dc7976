//! The headers on the media say at each moment how far the streams are durable.

use super::*;
use crate::contents::rescue::Rescue;
use crate::core::phase::Lifecycle;
use crate::{StorageCard, tiny};
use device::Time;
use format::{ModuleHeader, Role};
use ftl::recover::Rescued;
use ftl::{Lba, Ppa};
use media::{CutOutcome, Fault, Flash, HEADER_COPIES, Media};
use std::collections::BTreeSet;

/// A band that holds nothing.
const EMPTY: BandId = BandId(15);

/// The newest header.
fn said(card: &mut StorageCard) -> ModuleHeader {
    let media = card.media_contents_mut().unwrap();
    let copies = (0..media.shape().modules).flat_map(|module| (0..HEADER_COPIES).map(move |copy| (module, copy)));
    let headers: Vec<_> = copies.filter_map(|(module, copy)| media.read_header(module, copy).unwrap()).collect();
    let decoded = headers.iter().map(|header| ModuleHeader::decode(header).unwrap());
    decoded.max_by_key(|header| (header.generation, header.sequence)).unwrap()
}

fn reopened(mut media: Flash) -> StorageCard {
    media.power_on();
    StorageCard::open(&tiny::config(), media, None, 1, 1).unwrap().0
}

/// A card at rest whose headers say how far it is.
fn at_rest() -> (StorageCard, Time) {
    let mut card = tiny::card();
    tiny::submit(&mut card, Time::ZERO, 0, 12);
    let now = tiny::rest(&mut card, Time::ZERO);
    card.save_totals();
    let said = said(&mut card);
    assert!(said.no_erases && said.durable[0].stripe > 0);
    (card, now)
}

/// A card that was cut while it wrote: stripes without one of their units, in a band that was open.
fn cut() -> StorageCard {
    let (mut card, mut now) = (tiny::card(), Time::ZERO);
    for first in (0..96).step_by(12) {
        tiny::submit(&mut card, now, first, 12);
        now = tiny::rest(&mut card, now);
    }
    tiny::submit(&mut card, now, 0, 12);
    while card.under_way().len() < 6 {
        assert_ne!(tiny::step(&mut card), Time::NEVER);
    }
    let under_way = card.under_way();
    let mut media = card.into_media().unwrap();
    let mut units = 0..;
    media.power_cut(&under_way, &mut |_, _| match units.next().unwrap() % 3 {
        0 => CutOutcome::NotBegun,
        _ => CutOutcome::Done,
    });
    reopened(media)
}

#[test]
fn a_start_is_over_when_all_that_was_found_is_whole_and_nothing_is_left_to_erase() {
    let mut card = cut();
    let found = said(&mut card).durable;
    assert!(card.contents.rescue.is_some() && card.core.ftl.must_empty());
    card.start_up(Time::ZERO, &mut Vec::new());
    while !card.core.phase.start_is_over() {
        // Until then they tell of what there was before.
        assert_eq!(said(&mut card).durable, found);
        assert_ne!(tiny::step(&mut card), Time::NEVER);
    }
    assert!(card.contents.rescue.is_none() && card.contents.holes.owed_since_start().is_none());
    assert!(!card.core.ftl.must_empty() && !card.core.ftl.stale_bands_wait() && card.core.erasing.is_empty());
    let over = said(&mut card);
    assert!(over.no_erases && over.durable[1].band_sequence > 0, "{over:?}");
}

#[test]
fn before_a_start_is_over_the_headers_tell_of_what_there_was_before() {
    let (mut card, now) = at_rest();
    let before = card.contents.store.headers.common.durable;
    tiny::submit(&mut card, now, 12, 12);
    tiny::rest(&mut card, now);
    card.core.phase = Lifecycle::starting();
    card.advance_watermarks();
    assert_eq!(card.contents.store.headers.common.durable, before);
    card.core.phase.end_start();
    card.advance_watermarks();
    assert_ne!(card.contents.store.headers.common.durable, before);
}

#[test]
fn a_start_is_not_over_while_a_band_has_to_be_emptied_or_something_found_is_not_durable_elsewhere() {
    let first = |card: &StorageCard| card.core.ftl.lookup(Lba(0)).unwrap();
    let evacuate: fn(&mut StorageCard, Ppa) = |card, ppa| card.core.ftl.evacuate(card.core.ftl.layout().band_of(ppa));
    let rescue: fn(&mut StorageCard, Ppa) = |card, ppa| {
        let payload = vec![0; tiny::PAYLOAD_BYTES].into();
        let found = Rescued { index: 0, ppa, role: Role::Data, version: 1, payload };
        card.contents.rescue = Rescue::of(vec![found], 0);
    };
    for left in [evacuate, rescue] {
        let (mut card, _) = at_rest();
        let ppa = first(&card);
        card.core.phase = Lifecycle::starting();
        left(&mut card, ppa);
        card.note_end_of_start();
        assert!(!card.core.phase.start_is_over());
    }
}

#[test]
fn a_card_that_has_stopped_ends_no_start() {
    for stop in [|card: &mut StorageCard| card.core.phase.halt(), |card: &mut StorageCard| card.core.phase.drain()] {
        let (mut card, _) = at_rest();
        card.core.phase = Lifecycle::starting();
        stop(&mut card);
        card.note_end_of_start();
        assert!(!card.core.phase.start_is_over());
        card.core.phase = Lifecycle::starting();
        card.note_end_of_start();
        assert!(card.core.phase.start_is_over());
    }
}

#[test]
fn before_an_erase_the_headers_say_what_it_relies_on_and_are_written_only_if_they_said_otherwise() {
    let (mut card, now) = at_rest();
    let before = said(&mut card);
    card.note_erase(Time::ZERO, EMPTY);
    let first = said(&mut card);
    assert!(!first.no_erases && first.durable == before.durable && first.holds == before.holds);
    // Nothing new.
    card.note_erase(Time::ZERO, EMPTY);
    assert_eq!(said(&mut card).sequence, first.sequence);
    tiny::submit(&mut card, now, 12, 12);
    tiny::rest(&mut card, now);
    card.note_erase(Time::ZERO, EMPTY);
    let second = said(&mut card);
    assert!(!second.no_erases && second.sequence > first.sequence);
    assert_ne!(second.durable, first.durable);
    // Sectors that the band itself held count no more.
    let band = card.core.ftl.layout().band_of(card.core.ftl.lookup(Lba(0)).unwrap());
    assert!(second.holds.contains(band.0));
    card.note_erase(Time::ZERO, band);
    let third = said(&mut card);
    assert!(!third.holds.contains(band.0) && third.sequence > second.sequence);
}

#[test]
fn a_card_whose_power_is_gone_stops_before_it_erases() {
    let (mut card, _) = at_rest();
    card.note_erase(Time::ZERO, EMPTY);
    assert!(!card.core.phase.is_halted());
    card.save_totals();
    card.media_contents_mut().unwrap().power_cut(&[], &mut |_, _| CutOutcome::NotBegun);
    card.note_erase(Time::ZERO, EMPTY);
    assert!(card.core.phase.is_halted());
}

#[test]
fn nothing_that_tells_of_an_erase_resumes_a_card() {
    let (mut card, _) = at_rest();
    card.core.phase.halt();
    card.note_erase(Time::ZERO, EMPTY);
    assert!(card.core.phase.is_halted());
}

#[test]
fn what_an_erase_has_left_behind_is_told_until_it_is_gone() {
    let says_no_erases = |card: &mut StorageCard| {
        card.save_totals();
        said(card).no_erases
    };
    let (mut card, _) = at_rest();
    card.note_erased(BandId(9), false);
    assert!(!says_no_erases(&mut card));
    card.note_erased(BandId(8), true);
    assert!(!says_no_erases(&mut card));
    card.note_erased(BandId(9), true);
    assert!(says_no_erases(&mut card));
}

#[test]
fn the_headers_say_of_each_band_whether_something_durable_lies_in_it() {
    let (mut card, mut now) = (tiny::card(), Time::ZERO);
    // A stripe's first unit is on flash before the others.
    assert!(card.media_contents_mut().unwrap().inject(Fault::ModuleSlow { module: 1, percent: 300 }));
    for first in (0..192).step_by(12) {
        tiny::submit(&mut card, now, first, 12);
        // Until something of it is durable nothing of a band that was opened for it counts.
        while tiny::step(&mut card) != Time::NEVER {
            card.advance_watermarks();
            let ftl = &card.core.ftl;
            let opened = |band: &u32| ftl.opening(BandId(*band)).sequence;
            let held = |band: &u32| card.contents.store.headers.common.holds.contains(*band);
            let durable = card.contents.watermarks.of_stream(0);
            for band in (0..16).filter(|band| opened(band) != 0 && ftl.opening(BandId(*band)).stream == 0) {
                let begun = (opened(&band), 0) < (durable.band_sequence, durable.stripe);
                assert_eq!(held(&band), begun, "band {band}");
            }
        }
        now = tiny::rest(&mut card, now);
    }
    let holding = |card: &StorageCard| -> BTreeSet<u32> {
        (0..192).map(|lba| card.core.ftl.layout().band_of(card.core.ftl.lookup(Lba(lba)).unwrap()).0).collect()
    };
    card.save_totals();
    let held = holding(&card);
    assert!(held.len() > 2 && said(&mut card).holds.iter().eq(held));
    // Bands that are found are told of again when the start is over, and not before: nor is it taken back.
    let mut card = reopened(card.into_media().unwrap());
    let found = said(&mut card).holds;
    card.contents.store.headers.common.holds = BandSet::default();
    card.advance_watermarks();
    assert_eq!(card.contents.store.headers.common.holds, BandSet::default());
    card.contents.store.headers.common.holds = found;
    card.start_up(Time::ZERO, &mut Vec::new());
    tiny::rest(&mut card, Time::ZERO);
    assert!(card.core.phase.start_is_over());
    let held = holding(&card);
    assert!(said(&mut card).holds.iter().eq(held));
}

#[test]
fn a_band_that_lies_only_on_dies_that_are_gone_is_not_said_to_hold_anything() {
    let mut card = tiny::card();
    tiny::submit(&mut card, Time::ZERO, 0, 4);
    tiny::rest(&mut card, Time::ZERO);
    let band = card.core.ftl.layout().band_of(card.core.ftl.lookup(Lba(0)).unwrap());
    let on: Vec<u32> = (0..6).filter(|die| !card.core.ftl.blocks().is_erased(band.0, *die)).collect();
    assert_eq!(on.len(), 3);
    for die in on {
        card.advance_watermarks();
        assert!(card.contents.store.headers.common.holds.contains(band.0));
        card.core.ftl.set_die_dead(die, true);
    }
    card.advance_watermarks();
    assert!(!card.contents.store.headers.common.holds.contains(band.0));
}
