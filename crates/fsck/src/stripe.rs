//! One stripe, member by member.

use crate::error::FsckError;
use format::{Role, Spare};
use ftl::recover::{Card, Opening, Place, Rebuild, RebuildError, Rebuilt, Rejection, check};
use ftl::{Layout, StripeId, split_units};
use media::{Media, MediaError, SectorState, Shape, Unit, persist};
use serde::Serialize;

/// The state of the place of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellState {
    /// The sector that belongs there can be read.
    Good,
    /// The place is erased.
    Erased,
    /// More bits are wrong than can be corrected.
    Uncorrectable,
    /// The die or module is missing or does not answer.
    NoAnswer,
    /// The spare area can't be decoded.
    DamagedSpare,
    /// The payload does not match its checksum.
    DamagedPayload,
    /// The sector was written for another place, or by another card.
    Misplaced,
    /// The sector is from another opening of the band.
    OtherOpening,
    /// The sector contradicts the others of its stripe.
    Contradiction,
}

impl CellState {
    pub(crate) fn of(why: &Rejection) -> CellState {
        match why {
            Rejection::Erased => CellState::Erased,
            Rejection::Uncorrectable => CellState::Uncorrectable,
            Rejection::NoAnswer => CellState::NoAnswer,
            Rejection::Spare(_) => CellState::DamagedSpare,
            Rejection::Foreign { .. } | Rejection::Misplaced { .. } => CellState::Misplaced,
            Rejection::OtherOpening { .. } => CellState::OtherOpening,
            Rejection::Contradiction => CellState::Contradiction,
            Rejection::PayloadChecksum { .. } => CellState::DamagedPayload,
        }
    }
}

/// The state of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StripeState {
    /// Nothing of the stripe is written.
    Unwritten,
    /// All members are good, and parity agrees with them.
    Whole,
    /// Members on missing modules or dead dies are lost, and parity can restore them.
    Degraded,
    /// Members on dies that answer are lost, and parity can restore them.
    Torn,
    /// All members are good, and parity does not agree with them.
    Inconsistent,
    /// More members are lost than parity can restore.
    BeyondRedundancy,
}

/// The place of a sector.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The spare area, if it can be decoded, whether the sector belongs there or not.
    pub spare: Option<Spare>,
    /// The reason why the sector does not count.
    pub why: Option<Rejection>,
}

impl Cell {
    pub fn state(&self) -> CellState {
        self.why.as_ref().map_or(CellState::Good, CellState::of)
    }
}

/// A stripe that was read.
pub(crate) struct Stripe {
    pub id: StripeId,
    pub members: u64,
    /// The unit of parity, as a bit.
    pub parity: u64,
    /// The places of all units, sector by sector.
    cells: Vec<Cell>,
    /// By sector: the sum of all good members.
    rebuilds: Vec<Rebuild>,
    unit: Unit,
    sectors: u32,
    parity_units: u32,
}

impl Stripe {
    pub fn new(layout: &Layout, shape: &Shape) -> Stripe {
        let rebuild = Rebuild::new(shape.payload_bytes as usize);
        let nothing = Cell { spare: None, why: Some(Rejection::NoAnswer) };
        Stripe {
            id: StripeId { band: ftl::BandId(0), index: 0 },
            members: 0,
            parity: 0,
            cells: vec![nothing; layout.stripe_sectors as usize],
            rebuilds: vec![rebuild; layout.unit_sectors as usize],
            unit: Unit::new(shape),
            sectors: layout.unit_sectors,
            parity_units: layout.parity_units,
        }
    }

    /// Reads all members, and checks payloads too.
    pub fn read<M: Media + ?Sized>(
        &mut self,
        media: &mut M,
        card: &Card,
        id: StripeId,
        opening: &Opening,
        members: u64,
    ) -> Result<(), FsckError> {
        let layout = card.layout;
        (self.id, self.members, self.parity) = (id, members, split_units(id.index, members, layout).parity);
        self.rebuilds.iter_mut().for_each(Rebuild::clear);
        self.cells.fill(Cell { spare: None, why: Some(Rejection::NoAnswer) });
        for unit in units(members) {
            let Some(at) = card.unit_at(layout.unit_address(id, unit)) else { continue };
            match persist(|| media.read(at, &mut self.unit)) {
                Ok(_) => {}
                Err(MediaError::NoAnswer | MediaError::NoModule) => continue,
                Err(error) => return Err(FsckError::Media { at, error }),
            }
            for sector in 0..self.sectors {
                let (unit, stripe, index) = (unit as u8, id.index, sector as usize);
                let place = Place { card: card.card, band: id.band.0, stripe, unit, sector: sector as u8 };
                let checked = check(&self.unit, &place, opening, members, layout);
                if let Ok(spare) = &checked {
                    self.rebuilds[index].add(spare, self.unit.payload(index));
                }
                let is_read = self.unit.state(index) == SectorState::Good;
                let cell = &mut self.cells[(u32::from(unit) * self.sectors + sector) as usize];
                cell.spare = is_read.then(|| Spare::decode(self.unit.spare(index)).ok()).flatten();
                cell.why = checked.err();
            }
        }
        Ok(())
    }

    pub fn cell(&self, unit: u32, sector: u32) -> &Cell {
        &self.cells[(unit * self.sectors + sector) as usize]
    }

    /// The unit and the number of every sector of the members.
    pub fn places(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let sectors = self.sectors;
        units(self.members).flat_map(move |unit| (0..sectors).map(move |sector| (unit, sector)))
    }

    /// The members without a good sector of this number.
    pub fn lost(&self, sector: u32) -> u64 {
        units(self.members).filter(|unit| self.cell(*unit, sector).why.is_some()).map(|unit| 1 << unit).sum()
    }

    /// The rebuilt sector of the only member that has no good one of this number. `None` if none is lost, too many are
    /// lost, or the lost one is parity.
    pub fn rebuilt(&self, sector: u32) -> Option<Result<Rebuilt, RebuildError>> {
        let lost = self.lost(sector);
        let can = lost.count_ones() == 1 && self.parity != 0 && lost != self.parity;
        can.then(|| self.rebuilds[sector as usize].finish())
    }

    /// Whether parity agrees with the other members; `None` if not all members are good, or there is no parity.
    pub fn parity_holds(&self, sector: u32) -> Option<bool> {
        (self.parity != 0 && self.lost(sector) == 0).then(|| self.rebuilds[sector as usize].is_consistent())
    }

    /// Whether the sector can be read or rebuilt.
    pub fn can_read(&self, unit: u32, sector: u32) -> bool {
        self.cell(unit, sector).why.is_none() || matches!(self.rebuilt(sector), Some(Ok(_)))
    }

    /// Whether every sector that is not good is erased.
    pub fn lacks_only_what_is_erased(&self) -> bool {
        self.places()
            .all(|(unit, sector)| matches!(self.cell(unit, sector).state(), CellState::Good | CellState::Erased))
    }

    pub fn state(&self) -> StripeState {
        let (mut answered, mut written) = (false, false);
        for (unit, sector) in self.places() {
            let state = self.cell(unit, sector).state();
            answered |= state != CellState::NoAnswer;
            written |= !matches!(state, CellState::Erased | CellState::NoAnswer);
        }
        if answered && !written {
            return StripeState::Unwritten;
        }
        let mut worst = StripeState::Whole;
        for sector in 0..self.sectors {
            let lost = self.lost(sector);
            let here = units(lost).any(|unit| self.cell(unit, sector).state() != CellState::NoAnswer);
            let is_beyond = lost.count_ones() > self.parity_units.min(self.parity.count_ones());
            let state = if is_beyond || matches!(self.rebuilt(sector), Some(Err(_))) {
                StripeState::BeyondRedundancy
            } else if here {
                StripeState::Torn
            } else if lost != 0 {
                StripeState::Degraded
            } else if self.parity_holds(sector) == Some(false) {
                StripeState::Inconsistent
            } else {
                StripeState::Whole
            };
            worst = worst.max(state);
        }
        worst
    }
}

/// The units of a mask, ascending.
pub(crate) fn units(mask: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |unit| mask >> unit & 1 == 1)
}

/// The word for a role.
pub(crate) fn role_word(role: Role) -> &'static str {
    match role {
        Role::Data => "data",
        Role::Holes => "holes",
        Role::Summary => "summary",
        Role::Checkpoint => "checkpoint",
        Role::Parity => "parity",
        Role::Padding => "padding",
        Role::Lost => "lost",
    }
}
