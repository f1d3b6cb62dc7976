//! The event loop: requests and the passing of time go in, completions come out.

use crate::card::{Card, Contents, Done, IDLE_NS, ModelCard, NoContents};
use crate::core::Core;
use crate::core::config::CardConfig;
use crate::core::counters::MediaCounters;
use crate::core::die_op::Work;
use crate::core::dies::{Finished, Started};
use crate::core::host_request::Stage;
use crate::core::phase::Lifecycle;
use crate::core::read_run::ReadRun;
use crate::core::stripes::{Erasing, StripeInFlight};
use crate::core::timers::Timer;
use device::{Cause, Device, Request, RequestId, Time};
use ftl::{Ftl, FtlError, SealedStripe, StreamId};

impl ModelCard {
    /// A fresh card that takes at most `max_requests` requests at once. With `explain` it keeps where the time of each
    /// request goes.
    pub fn new(config: &CardConfig, max_requests: u32, explain: bool, seed: u64) -> Result<ModelCard, FtlError> {
        let ftl = Ftl::new(&config.nand, config.bands, &config.ftl, seed)?;
        let mut core = Core::around(config, ftl, max_requests, explain, Lifecycle::running());
        core.dies.reuse_registers();
        if let Some(spread) = config.model.spread {
            core.dies.spread_times(spread, seed);
        }
        if let Some(thermal) = config.model.thermal {
            core.warm(thermal);
        }
        Ok(Card { core, contents: NoContents })
    }
}

impl<C: Contents> Card<C> {
    /// Keeps where the time of each request goes, from now on.
    ///
    /// # Panics
    /// When requests or media operations are under way.
    pub fn explain_requests(&mut self) {
        assert!(self.core.host.is_idle() && self.core.dies.in_flight() == 0, "the card is at work");
        self.core.dies.explain();
        self.core.account.explain(self.core.host.max_requests());
    }

    /// The flash management of the card, to look at.
    pub fn ftl(&self) -> &Ftl {
        &self.core.ftl
    }

    /// Flash management, to precondition without time.
    ///
    /// # Panics
    /// When requests or media operations are under way.
    pub fn ftl_mut(&mut self) -> &mut Ftl {
        assert!(self.core.host.is_idle() && self.core.dies.in_flight() == 0, "the card is at work");
        &mut self.core.ftl
    }

    /// Operations of the flash since the start.
    pub fn media(&self) -> MediaCounters {
        self.core.account.media()
    }

    /// The configuration that the card was built from.
    pub fn config(&self) -> &CardConfig {
        &self.core.config
    }

    /// Queues an operation on a die.
    pub(crate) fn start(
        &mut self,
        now: Time,
        work: Work,
        unit: ftl::UnitAddress,
        mode: media::nand::CellMode,
        sectors: u32,
    ) {
        C::enqueuing(self, unit.die);
        let started = self.core.dies.enqueue(now, work, unit, mode, sectors, self.core.timers.of_dies());
        self.note_started(started);
    }

    /// Queues a read of the host on a die, or on the plane that has it.
    #[inline]
    pub(crate) fn start_read(&mut self, now: Time, id: RequestId, read: &ReadRun, mode: media::nand::CellMode) {
        let first = read.ppa.0 % self.core.ftl.layout().unit_sectors;
        self.start_first(now, Work::HostRead(id), read.unit, mode, [first, read.sectors]);
    }

    /// Queues a read that goes ahead of other work: of `sectors` of a unit, from its sector `first` on.
    #[inline]
    pub(crate) fn start_first(
        &mut self,
        now: Time,
        work: Work,
        unit: ftl::UnitAddress,
        mode: media::nand::CellMode,
        [first, sectors]: [u32; 2],
    ) {
        C::enqueuing(self, unit.die);
        let events = self.core.timers.of_dies();
        let started = self.core.dies.enqueue_read(now, work, unit, mode, [first, sectors], events);
        self.note_started(started);
    }

    #[inline]
    fn note_started(&mut self, started: Option<Started>) {
        let Some(started) = started else { return };
        C::began(self, &started);
        self.core.account.began(&started);
    }

    /// Sends the stripes that are full to their dies.
    #[inline]
    pub(crate) fn program_sealed(&mut self, now: Time) {
        while let Some(sealed) = self.core.ftl.pop_sealed() {
            self.program(now, sealed);
        }
    }

    fn program(&mut self, now: Time, sealed: SealedStripe) {
        let units = self.core.ftl.stripe_units(sealed.stripe);
        let mut used = C::to_program(self, sealed.stripe, units.data | units.parity);
        let stripe = self.core.stripes.insert(StripeInFlight {
            stream: sealed.stream,
            handle: sealed.handle,
            sequence: sealed.sequence,
            units_left: used.count_ones(),
            host_sectors: sealed.host_sectors,
            relocated_sectors: sealed.relocated_sectors,
        }) as u32;
        C::stripe_begins(self, &sealed, stripe);
        let collection = sealed.stream != StreamId::Host;
        let data_cause = match sealed.stream {
            StreamId::Host => Cause::DieHostProgram,
            StreamId::Relocation | StreamId::Checkpoint => Cause::DieRelocationProgram,
            StreamId::Map => Cause::DieMap,
        };
        while used != 0 {
            let unit = used.trailing_zeros();
            used &= used - 1;
            let cause = if units.parity >> unit & 1 == 1 { Cause::DieParity } else { data_cause };
            let address = self.core.ftl.layout().unit_address(sealed.stripe, unit);
            self.start(now, Work::Program { stripe, cause, collection }, address, sealed.mode, 0);
        }
    }

    /// A die has finished something.
    fn die_event(&mut self, now: Time, d: usize, done: &mut Done<C>) {
        if C::takes_longer(self, now, d) {
            return;
        }
        let finished = self.core.dies.finish(now, d);
        if let Work::Program { stripe, .. } = finished.op.work {
            // First: nothing is to be programmed behind a unit that is not on flash and is not said to be missing.
            C::unit_programmed(self, now, stripe, finished.op.unit);
        }
        // The die goes on before anything else is decided: what it did is off its hands.
        if self.core.phase.is_halted() {
            self.core.timers.clear(Timer::Die(d));
        } else if self.core.dies.current(d).is_none() {
            let next = self.core.dies.start_next(now, d, self.core.timers.of_dies());
            self.note_started(next);
        }
        if self.core.dies.has_planes() {
            self.start_planes(now, d);
        }
        self.work_done(now, &finished, done);
    }

    /// A plane has finished its read.
    fn plane_event(&mut self, now: Time, plane: usize, done: &mut Done<C>) {
        if C::takes_longer(self, now, self.core.timers.dies() + plane) {
            return;
        }
        let (finished, d) = self.core.dies.finish_plane(now, plane, self.core.timers.of_dies());
        let next = self.core.dies.start_after_plane(now, d, self.core.timers.of_dies());
        self.note_started(next);
        self.start_planes(now, d);
        self.work_done(now, &finished, done);
    }

    /// Begins all reads that planes of a die are free for.
    #[inline]
    fn start_planes(&mut self, now: Time, d: usize) {
        while let Some(started) = self.core.dies.start_plane(now, d, self.core.timers.of_dies()) {
            self.note_started(Some(started));
        }
    }

    fn work_done(&mut self, now: Time, finished: &Finished, done: &mut Done<C>) {
        let Finished { op, at, id: op_id } = finished;
        match op.work {
            Work::HostRead(id) => {
                if let Some(record) = self.core.account.record(id) {
                    let mut parts = self.core.dies.waited(*op_id);
                    parts.add(Cause::Suspend, op.suspend_ns);
                    let array = op.array_ns;
                    parts.add(Cause::FlashRead, array);
                    let retry_ns = op.retry_ns.unwrap_or(0);
                    parts.add(Cause::ReadRetry, retry_ns);
                    parts.add(Cause::Bus, *at - op.started - array - retry_ns);
                    record.flash = parts;
                }
                if !C::host_read(self, now, id, op.unit, done) {
                    return;
                }
                self.flash_read_done(now, id, done);
            }
            Work::MapRead(page) => self.map_page_read(now, page, done),
            Work::RelocationRead(index) => self.relocation_read(now, index, done),
            Work::RepairRead(_) | Work::RebuildErase | Work::RebuildProgram => {
                C::own_work_done(self, now, op.work, op.unit, done);
            }
            Work::Program { stripe, .. } => {
                let s = &mut self.core.stripes[stripe as usize];
                s.units_left -= 1;
                if s.units_left == 0 {
                    self.stripe_programmed(now, stripe, done);
                }
            }
            Work::Erase(band) => {
                let i = self.core.erasing.iter().position(|e| e.band == band).expect("the band is being erased");
                C::die_erased(self, now, i, op.unit.die);
                self.core.erasing[i].left -= 1;
                if self.core.erasing[i].left == 0 {
                    if !C::erase_ends(self, now) {
                        return;
                    }
                    let Erasing { dies, failed, .. } = self.core.erasing.swap_remove(i);
                    C::band_erased(self, band, &dies, &failed);
                    if self.core.host.zones.is_some() {
                        self.band_of_zone_erased(now, band, done);
                    }
                    self.resume(now, done);
                }
            }
        }
    }

    fn stripe_programmed(&mut self, now: Time, index: u32, done: &mut Done<C>) {
        let s = self.core.stripes.remove(index as usize);
        C::stripe_programmed(self, now, index, s, done);
    }

    /// All of a stripe is on flash, there or elsewhere.
    pub(crate) fn stripe_safe(&mut self, now: Time, s: StripeInFlight, done: &mut Done<C>) {
        match s.handle {
            0 => self.core.ftl.stripe_durable(s.stream, s.sequence),
            handle => {
                self.core.ftl.handle_stripe_durable(s.stream, handle, s.sequence);
                if self.core.host.zones.is_some() {
                    self.stripe_of_zone_safe(now, done);
                }
            }
        }
        C::stripe_is_safe(self, now, &s);
        self.core.buffer.free(s.host_sectors);
        self.core.relocations.remove_sectors(s.relocated_sectors);
        if s.stream == StreamId::Host {
            self.wake_durable(now, done);
        }
        self.erase_stale(now);
        self.resume(now, done);
    }

    /// Begins the erases that may begin.
    pub(crate) fn erase_stale(&mut self, now: Time) {
        while !C::holds_erases(self)
            && let Some(band) = C::next_erase(self, now)
        {
            C::erase_begins(self, now, band);
            if self.core.phase.is_halted() {
                return;
            }
            let dies = self.core.ftl.layout().dies;
            let mode = self.core.ftl.cell_mode(band);
            let is_asked =
                |die: &u32| self.core.ftl.blocks().is_usable(band.0, *die) || C::is_left_behind(self, band, *die);
            let dies: Vec<u32> = (0..dies).filter(is_asked).collect();
            if dies.is_empty() {
                self.core.ftl.erased_on_medium(band, |_| None);
                continue;
            }
            self.core.erasing.push(Erasing { band, left: dies.len() as u32, dies: dies.clone(), failed: Vec::new() });
            for die in dies {
                self.start(now, Work::Erase(band), ftl::UnitAddress { band, die, row: 0 }, mode, 0);
            }
        }
    }

    /// After space or buffer came free: admits what waits, relocates what is due.
    #[inline]
    pub(crate) fn resume(&mut self, now: Time, done: &mut Done<C>) {
        C::resume(self, now, done);
        if self.core.phase.is_draining() {
            return;
        }
        if !self.core.host.waiting_writes.is_empty() {
            self.admit_waiting(now, done);
        }
        self.move_waiting(now, done);
        self.relocate_due(now);
        self.core.account.note_stopped(now, self.core.ftl.stopped_for_gc());
        if !self.core.host.waiting_durable.is_empty() {
            self.wake_durable(now, done);
        }
        let others_wait = !self.core.host.waiting_writes.is_empty() || C::waits(self);
        if others_wait || !self.core.host.waiting_durable.is_empty() || self.core.host.is_idle() {
            if others_wait {
                C::sync_what_is_left(self, now, done);
            }
            self.unblock(now);
        }
    }

    /// Nothing is written or erased and bands wait to be erased: they wait for stripes that nobody will fill.
    pub(crate) fn unblock(&mut self, now: Time) {
        let at_work =
            !self.core.stripes.is_empty() || !self.core.erasing.is_empty() || self.core.relocations.on_their_way() > 0;
        if !at_work
            && !C::syncs(self)
            && !self.core.phase.is_draining()
            && !self.core.phase.is_halted()
            && (self.core.ftl.stale_bands_wait() || C::waits(self))
        {
            self.core.ftl.seal_for_durability(StreamId::Relocation);
            self.core.ftl.seal_for_durability(StreamId::Host);
            self.core.ftl.seal_handles();
            self.program_sealed(now);
            self.erase_stale(now);
            if self.core.stripes.is_empty() && self.core.erasing.is_empty() {
                C::lacks_room(self);
                self.erase_stale(now);
            }
        }
    }

    /// The first request after a pause.
    pub(crate) fn pause_ends(&mut self, now: Time) {
        self.core.relocations.set_long_idle(false);
        if self.core.notes_pauses {
            if self.core.config.ftl.slc_cache.is_some() {
                self.core.timers.clear(Timer::Idle);
            }
            self.warm_from(now);
        }
    }

    /// Nothing is in flight any more.
    pub(crate) fn pause_begins(&mut self, now: Time, done: &mut Done<C>) {
        if self.core.ftl.can_fold() {
            self.core.timers.set(Timer::Idle, now + IDLE_NS);
        }
        self.resume(now, done);
    }
}

impl<C: Contents> Device for Card<C> {
    type Data = C::Data;

    fn submit(&mut self, now: Time, id: RequestId, request: Request<C::Data>, done: &mut Done<C>) {
        self.accept(now, id, request, done);
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.core.timers.next()
    }

    fn advance(&mut self, now: Time, done: &mut Done<C>) {
        C::tick(self, now);
        loop {
            C::begin_on_medium(self);
            let time = self.core.timers.next();
            if time > now {
                C::events_done(self, now, time == Time::NEVER);
                self.notice_the_end(now, done);
                C::rests(self, now);
                return;
            }
            let (_, timer) = self.core.timers.earliest();
            debug_assert_eq!(time, now, "an event was missed");
            match timer {
                // The die's next operation sets its event.
                Timer::Die(die) => self.die_event(now, die, done),
                Timer::Plane(plane) => self.plane_event(now, plane, done),
                Timer::Request(id) => {
                    self.core.timers.clear(timer);
                    if self.core.phase.is_draining() {
                        continue;
                    }
                    match self.core.host[id].stage {
                        Stage::GoingDown => self.arrived(now, id, done),
                        Stage::GoingUp => self.complete(now, id, done),
                        Stage::LookingUp => self.knows_where(now, id, done),
                        stage => unreachable!("request {id:?} has no event in stage {stage:?}"),
                    }
                }
                Timer::HostPath => self.relocation_through_host(now, done),
                Timer::Idle => {
                    self.core.timers.clear(timer);
                    self.core.relocations.set_long_idle(true);
                    self.resume(now, done);
                }
                Timer::Thermal => self.warm_step(now),
                Timer::Rebuild | Timer::Sync | Timer::DirectReads | Timer::Admission | Timer::Log | Timer::Scrub => {
                    self.core.timers.clear(timer);
                    C::timer(self, now, timer, done);
                }
            }
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.core.ftl.user_sectors() * device::SECTOR_BYTES
    }

    fn in_flight(&self) -> u64 {
        self.core.host.in_flight()
    }
}
