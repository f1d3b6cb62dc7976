//! Spare areas for a scan, which needs no payloads: the frames of units alone, a seventeenth of the bytes of a large unit.
//!
//! A frame tells all about a unit that was synced. The payloads alone tell whether the program of any other unit was cut, so
//! such a unit is read as a whole.

use crate::disks::IoKind;
use crate::files::{Files, Purpose};
use crate::frame::{self, Origin, Told};
use crate::frames::Wanted;
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

    /// The spare areas of a unit, from its frame. `false`: the frame alone does not tell, or can't be read.
    pub(crate) fn read_frame(&mut self, at: UnitAt, unit: &mut Unit) -> Result<bool, MediaError> {
        let slot = at.block.module;
        let module = self.module_mut(slot)?;
        let layout = module.superblock.layout;
        if !module.table[layout.block(at.block) as usize].is_known {
            (0..unit.sectors()).for_each(|sector| unit.set_state(sector, SectorState::Uncorrectable));
            return Ok(true);
        }
        let bytes = frame_bytes(&layout);
        let wanted = module.frames.asked(layout.unit(at), layout.units());
        module.frames.take_unused().into_iter().for_each(|buffer| self.pool.give(buffer));
        for Wanted { number, unit } in wanted {
            let buffer = self.pool.take((bytes.end - bytes.start) as usize);
            let offset = layout.unit_offset(unit) + bytes.start;
            self.begin(slot, Purpose::Frame(number), IoKind::Read, offset, buffer);
        }
        let buffer = loop {
            match self.module_mut(slot)?.frames.take() {
                Some(Some(buffer)) => break buffer,
                Some(None) => return Ok(false),
                None => self.turn(),
            }
        };
        let module = self.module(slot)?;
        let superblock = &module.superblock;
        let origin = Origin { file: superblock.file, block: &module.table[layout.block(at.block) as usize] };
        let skipped = (frame::frame_bytes(&self.shape).start - bytes.start) as usize;
        let was_synced = |program| superblock.was_synced(program);
        let told = frame::decode_frame(&self.shape, at, origin, was_synced, &buffer.bytes()[skipped..], unit);
        self.pool.give(buffer);
        self.mark(at, told, unit)?;
        Ok(told != Told::TooLittle)
    }
}
