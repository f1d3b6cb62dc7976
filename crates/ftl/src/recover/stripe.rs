//! One stripe as it is read: the state of every sector of every unit, and the members that are lost.

use super::check::{Place, Rejection, check};
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
            members: 0,
            parity: 0,
        }
    }

    pub fn cell(&self, unit: u32, sector: usize) -> &Cell {
        &self.cells[unit as usize * self.unit_sectors + sector]
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
        self.members = members;
        self.parity = split_units(id.index, members, layout).parity;
        self.rebuilds.iter_mut().for_each(Rebuild::clear);
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
                        *cell = Cell { state: State::Good, role: spare.role, lba: spare.lba, version: spare.version };
                        continue;
                    }
                    Err(Rejection::OtherOpening { sequence })
                        if sequence > opening.sequence && !ignores_sequences() =>
                    {
                        return Ok(StripeRead::Newer(sequence));
                    }
                    Err(Rejection::OtherOpening { .. }) => State::Older,
                    Err(Rejection::Erased) => State::Erased,
                    Err(Rejection::Foreign { .. } | Rejection::Misplaced { .. }) => State::Misplaced,
                    Err(Rejection::Spare(_)) if reader.unit.spare(sector).iter().all(|byte| *byte == 0) => {
                        State::GivenUp
                    }
                    Err(_) => State::Unreadable,
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

    /// The rebuilt sector of this number, if exactly one member has no good one.
    pub fn rebuild(&self, sector: usize) -> Option<(Rebuilt, &[u8])> {
        let rebuild = &self.rebuilds[sector];
        Some((rebuild.finish().ok()?, rebuild.payload()))
    }
}
