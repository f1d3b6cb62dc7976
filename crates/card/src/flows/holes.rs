//! A card makes its trims durable. `contents/holes.rs` says how the media tell of holes, and when they are owed a list.

use crate::card::Card;
use crate::contents::Storage;
use crate::contents::holes::{OwedSinceStart, Stage};
use crate::contents::store::Content;
use device::Time;
use format::{Role, set_hole, set_holes_as_of};
use ftl::canary::{Canary, planted};
use ftl::{BandId, Lba, StreamId};

impl Card<Storage> {
    /// The media are owed lists of holes since the start.
    pub(crate) fn owe_since_start(&mut self, segments: Vec<u32>) {
        if segments.is_empty() || planted(Canary::HolesOfCheckpointForgotten) {
            return;
        }
        self.contents.holes.owe_since_start(segments, self.contents.store.next_version - 1);
    }

    /// Writes them as soon as there is room.
    pub(crate) fn write_owed_since_start(&mut self, now: Time) {
        match self.contents.holes.owed_since_start() {
            Some(OwedSinceStart::ToWrite { segments, as_of }) if self.core.ftl.has_room_for_holes(segments.len()) => {
                let (segments, as_of) = (segments.clone(), *as_of);
                segments.into_iter().for_each(|segment| self.write_holes(segment, as_of));
                self.core.ftl.seal_for_durability(StreamId::Host);
                self.program_sealed(now);
                self.contents.holes.start_lists_written(self.core.ftl.host_barrier());
            }
            Some(OwedSinceStart::Written { barrier }) if self.core.ftl.host_is_durable(*barrier) => {
                self.contents.holes.start_lists_durable();
            }
            _ => {}
        }
    }

    /// A band that may be erased.
    pub(crate) fn next_band_to_erase(&mut self, now: Time) -> Option<BandId> {
        self.make_trims_durable(now);
        self.forget_rescued();
        let among = self.erasable_beside_trims().min(self.erasable_beside_rescue());
        let rebuilt = self.contents.rebuilds.current.as_ref().and_then(|rebuild| rebuild.band());
        let scrubbed = self.contents.scrub.as_ref().and_then(|scrub| scrub.band());
        let band = self.core.ftl.next_erase_but(among, [rebuilt, scrubbed])?;
        self.contents.holes.erase_begins();
        Some(band)
    }

    /// Trims have no say in what is erased: capacitors bring them to flash.
    fn erases_despite_trims(&self) -> bool {
        self.core.config.power_loss_protection || planted(Canary::EraseBeforeTrims)
    }

    /// The number of waiting bands that may be erased, as far as trims are concerned.
    fn erasable_beside_trims(&self) -> usize {
        if self.erases_despite_trims() { usize::MAX } else { self.contents.holes.erasable() }
    }

    /// Goes on with making the trims durable that bands wait for, as far as that goes now.
    fn make_trims_durable(&mut self, now: Time) {
        if self.erases_despite_trims() {
            return;
        }
        while self.advance_trims(now) {}
    }

    /// One step; false when there is nothing to do for now.
    fn advance_trims(&mut self, now: Time) -> bool {
        let owes = self.contents.holes.are_owed();
        match self.contents.holes.stage() {
            Stage::None if !owes && self.core.ftl.host_is_durable(self.contents.holes.written_barrier()) => {
                self.contents.holes.clear_bands(self.core.ftl.stale_bands());
                false
            }
            Stage::None => {
                if self.contents.holes.erasable() > 0 || !owes || !self.core.ftl.stale_bands_wait() {
                    return false;
                }
                let bands = self.core.ftl.stale_bands();
                self.core.ftl.seal_for_durability(StreamId::Host);
                self.program_sealed(now);
                let as_of = self.contents.store.next_version - 1;
                self.contents.holes.wait_for_data(bands, self.core.ftl.host_barrier(), as_of);
                true
            }
            // A checkpoint was begun since: what is written now must not look older than it.
            Stage::Before { as_of, .. } if as_of < self.contents.checkpoint.version() => {
                self.contents.holes.restart();
                true
            }
            Stage::Before { barrier, as_of } => {
                if !self.core.ftl.host_is_durable(barrier) || !self.has_room_for_owed_holes() {
                    return false;
                }
                self.durable_up_to(as_of);
                self.write_owed_holes(now, as_of);
                self.core.ftl.seal_for_durability(StreamId::Host);
                self.program_sealed(now);
                self.contents.holes.wait_for_lists(self.core.ftl.host_barrier());
                true
            }
            Stage::Holes { barrier } => {
                if self.core.ftl.host_is_durable(barrier) {
                    self.contents.holes.finish_lists();
                }
                false
            }
        }
    }

    /// A sector was trimmed that held something.
    pub(crate) fn note_trim(&mut self, lba: Lba) {
        let segment_lbas = self.core.ftl.hole_segment_lbas();
        let store = &mut self.contents.store;
        // A trim takes its place among the versions.
        let version = store.take_version();
        self.contents.holes.trimmed(lba.0 / segment_lbas, lba, version);
    }

    /// A sector that held nothing was written.
    pub(crate) fn written_over_hole(&mut self, lba: Lba) {
        if self.core.config.power_loss_protection {
            return;
        }
        let version = self.contents.store.next_version - 1;
        self.contents.holes.written_over(lba, version);
    }

    /// Everything up to a version is durable.
    pub(crate) fn durable_up_to(&mut self, version: u64) {
        self.contents.holes.durable_up_to(version);
    }

    /// Writes what the media are owed when it is too much.
    pub(crate) fn limit_owed_holes(&mut self, now: Time) {
        let store = &self.contents.store;
        if self.core.config.power_loss_protection
            && self.contents.holes.are_too_many_owed()
            && self.core.ftl.can_write()
            && let Some(segment) = self.contents.holes.first_owed()
        {
            let as_of = store.next_version;
            self.write_holes(segment, as_of);
            self.program_sealed(now);
        }
    }

    pub(crate) fn has_room_for_owed_holes(&self) -> bool {
        self.core.ftl.has_room_for_holes(self.contents.holes.owed())
    }

    /// Writes the holes of all segments that the media know less of. There is room for them.
    pub(crate) fn write_owed_holes(&mut self, now: Time, as_of: u64) {
        for segment in self.contents.holes.owed_segments() {
            if planted(Canary::TrimForgotten) {
                self.contents.holes.forget_owed();
                break;
            }
            self.write_holes(segment, as_of);
        }
        self.contents.holes.owed_lists_written(self.core.ftl.host_barrier());
        self.program_sealed(now);
    }

    /// Writes the holes of a segment. There is room for them.
    pub(crate) fn write_holes(&mut self, segment: u32, as_of: u64) {
        self.contents.holes.begin_list(segment, as_of);
        let list = self.list_of_holes(segment);
        let ppa = self.core.ftl.write_holes(segment);
        self.core.relocations.add_sectors(1);
        self.contents.store.put(ppa, list);
    }

    /// The holes of a segment as the map has them, as of the last version up to which all is known to be durable. Data
    /// and trims that came later have a higher one: the data stand, and the trims are owed.
    pub(crate) fn list_of_holes(&mut self, segment: u32) -> Content {
        let lbas = self.core.ftl.hole_segment_lbas();
        let first = segment * lbas;
        let count = lbas.min(self.core.ftl.user_sectors() as u32 - first);
        let mut payload = vec![0; self.contents.store.payload_bytes()];
        set_holes_as_of(&mut payload, self.contents.holes.as_of());
        for index in 0..count {
            let lba = Lba(first + index);
            let is_hole = self.core.ftl.lookup(lba).is_none() && !self.contents.log.is_to_place(lba);
            if is_hole || (self.contents.holes.is_written_over(lba) && !planted(Canary::HolesTooSoon)) {
                set_hole(&mut payload, index);
            }
        }
        let store = &mut self.contents.store;
        Content::new(Role::Holes, store.take_version(), self.core.ftl.holes_lba(segment), payload.into())
    }
}
