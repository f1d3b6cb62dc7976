//! Watchers of the dies' work, where there are any: what reads wait for, and what operations heat.

use super::die_op::DieOp;
use super::occupancy::Occupancy;
use super::thermal::Heat;
use device::{Cause, Parts, Time};

/// Sees each operation begin and end. Cards without a watcher pay for none.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// When the card explains where time went.
    pub occupancy: Option<Occupancy>,
    /// When the card has a temperature.
    pub heat: Option<Heat>,
}

impl Watch {
    /// A die begins something, or goes on with it.
    pub fn begin(&mut self, now: Time, die: usize, cause: Cause) {
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.begin(now, die, cause);
        }
    }

    /// A die has finished or suspended what it was doing.
    pub fn end(&mut self, now: Time, die: usize) {
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.end(now, die);
        }
    }

    /// An operation is over, of a die whose times are so many percent of what they should be.
    pub fn finished(&mut self, op: &DieOp, pace_percent: u32) {
        if let Some(heat) = &mut self.heat {
            heat.finished(op, pace_percent);
        }
    }

    /// A read was queued.
    pub fn read_came(&mut self, now: Time, die: usize, op: u32) {
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.read_came(now, die, op);
        }
    }

    /// The wait of a read is over.
    pub fn read_begins(&mut self, die: usize, op: u32) {
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.read_begins(die, op);
        }
    }

    /// The time that a read that has begun waited, by cause.
    pub fn waited(&self, op: u32) -> Parts {
        self.occupancy.as_ref().map(|occupancy| occupancy.waited(op)).unwrap_or_default()
    }
}
