//! Neighbouring sectors of a unit, to be read in one go.

use device::RequestId;
use ftl::{Lba, Ppa, UnitAddress};

/// A read of consecutive sectors of one unit.
#[derive(Clone, Copy, Debug)]
pub struct ReadRun {
    pub unit: UnitAddress,
    pub lba: Lba,
    pub ppa: Ppa,
    pub sectors: u32,
}

/// Neighbouring sectors of a unit that a request wants.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub id: RequestId,
    pub unit: UnitAddress,
    pub lba: Lba,
    pub ppa: Ppa,
    pub count: u32,
}
