//! Spare areas for a scan, which needs no payloads: the frames of units alone, a seventeenth of the bytes of a large unit.
//!
//! A frame tells all about a unit that was synced. The payloads alone tell whether the program of any other unit was cut, so
//! such a unit is read as a whole.

use crate::canary::{Canary, planted};
use crate::disks::IoKind;
use crate::files::{Files, Purpose};
use crate::frame::{self, Origin, Told};
use crate::frames::{BandUnits, Wanted};
use crate::layout::Layout;
use media::{MediaError, SectorState, Unit, UnitAt};
use std::ops::Range;

/// The bytes of a unit that hold its frame, as multiples that the disk reads.
pub(crate) fn frame_bytes(layout: &Layout) -> Range<u64> {
    let (frame, align) = (frame::frame_bytes(layout.shape()), u64::from(layout.align_bytes()));
    frame.start / align * align..frame.end.next_multiple_of(align)
}

impl Files {
    /// Compares what a frame tells with what is known of its block. A unit that is not there and was once can't be read.
    fn mark(&mut self, at: UnitAt, told: Told, unit: &mut Unit) -> Result<(), MediaError> {
        let module = self.module_mut(at.block.module)?;
        let block = module.superblock.layout.block(at.block);
        let epoch = module.table[block as usize].epoch;
        match told {
            Told::Nothing if module.marks.reads_nothing(block, epoch, at.row) => {
                (0..unit.sectors()).for_each(|sector| unit.set_state(sector, SectorState::Uncorrectable));
            }
            Told::All { count } => module.marks.reads(block, at.row, count),
            Told::Nothing | Told::TooLittle => {}
        }
        Ok(())
    }

    /// Begins to read the frame of a unit, and those that are probably asked for next.
    pub(crate) fn begin_frame(&mut self, at: UnitAt) {
        let Ok(module) = self.module_mut(at.block.module) else { return };
        let layout = module.superblock.layout;
        let (shape, unit, bytes) = (layout.shape(), layout.unit(at), frame_bytes(&layout));
        let (dies, rows) = (u64::from(shape.dies_per_module), u64::from(shape.rows_per_block));
        let first = unit - u64::from(at.row) * dies - u64::from(at.block.die);
        if planted(Canary::SparesReadAgain) {
            module.frames.forget();
        }
        let wanted = module.frames.asked(unit, &BandUnits { first, dies, rows });
        module.frames.take_unused().into_iter().for_each(|buffer| self.pool.give(buffer));
        for Wanted { number, unit } in wanted {
            let buffer = self.pool.take((bytes.end - bytes.start) as usize);
            let offset = layout.unit_offset(unit) + bytes.start;
            self.begin(at.block.module, Purpose::Frame(number), IoKind::Read, offset, buffer);
        }
    }

    /// The spare areas of a unit, from its frame. `false`: the frame alone does not tell, or can't be read.
    pub(crate) fn read_frame(&mut self, at: UnitAt, unit: &mut Unit) -> Result<bool, MediaError> {
        let slot = at.block.module;
        let module = self.module_mut(slot)?;
        let layout = module.superblock.layout;
        if !module.table[layout.block(at.block) as usize].is_known {
            (0..unit.sectors()).for_each(|sector| unit.set_state(sector, SectorState::Uncorrectable));
            return Ok(true);
        }
        self.begin_frame(at);
        let number = layout.unit(at);
        while self.module(slot)?.frames.find(number).is_none() {
            self.turn();
        }
        let module = self.module(slot)?;
        let Some(Some(bytes)) = module.frames.find(number) else { return Ok(false) };
        let superblock = &module.superblock;
        let origin = Origin { file: superblock.file, block: &module.table[layout.block(at.block) as usize] };
        let skipped = (frame::frame_bytes(&self.shape).start - frame_bytes(&layout).start) as usize;
        let was_synced = |program| superblock.was_synced(program);
        let told = frame::decode_frame(&self.shape, at, origin, was_synced, &bytes[skipped..], unit);
        self.mark(at, told, unit)?;
        Ok(told != Told::TooLittle)
    }
}
