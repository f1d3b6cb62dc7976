//! A card counts what it has done in its life, and tells its health. `contents/health.rs` says when the totals are
//! written.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::contents::health::{CriticalWarning, Health, Life};
use device::Time;
use format::SlotState;
use ftl::StreamId;
use media::MediaError;

impl Card<Storage> {
    /// The card's health, as of the last event.
    pub fn health(&self) -> Health {
        let common = &self.contents.store.headers.common;
        let available_spare = self.available_spare();
        let threshold = self.core.config.care.spare_threshold_percent;
        Health {
            critical_warning: CriticalWarning {
                spare_below_threshold: available_spare < threshold,
                reliability_degraded: self.is_degraded(),
                read_only: self.core.phase.is_read_only(),
            },
            available_spare,
            available_spare_threshold: threshold,
            percentage_used: self.percentage_used(),
            power_cycles: common.power_cycles,
            unsafe_shutdowns: common.unsafe_shutdowns,
            ..self.contents.life.health(self.contents.store.counters.lost_sectors)
        }
    }

    /// A die or a module is missing, or not filled yet.
    pub(crate) fn is_degraded(&self) -> bool {
        let dead = (0..self.core.ftl.layout().dies).any(|die| self.core.ftl.blocks().is_dead(die));
        let active = |store: &crate::contents::store::Store| {
            store.headers.common.slots.iter().all(|slot| slot.state == SlotState::Active)
        };
        dead || !active(&self.contents.store)
    }

    /// The share of a new card's spare space that is left, in percent.
    fn available_spare(&self) -> u8 {
        if self.core.phase.is_read_only() {
            return 0;
        }
        let kept = self.core.ftl.min_data_sectors();
        let new = self.contents.store.headers.common.new_data_sectors;
        let new = if new == 0 { self.core.ftl.new_data_sectors() } else { new };
        let left = self.core.ftl.data_sectors().saturating_sub(kept);
        // While it can be written there is some left.
        (left * 100 / new.saturating_sub(kept).max(1)).clamp(1, 100) as u8
    }

    /// Dead dies and missing modules are left out: what they have gone through is not known.
    fn percentage_used(&self) -> u8 {
        let blocks = self.core.ftl.blocks();
        let dies = (0..self.core.ftl.layout().dies).filter(|&die| !blocks.is_dead(die));
        let (mut sum, mut count) = (0, 0);
        for die in dies {
            sum += (0..self.core.ftl.bands()).map(|band| u64::from(blocks.cycles(band, die))).sum::<u64>();
            count += u64::from(self.core.ftl.bands());
        }
        let rated = u64::from(self.core.config.nand.endurance.rated_cycles.max(1));
        (sum * 100 / (count * rated).max(1)).min(255) as u8
    }

    /// Goes on from what the headers say.
    pub(crate) fn restore_totals(&mut self) {
        let common = &self.contents.store.headers.common;
        self.contents.life = Life::found(common);
        if common.read_only {
            self.core.phase.turn_read_only();
        }
    }

    /// Puts the totals into the headers, to be written.
    fn note_totals(&mut self) {
        self.advance_watermarks();
        let store = &mut self.contents.store;
        self.contents.life.save(&mut store.headers.common, store.counters.lost_sectors);
    }

    /// Writes the totals when they lag too much.
    pub(crate) fn save_totals_if_due(&mut self) {
        if self.contents.life.is_save_due(self.core.ftl.user_sectors()) {
            self.save_totals();
        }
    }

    /// Writes the headers, with the totals; whether all modules took them.
    pub(crate) fn save_totals(&mut self) -> bool {
        if self.core.phase.is_halted() || self.core.phase.is_draining() {
            return false;
        }
        self.note_totals();
        let crate::contents::store::Store { media, headers, slots, .. } = &mut self.contents.store;
        let written = headers.write_totals(&mut **media, slots);
        let all_took_it = written.is_ok();
        if written.is_err_and(|failed| matches!(failed.error, MediaError::NoPower | MediaError::Fenced)) {
            self.core.phase.halt();
        }
        all_took_it
    }

    /// Shuts the card down in order: all that it has acknowledged is put on flash, and the headers say so. Returns when that
    /// was done; the card does nothing any more from then on. When a flush could not work ([`Card::health`] says that the
    /// card is read-only, and it owes trims), or the media do not answer, the next start counts as one after an unsafe
    /// shutdown.
    ///
    /// # Panics
    /// When requests are in flight.
    pub fn shut_down(&mut self, now: Time, done: &mut Done<Storage>) -> Time {
        assert!(self.core.host.is_idle(), "requests are in flight");
        self.contents.life.tick(now);
        self.core.phase.shut_down();
        self.end_waits(now, done);
        self.finish_own_work(done);
        self.sync_rest(now, done);
        if !self.core.phase.is_halted() {
            let now = self.contents.life.now();
            // There may have been no room for it before the erases of the start were done.
            self.replay_log(now);
            let host_has_room = self.core.ftl.open_band_of(StreamId::Host).is_some() || self.core.ftl.free_bands() > 0;
            if host_has_room {
                let as_of = self.contents.store.next_version;
                if !self.core.config.power_loss_protection {
                    self.flush_for_holes(now, done);
                }
                self.write_owed_holes(now, as_of);
            }
            self.core.ftl.seal_for_durability(StreamId::Relocation);
            self.core.ftl.seal_for_durability(StreamId::Host);
            self.program_sealed(now);
            // With capacitors, as when power fails: room is made for what is owed, where any can be.
            self.drain(now);
            self.finish_own_work(done);
            self.write_last_checkpoint(now, done);
            if !self.contents.holes.are_owed() && self.contents.failed.is_empty() && !self.core.phase.is_halted() {
                self.write_last_headers();
            }
        }
        self.core.phase.halt();
        self.contents.life.now()
    }

    /// Data of the host have to be durable before a list says that their LBAs are holes no more.
    fn flush_for_holes(&mut self, now: Time, done: &mut Done<Storage>) {
        if !self.contents.holes.are_owed() {
            return;
        }
        let as_of = self.contents.store.next_version - 1;
        self.core.ftl.seal_for_durability(StreamId::Host);
        self.program_sealed(now);
        self.finish_own_work(done);
        self.durable_up_to(as_of);
    }

    pub(crate) fn finish_own_work(&mut self, done: &mut Done<Storage>) {
        use device::Device;
        while self.core.dies.in_flight() > 0 || self.core.relocations.on_their_way() > 0 {
            let next = self.next_event();
            if next == Time::NEVER || self.core.phase.is_halted() {
                return;
            }
            self.advance(next, done);
        }
    }

    fn write_last_headers(&mut self) {
        self.note_totals();
        let crate::contents::store::Store { media, headers, slots, .. } = &mut self.contents.store;
        headers.common.clean = true;
        headers.common.lost_writes = false;
        // A header that can't be written leaves an unsafe shutdown: the next start says so.
        let _unsafe = headers.claim(&mut **media, slots).and_then(|()| headers.write(&mut **media, slots));
    }

    /// The spare is used up, for good: the headers say so.
    pub(crate) fn save_read_only(&mut self) {
        // With a die or a module missing there is less room, but not for good.
        if self.is_degraded() {
            return;
        }
        self.contents.store.headers.common.read_only = true;
        self.save_totals();
    }
}
