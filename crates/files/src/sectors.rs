//! Reads of neighbouring sectors of a unit, beside the operations of dies.
//!
//! Such a read asks the disk for the payloads of the sectors and, where the caller wants them, for the frame, as a second
//! request at the same time. It waits for nothing: the disk carries out reads and programs of different places in any
//! order. The layer above compares checksums, so a read that overlaps the program of its own unit does no harm.

use crate::buffer::Buffer;
use crate::disks::IoKind;
use crate::files::{Files, Purpose, is_of_place};
use crate::frame::{self, Origin};
use crate::layout::Layout;
use crate::module::{Part, SectorRead};
use crate::spares::frame_bytes;
use bytes::Bytes;
use media::{Ended, MediaError, SectorState, SectorsAt, Unit};
use std::ops::Range;

/// The bytes of a unit that hold these payloads, as multiples that the disk reads.
fn payload_bytes(layout: &Layout, at: &SectorsAt) -> Range<u64> {
    let (bytes, align) = (u64::from(layout.shape().payload_bytes), u64::from(layout.align_bytes()));
    let (first, end) = (u64::from(at.first) * bytes, u64::from(at.first + at.count) * bytes);
    first / align * align..end.next_multiple_of(align).min(layout.unit_bytes() as u64)
}

impl Files {
    pub(crate) fn begin_sector_read(&mut self, tag: u64, at: &SectorsAt) {
        let slot = at.unit.block.module;
        let Ok(module) = self.module(slot) else {
            let ended = self.sector_reads.insert(tag, SectorRead::ends_with(slot, Some(MediaError::NoModule)));
            assert!(ended.is_none(), "tag {tag} is in use");
            return self.ended.push(Ended::Sectors { tag });
        };
        let layout = module.superblock.layout;
        let unit = layout.unit_offset(layout.unit(at.unit));
        let parts = [
            (Part::Payloads, Some(payload_bytes(&layout, at))),
            (Part::Frame, at.with_spares.then(|| frame_bytes(&layout))),
        ];
        let mut read = SectorRead::ends_with(slot, None);
        for (part, bytes) in parts {
            let Some(bytes) = bytes else { continue };
            let buffer = self.pool.take_pinned((bytes.end - bytes.start) as usize);
            self.begin(slot, Purpose::Sectors { tag, part }, IoKind::Read, unit + bytes.start, buffer);
            read.left += 1;
        }
        let before = self.sector_reads.insert(tag, read);
        assert!(before.is_none(), "tag {tag} is in use");
    }

    /// A request of a read of sectors has ended. `code` is the disk's own answer.
    pub(crate) fn sectors_came(
        &mut self,
        tag: u64,
        part: Part,
        result: Result<(), MediaError>,
        code: i32,
        buffer: Buffer,
    ) {
        let read = self.sector_reads.get_mut(&tag).expect("its result was not taken");
        read.left -= 1;
        match result {
            Ok(()) if part == Part::Payloads => read.payloads = buffer,
            Ok(()) => read.frame = buffer,
            Err(error) => {
                self.pool.give(buffer);
                match is_of_place(code) {
                    true => read.is_damaged = true,
                    false => read.error = Some(error),
                }
            }
        }
        if read.left == 0 {
            self.ended.push(Ended::Sectors { tag });
        }
    }

    /// A module was pulled: its reads end.
    pub(crate) fn end_sector_reads(&mut self, slot: u32) {
        for (tag, read) in self.sector_reads.iter_mut().filter(|(_, read)| read.slot == slot && read.left > 0) {
            read.left = 0;
            read.error = Some(MediaError::NoModule);
            self.ended.push(Ended::Sectors { tag: *tag });
        }
    }

    /// Waits for the end of a read of sectors, and decodes them.
    pub(crate) fn end_sector_read(&mut self, tag: u64, at: &SectorsAt, unit: &mut Unit) -> Result<(), MediaError> {
        if !self.sector_reads.contains_key(&tag) {
            self.begin_sector_read(tag, at);
        }
        while self.sector_reads[&tag].left > 0 {
            self.turn();
        }
        let SectorRead { payloads, frame, is_damaged, error, .. } = self.sector_reads.remove(&tag).expect("seen");
        let decoded = match error {
            Some(error) => Err(error),
            None if is_damaged => {
                (0..unit.sectors()).for_each(|sector| unit.set_state(sector, SectorState::Uncorrectable));
                Ok(())
            }
            None => self.decode_sectors(at, payloads.bytes(), frame.bytes(), unit),
        };
        self.pool.give(payloads);
        self.pool.give(frame);
        decoded
    }

    /// Lends the payloads that a read has brought; `None`: it brings more than these, or has not brought them.
    pub(crate) fn lend_sector_read(&mut self, tag: u64, at: &SectorsAt) -> Option<Bytes> {
        let read = self.sector_reads.get(&tag)?;
        if at.with_spares || read.left > 0 || read.is_damaged || read.error.is_some() {
            return None;
        }
        let layout = self.module(at.unit.block.module).ok()?.superblock.layout;
        let bytes = self.shape.payload_bytes as usize;
        let skipped = at.first as usize * bytes - payload_bytes(&layout, at).start as usize;
        let read = self.sector_reads.remove(&tag)?;
        Some(self.pool.lend(read.payloads, skipped..skipped + at.count as usize * bytes))
    }

    fn decode_sectors(&self, at: &SectorsAt, payloads: &[u8], frame: &[u8], unit: &mut Unit) -> Result<(), MediaError> {
        let module = self.module(at.unit.block.module)?;
        let layout = module.superblock.layout;
        if at.with_spares {
            let block = &module.table[layout.block(at.unit.block) as usize];
            let origin = Origin { file: module.superblock.file, block };
            let skipped = frame::frame_bytes(&self.shape).start - frame_bytes(&layout).start;
            frame::decode_spares(&self.shape, at.unit, origin, &frame[skipped as usize..], unit);
        }
        let bytes = self.shape.payload_bytes as usize;
        let skipped = at.first as usize * bytes - payload_bytes(&layout, at).start as usize;
        for (payload, sector) in payloads[skipped..].chunks_exact(bytes).zip(at.first..at.first + at.count) {
            unit.write_payload(sector as usize, payload);
            if !at.with_spares {
                unit.set_state(sector as usize, SectorState::Good);
            }
        }
        Ok(())
    }
}
