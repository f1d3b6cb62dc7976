//! Identifies a band: finds its latest opening, and the units that are members of its stripes.

use super::check::{Place, check_place, is_consistent};
use super::error::ScanError;
use super::place::Card;
use super::reader::Reader;
use crate::canary::ignores_sequences;
use crate::layout::{BandId, Layout, StripeId};
use crate::opening::Opening;
use format::Spare;
use media::Media;

/// The kind of band that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// Nothing was found written.
    Free,
    /// Something is written, and nothing of it can be read as this card's.
    Unknown,
    /// The card opened the band.
    Opened,
}

/// An identified band; the second field counts only for [`Identity::Opened`].
pub(super) type Identified = (Identity, Known);

/// An opened band, as its first rows describe it.
pub(super) struct Known {
    pub opening: Opening,
    /// Members by group of dies.
    pub masks: Vec<u64>,
    /// Something is written on the group's dies.
    begun: Vec<bool>,
    /// The number of dies that told of the opening.
    told: u32,
    /// The first die that told of the opening.
    first_told: u32,
}

/// The result of [`identify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BandIdentity {
    /// Nothing was found written.
    Free,
    /// Something is written, and nothing of it can be read as this card's.
    Unknown,
    /// The card opened the band.
    Opened {
        /// The latest opening that was found.
        opening: Opening,
        /// Members of the band's stripes by group of dies, as bits.
        members: Vec<u64>,
    },
}

/// Identifies a band of a card from the band's first rows. Openings before `floor` don't count.
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

    /// Identifies a band from its first rows. Openings before `floor` don't count.
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
        // A block that failed after the band was opened tells of the opening, but is asked only if no good block can
        // tell: a block that was bad before may hold the remains of an earlier opening.
        for bad in [false, true] {
            for row in 0..reader.card.layout.rows {
                let mut is_written = false;
                for group in 0..self.masks.len() {
                    if self.masks[group] != 0 || row > 0 && !self.begun[group] {
                        continue;
                    }
                    let index = reader.card.layout.stripe_on(row, group as u32);
                    let width = reader.card.layout.width;
                    // Each band begins at another die, so that the dies share the reads.
                    for unit in (0..width).map(|unit| (unit + band.0) % width) {
                        let at = reader.card.layout.unit_address(StripeId { band, index }, unit);
                        if reader.is_bad(at) != bad {
                            continue;
                        }
                        if !reader.read_spares(at)? {
                            gone = true;
                            continue;
                        }
                        let is_first = !answered && group == 0;
                        answered |= !bad;
                        if reader.is_erased() {
                            if is_first {
                                // The band is probably free, which only all of its dies together can tell.
                                reader.expect_spares(StripeId { band, index });
                            }
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
                    // Too few good blocks are left for a stripe, so its contents are older than that state.
                    break;
                }
                // No die is left to ask, or nothing more is written.
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

    /// Whether more than one die tells of the opening. One die alone may have been away when the band was opened again,
    /// so its word is not enough unless all of the band is read.
    pub fn is_confirmed<M: Media + ?Sized>(&self, reader: &mut Reader<M>, band: BandId) -> Result<bool, ScanError> {
        let layout = reader.card.layout;
        if self.told > 1 || layout.dies == 1 {
            return Ok(true);
        }
        for (index, mask) in (0..).zip(&self.masks) {
            // Each band begins at another die, so that the dies share the reads.
            let in_turn = (0..layout.width).map(|unit| (unit + band.0 + 1) % layout.width);
            for unit in in_turn.filter(|unit| mask >> unit & 1 == 1) {
                let at = layout.unit_address(StripeId { band, index }, unit);
                if at.die == self.first_told || reader.is_bad(at) || !reader.read_spares(at)? {
                    continue;
                }
                if let Some(spare) = best_of_unit(reader, band, index, unit as u8, 0) {
                    return Ok(spare.band_sequence == self.opening.sequence);
                }
            }
        }
        Ok(false)
    }

    /// Sets the members of groups for which nothing tells them: all units that are not marked bad, those of dies that
    /// don't answer among them.
    fn assume_members<M: Media + ?Sized>(&mut self, reader: &Reader<M>, band: BandId) {
        for (group, mask) in (0..).zip(&mut self.masks).filter(|(_, mask)| **mask == 0) {
            let index = reader.card.layout.stripe_on(0, group);
            for unit in 0..reader.card.layout.width {
                let at = reader.card.layout.unit_address(StripeId { band, index }, unit);
                *mask |= u64::from(!reader.is_bad(at)) << unit;
            }
        }
    }
}

/// Whether a band has enough good blocks left for a stripe with data. Blocks that can't be asked count as good.
fn holds_stripes<M: Media + ?Sized>(reader: &Reader<M>, band: BandId) -> bool {
    let layout = reader.card.layout;
    (0..layout.groups).any(|group| {
        let index = layout.stripe_on(0, group);
        let is_left = |unit: &u32| !reader.is_bad(layout.unit_address(StripeId { band, index }, *unit));
        (0..layout.width).filter(is_left).count() as u32 > layout.parity_units
    })
}

/// The spare area of the latest opening in the unit that was read last, if the card wrote one.
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
