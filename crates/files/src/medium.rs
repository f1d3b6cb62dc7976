//! Files as a medium: operations that are begun, and operations that are waited for.
//!
//! The end of an operation that was begun is only handed over. An operation that was not begun is begun now, and the
//! call waits for its end. A die has one operation in flight. If the layer above has given up an operation and asks for
//! another, the new one waits for the old one, because a program that ends late must not overwrite a later one. Reads
//! that were not begun are the exception: they do not wait for the die.

use crate::ahead::Found;
use crate::buffer::Buffer;
use crate::disks::{Handle, IoKind};
use crate::erase::{Change, Kind, Waiter};
use crate::files::{BegunHeader, Files, Purpose, is_of_place};
use crate::frame::{self, Origin, Read, Stamp};
use crate::gather::payloads_in_place;
use crate::layout::COPIES;
use crate::module::{Die, Module, Operation, Sync};
use crate::sizes::PAGE_BYTES;
use crate::superblock::Superblock;
use bytes::Bytes;
use media::{
    BlockAt, Ended, HEADER_BYTES, LogArea, Media, MediaError, ReadCount, ReadReport, SectorState, SectorsAt, Shape,
    Unit, UnitAt,
};
use std::os::fd::BorrowedFd;

const _: () = assert!(HEADER_BYTES <= PAGE_BYTES as usize);

/// The number of a header copy, as an index.
fn copy_of(copy: u32) -> usize {
    assert!((copy as usize) < COPIES, "illegal address: copy {copy} of a header");
    copy as usize
}

impl Files {
    /// Waits for the operation that was begun on a die and takes its result, if `is_it` accepts the operation.
    fn take_end(&mut self, at: BlockAt, is_it: impl Fn(&Operation) -> bool) -> Option<Result<Buffer, MediaError>> {
        self.module_slot(at.module);
        loop {
            let die = &mut self.slots[at.module as usize].dies[at.die as usize];
            match die {
                Die::Ended(operation, _) if is_it(operation) => {
                    let Die::Ended(_, result) = std::mem::take(die) else { unreachable!("just seen") };
                    return Some(result);
                }
                Die::Busy(operation) if is_it(operation) => self.turn(),
                _ => return None,
            }
        }
    }

    fn module_slot(&self, slot: u32) {
        assert!(slot < self.shape.modules, "illegal address: module {slot} of {:?}", self.shape);
    }

    /// Waits until a die is free of operations that were given up.
    fn free_die(&mut self, at: BlockAt) {
        self.module_slot(at.module);
        while let Die::Busy(_) = self.slots[at.module as usize].dies[at.die as usize] {
            self.turn();
        }
    }

    /// Frees the die for a new operation; `false` if there is no module.
    fn may_begin(&mut self, at: BlockAt, operation: Operation) -> bool {
        self.free_die(at);
        let is_there = self.slots[at.module as usize].module.is_some();
        if !is_there {
            self.end_at_once(at.module, at.die, operation, MediaError::NoModule);
        }
        is_there
    }

    fn busy(&mut self, at: BlockAt, operation: Operation) {
        self.slots[at.module as usize].dies[at.die as usize] = Die::Busy(operation);
    }

    fn decode(&self, at: UnitAt, wanted: u64, read: Option<Read>, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        let module = self.module(at.block.module)?;
        let superblock = &module.superblock;
        if let Some(read) = read {
            let number = superblock.layout.block(at.block);
            let origin = Origin { file: superblock.file, block: &module.table[number as usize] };
            let was_synced = |program| superblock.was_synced(program);
            frame::decode(&self.shape, at, wanted, origin, was_synced, read, unit);
            let is_erased = (0..unit.sectors()).all(|sector| unit.state(sector) == SectorState::Erased);
            if is_erased && module.marks.has_fallen(number, at.row) {
                (0..unit.sectors()).for_each(|sector| unit.set_state(sector, SectorState::Uncorrectable));
            }
        } else {
            // This place of the disk can't be read.
            (0..unit.sectors()).for_each(|sector| unit.set_state(sector, SectorState::Uncorrectable));
        }
        Ok(ReadReport::default())
    }

    /// Decodes a unit that was read: its payloads are copied, or parts of the buffer. Without bytes, this place of the disk
    /// can't be read.
    fn decode_buffer(
        &mut self,
        at: UnitAt,
        wanted: u64,
        buffer: Buffer,
        unit: &mut Unit,
    ) -> Result<ReadReport, MediaError> {
        let len = buffer.bytes().len();
        if len > 0 && self.lends(wanted) {
            let lent = self.pool.lend(buffer, 0..len);
            return self.decode(at, wanted, Some(Read::Lent(&lent)), unit);
        }
        let read = (len > 0).then(|| Read::Copied(buffer.bytes()));
        let decoded = self.decode(at, wanted, read, unit);
        self.pool.give(buffer);
        decoded
    }

    /// Waits for the write of a header copy that was begun. Returns its result if it wrote these bytes.
    fn end_header(&mut self, slot: u32, copy: u32, bytes: &[u8]) -> Option<Result<(), MediaError>> {
        loop {
            let begun = self.headers.get(&(slot, copy))?;
            if let Some(ended) = begun.ended {
                let begun = self.headers.remove(&(slot, copy))?;
                return (begun.bytes == bytes).then_some(ended);
            }
            self.turn();
        }
    }

    fn header_buffer(&mut self, bytes: &[u8]) -> Buffer {
        assert_eq!(bytes.len(), HEADER_BYTES, "a header of another length");
        let mut buffer = self.pool.take(HEADER_BYTES);
        buffer.bytes_mut().copy_from_slice(bytes);
        buffer
    }

    /// Reads a unit whose read was not begun.
    fn read_now(&mut self, at: UnitAt, wanted: u64, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        let slot = at.block.module;
        let module = self.module_mut(slot)?;
        let (handle, layout) = (module.handle, module.superblock.layout);
        let number = layout.unit(at);
        let windows = module.ahead.asked(number, layout.unit_bytes(), layout.units());
        module.ahead.take_unused().into_iter().for_each(|buffer| self.pool.give(buffer));
        self.read_ahead(slot, windows);
        loop {
            match self.module(slot)?.ahead.find(number, layout.unit_bytes()) {
                Found::There(bytes) => return self.decode(at, wanted, Some(Read::Copied(bytes)), unit),
                Found::InFlight => {}
                Found::Nowhere => break,
            }
            self.turn();
        }
        let buffer = self.pool.take(layout.unit_bytes());
        let (read, result, buffer) = self.call(handle, IoKind::Read, layout.unit_offset(number), buffer);
        match read {
            Ok(()) => self.decode_buffer(at, wanted, buffer, unit),
            Err(error) => {
                self.pool.give(buffer);
                match is_of_place(result) && self.answers(handle) {
                    true => self.decode(at, wanted, None, unit),
                    false => Err(error),
                }
            }
        }
    }

    /// Whether a file with an unreadable place can be read at all.
    fn answers(&mut self, handle: Handle) -> bool {
        let buffer = self.pool.take(PAGE_BYTES as usize);
        let (result, _, buffer) = self.call(handle, IoKind::Read, 0, buffer);
        self.pool.give(buffer);
        result.is_ok()
    }

    /// The offset and the bytes of a unit that is about to be programmed, and the number of the program.
    fn prepare_program(&mut self, at: UnitAt, unit: &Unit) -> Result<(u64, Buffer, u64), MediaError> {
        self.keep_from_discard(at.block);
        let shape = self.shape;
        let module = self.module_mut(at.block.module)?;
        let (handle, layout) = (module.handle, module.superblock.layout);
        let block = module.table[layout.block(at.block) as usize];
        if block.is_bad || !block.is_known {
            return Err(MediaError::Failed);
        }
        module.ahead.forget();
        module.frames.forget();
        module.last_program += 1;
        let number = module.last_program;
        let (file, epoch) = (module.superblock.file, block.epoch);
        let count = module.marks.begins(layout.block(at.block), epoch, at.row, number);
        let stamp = Stamp { file, epoch, program: number, count };
        let in_place = if self.disks.gathers(handle) { payloads_in_place(unit) } else { None };
        let buffer = match in_place {
            Some(payloads) => {
                let in_place_bytes = payloads.iter().map(Bytes::len).sum::<usize>();
                let mut buffer = self.pool.take(layout.unit_bytes() - in_place_bytes);
                frame::encode_frame(&shape, at, stamp, unit, buffer.bytes_mut());
                buffer.set_lead(payloads);
                buffer
            }
            None => {
                let mut buffer = self.pool.take(layout.unit_bytes());
                frame::encode(&shape, at, stamp, unit, buffer.bytes_mut());
                buffer
            }
        };
        Ok((layout.unit_offset(layout.unit(at)), buffer, number))
    }

    /// A program of the block has failed: nothing is known of what it holds.
    pub(crate) fn forget_block(&mut self, at: BlockAt) {
        if let Ok(module) = self.module_mut(at.module) {
            let block = module.superblock.layout.block(at);
            module.marks.forget(block);
        }
    }

    fn prepare_erase(&mut self, at: BlockAt, waiter: Waiter) -> Result<Change, MediaError> {
        let module = self.module(at.module)?;
        let block = module.superblock.layout.block(at);
        if module.table[block as usize].is_bad {
            return Err(MediaError::Failed);
        }
        let epoch = module.next_epoch(block);
        self.module_mut(at.module)?.marks.forget(block);
        Ok(Change { block, kind: Kind::Erased, epoch, waiter })
    }

    fn change_now(&mut self, slot: u32, change: Change) -> Result<(), MediaError> {
        let Waiter::Call(ticket) = change.waiter else { panic!("no call waits for {change:?}") };
        self.change(slot, change);
        self.await_change(ticket)
    }

    fn ticket(&mut self) -> Waiter {
        self.tickets += 1;
        Waiter::Call(self.tickets)
    }

    /// Writes both copies of superblocks durably: one copy of each, side by side, and the other one where that worked.
    pub(crate) fn write_superblocks(
        &mut self,
        superblocks: &[(Handle, &Superblock)],
    ) -> Vec<(Result<(), MediaError>, i32)> {
        let mut outcomes = vec![(Ok(()), 0); superblocks.len()];
        for copy in 0..COPIES {
            let left: Vec<usize> = (0..outcomes.len()).filter(|at| outcomes[*at].0.is_ok()).collect();
            let mut requests = Vec::with_capacity(left.len());
            for (handle, superblock) in left.iter().map(|at| superblocks[*at]) {
                let mut buffer = self.pool.take(PAGE_BYTES as usize);
                superblock.encode(buffer.bytes_mut());
                requests.push((handle, IoKind::Write { durable: true }, superblock.layout.superblock(copy), buffer));
            }
            for (at, (written, result, buffer)) in left.into_iter().zip(self.call_all(requests)) {
                self.pool.give(buffer);
                outcomes[at] = (written, result);
            }
        }
        outcomes
    }

    /// Claims modules that are there; `None` for a claim that is not above the present one.
    fn claim_all(&mut self, claims: &[(u32, u64)]) -> Vec<Option<Result<(), MediaError>>> {
        let claimed: Vec<Option<(Handle, Superblock)>> = claims
            .iter()
            .map(|&(slot, generation)| {
                let Module { superblock, handle, .. } = self.module(slot).ok()?;
                let writes = superblock.writes + 1;
                (generation > superblock.claim)
                    .then(|| (*handle, Superblock { claim: generation, writes, ..superblock.clone() }))
            })
            .collect();
        let to_write: Vec<_> = claimed.iter().flatten().map(|(handle, superblock)| (*handle, superblock)).collect();
        let mut written = self.write_superblocks(&to_write).into_iter();
        let ends = claims.iter().zip(claimed).map(|(&(slot, _), claimed)| {
            let (_, superblock) = claimed?;
            let (written, _) = written.next()?;
            let module = self.slots[slot as usize].module.as_mut()?;
            // The next write must have a higher count, even if this one failed.
            module.superblock.writes = superblock.writes;
            if written.is_ok() {
                module.superblock = superblock;
                module.is_claimed = true;
            }
            Some(written)
        });
        ends.collect()
    }
}

impl Media for Files {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn read(&mut self, at: UnitAt, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        self.read_some(at, u64::MAX, unit)
    }

    fn read_some(&mut self, at: UnitAt, wanted: u64, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        match self.take_end(at.block, |operation| *operation == Operation::Read(at)) {
            Some(Ok(buffer)) => self.decode_buffer(at, wanted, buffer, unit),
            Some(Err(error)) => Err(error),
            None => self.read_now(at, wanted, unit),
        }
    }

    /// Memory that is lent holds no more than twice as much as is wanted of it.
    fn lends(&self, wanted: u64) -> bool {
        let sectors = self.shape.unit_sectors;
        let all = u64::MAX >> (u64::BITS - sectors.min(u64::BITS));
        self.shape.payload_bytes.is_multiple_of(PAGE_BYTES as u32) && 2 * (wanted & all).count_ones() >= sectors
    }

    fn read_sectors(&mut self, tag: u64, at: &SectorsAt, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        self.end_sector_read(tag, at, unit).map(|()| ReadReport::default())
    }

    fn lend_sectors(&mut self, tag: u64, at: &SectorsAt) -> Option<Bytes> {
        self.lend_sector_read(tag, at)
    }

    fn begin_spares(&mut self, at: UnitAt) {
        self.begin_frame(at);
    }

    fn read_spares(&mut self, at: UnitAt, unit: &mut Unit) -> Result<bool, MediaError> {
        if self.read_frame(at, unit)? {
            return Ok(false);
        }
        self.read(at, unit).map(|_| true)
    }

    fn take_read_count(&mut self) -> ReadCount {
        self.reads.take()
    }

    fn take_fallen(&mut self) -> bool {
        let modules = self.slots.iter_mut().filter_map(|slot| slot.module.as_mut());
        // All of them are asked.
        modules.map(|module| module.marks.take_new()).filter(|is_new| *is_new).count() > 0
    }

    fn has_fallen(&self, at: UnitAt) -> bool {
        let module = self.module(at.block.module);
        module.is_ok_and(|module| module.marks.has_fallen(module.superblock.layout.block(at.block), at.row))
    }

    /// A unit that is not whole and was not synced reads as erased.
    fn tears_read_as_erased(&self) -> bool {
        true
    }

    /// A frame names its place, so a unit that lies in another place is damage there.
    fn shows_strays(&self) -> bool {
        false
    }

    fn program(&mut self, at: UnitAt, unit: &Unit) -> Result<(), MediaError> {
        let is_it = |operation: &Operation| matches!(operation, Operation::Program { at: begun, .. } if *begun == at);
        if let Some(result) = self.take_end(at.block, is_it) {
            return result.map(drop);
        }
        self.free_die(at.block);
        let (offset, buffer, _) = self.prepare_program(at, unit)?;
        let handle = self.module(at.block.module)?.handle;
        let (written, _, buffer) = self.call(handle, IoKind::Write { durable: false }, offset, buffer);
        self.pool.give(buffer);
        if written.is_err() {
            self.forget_block(at.block);
        }
        written
    }

    fn erase(&mut self, at: BlockAt) -> Result<(), MediaError> {
        if let Some(result) = self.take_end(at, |operation| *operation == Operation::Erase(at)) {
            return result.map(drop);
        }
        self.free_die(at);
        let waiter = self.ticket();
        let change = self.prepare_erase(at, waiter)?;
        self.change_now(at.module, change)
    }

    fn sync(&mut self, slot: u32) -> Result<(), MediaError> {
        self.module_slot(slot);
        while let Sync::Busy(_) = self.slots[slot as usize].sync {
            self.turn();
        }
        if let Sync::Ended(result) = std::mem::take(&mut self.slots[slot as usize].sync) {
            return result;
        }
        let handle = self.module(slot)?.handle;
        let upto = self.ended_programs(slot);
        let (result, _, _) = self.call(handle, IoKind::Sync, 0, Buffer::none());
        self.note_sync(slot, upto, result);
        result
    }

    fn is_volatile(&self) -> bool {
        true
    }

    fn reads_beside_programs(&self) -> bool {
        true
    }

    fn keeps_erases(&self) -> bool {
        true
    }

    fn is_bad(&self, at: BlockAt) -> bool {
        self.module(at.module).is_ok_and(|module| module.table[module.superblock.layout.block(at) as usize].is_bad)
    }

    fn mark_bad(&mut self, at: BlockAt) -> Result<(), MediaError> {
        let waiter = self.ticket();
        let module = self.module(at.module)?;
        let block = module.superblock.layout.block(at);
        let change = Change { block, kind: Kind::Bad, epoch: module.next_epoch(block), waiter };
        self.change_now(at.module, change)
    }

    fn cycles(&self, at: BlockAt) -> u32 {
        self.module(at.module).map_or(0, |module| module.table[module.superblock.layout.block(at) as usize].cycles)
    }

    fn read_header(&mut self, slot: u32, copy: u32) -> Result<Option<Vec<u8>>, MediaError> {
        let module = self.module(slot)?;
        let (handle, offset) = (module.handle, module.superblock.layout.header(copy_of(copy)));
        let buffer = self.pool.take(HEADER_BYTES);
        let (read, result, buffer) = self.call(handle, IoKind::Read, offset, buffer);
        let header = match read {
            Ok(()) => Ok(Some(buffer.bytes().to_vec()).filter(|bytes| bytes.iter().any(|byte| *byte != 0))),
            // This copy can't be read, but the other may be readable.
            Err(_) if is_of_place(result) && self.answers(handle) => Ok(None),
            Err(error) => Err(error),
        };
        self.pool.give(buffer);
        header
    }

    fn write_header(&mut self, slot: u32, copy: u32, bytes: &[u8]) -> Result<(), MediaError> {
        let module = self.module(slot)?;
        let (handle, offset) = (module.handle, module.superblock.layout.header(copy_of(copy)));
        if let Some(written) = self.end_header(slot, copy, bytes) {
            return written;
        }
        let buffer = self.header_buffer(bytes);
        let (written, _, buffer) = self.call(handle, IoKind::Write { durable: true }, offset, buffer);
        self.pool.give(buffer);
        written
    }

    fn log_area(&self) -> Option<LogArea> {
        self.area_of_log()
    }

    fn read_log(&mut self, slot: u32) -> Result<Vec<u8>, MediaError> {
        self.read_all_of_log(slot)
    }

    fn write_log(&mut self, slot: u32, offset_bytes: u64, bytes: &[u8]) -> Result<(), MediaError> {
        self.write_log_now(slot, offset_bytes, bytes)
    }

    fn begin_log(&mut self, slot: u32, offset_bytes: u64, bytes: &Bytes) {
        self.begin_write_of_log(slot, offset_bytes, bytes);
    }

    fn writes_log(&self, slot: u32) -> bool {
        self.has_log_in_flight(slot)
    }

    /// Only this process has the file, so no other claimant is at work. An earlier claim counts all the same.
    fn claim(&mut self, slot: u32, generation: u64) -> Result<(), MediaError> {
        let is_claimed = self.module(slot)?.is_claimed;
        match self.claim_all(&[(slot, generation)]).remove(0) {
            Some(claimed) => claimed,
            None if is_claimed => Ok(()),
            None => Err(MediaError::Fenced),
        }
    }

    fn begin_claims(&mut self, claims: &[(u32, u64)]) {
        self.claim_all(claims);
    }

    fn has_module(&self, slot: u32) -> bool {
        self.module(slot).is_ok()
    }

    fn begin_read(&mut self, at: UnitAt) {
        let operation = Operation::Read(at);
        if self.may_begin(at.block, operation) {
            let layout = self.module(at.block.module).expect("it is there").superblock.layout;
            let buffer = self.pool.take(layout.unit_bytes());
            self.busy(at.block, operation);
            let offset = layout.unit_offset(layout.unit(at));
            self.begin(at.block.module, Purpose::Die(at.block.die), IoKind::Read, offset, buffer);
        }
    }

    fn begin_sectors(&mut self, tag: u64, at: &SectorsAt) {
        self.begin_sector_read(tag, at);
    }

    fn begin_program(&mut self, at: UnitAt, unit: &Unit) {
        let operation = Operation::Program { at, number: 0 };
        if self.may_begin(at.block, operation) {
            match self.prepare_program(at, unit) {
                Ok((offset, buffer, number)) => {
                    self.busy(at.block, Operation::Program { at, number });
                    let kind = IoKind::Write { durable: false };
                    self.begin(at.block.module, Purpose::Die(at.block.die), kind, offset, buffer);
                }
                Err(error) => self.end_at_once(at.block.module, at.block.die, operation, error),
            }
        }
    }

    fn begin_erase(&mut self, at: BlockAt) {
        let operation = Operation::Erase(at);
        if self.may_begin(at, operation) {
            match self.prepare_erase(at, Waiter::Die(at.die)) {
                Ok(change) => {
                    self.busy(at, operation);
                    self.change(at.module, change);
                }
                Err(error) => self.end_at_once(at.module, at.die, operation, error),
            }
        }
    }

    fn begin_header(&mut self, slot: u32, copy: u32, bytes: &[u8]) {
        // A write that was begun and given up must not end after this one.
        self.end_header(slot, copy, bytes);
        let Ok(module) = self.module(slot) else { return };
        let offset = module.superblock.layout.header(copy_of(copy));
        let buffer = self.header_buffer(bytes);
        self.headers.insert((slot, copy), BegunHeader { bytes: bytes.to_vec(), ended: None });
        self.begin(slot, Purpose::Header(copy), IoKind::Write { durable: true }, offset, buffer);
    }

    fn begin_sync(&mut self, slot: u32) {
        self.module_slot(slot);
        // A sync that was given up does not cover the programs that this one must cover.
        while let Sync::Busy(_) = self.slots[slot as usize].sync {
            self.turn();
        }
        if self.module(slot).is_err() {
            return self.end_sync_at_once(slot, MediaError::NoModule);
        }
        self.slots[slot as usize].sync = Sync::Busy(self.ended_programs(slot));
        self.begin(slot, Purpose::Sync, IoKind::Sync, 0, Buffer::none());
    }

    fn is_under_way(&self, module: u32, die: u32) -> bool {
        matches!(self.slots[module as usize].dies[die as usize], Die::Busy(_))
    }

    fn reads_sectors(&self, tag: u64) -> bool {
        self.sector_reads.get(&tag).is_some_and(|read| read.left > 0)
    }

    fn is_syncing(&self, module: u32) -> bool {
        matches!(self.slots[module as usize].sync, Sync::Busy(_))
    }
    fn has_in_flight(&self) -> bool {
        self.in_flight() > 0 || !self.ended.is_empty()
    }

    fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    fn submit(&mut self) {
        self.hand_over();
    }

    fn take_ended(&mut self, ended: &mut Vec<Ended>) {
        self.tell(ended);
        // An end may be half of a round: the other copy of a page is written now.
        self.submit();
    }

    fn bell(&self) -> Option<BorrowedFd<'_>> {
        self.disks.fd()
    }
}
