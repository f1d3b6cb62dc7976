//! A card without contents that has lost a module, or whose flash errs: the time that its reads take for it.
//!
//! A unit that lies on a module that is gone, or can't be corrected, is rebuilt from all other units of its stripe, which are
//! read as the request's own. Nothing is programmed on a module that is gone. The profile has checked that parity suffices: one
//! unit of a stripe is missing at most.

use crate::card::{Card, NoContents};
use crate::core::die_op::{NOBODY, Work};
use device::{RequestId, Time};
use ftl::{Lba, Relocation, StripeId, UnitAddress};

impl Card<NoContents> {
    /// Whether the module of a die is gone.
    #[inline]
    pub(crate) fn is_gone(&self, die: u32) -> bool {
        let config = &self.core.config;
        config.model.missing_module.is_some_and(|module| die % config.nand.geometry.modules == module)
    }

    /// The other units of a unit's stripe that were programmed and can be read.
    fn rest_of_stripe(&self, unit: UnitAddress) -> Vec<UnitAddress> {
        let width = self.core.ftl.layout().width;
        let first = unit.die / width * width;
        let others = (first..first + width).filter(|&die| die != unit.die && !self.is_gone(die));
        others.map(|die| UnitAddress { die, ..unit }).filter(|&other| self.core.ftl.is_programmed(other)).collect()
    }

    /// Reads the units for a request that one of its units is rebuilt from.
    pub(crate) fn read_rest(&mut self, now: Time, id: RequestId, unit: UnitAddress, sectors: u32) {
        let mode = self.core.ftl.cell_mode(unit.band);
        for other in self.rest_of_stripe(unit) {
            self.core.host[id].reads_left += 1;
            self.start(now, Work::HostRead(id), other, mode, sectors);
        }
    }

    /// The unit that is read to relocate sectors of another: that one, or one of those that it is rebuilt from, after the
    /// reads of the others were begun.
    pub(crate) fn read_to_relocate(&mut self, now: Time, relocation: &Relocation) -> UnitAddress {
        if !self.is_gone(relocation.unit.die) {
            return relocation.unit;
        }
        let mut rest = self.rest_of_stripe(relocation.unit);
        let last = rest.pop().unwrap_or(relocation.unit);
        for other in rest {
            self.start(now, Work::RepairRead(NOBODY), other, relocation.mode, relocation.sectors());
        }
        last
    }

    /// The units of a stripe that can be programmed; the others count as programmed.
    pub(crate) fn without_gone_units(&mut self, stripe: StripeId, units: u64) -> u64 {
        if self.core.config.model.missing_module.is_none() {
            return units;
        }
        let mut left = units;
        for unit in (0..self.core.ftl.layout().width).filter(|unit| units >> unit & 1 == 1) {
            let address = self.core.ftl.layout().unit_address(stripe, unit);
            if self.is_gone(address.die) {
                self.core.ftl.unit_programmed(address);
                left &= !(1 << unit);
            }
        }
        left
    }

    /// The number of retries that a read of a unit takes; `None`: it can't be corrected.
    pub(crate) fn retries(&self, unit: UnitAddress) -> Option<u32> {
        let Some(physics) = &self.core.config.model.physics else { return Some(0) };
        let blocks = self.core.ftl.blocks();
        let cycles = blocks.cycles(unit.band.0, unit.die);
        let sectors = self.core.config.nand.geometry.sectors_per_unit();
        let place = [unit.band.0, unit.die, unit.row].map(u64::from);
        media::retries(physics, cycles, place, sectors)
    }

    /// A read of a request is done: if it can't be corrected, the rest of its stripe is read as well.
    pub(crate) fn rebuild_what_is_unreadable(&mut self, now: Time, id: RequestId, unit: UnitAddress) {
        if self.core.config.model.physics.is_none() || self.retries(unit).is_some() {
            return;
        }
        // Units that were read for another one's sake are no reason to read more.
        let request = &self.core.host[id];
        let (first, sectors) = (request.sector, request.sectors_left);
        let layout = self.core.ftl.layout();
        let is_here = |lba| self.core.ftl.lookup(Lba(lba)).is_some_and(|ppa| layout.locate(ppa) == unit);
        let room = |lba| self.core.ftl.room_of(Lba(lba));
        let here: u32 = (first..first + sectors).filter(|&lba| is_here(lba)).map(room).sum();
        if here > 0 {
            self.read_rest(now, id, unit, here);
        }
    }
}
