//! A card whose spare is used up: it takes no more writes, and all that it holds can be read.
//!
//! Bad blocks narrow bands until collection has no room left to free any. When writes wait and nothing of the card's own is
//! under way, nothing will ever come free: the card is read-only from then on. Requests that wait get an explicit
//! error, and so do those that come later. The headers remember it.

use crate::card::{Card, Contents, Done};
use crate::core::host_request::Stage;
use device::{Cause, RequestError, RequestId, Time};

impl<C: Contents> Card<C> {
    /// The card takes no more writes: bad blocks have used up its spare.
    pub fn is_read_only(&self) -> bool {
        self.core.phase.is_read_only() || self.core.ftl.offline_zones() > 0
    }

    /// Completes a request that does not work.
    pub(crate) fn fail(&mut self, now: Time, id: RequestId, error: RequestError, done: &mut Done<C>) {
        if self.core.account.explains() {
            let activity = self.core.account.activity_at(now);
            let record = self.core.account.record(id).expect("it explains");
            match self.core.host[id].stage {
                Stage::Waiting => record.settle_wait(now, &activity),
                Stage::Durable => record.settled.add(Cause::Durable, now - record.wait_since),
                _ => {}
            }
        }
        self.finish(now, id, Err(error), done);
    }

    /// Turns read-only when writes or flushes wait for room that nothing will ever make. To be asked between events: in the
    /// middle of one, what goes on next may not have begun.
    #[inline]
    pub(crate) fn notice_the_end(&mut self, now: Time, done: &mut Done<C>) {
        // Stripes that are being programmed make room: with one of them there is no more to ask.
        if self.core.stripes.is_empty()
            && (!self.core.host.waiting_writes.is_empty() || !self.core.host.waiting_durable.is_empty())
        {
            self.notice_that_nothing_comes_free(now, done);
        }
    }

    /// Few calls come here; inline it would be in the way of all events.
    #[inline(never)]
    fn notice_that_nothing_comes_free(&mut self, now: Time, done: &mut Done<C>) {
        let wants_room = !self.core.host.waiting_writes.is_empty()
            || self.core.host.waiting_durable.iter().any(|(_, id)| self.core.host[*id].holes_as_of.is_some());
        let may_come = |card: &Card<C>| {
            card.core.phase.is_draining()
                || card.core.phase.is_halted()
                || card.core.ftl.can_write()
                || card.has_own_work()
        };
        if !wants_room || may_come(self) {
            return;
        }
        self.resume(now, done);
        if may_come(self) || self.core.phase.is_read_only() || C::use_reserve(self, now, done) {
            return;
        }
        self.core.phase.turn_read_only();
        C::turned_read_only(self);
        while let Some(id) = self.core.host.waiting_writes.pop_front() {
            self.fail(now, id, RequestError::ReadOnly, done);
        }
        while let Some((_, id)) = self.core.host.waiting_durable.pop_front() {
            self.fail(now, id, RequestError::ReadOnly, done);
        }
    }

    /// Something is under way that may make room. A rebuild may wait for room itself: it is only while anything else is to
    /// come.
    fn has_own_work(&self) -> bool {
        let events_to_come = self.core.dies.in_flight() > 0 || !self.core.timers.are_over();
        !self.core.stripes.is_empty()
            || C::syncs(self)
            || !self.core.erasing.is_empty()
            || self.core.relocations.on_their_way() > 0
            || self.core.map_reads.are_under_way()
            || C::has_own_work(self, events_to_come)
    }
}
