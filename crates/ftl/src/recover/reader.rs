//! Reads units for a scan, and counts.

use super::error::ScanError;
use super::place::Card;
use super::stray::Strays;
use crate::layout::{BandId, UnitAddress};
use media::{Media, MediaError, SectorState, Unit, persist};

pub(super) struct Reader<'a, M: ?Sized> {
    pub media: &'a mut M,
    pub card: &'a Card<'a>,
    /// What was read last.
    pub unit: Unit,
    pub reads_by_die: Vec<u64>,
    /// Dies that do not answer.
    pub dead: Vec<bool>,
    /// Programs that went astray; `None`: nobody has asked for them yet.
    strays: Option<Strays>,
}

impl<'a, M: Media + ?Sized> Reader<'a, M> {
    pub fn new(media: &'a mut M, card: &'a Card<'a>) -> Reader<'a, M> {
        let unit = Unit::new(media.shape());
        let dies = card.layout.dies as usize;
        Reader { media, card, unit, reads_by_die: vec![0; dies], dead: vec![false; dies], strays: None }
    }

    /// Reads a unit; `false`: its die does not answer, or its module is missing.
    #[inline]
    pub fn read(&mut self, at: UnitAddress) -> Result<bool, ScanError> {
        let Reader { media, card, unit, reads_by_die, dead, .. } = self;
        read_into(&mut **media, card, reads_by_die, dead, at, unit)
    }

    /// As [`Reader::read`], into another unit.
    pub fn read_to(&mut self, at: UnitAddress, unit: &mut Unit) -> Result<bool, ScanError> {
        let Reader { media, card, reads_by_die, dead, .. } = self;
        read_into(&mut **media, card, reads_by_die, dead, at, unit)
    }

    /// Units that went astray. The first to ask has everything read.
    pub fn strays(&mut self) -> Result<&Strays, ScanError> {
        if self.strays.is_none() {
            self.strays = Some(Strays::find(self)?);
        }
        Ok(self.strays.as_ref().expect("they were looked for"))
    }

    /// The unit that was read last is erased.
    pub fn is_erased(&self) -> bool {
        (0..self.unit.sectors()).all(|sector| self.unit.state(sector) == SectorState::Erased)
    }

    /// The block was marked bad.
    pub fn is_bad(&self, at: UnitAddress) -> bool {
        self.card.unit_at(at).is_some_and(|at| self.media.is_bad(at.block))
    }

    /// Nobody can read this die.
    pub fn is_gone(&self, die: u32) -> bool {
        let at = UnitAddress { band: BandId(0), die, row: 0 };
        self.dead[die as usize] || self.card.unit_at(at).is_none()
    }
}

fn read_into<M: Media + ?Sized>(
    media: &mut M,
    card: &Card,
    reads_by_die: &mut [u64],
    dead: &mut [bool],
    at: UnitAddress,
    unit: &mut Unit,
) -> Result<bool, ScanError> {
    let die = at.die as usize;
    let Some(place) = card.unit_at(at).filter(|_| !dead[die]) else { return Ok(false) };
    reads_by_die[die] += 1;
    match persist(|| media.read(place, unit)) {
        Ok(_) => Ok(true),
        // What holds the module fails whenever it is asked: as good as gone.
        Err(MediaError::NoAnswer | MediaError::NoModule | MediaError::Host | MediaError::NoSpace) => {
            dead[die] = true;
            Ok(false)
        }
        Err(error) => Err(ScanError::Media { at: place, error }),
    }
}
