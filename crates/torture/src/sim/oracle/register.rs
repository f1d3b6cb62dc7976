//! The values that a sector may read as: its versions, and, once a part of it was written by itself, the versions of
//! each part.
//!
//! A version of some parts has a number of the sector, as every other version. Each part is judged as a sector is. And
//! all parts together must be what the sector held at one time: writes that share a sector, one of which covers only a
//! part of it, take effect in the order of their submission, so next to a version of the whole sector there are only
//! later ones.

use super::history::{History, Seeing};
use super::version::{Moment, Version};
use crate::sim::{PARTS, Sector, Stamp};

/// All parts of a sector.
pub(super) const ALL: u8 = u8::MAX;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Register {
    /// One for the sector, or one for each part.
    histories: Vec<History>,
    /// Versions of some parts only: number, parts, and whether these read as zeroes.
    partial: Vec<(u32, u8, bool)>,
}

/// The error in a sector that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misread {
    /// A part of it; of an undivided sector part 0.
    Part(usize),
    /// Its parts don't belong together.
    Mixed,
}

impl Register {
    pub fn new() -> Register {
        Register { histories: vec![History::new()], partial: Vec::new() }
    }

    fn is_divided(&self) -> bool {
        self.histories.len() > 1
    }

    /// Number of the next version.
    pub fn next(&self) -> u32 {
        self.histories[0].next()
    }

    /// The last version that was issued.
    pub fn issued(&self) -> u32 {
        self.histories[0].issued()
    }

    /// A version of these parts is on its way.
    pub fn issue(&mut self, parts: u8, reads_as: Sector, power_cuts: u32, at: Moment) -> u32 {
        if parts != ALL {
            if !self.is_divided() {
                self.histories = vec![self.histories[0].clone(); PARTS as usize];
            }
            self.partial.push((self.next(), parts, reads_as == Sector::Zero));
        }
        let mut number = 0;
        for (part, history) in self.histories.iter_mut().enumerate() {
            number = match parts >> part & 1 {
                1 => history.issue(reads_as, power_cuts, at),
                _ => history.skip(),
            };
        }
        number
    }

    pub fn may_be_lost(&mut self, power_cuts: u32, at: Moment) {
        self.histories.iter_mut().for_each(|history| history.may_be_lost(power_cuts, at));
    }

    pub fn acknowledged(&mut self, number: u32, at: Moment, durable: bool) {
        self.histories.iter_mut().for_each(|history| history.acknowledged(number, at, durable));
    }

    pub fn failed(&mut self, number: u32, at: Moment) {
        self.histories.iter_mut().for_each(|history| history.failed(number, at));
    }

    pub fn durable(&mut self, number: u32) {
        self.histories.iter_mut().for_each(|history| history.durable(number));
    }

    pub fn cut(&mut self, at: Moment) {
        self.histories.iter_mut().for_each(|history| history.cut(at));
    }

    pub fn prune(&mut self, oldest: Moment) {
        self.histories.iter_mut().for_each(|history| history.prune(oldest));
    }

    /// A read from `started` to `at` returned `what`.
    pub fn read(&mut self, started: Moment, at: Moment, what: Sector, seeing: Seeing) -> Result<(), Misread> {
        for (part, history) in self.histories.iter_mut().enumerate() {
            if !history.read(started, at, part_of(what, part), seeing) {
                return Err(Misread::Part(part));
            }
        }
        let belongs = !self.is_divided() || self.belongs_together(what);
        if belongs { Ok(()) } else { Err(Misread::Mixed) }
    }

    fn belongs_together(&self, what: Sector) -> bool {
        let Sector::Parts(parts) = what else { return true };
        let is_partial = |number: u32, part: usize| self.partial.iter().any(|p| p.0 == number && p.1 >> part & 1 == 1);
        let numbers = |part: usize| Stamp(parts[part]).names().1;
        let mut whole = (0..parts.len()).filter(|&p| parts[p] != 0 && !is_partial(numbers(p), p)).map(numbers);
        let Some(version) = whole.next() else { return true };
        whole.all(|other| other == version)
            && (0..parts.len()).all(|part| match parts[part] {
                0 => self.partial.iter().any(|p| p.0 > version && p.1 >> part & 1 == 1 && p.2),
                _ => numbers(part) >= version,
            })
    }

    /// The values that a read that began at `started` may return, in a part.
    pub fn allowed(&self, part: usize, started: Moment) -> Vec<Sector> {
        self.histories[part].allowed(started)
    }

    /// A part may read as an error.
    pub fn may_be_unreadable(&self, started: Moment) -> bool {
        self.histories.iter().any(|history| history.allowed(started).contains(&Sector::Error))
    }

    /// The last versions of a part, oldest first.
    pub fn versions(&self, part: usize) -> Vec<Version> {
        self.histories[part].versions()
    }
}

/// The value of one part of a sector.
pub(super) fn part_of(what: Sector, part: usize) -> Sector {
    match what {
        Sector::Parts(parts) if parts[part] == 0 => Sector::Zero,
        Sector::Parts(parts) => Sector::Value(Stamp(parts[part])),
        other => other,
    }
}
