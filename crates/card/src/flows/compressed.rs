//! Reads on a card that compresses: sectors have different sizes, and may go on in the next unit of their stripe.

use crate::card::{Card, Contents};
use crate::core::die_op::{NOBODY, Work};
use crate::core::read_run::ReadRun;
use device::{RequestId, Time};
use ftl::{Lba, Relocation};

impl<C: Contents> Card<C> {
    /// As [`Card::read_sectors`]: granules that follow each other in the same unit come with the same command.
    #[inline(never)]
    pub(crate) fn read_compressed(&mut self, now: Time, id: RequestId, first: u32, count: u32) {
        let mut open: Option<ReadRun> = None;
        for lba in (first..first + count).map(Lba) {
            let Some(extents) = self.core.ftl.extents_of(lba) else {
                C::read_hole(self, id, lba);
                continue;
            };
            for extent in extents.into_iter().flatten() {
                match &mut open {
                    Some(run) if run.unit == extent.unit && run.ppa.0 + run.sectors == extent.first.0 => {
                        run.sectors += extent.granules;
                    }
                    _ => {
                        let run = ReadRun { unit: extent.unit, lba, ppa: extent.first, sectors: extent.granules };
                        if let Some(run) = open.replace(run) {
                            self.read_run(now, id, &run);
                        }
                    }
                }
            }
        }
        if let Some(run) = open {
            self.read_run(now, id, &run);
        }
    }

    /// Reads what lies of a relocation in the unit after its own; the granules of that. The unit is in the registers of its die
    /// then, and its own sectors, if they are moved too, cost no second read of the array.
    pub(crate) fn read_tail(&mut self, now: Time, relocation: &Relocation) -> u32 {
        let Some(tail) = self.core.ftl.tail_of(relocation) else { return 0 };
        self.start(now, Work::RepairRead(NOBODY), tail.unit, relocation.mode, tail.granules);
        tail.granules
    }
}
