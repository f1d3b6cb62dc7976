//! When what was programmed is durable.
//!
//! On flash itself that is at once. A file or a drive that holds a module may keep it in a volatile cache, and lose any
//! part of that in a power cut. So a stripe counts as durable (a flush or a FUA write is answered, what it replaces may be
//! erased, its room in the buffer comes free) only when all modules have been synced since the last of it was programmed.
//! That holds for cards with capacitors too: what they acknowledge is in the buffer, whose room is given back only after
//! a sync, and they go on until everything is programmed and synced when power fails. Headers and marks of bad blocks are
//! durable when they are written.
//!
//! A card that lies about flushes keeps what was programmed in the volatile cache for as long as it can, which is what such
//! drives lie for: up to half of the buffer (`acknowledge_flush_early`), or until the rebuild of a module waits for it.
//!
//! Media that are slow themselves sync while others are asked; what is written meanwhile waits for the next sync.
//!
//! A sync that failed is not tried again: what it was to cover may be gone, even if a later one works. The module counts
//! as lost, and the stripes are durable when all others have been synced. The first time, it is filled anew at once.

use crate::card::{Card, Done};
use crate::contents::Storage;
use crate::core::stripes::StripeInFlight;
use crate::core::timers::Timer;
use device::Time;
use media::MediaError;

/// Stripes are synced together when they fill this part of the buffer: a sync costs a drive as much as megabytes of writes,
/// and while it goes on the next stripes need room as well.
const SYNCED_PART: u32 = 4;
/// No later than so long after a stripe was written it is synced, if erases, relocation, a rebuild or the log wait for
/// that.
const SYNCED_WITHIN_NS: u64 = 10_000_000;
/// No later than so long after a stripe was written it is synced, though nothing waits for that. A sync of a file writes
/// what its file system knows of it as well, and reads of the host wait behind it.
const SYNCED_AT_LAST_NS: u64 = 100_000_000;

impl Card<Storage> {
    /// A stripe is on the media, there or elsewhere.
    pub(crate) fn stripe_written(&mut self, now: Time, s: StripeInFlight, done: &mut Done<Storage>) {
        if !self.contents.store.media.is_volatile() {
            return self.stripe_safe(now, s, done);
        }
        self.contents.syncs.add(s);
        self.sync_or_wait(now, done);
    }

    /// Syncs what waits for it, or waits for more.
    fn sync_or_wait(&mut self, now: Time, done: &mut Done<Storage>) {
        if !self.may_wait_for_more() {
            self.sync_unsynced(now, done);
        } else if !self.core.config.acknowledge_flush_early || self.rebuild_waits() {
            self.sync_soon(now);
        }
    }

    /// Stripes that are written and not durable will be, without anybody's doing.
    pub(crate) fn sync_soon(&mut self, now: Time) {
        if !self.contents.syncs.has_unsynced() {
            return;
        }
        let is_waited_for = self.core.ftl.stale_bands_wait()
            || self.core.relocations.on_their_way() > 0
            || self.rebuild_waits()
            || self.contents.log.is_half_full();
        let at = now + if is_waited_for { SYNCED_WITHIN_NS } else { SYNCED_AT_LAST_NS };
        if at < self.core.timers.time(Timer::Sync) {
            self.core.timers.set(Timer::Sync, at);
        }
    }

    /// Nobody waits for what is not synced. A write that waits for room in the buffer waits for the end of a stripe: if
    /// one is under way, there will be another occasion.
    fn may_wait_for_more(&self) -> bool {
        let lies = self.core.config.acknowledge_flush_early;
        let part = if lies { 2 } else { SYNCED_PART };
        let together = (self.core.config.buffer_sectors / self.core.ftl.layout().stripe_sectors / part).max(1);
        let is_waited_for = !self.core.host.waiting_durable.is_empty()
            || self.core.phase.is_draining()
            || !self.core.host.waiting_writes.is_empty() && (lies || self.core.stripes.is_empty());
        !is_waited_for && self.contents.syncs.unsynced() < together as usize
    }

    /// Stripes that were written a while ago have waited long enough.
    pub(crate) fn sync_is_due(&mut self, now: Time, done: &mut Done<Storage>) {
        if self.contents.syncs.has_unsynced() && !self.core.phase.is_halted() {
            self.sync_unsynced(now, done);
        }
    }

    /// Nothing is on its way that would end in a sync, and something waits for one.
    pub(crate) fn sync_rest(&mut self, now: Time, done: &mut Done<Storage>) {
        if self.core.stripes.is_empty() && self.contents.syncs.has_unsynced() && !self.core.phase.is_halted() {
            self.sync_unsynced(now, done);
        }
    }

    /// Syncs what waits for it; at once, or after the sync that is under way.
    fn sync_unsynced(&mut self, now: Time, done: &mut Done<Storage>) {
        if self.contents.syncs.is_under_way() {
            return;
        }
        self.core.timers.clear(Timer::Sync);
        self.contents.syncs.begin();
        self.contents.rebuilds.current.iter_mut().for_each(|rebuild| rebuild.told.sync_begins());
        let at_once = self.core.phase.waits_at_once();
        let store = &mut self.contents.store;
        if !at_once {
            store.slots.iter().flatten().for_each(|slot| store.media.begin_sync(*slot));
        }
        self.synced(now, done);
    }

    /// A sync that was begun may be done.
    pub(crate) fn synced(&mut self, now: Time, done: &mut Done<Storage>) {
        let at_once = self.core.phase.waits_at_once();
        let store = &mut self.contents.store;
        let syncs = !at_once && store.slots.iter().flatten().any(|slot| store.media.is_syncing(*slot));
        if syncs || !self.contents.syncs.is_under_way() {
            return;
        }
        self.sync_media(now);
        if self.core.phase.is_halted() {
            return;
        }
        self.tell_rebuilt();
        for s in self.contents.syncs.end() {
            self.stripe_safe(now, s, done);
        }
        // Stripes that were written during the sync wait for another one.
        if self.contents.syncs.has_unsynced() {
            self.sync_or_wait(now, done);
        }
    }

    /// Stripes are written and not known to be durable.
    pub(crate) fn syncs(&self) -> bool {
        self.contents.syncs.has_unsynced() || self.contents.syncs.is_under_way()
    }

    /// A sync is under way, or begins by itself.
    pub(crate) fn syncs_soon(&self) -> bool {
        self.contents.syncs.is_under_way() || self.core.timers.is_set(Timer::Sync)
    }

    /// All that was programmed and erased survives a cut from now on, or the card has stopped.
    pub(crate) fn sync_media(&mut self, now: Time) {
        let layout = *self.core.ftl.layout();
        let store = &mut self.contents.store;
        if !store.media.is_volatile() {
            return;
        }
        let mut failed = Vec::new();
        for (logical, slot) in (0..).zip(&store.slots) {
            let Some(slot) = *slot else { continue };
            match store.media.sync(slot) {
                Ok(()) => {}
                Err(MediaError::NoPower) => {
                    self.core.phase.halt();
                    return;
                }
                Err(MediaError::Fenced) => return self.core.phase.halt_without_headers(),
                Err(_) => failed.push(logical),
            }
        }
        if failed.is_empty() {
            return;
        }
        // Where a stripe has more units on them than parity stands for, what was to be durable may be nowhere.
        if !layout.stands_for(store.slots.len() as u32, |module| failed.contains(&module)) {
            self.core.phase.halt();
            return;
        }
        for logical in failed {
            let store = &mut self.contents.store;
            let slot = store.slots[logical as usize];
            self.give_up_module(now, logical);
            // It may fail once and answer again: then it is filled anew. One that goes on failing is not tried for ever.
            if let Some(slot) = slot
                && self.contents.store.history.filled_anew.insert(logical)
                && !self.core.phase.is_halted()
                && let Ok(inserted) = self.take_module(now, slot)
            {
                self.begin_rebuild(inserted.module);
            }
        }
    }
}
