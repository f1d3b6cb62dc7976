//! Hosts with cores run a load against a device, in virtual time.
//!
//! The processes of the load are dealt out to the hosts in turn, and share their host's cores and link with each other.
//! Data go over the link one request after another: those of a write before the device has it, those of a read after.
//!
//! A process that has CPU work waits for a core, first come first served, and keeps it until it blocks: completing an
//! I/O, computing and submitting the next one are one stay. Work of no time needs no core.
//!
//! A request's latency begins when the session hands it to the driver, so computing before it is not in it. A request
//! that was due by a schedule before that has its latency from then on, with all that kept the session from asking.

use crate::recorder::Recorder;
use device::{Cause, Completion, Device, EventTable, HostConfig, Operation, Request, RequestId, Time};
use load::{Load, ProcessId, Step};
use std::collections::VecDeque;

/// When to pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// At this time.
    At(Time),
    /// When so many requests have finished since the start of the machine.
    Finished(u64),
}

/// The reason why it paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum StopReason {
    Reached,
    /// Every process has ended.
    LoadEnded,
    /// The person asked to stop.
    Cancelled,
}

/// Events between two looks at whether the person asked to stop: some ten milliseconds of work.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 17;

/// A process's next action when its present burst of CPU work is over.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// Its request is complete: record it, ask the load for the next step.
    Complete,
    /// Ask the load for the next step.
    NextStep,
    /// Submit the request.
    Submit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Holds a core until its event.
    Computing,
    WaitsForCore,
    /// Its data are on the host's link, or wait for it, until its event.
    OnLink,
    InDevice,
    Sleeping,
    Parked,
    /// Is being moved on right now.
    Moving,
    Ended,
}

#[derive(Clone, Copy, Debug)]
struct Process {
    state: State,
    then: Then,
    /// CPU time that it waits to spend.
    cpu_ns: u64,
    request: Request,
    /// When the request was due by the load's schedule; `NEVER`: it has none.
    due: Time,
    /// Delay of the session's submission behind its due time.
    late_ns: u64,
    /// When the session handed the request to the driver, or when it was due if that was before.
    issued: Time,
    /// When the device had it, and when it gave it back.
    submitted: Time,
    returned: Time,
    /// The number of the host that it runs on.
    host: u32,
    /// Time of its request's data on the link.
    link_ns: u64,
    /// Where the device's time went; kept only by a machine that explains, since it is the most of a process.
    parts: device::Parts,
}

/// The part of a host that its processes share.
#[derive(Debug, Default)]
struct Shared {
    run_queue: VecDeque<ProcessId>,
    busy_cores: u32,
    /// When the link has carried all that it was given, each way.
    link_out: Time,
    link_in: Time,
}

/// Hosts, load and device.
pub struct Machine<'a, D: Device<Data = ()>> {
    device: D,
    load: &'a mut dyn Load,
    host: HostConfig,
    now: Time,
    processes: Vec<Process>,
    /// One slot a process: the end of a burst or of a sleep.
    events: EventTable,
    hosts: Box<[Shared]>,
    /// Processes that have not ended.
    alive: u32,
    generated: u64,
    finished: u64,
    recorder: Option<Recorder>,
    done: Vec<Completion>,
    wake: Vec<ProcessId>,
    explain: bool,
}

impl<'a, D: Device<Data = ()>> Machine<'a, D> {
    /// Starts all processes of the load at time 0. The device takes as many requests as there are processes.
    pub fn new(device: D, load: &'a mut dyn Load, host: HostConfig, explain: bool) -> Machine<'a, D> {
        let count = load.processes();
        let process = Process {
            state: State::Moving,
            then: Then::NextStep,
            cpu_ns: 0,
            request: Request::flush(),
            due: Time::NEVER,
            late_ns: 0,
            issued: Time::ZERO,
            submitted: Time::ZERO,
            returned: Time::ZERO,
            host: 0,
            link_ns: 0,
            parts: device::Parts::default(),
        };
        let mut machine = Machine {
            device,
            load,
            host,
            now: Time::ZERO,
            processes: vec![process; count as usize],
            events: EventTable::new(count as usize),
            hosts: (0..host.count).map(|_| Shared::default()).collect(),
            alive: count,
            generated: 0,
            finished: 0,
            recorder: None,
            done: Vec::new(),
            wake: Vec::new(),
            explain,
        };
        for p in 0..count {
            machine.processes[p as usize].host = p % host.count;
            machine.next_step(ProcessId(p), false);
        }
        machine.drain_completions();
        machine
    }

    /// Returns the device under the host.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Returns the present virtual time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Requests generated so far.
    pub fn generated(&self) -> u64 {
        self.generated
    }

    /// Requests finished so far.
    pub fn finished(&self) -> u64 {
        self.finished
    }

    /// Reports the application's view.
    pub fn application(&self) -> Option<results::Application> {
        self.load.report(self.now)
    }

    /// The device, to begin to measure.
    pub(crate) fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Begins to measure.
    pub fn start_measurement(&mut self) {
        self.measure_with(Recorder::new(self.now, self.explain));
    }

    /// Begins to measure until the load ends, which may be never.
    pub fn start_endless_measurement(&mut self) {
        self.measure_with(Recorder::endless(self.now, self.explain));
    }

    fn measure_with(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
        self.load.start_measurement(self.now);
    }

    /// Returns the records since measurement began.
    pub fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_ref()
    }

    /// Continues the run until `stop`.
    pub fn run_until(&mut self, stop: Stop) -> StopReason {
        self.run_until_or(stop, &|| false)
    }

    /// Runs on, unless `cancelled` says otherwise.
    pub fn run_until_or(&mut self, stop: Stop, cancelled: &dyn Fn() -> bool) -> StopReason {
        let mut events = 0_u64;
        let end = match stop {
            Stop::At(time) => time,
            Stop::Finished(_) => Time::NEVER,
        };
        let enough = match stop {
            Stop::At(_) => u64::MAX,
            Stop::Finished(count) => count,
        };
        let reason = loop {
            if self.finished >= enough {
                break StopReason::Reached;
            }
            if self.alive == 0 {
                // A card's own work when nobody asks it is no part of the load.
                break StopReason::LoadEnded;
            }
            events += 1;
            if events.is_multiple_of(EVENTS_BETWEEN_LOOKS) && cancelled() {
                break StopReason::Cancelled;
            }
            let host_time = self.events.next();
            let device_time = self.device.next_event();
            let next = host_time.min(device_time);
            if next == Time::NEVER {
                assert_eq!(self.generated, self.finished, "the device lost a request: it has no event to come");
                break StopReason::LoadEnded;
            }
            if next > end {
                self.now = end;
                break StopReason::Reached;
            }
            self.now = next;
            if host_time <= device_time {
                let (_, slot) = self.events.earliest();
                self.process_event(ProcessId(slot as u32));
            } else {
                self.device.advance(next, &mut self.done);
            }
            self.drain_completions();
        };
        assert_eq!(self.generated, self.finished + self.device_holds(), "a request was lost");
        reason
    }

    /// Requests that the device has, or gave back to a process that has not yet seen it.
    fn device_holds(&self) -> u64 {
        let returned = self
            .processes
            .iter()
            .filter(|p| {
                matches!(p.state, State::Computing | State::WaitsForCore | State::OnLink)
                    && matches!(p.then, Then::Complete | Then::Submit)
            })
            .count() as u64;
        returned + self.device.in_flight()
    }

    fn drain_completions(&mut self) {
        let mut next = 0;
        // Moving a process on may finish more requests at once.
        while next < self.done.len() {
            let completion = &self.done[next];
            next += 1;
            let p = ProcessId(completion.id.0);
            let process = &mut self.processes[p.0 as usize];
            debug_assert_eq!(process.state, State::InDevice);
            process.returned = self.now;
            if self.explain {
                process.parts = completion.parts;
            }
            if self.host.link_bytes_per_s < u64::MAX && self.transfers(p, Operation::Read) {
                self.processes[p.0 as usize].then = Then::Complete;
                continue;
            }
            self.compute(p, self.host.complete_ns, Then::Complete, false);
        }
        self.done.clear();
    }

    /// Spends CPU time, then goes on. `has_core`: it is running already.
    #[inline]
    fn compute(&mut self, p: ProcessId, cpu_ns: u64, then: Then, has_core: bool) {
        let process = &mut self.processes[p.0 as usize];
        process.then = then;
        if cpu_ns == 0 {
            process.state = State::Moving;
            if matches!(then, Then::Submit) {
                process.issued = self.now.min(process.due);
            }
            return self.burst_over(p, has_core);
        }
        process.cpu_ns = cpu_ns;
        if has_core {
            self.start_burst(p);
            return;
        }
        let shared = &mut self.hosts[process.host as usize];
        if shared.busy_cores < self.host.cores {
            shared.busy_cores += 1;
            self.start_burst(p);
        } else {
            process.state = State::WaitsForCore;
            shared.run_queue.push_back(p);
        }
    }

    fn slowdown(&self, host: u32) -> f64 {
        1.0 + self.host.contention * f64::from(self.hosts[host as usize].busy_cores.saturating_sub(1))
    }

    /// Puts the data of a request that goes this way on the host's link; `false`: it has none.
    fn transfers(&mut self, p: ProcessId, way: Operation) -> bool {
        let process = &mut self.processes[p.0 as usize];
        if process.request.operation != way {
            return false;
        }
        let shared = &mut self.hosts[process.host as usize];
        let link = if way == Operation::Read { &mut shared.link_in } else { &mut shared.link_out };
        let bytes = u128::from(process.request.range.len_bytes);
        let ns = (bytes * 1_000_000_000).div_ceil(self.host.link_bytes_per_s.into()) as u64;
        *link = self.now.max(*link) + ns;
        process.link_ns = link.since_ns(self.now);
        process.state = State::OnLink;
        self.events.set(p.0 as usize, *link);
        true
    }

    fn start_burst(&mut self, p: ProcessId) {
        let slowdown = self.slowdown(self.processes[p.0 as usize].host);
        let process = &mut self.processes[p.0 as usize];
        process.state = State::Computing;
        let ns = (process.cpu_ns as f64 * slowdown).round() as u64;
        if matches!(process.then, Then::Submit) {
            // The driver's share comes last: the request's latency begins with it.
            let driver_ns = (self.host.submit_ns as f64 * slowdown).round() as u64;
            process.issued = (self.now + ns.saturating_sub(driver_ns)).min(process.due);
        }
        self.events.set(p.0 as usize, self.now + ns);
    }

    /// The core that a process had.
    fn release_core(&mut self, p: ProcessId) {
        let shared = &mut self.hosts[self.processes[p.0 as usize].host as usize];
        if let Some(p) = shared.run_queue.pop_front() {
            self.start_burst(p);
        } else {
            shared.busy_cores -= 1;
        }
    }

    fn process_event(&mut self, p: ProcessId) {
        self.events.set(p.0 as usize, Time::NEVER);
        match self.processes[p.0 as usize].state {
            State::Computing => self.burst_over(p, true),
            State::Sleeping => self.next_step(p, false),
            State::OnLink => match self.processes[p.0 as usize].then {
                Then::Complete => self.compute(p, self.host.complete_ns, Then::Complete, false),
                Then::NextStep | Then::Submit => self.submit(p),
            },
            state => unreachable!("process {p:?} has no event in state {state:?}"),
        }
    }

    fn burst_over(&mut self, p: ProcessId, has_core: bool) {
        match self.processes[p.0 as usize].then {
            Then::Complete => {
                self.finished += 1;
                let process = &self.processes[p.0 as usize];
                if let Some(recorder) = &mut self.recorder {
                    let (now, explain) = (self.now, self.explain);
                    // A request asked for before measurement began has its whole latency all the same.
                    recorder.record(
                        process.request.operation,
                        process.request.range.len_bytes,
                        process.issued,
                        now,
                        || {
                            let mut parts = process.parts;
                            let before_ns = process.submitted - process.issued;
                            if explain {
                                parts.add(Cause::Late, process.late_ns);
                                parts.add(Cause::Link, process.link_ns);
                                let outside_ns = before_ns + (now - process.returned);
                                parts.add(Cause::HostCpu, outside_ns - process.late_ns - process.link_ns);
                            }
                            parts
                        },
                    );
                }
                self.next_step(p, has_core);
            }
            Then::NextStep => self.next_step(p, has_core),
            Then::Submit => {
                if has_core {
                    self.release_core(p);
                }
                if self.host.link_bytes_per_s == u64::MAX || !self.transfers(p, Operation::Write) {
                    self.submit(p);
                }
            }
        }
    }

    fn submit(&mut self, p: ProcessId) {
        let process = &mut self.processes[p.0 as usize];
        process.state = State::InDevice;
        process.submitted = self.now;
        self.device.submit(self.now, RequestId(p.0), process.request, &mut self.done);
    }

    /// Asks the load what the process does next.
    fn next_step(&mut self, p: ProcessId, has_core: bool) {
        let mut wake = std::mem::take(&mut self.wake);
        let step = self.load.step(p, self.now, &mut wake);
        let process = &mut self.processes[p.0 as usize];
        process.state = State::Moving;
        let blocks = match step {
            Step::Io { cpu_ns, request, due } => {
                process.request = request;
                process.due = due.unwrap_or(Time::NEVER);
                process.late_ns = self.now.since_ns(process.due);
                process.link_ns = 0;
                self.generated += 1;
                let session_ns = if request.operation == Operation::Flush { 0 } else { self.host.session_ns };
                self.compute(p, session_ns + cpu_ns + self.host.submit_ns, Then::Submit, has_core);
                false
            }
            Step::Cpu { cpu_ns } => {
                // A step of no time still takes one, so that a load of such steps can't stop the clock.
                self.compute(p, cpu_ns.max(1), Then::NextStep, has_core);
                false
            }
            Step::Sleep { until } => {
                process.state = State::Sleeping;
                self.events.set(p.0 as usize, until.max(self.now + 1));
                true
            }
            Step::Park => {
                process.state = State::Parked;
                true
            }
            Step::End => {
                process.state = State::Ended;
                self.alive -= 1;
                true
            }
        };
        if blocks && has_core {
            self.release_core(p);
        }
        for other in wake.drain(..) {
            if self.processes[other.0 as usize].state == State::Parked {
                // It goes on in its own event, at this time: a woken process must not run inside its waker.
                self.processes[other.0 as usize].state = State::Sleeping;
                self.events.set(other.0 as usize, self.now);
            }
        }
        self.wake = wake;
    }
}
