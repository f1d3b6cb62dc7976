//! The card: one event loop's worth of state.

use crate::dies::{Dies, Finished, Started, Work};
use crate::explain::{Activity, Record};
use crate::host_side::{HostRequest, Stage};
use crate::link::Link;
use crate::rebuild::{ModuleRebuild, RebuildRate};
use crate::relocation::Relocations;
use crate::repair::Repair;
use crate::scrub::Scrub;
use crate::store::Store;
use crate::{CardConfig, RelocationPath};
use device::{Cause, Completion, Device, EventTable, Request, RequestId, Time};
use ftl::{BandId, Ftl, FtlError, SealedStripe, StreamId};
use slab::Slab;
use std::collections::VecDeque;

/// Operations of the flash since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaCounters {
    /// Read commands.
    pub reads: u64,
    /// Program commands.
    pub programs: u64,
    /// Erase commands.
    pub erases: u64,
}

impl MediaCounters {
    /// All together.
    pub fn total(&self) -> u64 {
        self.reads + self.programs + self.erases
    }
}

/// A stripe being programmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StripeInFlight {
    pub stream: StreamId,
    pub sequence: u64,
    pub units_left: u32,
    /// Sectors of the host: room in the buffer that comes free with it.
    pub host_sectors: u32,
    /// Relocated sectors that are on flash with it.
    pub relocated_sectors: u32,
}

/// A band being erased.
#[derive(Clone, Debug)]
pub(crate) struct Erasing {
    pub band: BandId,
    /// Dies whose blocks are being erased.
    pub dies: Vec<u32>,
    /// How many of them are not done.
    pub left: u32,
    /// Dies whose block can't be used again.
    pub failed: Vec<u32>,
}

/// Without requests for so long, a card makes room in its SLC cache. Pauses between the requests of a busy host are
/// shorter.
pub const IDLE_NS: u64 = 10_000_000;

/// A card in virtual time.
#[derive(Clone, Debug)]
pub struct Card {
    pub(crate) config: CardConfig,
    pub(crate) ftl: Ftl,
    pub(crate) link: Link,
    pub(crate) dies: Dies,
    /// Slots: dies, then requests, then relocations on their way through the host, then the end of [`IDLE_NS`], then
    /// the next unit of a rebuild that is held to a rate.
    pub(crate) events: EventTable,
    pub(crate) die_count: usize,
    pub(crate) requests: Vec<HostRequest>,
    pub(crate) stripes: Slab<StripeInFlight>,
    pub(crate) relocations: Relocations,
    pub(crate) erasing: Vec<Erasing>,
    pub(crate) buffer_free_sectors: u32,
    /// Room in the buffer: what counts as durable there is what the energy can put on flash.
    pub(crate) buffer_sectors: u32,
    /// Writes that wait for room, first come first served; at most one entry a request.
    pub(crate) waiting_writes: VecDeque<RequestId>,
    /// Flushes and FUA writes that wait until a barrier is durable; barriers do not fall.
    pub(crate) waiting_durable: VecDeque<(u64, RequestId)>,
    pub(crate) submitted: u64,
    pub(crate) finished: u64,
    pub(crate) in_flight: u64,
    /// The host has asked for nothing for [`IDLE_NS`].
    pub(crate) long_idle: bool,
    /// When the next relocation out of the SLC cache may begin, where its rate is limited.
    pub(crate) fold_due: Time,
    media: MediaCounters,
    pub(crate) activity: Activity,
    /// Since when host writes have been stopped for collection.
    stopped_since: Option<Time>,
    /// By request, when the card explains where time went; else empty.
    pub(crate) records: Vec<Record>,
    /// What it holds; without, it has only times and amounts.
    pub(crate) store: Option<Box<Store>>,
    /// Units being rebuilt from their stripes.
    pub(crate) repairs: Slab<Repair>,
    /// Stripes of which a program failed, with how many of their sectors are not yet on flash elsewhere.
    pub(crate) failed_stripes: Slab<(StripeInFlight, u32)>,
    /// Sectors of failed stripes for which there was no room elsewhere yet, by the address that they were written for.
    pub(crate) homeless: VecDeque<ftl::Ppa>,
    /// Sectors of failed stripes that are on flash elsewhere, in a stripe that others share cells with: the stripe, and the
    /// failed one.
    pub(crate) sharing_cells: Vec<(ftl::StripeId, u32)>,
    /// What the start found in stripes that are not whole.
    pub(crate) rescue: Option<Box<crate::rescue::Rescue>>,
    /// What the headers say of what is durable.
    pub(crate) noted: crate::noted::Noted,
    /// A pass over all that is on flash.
    pub(crate) scrub: Option<Scrub>,
    /// Modules to be rebuilt after the one that is; at most all.
    pub(crate) to_rebuild: VecDeque<u32>,
    /// A module being rebuilt.
    pub(crate) rebuild: Option<Box<ModuleRebuild>>,
    /// How fast that may go.
    pub(crate) rebuild_rate: RebuildRate,
    /// Stripes that were programmed to media with a volatile cache, and are not synced; see [`crate::durable`].
    pub(crate) unsynced: Vec<StripeInFlight>,
    /// Stripes that the sync under way covers.
    pub(crate) syncing: Vec<StripeInFlight>,
    /// Its media answer no more: there is no power, or another controller has them.
    pub(crate) halted: bool,
    /// Stripes of a checkpoint that are being programmed, and its number.
    pub(crate) checkpoint_stripes: u32,
    pub(crate) checkpoint_version: u64,
    /// Lists of holes that only a checkpoint told of have to be written before the card is ready.
    pub(crate) owes_since_start: Option<crate::holes::OwedSinceStart>,
    /// The headers were told why it halted, or must not be.
    pub(crate) halt_is_noted: bool,
    /// What has begun on dies and is not begun on a slow medium yet: how the operation before it ended is asked first.
    pub(crate) to_begin: Vec<crate::dies::Started>,
    /// Slow media are waited for, one operation after the other: the card is being shut down.
    pub(crate) at_once: bool,
    /// Power is failing: only what is in the buffer matters.
    pub(crate) draining: bool,
    /// Trims that have to be durable before what they made stale is erased.
    pub(crate) trims: crate::holes::TrimsBeforeErase,
    /// Totals of its life.
    pub(crate) life: crate::health::Life,
    /// Its spare is used up.
    pub(crate) read_only: bool,
    /// Looks for what fades.
    pub(crate) patrol: crate::patrol::Patrol,
}

impl Card {
    /// A fresh card that takes at most `max_requests` requests at once. With `explain` it keeps where the time of each
    /// request goes.
    pub fn new(config: &CardConfig, max_requests: u32, explain: bool, seed: u64) -> Result<Card, FtlError> {
        let ftl = Ftl::new(&config.nand, config.bands, &config.ftl, seed)?;
        Ok(Card::around(config, ftl, max_requests, explain))
    }

    /// The card around its flash management.
    pub(crate) fn around(config: &CardConfig, ftl: Ftl, max_requests: u32, explain: bool) -> Card {
        let die_count = config.nand.geometry.dies() as usize;
        let requests = max_requests as usize;
        Card {
            config: *config,
            ftl,
            link: Link::new(config.link),
            dies: Dies::new(&config.nand, config.reads_first, explain),
            events: EventTable::new(die_count + requests + 4),
            die_count,
            requests: vec![HostRequest::default(); requests],
            stripes: Slab::new(),
            relocations: Relocations::new(),
            erasing: Vec::new(),
            buffer_free_sectors: config.durable_buffer_sectors(),
            buffer_sectors: config.durable_buffer_sectors(),
            waiting_writes: VecDeque::new(),
            waiting_durable: VecDeque::new(),
            submitted: 0,
            finished: 0,
            in_flight: 0,
            long_idle: false,
            fold_due: Time::ZERO,
            media: MediaCounters::default(),
            activity: Activity::default(),
            stopped_since: None,
            records: if explain { vec![Record::default(); requests] } else { Vec::new() },
            store: None,
            repairs: Slab::new(),
            failed_stripes: Slab::new(),
            homeless: VecDeque::new(),
            sharing_cells: Vec::new(),
            rescue: None,
            noted: Default::default(),
            scrub: None,
            to_rebuild: VecDeque::new(),
            rebuild: None,
            rebuild_rate: RebuildRate::default(),
            unsynced: Vec::new(),
            syncing: Vec::new(),
            halted: false,
            checkpoint_stripes: 0,
            checkpoint_version: 0,
            owes_since_start: None,
            halt_is_noted: false,
            to_begin: Vec::new(),
            at_once: false,
            draining: false,
            trims: Default::default(),
            life: Default::default(),
            read_only: false,
            patrol: Default::default(),
        }
    }

    /// Keeps where the time of each request goes, from now on.
    ///
    /// # Panics
    /// When requests or media operations are under way.
    pub fn explain_requests(&mut self) {
        assert!(self.in_flight == 0 && self.dies.in_flight() == 0, "the card is at work");
        self.dies = Dies::new(&self.config.nand, self.config.reads_first, true);
        self.records = vec![Record::default(); self.requests.len()];
    }

    /// Flash management.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// Flash management, to precondition without time.
    ///
    /// # Panics
    /// When requests or media operations are under way.
    pub fn ftl_mut(&mut self) -> &mut Ftl {
        assert!(self.in_flight == 0 && self.dies.in_flight() == 0, "the card is at work");
        &mut self.ftl
    }

    /// Operations of the flash since the start.
    pub fn media(&self) -> MediaCounters {
        self.media
    }

    /// What the card was built from.
    pub fn config(&self) -> &CardConfig {
        &self.config
    }

    pub(crate) fn request_slot(&self, id: RequestId) -> usize {
        self.die_count + id.0 as usize
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
        if self.store.is_some() {
            self.set_pace(unit.die);
        }
        let started = self.dies.enqueue(now, work, unit, mode, sectors, &mut self.events);
        self.note_started(started);
    }

    #[inline]
    fn note_started(&mut self, started: Option<Started>) {
        let Some(started) = started else { return };
        if self.store.is_some() {
            if started.fresh && self.is_on_slow_medium() {
                self.to_begin.push(started);
            }
        } else if matches!(started.work, Work::HostRead(_) | Work::RelocationRead(_)) {
            self.ftl.blocks().read(started.unit.band.0, started.unit.die, started.unit.row);
        }
        match started.work {
            Work::HostRead(_) => {
                self.media.reads += 1;
            }
            Work::RelocationRead(_) | Work::RepairRead(_) => {
                self.media.reads += 1;
                self.activity.relocation_ns += started.busy_ns;
            }
            Work::Program { cause, .. } => {
                let ns = match cause {
                    Cause::DieParity => &mut self.activity.parity_ns,
                    Cause::DieRelocationProgram => &mut self.activity.relocation_ns,
                    _ => &mut self.activity.host_program_ns,
                };
                *ns += started.busy_ns;
                if started.fresh {
                    self.media.programs += 1;
                }
            }
            Work::RebuildProgram => {
                self.activity.relocation_ns += started.busy_ns;
                self.media.programs += u64::from(started.fresh);
            }
            Work::RebuildErase | Work::Erase(_) => {
                self.activity.erase_ns += started.busy_ns;
                if started.fresh {
                    self.media.erases += 1;
                }
            }
        }
    }

    /// Sends the stripes that are full to their dies.
    #[inline]
    pub(crate) fn program_sealed(&mut self, now: Time) {
        while let Some(sealed) = self.ftl.pop_sealed() {
            self.program(now, sealed);
        }
    }

    fn program(&mut self, now: Time, sealed: SealedStripe) {
        self.note_stripe(&sealed);
        let units = self.ftl.stripe_units(sealed.stripe);
        let mut used = units.data | units.parity;
        let stripe = self.stripes.insert(StripeInFlight {
            stream: sealed.stream,
            sequence: sealed.sequence,
            units_left: used.count_ones(),
            host_sectors: sealed.host_sectors,
            relocated_sectors: sealed.relocated_sectors,
        }) as u32;
        if let Some(store) = &mut self.store {
            store.build(&self.ftl, sealed, stripe);
        }
        self.checkpoint_stripes += u32::from(sealed.stream == StreamId::Checkpoint);
        let collection = sealed.stream != StreamId::Host;
        let data_cause = match sealed.stream {
            StreamId::Host => Cause::DieHostProgram,
            StreamId::Relocation | StreamId::Checkpoint => Cause::DieRelocationProgram,
        };
        while used != 0 {
            let unit = used.trailing_zeros();
            used &= used - 1;
            let cause = if units.parity >> unit & 1 == 1 { Cause::DieParity } else { data_cause };
            let address = self.ftl.layout().unit_address(sealed.stripe, unit);
            self.start(now, Work::Program { stripe, cause, collection }, address, sealed.mode, 0);
        }
    }

    /// A die has finished something.
    fn die_event(&mut self, now: Time, d: usize, done: &mut Vec<Completion>) {
        if self.store.is_some() && self.goes_on(now, d) {
            return;
        }
        let Finished { op, at, waited } = self.dies.finish(now, d);
        // The die goes on before anything else is decided: what it did is off its hands.
        let next = self.dies.start_next(now, d, &mut self.events);
        self.note_started(next);
        match op.work {
            Work::HostRead(id) => {
                if let Some(record) = self.records.get_mut(id.0 as usize) {
                    let mut parts = waited;
                    parts.add(Cause::Suspend, op.suspend_ns);
                    let array = self.dies.read_ns(op.mode);
                    parts.add(Cause::FlashRead, array);
                    let retry_ns = op.retry_ns.unwrap_or(0);
                    parts.add(Cause::ReadRetry, retry_ns);
                    parts.add(Cause::Bus, at - op.started - array - retry_ns);
                    record.flash = parts;
                }
                if self.store.is_some() && !self.host_read_arrived(now, id, op.unit, done) {
                    return;
                }
                self.flash_read_done(now, id, done);
            }
            Work::RelocationRead(index) => self.relocation_read(now, index, done),
            Work::RepairRead(index) => self.repair_read(now, index, op.unit, done),
            Work::RebuildErase => self.rebuild_erased(now, op.unit, done),
            Work::RebuildProgram => self.rebuild_programmed(now, op.unit, done),
            Work::Program { stripe, .. } => {
                match self.store {
                    Some(_) => self.program_contents(now, stripe, op.unit),
                    None => self.ftl.unit_programmed(op.unit),
                }
                let s = &mut self.stripes[stripe as usize];
                s.units_left -= 1;
                if s.units_left == 0 {
                    self.stripe_programmed(now, stripe, done);
                }
            }
            Work::Erase(band) => {
                let i = self.erasing.iter().position(|e| e.band == band).expect("the band is being erased");
                if self.store.is_some() {
                    self.erase_contents(now, i, op.unit.die);
                }
                self.erasing[i].left -= 1;
                if self.erasing[i].left == 0 {
                    // Of what is programmed into the band from now on a cut may leave some, and none of its erase.
                    if self.store.as_ref().is_some_and(|store| !store.media.keeps_erases()) {
                        self.sync_media(now);
                        if self.halted {
                            return;
                        }
                    }
                    let Erasing { dies, failed, .. } = self.erasing.swap_remove(i);
                    self.note_erased(band, failed.is_empty());
                    let ended = |die| dies.contains(&die).then(|| !failed.contains(&die));
                    match self.store {
                        Some(_) => self.ftl.erased_on_medium(band, ended),
                        None => self.ftl.erased(band),
                    }
                    self.go_on(now, done);
                }
            }
        }
    }

    /// What the die does takes longer than flash alone would.
    fn goes_on(&mut self, now: Time, d: usize) -> bool {
        if self.waits_for_answer(now, d) || self.waits_for_medium(now, d) {
            return true;
        }
        self.set_pace(d as u32);
        self.retries(now, d)
    }

    /// The die has read something that needs more reads.
    fn retries(&mut self, now: Time, d: usize) -> bool {
        let Some(unit) = self.dies.read_to_judge(d) else { return false };
        let retries = self.contents().retries(unit);
        self.dies.retry(now, d, retries, &mut self.events)
    }

    pub(crate) fn stripe_programmed(&mut self, now: Time, index: u32, done: &mut Vec<Completion>) {
        let s = self.stripes.remove(index as usize);
        if self.store.is_some() && !self.stripe_contents_safe(now, index, s, done) {
            return;
        }
        self.stripe_written(now, s, done);
    }

    /// All of a stripe is on flash, there or elsewhere.
    pub(crate) fn stripe_safe(&mut self, now: Time, s: StripeInFlight, done: &mut Vec<Completion>) {
        self.ftl.stripe_durable(s.stream, s.sequence);
        self.checkpoint_stripes -= u32::from(s.stream == StreamId::Checkpoint);
        self.buffer_free_sectors += s.host_sectors;
        assert!(self.buffer_free_sectors <= self.buffer_sectors, "more freed than was buffered");
        self.relocations.sectors_in_flight -= s.relocated_sectors;
        if s.stream == StreamId::Host {
            self.wake_durable(now, done);
        }
        self.erase_stale(now);
        self.go_on(now, done);
    }

    /// Begins the erases that may begin.
    pub(crate) fn erase_stale(&mut self, now: Time) {
        while !self.halted
            && (!self.draining || self.drain_lacks_room())
            && let Some(band) = self.next_erase(now)
        {
            let dies = self.ftl.layout().dies;
            let mode = self.ftl.cell_mode(band);
            let good = |card: &Card, die: u32| card.ftl.blocks().is_usable(band.0, die);
            let dies: Vec<u32> = (0..dies).filter(|&die| good(self, die) || self.is_left_behind(band, die)).collect();
            self.note_erase(band);
            if dies.is_empty() {
                self.ftl.erased_on_medium(band, |_| None);
                continue;
            }
            self.erasing.push(Erasing { band, left: dies.len() as u32, dies: dies.clone(), failed: Vec::new() });
            for die in dies {
                self.start(now, Work::Erase(band), ftl::UnitAddress { band, die, row: 0 }, mode, 0);
            }
        }
    }

    /// After space or buffer came free: admits what waits, relocates what is due.
    #[inline]
    pub(crate) fn go_on(&mut self, now: Time, done: &mut Vec<Completion>) {
        if self.store.is_some() {
            self.go_on_with_contents(now, done);
        }
        if self.draining {
            return;
        }
        if !self.waiting_writes.is_empty() {
            self.admit_waiting(now, done);
        }
        self.move_waiting(now, done);
        self.relocate_due(now);
        self.note_stopped(now);
        if !self.waiting_durable.is_empty() {
            self.wake_durable(now, done);
        }
        if !self.waiting_writes.is_empty()
            || !self.waiting_durable.is_empty()
            || !self.failed_stripes.is_empty()
            || self.in_flight == 0
        {
            if !self.waiting_writes.is_empty() || !self.failed_stripes.is_empty() {
                self.sync_what_is_left(now, done);
            }
            self.unblock(now);
        }
    }

    /// What only a card with contents has to do.
    fn go_on_with_contents(&mut self, now: Time, done: &mut Vec<Completion>) {
        if !self.syncing.is_empty() {
            // A module that was waited for may be gone.
            self.synced(now, done);
        }
        self.note_elsewhere(now, done);
        self.rehome(now);
        if self.draining {
            return self.drain(now);
        }
        self.rebuild_on(now);
        self.write_owed_since_start(now);
        self.checkpoint_on(now);
        self.scrub_on(now, done);
    }

    /// Nothing is written or erased and bands wait to be erased: they wait for stripes that nobody will fill.
    pub(crate) fn unblock(&mut self, now: Time) {
        let at_work = !self.stripes.is_empty() || !self.erasing.is_empty() || self.relocations.on_their_way() > 0;
        if !at_work
            && !self.syncs()
            && !self.draining
            && !self.halted
            && (self.ftl.stale_bands_wait() || !self.failed_stripes.is_empty())
        {
            self.ftl.seal_for_durability(StreamId::Relocation);
            self.ftl.seal_for_durability(StreamId::Host);
            self.program_sealed(now);
            self.erase_stale(now);
            if self.stripes.is_empty() && self.erasing.is_empty() {
                self.rescue_lacks_room();
                self.erase_stale(now);
            }
        }
    }

    fn note_stopped(&mut self, now: Time) {
        match (self.ftl.stopped_for_gc(), self.stopped_since) {
            (true, None) => self.stopped_since = Some(now),
            (false, Some(since)) => {
                self.activity.stopped_ns += now - since;
                self.stopped_since = None;
            }
            _ => {}
        }
    }

    /// Activity until now.
    pub(crate) fn activity_at(&self, now: Time) -> Activity {
        let mut activity = self.activity;
        if let Some(since) = self.stopped_since {
            activity.stopped_ns += now - since;
        }
        activity
    }

    pub(crate) fn relocation_slot(&self) -> usize {
        self.die_count + self.requests.len()
    }

    pub(crate) fn idle_slot(&self) -> usize {
        self.relocation_slot() + 1
    }

    pub(crate) fn rebuild_slot(&self) -> usize {
        self.relocation_slot() + 2
    }

    pub(crate) fn sync_slot(&self) -> usize {
        self.relocation_slot() + 3
    }

    /// The first request after a pause.
    pub(crate) fn pause_ends(&mut self) {
        self.long_idle = false;
        if self.config.ftl.slc_cache.is_some() {
            self.events.set(self.idle_slot(), Time::NEVER);
        }
    }

    /// Nothing is in flight any more.
    pub(crate) fn pause_begins(&mut self, now: Time, done: &mut Vec<Completion>) {
        if self.ftl.can_fold() {
            self.events.set(self.idle_slot(), now + IDLE_NS);
        }
        self.go_on(now, done);
    }

    /// Time for a sector on its way through the host, if relocation takes that way.
    pub(crate) fn host_path_sector_ns(&self) -> Option<u64> {
        match self.config.relocation_path {
            RelocationPath::Internal => None,
            RelocationPath::Host { sector_ns } => Some(sector_ns),
        }
    }
}

impl Device for Card {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, done: &mut Vec<Completion>) {
        self.accept(now, id, request, done);
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.events.earliest().0
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        self.life.tick(now);
        loop {
            self.begin_on_medium();
            let (time, slot) = self.events.earliest();
            if time > now {
                // Whatever waits for room then waits for ever.
                self.halted |= time == Time::NEVER && self.store.is_some() && self.is_beyond_writing();
                if time == Time::NEVER && !self.homeless.is_empty() {
                    self.unblock(now);
                    self.stop_without_room();
                }
                self.notice_the_end(now, done);
                if self.draining && self.dies.in_flight() == 0 && !self.syncs() {
                    self.drain(now);
                }
                self.note_halt();
                self.note_end_of_start();
                return;
            }
            debug_assert_eq!(time, now, "an event was missed");
            if slot < self.die_count {
                self.die_event(now, slot, done);
            } else if slot < self.relocation_slot() {
                self.events.set(slot, Time::NEVER);
                if self.draining {
                    continue;
                }
                let id = RequestId((slot - self.die_count) as u32);
                match self.requests[id.0 as usize].stage {
                    Stage::GoingDown => self.arrived(now, id, done),
                    Stage::GoingUp => self.complete(now, id, done),
                    stage => unreachable!("request {id:?} has no event in stage {stage:?}"),
                }
            } else if slot == self.relocation_slot() {
                self.relocation_through_host(now, done);
            } else if slot == self.rebuild_slot() {
                self.events.set(slot, Time::NEVER);
                self.rebuild_may_go_on(now, done);
            } else if slot == self.sync_slot() {
                self.events.set(slot, Time::NEVER);
                self.sync_is_due(now, done);
            } else {
                self.events.set(slot, Time::NEVER);
                self.long_idle = true;
                self.go_on(now, done);
            }
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.ftl.user_sectors() * device::SECTOR_BYTES
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }
}
