//! What a band is: which opening of it, and which units are members of its stripes.

use super::check::{Opening, Place, check_place, is_consistent};
use super::error::ScanError;
use super::place::Card;
use super::reader::Reader;
use crate::canary::ignores_sequences;
use crate::layout::{BandId, Layout, StripeId};
use format::Spare;
use media::Media;

/// What a band is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// Nothing is written, as far as was looked.
    Free,
    /// Nothing that is written can be read as this card's.
    Unknown,
    /// It was opened.
    Opened,
}

/// What a band was found to be: what is known of it, where it was opened.
pub(super) type Identified = (Identity, Known);

/// What is known of an opened band.
pub(super) struct Known {
    pub opening: Opening,
    /// Members by group of dies.
    pub masks: Vec<u64>,
    /// Something is written on the group's dies.
    begun: Vec<bool>,
    /// Dies that told of the opening: how many, and the first of them.
    told: u32,
    first_told: u32,
}

/// What a band is, for whoever looks at it from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BandIdentity {
    /// Nothing is written, as far as was looked.
    Free,
    /// Nothing that is written can be read as this card's.
    Unknown,
    /// It was opened.
    Opened {
        /// The latest opening that was found.
        opening: Opening,
        /// Members of its stripes by group of dies, as bits.
        members: Vec<u64>,
    },
}

/// Looks at the first rows of a band, of a card as its headers describe it. Openings before `floor` don't count.
pub fn identify<M: Media + ?Sized>(
    media: &mut M,
    card: &Card,
    band: BandId,
    floor: u64,
) -> Result<BandIdentity, ScanError> {
    let mut known = Known::new(card.layout);
    Ok(match known.identify(&mut Reader::new(media, card), band, floor)? {
        Identity::Free => BandIdentity::Free,
        Identity::Unknown => BandIdentity::Unknown,
        Identity::Opened => BandIdentity::Opened { opening: known.opening, members: known.masks },
    })
}

enum Look {
    At(Identity),
    /// There is a later opening.
    Newer(u64),
}

impl Known {
    pub fn new(layout: &Layout) -> Known {
        let groups = layout.groups as usize;
        let (masks, begun) = (vec![0; groups], vec![false; groups]);
        Known { opening: Opening::default(), masks, begun, told: 0, first_told: 0 }
    }

    /// Looks at the first rows of a band. Openings before `floor` don't count.
    pub fn identify<M: Media + ?Sized>(
        &mut self,
        reader: &mut Reader<M>,
        band: BandId,
        mut floor: u64,
    ) -> Result<Identity, ScanError> {
        loop {
            match self.look(reader, band, floor)? {
                Look::At(identity) => return Ok(identity),
                Look::Newer(sequence) => floor = sequence,
            }
        }
    }

    fn look<M: Media + ?Sized>(&mut self, reader: &mut Reader<M>, band: BandId, floor: u64) -> Result<Look, ScanError> {
        self.masks.fill(0);
        self.begun.fill(false);
        self.told = 0;
        let mut opening = None;
        let (mut answered, mut gone) = (false, false);
        // A block that has failed since the band was opened tells of it, but only when the others can't: one that was
        // bad before may hold what is left from an earlier opening.
        for bad in [false, true] {
            for row in 0..reader.card.layout.rows {
                let mut is_written = false;
                for group in 0..self.masks.len() {
                    if self.masks[group] != 0 || row > 0 && !self.begun[group] {
                        continue;
                    }
                    let index = row * reader.card.layout.groups + group as u32;
                    let width = reader.card.layout.width;
                    // Not of each band the same die first: they are asked at once.
                    for unit in (0..width).map(|unit| (unit + band.0) % width) {
                        let at = reader.card.layout.unit_address(StripeId { band, index }, unit);
                        if reader.is_bad(at) != bad {
                            continue;
                        }
                        if !reader.read(at)? {
                            gone = true;
                            continue;
                        }
                        answered |= !bad;
                        if reader.is_erased() {
                            continue;
                        }
                        (is_written, self.begun[group]) = (true, true);
                        let Some(spare) = best_of_unit(reader, band, index, unit as u8, floor) else { continue };
                        let found = Opening { sequence: spare.band_sequence, slc: spare.slc, stream: spare.stream };
                        let known = *opening.get_or_insert(found);
                        if found.sequence > known.sequence && !ignores_sequences() {
                            return Ok(Look::Newer(found.sequence));
                        }
                        if found == known {
                            self.masks[group] = spare.members;
                            self.told += 1;
                            if self.told == 1 {
                                self.first_told = at.die;
                            }
                            break;
                        }
                    }
                }
                if row == 0 && !bad && !is_written {
                    if answered || !gone {
                        return Ok(Look::At(Identity::Free));
                    }
                    if holds_stripes(reader, band) {
                        return Err(ScanError::NoAnswer { band: band.0 });
                    }
                    // Too few of its blocks are good for any stripe: whatever it holds was there before that.
                    break;
                }
                // Nobody was left to ask, or nothing more is written.
                if !is_written {
                    break;
                }
            }
            if opening.is_some() {
                break;
            }
        }
        let Some(opening) = opening else { return Ok(Look::At(Identity::Unknown)) };
        self.opening = opening;
        self.assume_members(reader, band);
        Ok(Look::At(Identity::Opened))
    }

    /// More than one die tells of the opening. One alone may have been away when the band was opened again, and be back: who
    /// does not go on to read all of the band must not rely on it.
    pub fn is_confirmed<M: Media + ?Sized>(&self, reader: &mut Reader<M>, band: BandId) -> Result<bool, ScanError> {
        let layout = reader.card.layout;
        if self.told > 1 || layout.dies == 1 {
            return Ok(true);
        }
        for (index, mask) in (0..).zip(&self.masks) {
            // Not of each band the same die: they are asked at once.
            let in_turn = (0..layout.width).map(|unit| (unit + band.0 + 1) % layout.width);
            for unit in in_turn.filter(|unit| mask >> unit & 1 == 1) {
                let at = layout.unit_address(StripeId { band, index }, unit);
                if at.die == self.first_told || reader.is_bad(at) || !reader.read(at)? {
                    continue;
                }
                if let Some(spare) = best_of_unit(reader, band, index, unit as u8, 0) {
                    return Ok(spare.band_sequence == self.opening.sequence);
                }
            }
        }
        Ok(false)
    }

    /// Where nothing tells of the members of a group: all that can be used, or that nobody can ask.
    fn assume_members<M: Media + ?Sized>(&mut self, reader: &Reader<M>, band: BandId) {
        for (index, mask) in (0..).zip(&mut self.masks).filter(|(_, mask)| **mask == 0) {
            for unit in 0..reader.card.layout.width {
                let at = reader.card.layout.unit_address(StripeId { band, index }, unit);
                *mask |= u64::from(!reader.is_bad(at)) << unit;
            }
        }
    }
}

/// Whether enough blocks are left of a band for a stripe that has data, as far as is known: who can't be asked is left.
fn holds_stripes<M: Media + ?Sized>(reader: &Reader<M>, band: BandId) -> bool {
    let layout = reader.card.layout;
    (0..layout.groups).any(|index| {
        let is_left = |unit: &u32| !reader.is_bad(layout.unit_address(StripeId { band, index }, *unit));
        (0..layout.width).filter(is_left).count() as u32 > layout.parity_units
    })
}

/// The spare area of the latest opening in the unit that was read last, if one is the card's.
fn best_of_unit<M: Media + ?Sized>(
    reader: &Reader<M>,
    band: BandId,
    stripe: u32,
    unit: u8,
    floor: u64,
) -> Option<Spare> {
    let place = |sector: usize| Place { card: reader.card.card, band: band.0, stripe, unit, sector: sector as u8 };
    (0..reader.unit.sectors())
        .filter_map(|sector| check_place(&reader.unit, &place(sector)).ok())
        .filter(|spare| spare.band_sequence >= floor && is_consistent(spare, reader.card.layout))
        .max_by_key(|spare| spare.band_sequence)
}
