//! Syncs, and the record of syncs for the next start.

use crate::buffer::Buffer;
use crate::disks::IoKind;
use crate::files::{Files, Purpose};
use crate::module::{Die, Module, Operation, Sync};
use crate::record;
use crate::sizes::PAGE_BYTES;
use media::{Ended, MediaError};

impl Files {
    /// Ends a sync that was begun.
    pub(crate) fn synced(&mut self, slot: u32, result: Result<(), MediaError>) {
        let state = &mut self.slots[slot as usize];
        let Sync::Busy(upto) = state.sync else { panic!("slot {slot} has no sync to end") };
        state.sync = Sync::Ended(result);
        self.note_sync(slot, upto, result);
        self.ended.push(Ended::Sync { module: slot });
    }

    /// Records, for the next start, a sync that has ended and covered programs up to `upto`.
    pub(crate) fn note_sync(&mut self, slot: u32, upto: u64, result: Result<(), MediaError>) {
        let Ok(Module { syncs, superblock, marks, .. }) = self.module_mut(slot) else { return };
        syncs.is_spoilt |= result.is_err();
        if syncs.is_spoilt {
            return;
        }
        syncs.synced = syncs.synced.max(upto);
        marks.synced(upto);
        if syncs.is_recording || syncs.synced == syncs.recorded {
            return;
        }
        syncs.is_recording = true;
        syncs.recorded = syncs.synced;
        let (synced, offset, file) = (syncs.synced, superblock.layout.record(syncs.next_copy), superblock.file);
        syncs.next_copy = 1 - syncs.next_copy;
        let marks = marks.list();
        let mut buffer = self.pool.take(PAGE_BYTES as usize);
        record::encode(file, synced, &marks, buffer.bytes_mut());
        self.begin(slot, Purpose::Record, IoKind::Write { durable: false }, offset, buffer);
    }

    /// The last program that a sync would cover if it began now: all programs up to it have ended.
    pub(crate) fn ended_programs(&self, slot: u32) -> u64 {
        let state = &self.slots[slot as usize];
        let under_way = state.dies.iter().filter_map(|die| match die {
            Die::Busy(Operation::Program { number, .. }) => Some(number - 1),
            _ => None,
        });
        let last = state.module.as_ref().map_or(0, |module| module.last_program);
        under_way.fold(last, u64::min)
    }
}

impl Drop for Files {
    /// Records the last sync durably, in both copies, so that after an orderly end it is known for good.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        for slot in 0..self.shape.modules {
            while self.module(slot).is_ok_and(|module| module.syncs.is_recording) {
                self.turn();
            }
            let Ok(Module { syncs, superblock, handle, marks, .. }) = self.module(slot) else { continue };
            if syncs.recorded == superblock.base() {
                continue;
            }
            let (handle, offset) = (*handle, superblock.layout.record(syncs.next_copy));
            let (file, recorded, marks) = (superblock.file, syncs.recorded, marks.list());
            let mut buffer = self.pool.take(PAGE_BYTES as usize);
            record::encode(file, recorded, &marks, buffer.bytes_mut());
            let _ = self.call(handle, IoKind::Write { durable: false }, offset, buffer);
            let _ = self.call(handle, IoKind::Sync, 0, Buffer::none());
        }
    }
}
