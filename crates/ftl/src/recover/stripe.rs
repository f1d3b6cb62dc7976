//! One stripe as it is read: the state of every sector of every unit, and the members that are lost.

use super::check::{Place, Rejection, check, check_spare};
use super::error::ScanError;
use super::place::units;
use super::reader::Reader;
use super::rebuild::{Rebuild, Rebuilt};
use crate::canary::ignores_sequences;
use crate::layout::{Layout, StripeId};
use crate::opening::Opening;
use crate::stripe_units::split_units;
use format::{Role, Spare};
use media::{Media, Shape};

/// The contents found at the place of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The sector that belongs there.
    Good,
    /// An erased sector.
    Erased,
    /// A sector of an earlier opening of the band.
    Older,
    /// A sector that belongs somewhere else.
    Misplaced,
    /// A sector that can't be read.
    Unreadable,
    /// A mark of a rebuild: the rebuild could not restore this sector, and something points to it.
    GivenUp,
    /// The die does not answer, or its module is missing.
    Gone,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub state: State,
    pub role: Role,
    pub lba: u32,
    pub version: u64,
}

impl Cell {
    fn good(spare: &Spare) -> Cell {
        Cell { state: State::Good, role: spare.role, lba: spare.lba, version: spare.version }
    }
}

/// The state of a sector of the unit that was read last, which was rejected; or the number of a later opening of its band.
fn state_of<M: ?Sized>(why: Rejection, reader: &Reader<M>, sector: usize, opening: &Opening) -> Result<State, u64> {
    Ok(match why {
        Rejection::OtherOpening { sequence } if sequence > opening.sequence && !ignores_sequences() => {
            return Err(sequence);
        }
        Rejection::OtherOpening { .. } => State::Older,
        Rejection::Erased => State::Erased,
        Rejection::Foreign { .. } | Rejection::Misplaced { .. } => State::Misplaced,
        Rejection::Spare(_) if reader.unit.spare(sector).iter().all(|byte| *byte == 0) => State::GivenUp,
        _ => State::Unreadable,
    })
}

const NOTHING: Cell = Cell { state: State::Gone, role: Role::Padding, lba: 0, version: 0 };

/// Members of a stripe that have no good sector of some number, as bits, by the state that was found instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    pub gone: u64,
    pub erased: u64,
    pub older: u64,
    pub misplaced: u64,
    pub unreadable: u64,
    pub given_up: u64,
}

impl Lost {
    pub fn all(&self) -> u64 {
        self.gone | self.here()
    }

    /// Members in whose places there is nothing of this opening.
    pub fn absent(&self) -> u64 {
        self.erased | self.older
    }

    /// Counts these members as misplaced: they were programmed, and lie elsewhere.
    pub fn went_astray(&mut self, astray: u64) {
        self.erased &= !astray;
        self.older &= !astray;
        self.misplaced |= astray;
    }

    /// Lost members whose dies answered.
    pub fn here(&self) -> u64 {
        self.erased | self.older | self.misplaced | self.unreadable | self.given_up
    }
}

/// The outcome of reading a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StripeRead {
    /// All members were read.
    Done,
    /// The read stopped at a sector that is not good although its die answers.
    Flawed,
    /// The read stopped because the band was opened again, with this number.
    Newer(u64),
}

pub(super) struct Stripe {
    cells: Vec<Cell>,
    rebuilds: Vec<Rebuild>,
    unit_sectors: usize,
    /// The payloads were read too.
    has_payloads: bool,
    pub members: u64,
    pub parity: u64,
}

impl Stripe {
    pub fn new(layout: &Layout, shape: &Shape) -> Stripe {
        let rebuild = Rebuild::new(shape.payload_bytes as usize);
        Stripe {
            cells: vec![NOTHING; layout.stripe_sectors as usize],
            rebuilds: vec![rebuild; layout.unit_sectors as usize],
            unit_sectors: layout.unit_sectors as usize,
            has_payloads: false,
            members: 0,
            parity: 0,
        }
    }

    pub fn cell(&self, unit: u32, sector: usize) -> &Cell {
        &self.cells[unit as usize * self.unit_sectors + sector]
    }

    /// Finds what lies in all members. Their spare areas tell enough where all that answer are good, or nothing of the
    /// stripe is written in any of them; otherwise all is read, with its payloads.
    pub fn look<M: Media + ?Sized>(
        &mut self,
        reader: &mut Reader<M>,
        id: StripeId,
        opening: &Opening,
        members: u64,
    ) -> Result<StripeRead, ScanError> {
        // Flash that is no file or drive keeps them beside the payloads.
        let told = match reader.media.is_volatile() {
            true => self.read_spares(reader, id, opening, members)?,
            false => StripeRead::Flawed,
        };
        match told {
            StripeRead::Flawed => self.read(reader, id, opening, members, false, |_, _, _, _| {}),
            told => Ok(told),
        }
    }

    /// Reads the spare areas of all members; [`StripeRead::Flawed`]: they do not tell enough.
    fn read_spares<M: Media + ?Sized>(
        &mut self,
        reader: &mut Reader<M>,
        id: StripeId,
        opening: &Opening,
        members: u64,
    ) -> Result<StripeRead, ScanError> {
        let card = reader.card;
        let layout = card.layout;
        self.begin(id, members, layout);
        self.has_payloads = false;
        let (mut is_good, mut is_absent, mut is_flawed) = (false, false, false);
        for unit in units(members) {
            let cells = &mut self.cells[unit as usize * self.unit_sectors..][..self.unit_sectors];
            if !reader.read_spares(layout.unit_address(id, unit))? {
                cells.fill(NOTHING);
                continue;
            }
            for (sector, (cell, rebuild)) in cells.iter_mut().zip(&mut self.rebuilds).enumerate() {
                let (unit, stripe) = (unit as u8, id.index);
                let place = Place { card: card.card, band: id.band.0, stripe, unit, sector: sector as u8 };
                let check = if reader.has_payloads { check } else { check_spare };
                match check(&reader.unit, &place, opening, members, layout) {
                    Ok(spare) => {
                        rebuild.add_spare_alone(&spare);
                        *cell = Cell::good(&spare);
                        is_good = true;
                    }
                    Err(why) => match state_of(why, reader, sector, opening) {
                        Ok(State::Erased) => {
                            *cell = Cell { state: State::Erased, ..NOTHING };
                            is_absent = true;
                        }
                        // All are looked at: the medium finds out about units that are gone by their spare areas alone.
                        Ok(_) => is_flawed = true,
                        Err(later) => return Ok(StripeRead::Newer(later)),
                    },
                }
            }
        }
        Ok(if is_flawed || is_good && is_absent { StripeRead::Flawed } else { StripeRead::Done })
    }

    fn begin(&mut self, id: StripeId, members: u64, layout: &Layout) {
        self.members = members;
        self.parity = split_units(id.index, members, layout).parity;
        self.rebuilds.iter_mut().for_each(Rebuild::clear);
    }

    /// Reads all members; with `strict`, stops at the first sector that is not good. `visit` gets the unit, the number,
    /// the spare area and the payload of each good sector.
    pub fn read<M: Media + ?Sized>(
        &mut self,
        reader: &mut Reader<M>,
        id: StripeId,
        opening: &Opening,
        members: u64,
        strict: bool,
        mut visit: impl FnMut(u32, usize, &Spare, &[u8]),
    ) -> Result<StripeRead, ScanError> {
        let card = reader.card;
        let layout = card.layout;
        self.begin(id, members, layout);
        self.has_payloads = true;
        for unit in units(members) {
            let cells = &mut self.cells[unit as usize * self.unit_sectors..][..self.unit_sectors];
            if !reader.read(layout.unit_address(id, unit))? {
                cells.fill(NOTHING);
                continue;
            }
            for (sector, (cell, rebuild)) in cells.iter_mut().zip(&mut self.rebuilds).enumerate() {
                let (unit, stripe) = (unit as u8, id.index);
                let place = Place { card: card.card, band: id.band.0, stripe, unit, sector: sector as u8 };
                let state = match check(&reader.unit, &place, opening, members, layout) {
                    Ok(spare) => {
                        let payload = reader.unit.payload(sector);
                        rebuild.add(&spare, payload);
                        visit(unit.into(), sector, &spare, payload);
                        *cell = Cell::good(&spare);
                        continue;
                    }
                    Err(why) => match state_of(why, reader, sector, opening) {
                        Ok(state) => state,
                        Err(later) => return Ok(StripeRead::Newer(later)),
                    },
                };
                if strict {
                    return Ok(StripeRead::Flawed);
                }
                *cell = Cell { state, ..NOTHING };
            }
        }
        Ok(StripeRead::Done)
    }

    /// Members that have no good sector of this number.
    pub fn lost(&self, sector: usize) -> Lost {
        let mut lost = Lost::default();
        for unit in units(self.members) {
            let mask = match self.cell(unit, sector).state {
                State::Good => continue,
                State::Erased => &mut lost.erased,
                State::Older => &mut lost.older,
                State::Misplaced => &mut lost.misplaced,
                State::Unreadable => &mut lost.unreadable,
                State::GivenUp => &mut lost.given_up,
                State::Gone => &mut lost.gone,
            };
            *mask |= 1 << unit;
        }
        lost
    }

    /// The rebuilt sector of this number, if exactly one member has no good one. After [`Stripe::look`] its payload may not
    /// be there.
    pub fn rebuild(&self, sector: usize) -> Option<(Rebuilt, &[u8])> {
        let rebuild = &self.rebuilds[sector];
        if !self.has_payloads {
            return Some((rebuild.finish_spare().ok()?, &[]));
        }
        Some((rebuild.finish().ok()?, rebuild.payload()))
    }
}
