//! The dies and channels: what each is doing, and what it does next.
//!
//! Reads of the host go first where the card says so, and may suspend a program or an erase. Then comes the work of
//! garbage collection: reads of sectors to relocate, their programs, erases. It goes ahead of the host's programs
//! because its amount is set by the pace that host writes earn, not by the queue: so free space follows the control
//! without delay, whatever the buffer holds, and the host gets all the rest. Within a class, first come first served.

use super::array_times::{ArrayTimes, TimeSpread};
use super::bus::Bus;
use super::die_op::{DieOp, EMPTY, NONE, Queue, Work, pop, push, unit_key};
use super::occupancy::Occupancy;
use super::planes::Planes;
use super::thermal::{Heat, ThermalConfig};
use super::watch::Watch;
use device::{EventTable, Parts, Time};
use ftl::UnitAddress;
use media::nand::{CellMode, NandConfig, Timing};
use slab::Slab;

/// No unit is in the page registers.
const NOTHING: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Die {
    current: u32,
    /// Array phase of the current program or erase begins here (its transfer in can't be suspended).
    array_start: Time,
    reads: Queue,
    relocation_reads: Queue,
    /// Relocation's programs, with their parity, and erases.
    collection: Queue,
    host_programs: Queue,
    /// Operations that are not programs and were queued while power fails: they come after all programs.
    late: Queue,
    /// Programs queued or under way.
    programs: u32,
    suspended: u32,
    suspended_left_ns: u64,
    suspends: u32,
    reads_in_a_row: u32,
    channel: u32,
    /// The unit that the last read of the array has left in the page registers, by band and row: reading more of it takes
    /// the bus alone.
    in_register: u64,
    /// Its times in percent of what they should be.
    pace_percent: u32,
}

impl Die {
    /// A time of the data sheet, as this die takes it.
    #[inline]
    fn paced(&self, ns: u64) -> u64 {
        if self.pace_percent == 100 { ns } else { ns.saturating_mul(self.pace_percent.into()) / 100 }
    }
}

/// After so many reads in a row a die serves one operation that waits behind them, so that reads alone can't starve
/// writes. Eight reads are shorter than one program.
const READS_IN_A_ROW: u32 = 8;

/// All dies of a card.
#[derive(Clone, Debug)]
pub struct Dies {
    dies: Vec<Die>,
    buses: Vec<Bus>,
    ops: Slab<DieOp>,
    timing: Timing,
    reads_first: bool,
    /// Reads from the page registers take the bus alone.
    reuses_registers: bool,
    /// Power is failing.
    draining: bool,
    /// Programs queued or under way.
    programs: u32,
    sector_bus_bytes: u32,
    unit_bus_bytes: u32,
    /// Draws the times of the array, where these differ.
    times: Option<Box<ArrayTimes>>,
    /// The planes, where they read on their own.
    planes: Option<Planes>,
    /// When somebody watches the dies.
    watch: Option<Watch>,
}

/// An operation that a die has finished.
pub struct Finished {
    pub op: DieOp,
    pub at: Time,
    /// The id that the operation had.
    pub id: u32,
}

/// An operation that a die has begun.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    pub work: Work,
    pub unit: UnitAddress,
    /// Die time it takes, if it is not suspended.
    pub busy_ns: u64,
    /// It was begun anew, not resumed.
    pub fresh: bool,
}

impl Dies {
    /// All idle. Dies are numbered modules first, then channels of a module, then dies of a channel.
    /// Space is counted in so many parts of a sector.
    pub fn new(config: &NandConfig, parts: u32, reads_first: bool, reads_by_plane: bool, explain: bool) -> Dies {
        let geometry = &config.geometry;
        let page_bus_bytes = geometry.page_bytes + geometry.spare_bytes;
        let die = |d: u32| {
            let (module, within) = (d % geometry.modules, d / geometry.modules);
            let channel = module * geometry.channels_per_module + within % geometry.channels_per_module;
            Die {
                current: NONE,
                array_start: Time::ZERO,
                reads: EMPTY,
                relocation_reads: EMPTY,
                collection: EMPTY,
                host_programs: EMPTY,
                late: EMPTY,
                programs: 0,
                suspended: NONE,
                suspended_left_ns: 0,
                suspends: 0,
                reads_in_a_row: 0,
                channel,
                in_register: NOTHING,
                pace_percent: 100,
            }
        };
        Dies {
            dies: (0..geometry.dies()).map(die).collect(),
            buses: vec![Bus::default(); geometry.channels() as usize],
            ops: Slab::new(),
            timing: config.timing,
            reads_first,
            reuses_registers: false,
            draining: false,
            programs: 0,
            sector_bus_bytes: page_bus_bytes / (geometry.sectors_per_page() * parts),
            unit_bus_bytes: page_bus_bytes * geometry.pages_per_unit(),
            times: None,
            planes: reads_by_plane
                .then(|| Planes::new(geometry.dies(), geometry.planes_per_die, geometry.sectors_per_page() * parts)),
            watch: explain.then(|| Watch { occupancy: Some(Occupancy::new(geometry.dies() as usize)), heat: None }),
        }
    }

    /// Pages in the registers are not sensed again. On media with contents each read is one of the medium, and is judged.
    pub fn reuse_registers(&mut self) {
        self.reuses_registers = true;
    }

    /// Times of the array differ from now on.
    pub fn spread_times(&mut self, spread: TimeSpread, seed: u64) {
        self.times = Some(Box::new(ArrayTimes::new(spread, seed)));
    }

    /// The time of the array to read a unit.
    #[inline(always)]
    fn array_read_ns(&mut self, mode: CellMode, row: u32) -> u64 {
        let ns = self.timing.of(mode).read_ns;
        match &mut self.times {
            None => ns,
            Some(times) => times.read_ns(ns, row, mode == CellMode::Slc),
        }
    }

    /// Says from now on what reads of the host wait for.
    ///
    /// # Panics
    /// When operations are under way.
    pub fn explain(&mut self) {
        assert_eq!(self.in_flight(), 0, "the dies are at work");
        self.watch.get_or_insert_default().occupancy = Some(Occupancy::new(self.dies.len()));
    }

    /// Counts the heat of operations from now on.
    pub fn count_heat(&mut self, config: ThermalConfig) {
        self.watch.get_or_insert_default().heat = Some(Heat::new(config, self.timing));
    }

    /// The heat of operations, where it is counted.
    pub fn heat(&mut self) -> Option<&mut Heat> {
        self.watch.as_mut()?.heat.as_mut()
    }

    /// Heat of operations that nobody has taken yet.
    pub fn untaken_joules(&self) -> f64 {
        self.watch.as_ref().and_then(|watch| watch.heat.as_ref()).map_or(0.0, Heat::joules)
    }

    /// Operations that any die begins from now on take so many percent of their time.
    pub fn set_pace_of_all(&mut self, percent: u32) {
        self.dies.iter_mut().for_each(|die| die.pace_percent = percent);
    }

    /// Operations that have begun and are not done, suspended ones among them.
    pub fn under_way(&self) -> impl Iterator<Item = &DieOp> {
        let begun = self.dies.iter().flat_map(|die| [die.current, die.suspended]);
        begun.filter(|&id| id != NONE).map(|id| &self.ops[id as usize])
    }

    /// Power is failing: programs go first on every die, in their order.
    pub fn programs_first(&mut self) {
        self.draining = true;
        for d in 0..self.dies.len() {
            let die = &mut self.dies[d];
            let [reads, relocation_reads] = [&mut die.reads, &mut die.relocation_reads].map(std::mem::take);
            let queues =
                [reads, relocation_reads, std::mem::take(&mut die.collection), std::mem::take(&mut die.host_programs)];
            for (mut queue, of_host) in queues.into_iter().zip([false, false, false, true]) {
                while let Some(id) = pop(&mut queue, &mut self.ops) {
                    self.ops[id as usize].next = NONE;
                    let die = &mut self.dies[d];
                    let to = match self.ops[id as usize].work {
                        Work::Program { .. } if of_host => &mut die.host_programs,
                        Work::Program { .. } => &mut die.collection,
                        _ => &mut die.late,
                    };
                    push(to, id, &mut self.ops);
                }
            }
        }
    }

    /// Programs queued or under way on all dies.
    pub fn programs(&self) -> u32 {
        self.programs
    }

    /// Programs of the die that has most of them. Looks at all dies.
    pub fn most_programs(&self) -> u32 {
        self.dies.iter().map(|die| die.programs).max().unwrap_or(0)
    }

    /// Operations that a die begins from now on take so many percent of their time.
    pub fn set_pace(&mut self, die: u32, percent: u32) {
        self.dies[die as usize].pace_percent = percent;
    }

    /// The operation that a die is doing, suspended ones apart.
    pub fn current(&self, d: usize) -> Option<&DieOp> {
        self.ops.get(self.dies[d].current as usize)
    }

    /// Operations queued or under way.
    pub fn in_flight(&self) -> usize {
        self.ops.len()
    }

    /// Queues an operation that moves `sectors` over the bus (programs: the whole unit), and begins it when the die is
    /// free. `events` has one slot a die, from 0.
    pub fn enqueue(
        &mut self,
        now: Time,
        work: Work,
        unit: UnitAddress,
        mode: CellMode,
        sectors: u32,
        events: &mut EventTable,
    ) -> Option<Started> {
        let bytes = match work {
            Work::HostRead(_) | Work::MapRead(_) | Work::RelocationRead(_) | Work::RepairRead(_) => {
                sectors * self.sector_bus_bytes
            }
            Work::Program { .. } | Work::RebuildProgram => self.unit_bus_bytes,
            Work::RebuildErase | Work::Erase(_) => 0,
        };
        let d = unit.die as usize;
        let id = self.line_up(now, DieOp::new(work, unit, mode, bytes));
        let is_read = work.goes_first();
        let die = &mut self.dies[d];
        let is_program = u32::from(matches!(work, Work::Program { .. }));
        die.programs += is_program;
        self.programs += is_program;
        let queue = match work {
            _ if self.draining && !matches!(work, Work::Program { .. }) => &mut die.late,
            Work::HostRead(_) | Work::MapRead(_) if self.reads_first => &mut die.reads,
            Work::RelocationRead(_) | Work::RepairRead(_) => &mut die.relocation_reads,
            Work::Program { collection: true, .. } | Work::RebuildProgram | Work::RebuildErase | Work::Erase(_) => {
                &mut die.collection
            }
            Work::Program { .. } | Work::HostRead(_) | Work::MapRead(_) => &mut die.host_programs,
        };
        push(queue, id, &mut self.ops);
        if self.dies[d].current == NONE {
            return self.start_next(now, d, events);
        }
        if is_read && self.reads_first && !self.draining { self.try_suspend(now, d, None, events) } else { None }
    }

    /// Keeps an operation that will wait, and notes when a read of the host came; the operation's id.
    #[inline(always)]
    fn line_up(&mut self, now: Time, op: DieOp) -> u32 {
        let id = self.ops.insert(op) as u32;
        if op.work.goes_first()
            && let Some(watch) = &mut self.watch
        {
            watch.read_came(now, op.unit.die as usize, id);
        }
        id
    }

    /// Queues a read that goes first, of `sectors` of a unit, from its sector `first` on: of its plane where planes read on their
    /// own, as far as one plane has them all.
    pub fn enqueue_read(
        &mut self,
        now: Time,
        work: Work,
        unit: UnitAddress,
        mode: CellMode,
        [first, sectors]: [u32; 2],
        events: &mut EventTable,
    ) -> Option<Started> {
        let by_plane = self.planes.as_ref().filter(|_| !self.draining);
        let Some(plane) = by_plane.and_then(|planes| planes.of(unit.die, first, sectors)) else {
            return self.enqueue(now, work, unit, mode, sectors, events);
        };
        let d = unit.die as usize;
        let read = self.line_up(now, DieOp::new(work, unit, mode, sectors * self.sector_bus_bytes));
        self.planes.as_mut().expect("checked").push(plane, read);
        if self.dies[d].current == NONE {
            return self.start_plane(now, d, events);
        }
        self.try_suspend(now, d, Some(plane), events)
    }

    /// Whether planes read on their own.
    #[inline]
    pub fn has_planes(&self) -> bool {
        self.planes.is_some()
    }

    /// Begins a read of an idle plane, if the die is free for it: `None` if there is none to begin now.
    pub fn start_plane(&mut self, now: Time, d: usize, events: &mut EventTable) -> Option<Started> {
        let planes = self.planes.as_ref()?;
        let die = &self.dies[d];
        if die.current != NONE || !planes.have_waiting(d) {
            return None;
        }
        let others_wait = die.suspended != NONE
            || die.reads.head != NONE
            || die.relocation_reads.head != NONE
            || die.collection.head != NONE
            || die.host_programs.head != NONE;
        if others_wait && die.reads_in_a_row >= READS_IN_A_ROW * planes.count() as u32 / self.dies.len() as u32 {
            return None;
        }
        let plane = planes.next_idle(d)?;
        self.dies[d].reads_in_a_row += 1;
        Some(self.begin_on_plane(now, now, d, plane, events))
    }

    /// A plane's event came: its read is done.
    pub fn finish_plane(&mut self, now: Time, plane: usize, events: &mut EventTable) -> (Finished, usize) {
        let planes = self.planes.as_mut().expect("a plane reads");
        let (d, id) = (planes.die_of(plane), planes.finish(plane));
        let is_idle = !planes.reads(d);
        events.set(self.dies.len() + plane, Time::NEVER);
        if let Some(watch) = &mut self.watch {
            watch.finished(&self.ops[id as usize], self.dies[d].pace_percent);
            if is_idle {
                watch.end(now, d);
            }
        }
        (Finished { op: self.ops.remove(id as usize), at: now, id }, d)
    }

    /// Begins the next work of a die one of whose planes has become free.
    pub fn start_after_plane(&mut self, now: Time, d: usize, events: &mut EventTable) -> Option<Started> {
        let started = self.start_plane(now, d, events);
        let reads = self.planes.as_ref().is_some_and(|planes| planes.reads(d));
        if started.is_some() || reads { started } else { self.start_next(now, d, events) }
    }

    fn begin_on_plane(&mut self, now: Time, start: Time, d: usize, plane: usize, events: &mut EventTable) -> Started {
        let planes = self.planes.as_mut().expect("planes read on their own");
        let was_idle = !planes.reads(d);
        let page = |read: u32| unit_key(&self.ops[read as usize]);
        let (id, is_in_register) = planes.begin(plane, page);
        let op = &mut self.ops[id as usize];
        op.started = start;
        op.suspend_ns = start - now;
        op.is_in_register = is_in_register && self.reuses_registers;
        let op = *op;
        let array_ns = if op.is_in_register { 0 } else { self.array_read_ns(op.mode, op.unit.row) };
        let die = &mut self.dies[d];
        let array_ns = die.paced(array_ns);
        self.ops[id as usize].array_ns = array_ns;
        die.in_register = NOTHING;
        let transfer_ns = die.paced(self.timing.bus_ns(u64::from(op.bytes)));
        let end = self.buses[die.channel as usize].book(start + array_ns, transfer_ns) + transfer_ns;
        events.set(self.dies.len() + plane, end);
        if let Some(watch) = &mut self.watch {
            if !was_idle {
                watch.end(now, d);
            }
            watch.read_begins(d, id);
            watch.begin(now, d, op.work.cause());
        }
        Started { work: op.work, unit: op.unit, busy_ns: end - now, fresh: true }
    }

    /// Suspends the program or erase under way so that a read can go first.
    fn try_suspend(
        &mut self,
        now: Time,
        d: usize,
        by_plane: Option<usize>,
        events: &mut EventTable,
    ) -> Option<Started> {
        let suspend_ns = self.timing.suspend_ns?;
        let die = &self.dies[d];
        let current = self.ops[die.current as usize];
        if !matches!(current.work, Work::Program { .. } | Work::Erase(_) | Work::RebuildProgram | Work::RebuildErase)
            || die.suspends >= self.timing.max_suspends
            || die.suspended != NONE
        {
            return None;
        }
        let from = now.max(die.array_start);
        let left = events.time(d).since_ns(from);
        if left <= 2 * suspend_ns {
            return None;
        }
        let die = &mut self.dies[d];
        die.suspended = die.current;
        die.suspended_left_ns = left;
        die.suspends += 1;
        die.reads_in_a_row = 0;
        if let Some(watch) = &mut self.watch {
            watch.end(now, d);
        }
        if let Some(plane) = by_plane {
            self.dies[d].current = NONE;
            events.set(d, Time::NEVER);
            return Some(self.begin_on_plane(now, from + suspend_ns, d, plane, events));
        }
        let first = pop(&mut die.reads, &mut self.ops).expect("a read was just queued");
        Some(self.begin_read(now, from + suspend_ns, d, first, events))
    }

    /// The die's event came: what it did is done. [`Dies::start_next`] must follow: it sets or clears the die's event.
    #[inline(always)]
    pub fn finish(&mut self, now: Time, d: usize) -> Finished {
        let die = &mut self.dies[d];
        let id = std::mem::replace(&mut die.current, NONE);
        if let Some(watch) = &mut self.watch {
            watch.end(now, d);
            watch.finished(&self.ops[id as usize], die.pace_percent);
        }
        let op = self.ops.remove(id as usize);
        let was_program = u32::from(matches!(op.work, Work::Program { .. }));
        die.programs -= was_program;
        self.programs -= was_program;
        if !op.work.goes_first() {
            die.suspends = 0;
        }
        Finished { op, at: now, id }
    }

    /// The time that a read of the host waited before it started, by cause, when the card explains it. To be asked
    /// before another operation is queued: that may have the same id.
    pub fn waited(&self, id: u32) -> Parts {
        self.watch.as_ref().map(|watch| watch.waited(id)).unwrap_or_default()
    }

    /// The read that a die or plane is done with, by the number of its event, if nobody has asked yet how many retries it
    /// takes.
    pub fn read_to_judge(&self, at: usize) -> Option<UnitAddress> {
        let op = &self.ops[self.read_at(at) as usize];
        let is_read = op.work.goes_first() || matches!(op.work, Work::RelocationRead(_) | Work::RepairRead(_));
        // A read from the registers senses nothing anew that could want shifted thresholds.
        (is_read && op.retry_ns.is_none() && !op.is_in_register).then_some(op.unit)
    }

    /// The operation of a die, or of a plane that reads on its own, by the number of its event.
    fn read_at(&self, at: usize) -> u32 {
        match at.checked_sub(self.dies.len()) {
            None => self.dies[at].current,
            Some(plane) => self.planes.as_ref().expect("a plane reads").current(plane),
        }
    }

    /// The read of a die or plane, by the number of its event, takes so many retries: each is the array's time again. False:
    /// it takes none.
    pub fn retry(&mut self, now: Time, at: usize, retries: u32, events: &mut EventTable) -> bool {
        let id = self.read_at(at);
        let op = &mut self.ops[id as usize];
        let die = &self.dies[op.unit.die as usize];
        let retry_ns = u64::from(retries) * die.paced(self.timing.of(op.mode).read_ns);
        op.retry_ns = Some(retry_ns);
        if retries > 0 {
            events.set(at, now + retry_ns);
        }
        retries > 0
    }

    /// Begins what comes next on an idle die.
    pub fn start_next(&mut self, now: Time, d: usize, events: &mut EventTable) -> Option<Started> {
        debug_assert_eq!(self.dies[d].current, NONE, "die {d} is at work");
        if let Some(planes) = &self.planes {
            if planes.reads(d) {
                return None;
            }
            if let Some(started) = self.start_plane(now, d, events) {
                events.set(d, Time::NEVER);
                return Some(started);
            }
        }
        let die = &mut self.dies[d];
        let others_wait = die.suspended != NONE
            || die.relocation_reads.head != NONE
            || die.collection.head != NONE
            || die.host_programs.head != NONE;
        if die.reads.head != NONE && !(others_wait && die.reads_in_a_row >= READS_IN_A_ROW) {
            die.reads_in_a_row += 1;
            let id = pop(&mut die.reads, &mut self.ops).expect("checked");
            return Some(self.begin_read(now, now, d, id, events));
        }
        die.reads_in_a_row = 0;
        if die.suspended != NONE {
            // The other half of suspending: resuming.
            let resume_ns = self.timing.suspend_ns.unwrap_or(0);
            die.current = std::mem::replace(&mut die.suspended, NONE);
            die.array_start = now;
            events.set(d, now + resume_ns + die.suspended_left_ns);
            let op = &self.ops[die.current as usize];
            if let Some(watch) = &mut self.watch {
                watch.begin(now, d, op.work.cause());
            }
            return Some(Started { work: op.work, unit: op.unit, busy_ns: resume_ns, fresh: false });
        }
        if let Some(id) = pop(&mut die.relocation_reads, &mut self.ops) {
            return Some(self.begin_read(now, now, d, id, events));
        }
        if self.planes.is_some() && self.plane_reads_before_erase(d) {
            self.dies[d].reads_in_a_row = 0;
            events.set(d, Time::NEVER);
            return self.start_plane(now, d, events);
        }
        let next = match self.read_before_erase(d) {
            Some(reads) => pop(reads(&mut self.dies[d]), &mut self.ops),
            None => {
                let die = &mut self.dies[d];
                pop(&mut die.collection, &mut self.ops)
                    .or_else(|| pop(&mut die.host_programs, &mut self.ops))
                    .or_else(|| pop(&mut die.late, &mut self.ops))
            }
        };
        let die = &mut self.dies[d];
        let Some(id) = next else {
            events.set(d, Time::NEVER);
            return None;
        };
        let op = &mut self.ops[id as usize];
        let times = self.timing.of(op.mode);
        let (array_start, end) = match op.work {
            Work::HostRead(_) | Work::MapRead(_) | Work::RelocationRead(_) | Work::RepairRead(_) => {
                return Some(self.begin_read(now, now, d, id, events));
            }
            Work::Program { .. } | Work::RebuildProgram => {
                let transfer_ns = die.paced(self.timing.bus_ns(u64::from(op.bytes)));
                let array_start = self.buses[die.channel as usize].book(now, transfer_ns) + transfer_ns;
                let program_ns = match &mut self.times {
                    None => times.program_ns,
                    Some(drawn) => drawn.program_ns(times.program_ns, op.unit.row, op.mode == CellMode::Slc),
                };
                (array_start, array_start + die.paced(program_ns))
            }
            Work::RebuildErase | Work::Erase(_) => (now, now + die.paced(times.erase_ns)),
        };
        op.started = now;
        die.current = id;
        // A program comes in through the registers; an erase may be of the block that they were read from.
        die.in_register = NOTHING;
        if let Some(planes) = &mut self.planes {
            planes.forget_registers(d);
        }
        die.array_start = array_start;
        events.set(d, end);
        if let Some(watch) = &mut self.watch {
            watch.begin(now, d, op.work.cause());
        }
        Some(Started { work: op.work, unit: op.unit, busy_ns: end - now, fresh: true })
    }

    /// When the next operation of collection erases a block that a queued read of the host still needs: that read's
    /// queue, which has to go on first.
    fn read_before_erase(&self, d: usize) -> Option<fn(&mut Die) -> &mut Queue> {
        let die = &self.dies[d];
        let Work::Erase(band) = self.ops.get(die.collection.head as usize)?.work else { return None };
        let needs = |queue: &Queue| {
            let first = self.ops.get(queue.head as usize);
            std::iter::successors(first, |op| self.ops.get(op.next as usize))
                .any(|op| op.work.goes_first() && op.unit.band == band)
        };
        if needs(&die.reads) {
            return Some(|die| &mut die.reads);
        }
        if needs(&die.host_programs) {
            return Some(|die| &mut die.host_programs);
        }
        None
    }

    /// Whether the next operation of collection erases a block that a read still needs that waits for its plane.
    #[inline(never)]
    fn plane_reads_before_erase(&self, d: usize) -> bool {
        let Some(op) = self.ops.get(self.dies[d].collection.head as usize) else { return false };
        let (Work::Erase(band), Some(planes)) = (op.work, &self.planes) else { return false };
        planes.all_waiting(d).any(|read| self.ops[read as usize].unit.band == band)
    }

    /// Begins a read at `start` (later than `now` by the time that suspending takes).
    fn begin_read(&mut self, now: Time, start: Time, d: usize, id: u32, events: &mut EventTable) -> Started {
        let die = &mut self.dies[d];
        let op = &mut self.ops[id as usize];
        op.started = start;
        op.suspend_ns = start - now;
        die.current = id;
        let unit = unit_key(op);
        if let Some(planes) = &mut self.planes {
            planes.forget_registers(d);
        }
        let is_in_register = self.reuses_registers && die.in_register == unit;
        op.is_in_register = is_in_register;
        die.in_register = unit;
        let (work, mode, unit, bytes) = (op.work, op.mode, op.unit, op.bytes);
        let array_ns = if is_in_register { 0 } else { self.array_read_ns(mode, unit.row) };
        let die = &mut self.dies[d];
        let array_ns = die.paced(array_ns);
        self.ops[id as usize].array_ns = array_ns;
        let array_end = start + array_ns;
        let transfer_ns = die.paced(self.timing.bus_ns(u64::from(bytes)));
        let end = self.buses[die.channel as usize].book(array_end, transfer_ns) + transfer_ns;
        events.set(d, end);
        if let Some(watch) = &mut self.watch {
            if work.goes_first() {
                watch.read_begins(d, id);
            }
            watch.begin(now, d, work.cause());
        }
        Started { work, unit, busy_ns: end - now, fresh: true }
    }

    /// Mean time of the flash array itself in a read.
    pub fn read_ns(&self, mode: CellMode) -> u64 {
        self.timing.of(mode).read_ns
    }
}
