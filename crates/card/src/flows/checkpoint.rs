//! Checkpoints of a card with contents: when one is due, and its way to flash.
//!
//! One is due when recovery would have much to read beside the newest. It is written in small steps beside the host's
//! work, a stripe at a time, and given up when a part of it can't be programmed: nothing depends on it.

use crate::card::Card;
use crate::contents::Storage;
use crate::contents::store::Content;
use device::Time;
use format::{CHECKPOINT_HEAD_BYTES, Role};
use ftl::{Lba, StreamId};

impl Card<Storage> {
    /// A checkpoint is being written.
    pub fn writes_checkpoint(&self) -> bool {
        self.core.ftl.writes_checkpoint()
    }

    /// Begins a checkpoint, unless one is being written or the medium can do without.
    pub fn begin_checkpoint(&mut self, now: Time) {
        let store = &mut self.contents.store;
        // A volatile medium may have lost sectors that were not written last: recovery reads everything anyway.
        let can = !store.media.is_volatile() && store.payload_bytes() >= CHECKPOINT_HEAD_BYTES;
        if self.core.ftl.writes_checkpoint() || !can {
            return;
        }
        let version = store.take_version();
        let owed = self.contents.holes.owed_segments();
        let payload_bytes = store.payload_bytes();
        self.core.ftl.begin_checkpoint(version, &owed, payload_bytes);
        self.contents.checkpoint.begin(version);
        self.program_sealed(now);
    }

    /// Goes on with the checkpoint, or begins one that is due.
    pub(crate) fn advance_checkpoint(&mut self, now: Time) {
        let every = self.core.config.ftl.persistence.map_or(0, |persistence| persistence.checkpoint_every_bands);
        if every == 0 || self.core.phase.is_halted() {
            return;
        }
        if self.core.ftl.finish_checkpoint() {
            self.erase_stale(now);
        }
        let is_due = self.core.ftl.bands_since_checkpoint() >= u64::from(every) || self.core.ftl.checkpoint_is_flawed();
        let is_free = !self.contents.failed.has_displaced()
            && !self.core.ftl.must_empty()
            && self.contents.holes.owed_since_start().is_none();
        if is_due && is_free && self.core.ftl.has_room_for_part() {
            self.begin_checkpoint(now);
        }
        while !self.contents.checkpoint.is_in_flight()
            && self.core.ftl.writes_checkpoint()
            && self.core.ftl.has_room_for_part()
            && let Some((part, payload, ppa)) = self.core.ftl.next_part()
        {
            self.core.relocations.add_sectors(1);
            let version = self.contents.checkpoint.version();
            self.contents.store.put(ppa, Content::new(Role::Checkpoint, version, Lba(part), payload.into()));
            self.program_sealed(now);
        }
    }

    /// Something of the checkpoint can't be programmed.
    pub(crate) fn give_up_checkpoint(&mut self, now: Time) {
        self.core.ftl.give_up_checkpoint();
        self.program_sealed(now);
    }

    /// The band that is being filled takes no more.
    pub(crate) fn abandon_band(&mut self, now: Time, stream: StreamId) {
        match stream {
            StreamId::Checkpoint => self.give_up_checkpoint(now),
            stream => self.core.ftl.abandon_band(stream),
        }
    }
}
