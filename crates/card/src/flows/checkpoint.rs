//! Checkpoints of a card with contents: when one is due, and its way to flash.
//!
//! One is due when recovery would have much to read beside the newest. It is written in small steps beside the host's
//! work, a stripe at a time, and given up when a part of it can't be programmed: nothing depends on it.
//!
//! A medium with a volatile cache may lose what was programmed and keep what was programmed later. That makes no
//! checkpoint wrong, because its head is programmed only when all that it tells of has been synced.

use crate::card::{Card, Done};
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

    /// Begins a checkpoint, unless one is being written or payloads have no room for its head.
    pub fn begin_checkpoint(&mut self, now: Time) {
        let store = &mut self.contents.store;
        if self.core.ftl.writes_checkpoint() || store.payload_bytes() < CHECKPOINT_HEAD_BYTES {
            return;
        }
        let version = store.take_version();
        let owed = self.contents.holes.owed_segments();
        let payload_bytes = store.payload_bytes();
        self.core.ftl.begin_checkpoint(version, &owed, payload_bytes);
        self.contents.checkpoint.begin(version, self.contents.store.next_version);
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
        if is_due && self.may_begin_checkpoint() {
            self.begin_checkpoint(now);
        }
        self.write_parts(now);
    }

    /// A checkpoint stands for all that was logged before it. So none begins on a medium with a log while the start may have
    /// found sectors in the log that are in no stripe yet.
    fn may_begin_checkpoint(&self) -> bool {
        let is_placed = self.core.phase.start_is_over() || !self.contents.store.media.is_volatile();
        is_placed
            && !self.contents.failed.has_displaced()
            && !self.core.ftl.must_empty()
            && self.contents.holes.owed_since_start().is_none()
            && self.core.ftl.has_room_for_part()
    }

    /// Writes as much of the checkpoint as can be written now.
    fn write_parts(&mut self, now: Time) {
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

    /// Writes a checkpoint of all that there is, so that the next start of a card on drives need not read them. If
    /// room or a die is missing for that, the next start is longer.
    pub(crate) fn write_last_checkpoint(&mut self, now: Time, done: &mut Done<Storage>) {
        let has_checkpoints = self.core.config.ftl.persistence.is_some_and(|with| with.checkpoint_every_bands > 0);
        let (version, bands) = (self.contents.store.next_version, self.core.ftl.bands_since_checkpoint());
        let knows_all = self.contents.checkpoint.knows_all(version, bands);
        if !has_checkpoints || !self.contents.store.media.is_volatile() || self.core.phase.is_halted() {
            return;
        }
        if knows_all && !self.core.ftl.writes_checkpoint() {
            return;
        }
        // One that is being written knows nothing of what was written last.
        self.give_up_checkpoint(now);
        if !self.may_begin_checkpoint() {
            return;
        }
        self.begin_checkpoint(now);
        while self.core.ftl.writes_checkpoint() && !self.core.phase.is_halted() {
            let before = self.core.ftl.parts_handed_out();
            self.write_parts(now);
            self.finish_own_work(done);
            self.sync_rest(now, done);
            if !self.core.ftl.finish_checkpoint() && self.core.ftl.parts_handed_out() == before {
                self.give_up_checkpoint(now);
            }
        }
        self.erase_stale(now);
        self.finish_own_work(done);
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
