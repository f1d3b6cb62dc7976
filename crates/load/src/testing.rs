//! Runs a load in virtual time on a machine of fixed latencies, for tests.
//!
//! It checks what every driver relies on: requests lie in the footprint, in multiples of 512; nobody is left parked
//! with nobody to wake him while all the others are gone.

use crate::{Load, ProcessId, Step};
use device::{Operation, Request, Time};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Fixed latencies; any number of requests at once.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub read_ns: u64,
    pub write_ns: u64,
    pub flush_ns: u64,
    /// `None`: as many as are wanted.
    pub cores: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedRequest {
    pub process: ProcessId,
    pub request: Request,
    pub end: Time,
}

pub struct Trace {
    /// Requests that finished, in order of their end.
    pub requests: Vec<TracedRequest>,
    pub end: Time,
    /// Processes that are parked at the end.
    pub parked: BTreeSet<ProcessId>,
}

/// Runs for `warm_ns`, starts measurement, and runs for `measured_ns` or until all have ended.
pub fn run(load: &mut dyn Load, machine: Machine, warm_ns: u64, measured_ns: u64) -> Trace {
    let mut queue: BinaryHeap<Reverse<(Time, u64, ProcessId)>> = BinaryHeap::new();
    let mut order = 0;
    let mut push = |queue: &mut BinaryHeap<_>, time: Time, process: ProcessId| {
        order += 1;
        queue.push(Reverse((time, order, process)));
    };
    let count = load.processes();
    (0..count).for_each(|p| push(&mut queue, Time::ZERO, ProcessId(p)));
    let mut free_cores = vec![Time::ZERO; machine.cores.unwrap_or(0)];
    let mut compute = |now: Time, cpu_ns: u64| match free_cores.iter_mut().min() {
        // A step that needs no CPU waits for no core.
        Some(core) if cpu_ns > 0 => {
            *core = (*core).max(now) + cpu_ns;
            *core
        }
        _ => now + cpu_ns,
    };
    let mut out: Vec<Option<Request>> = vec![None; count as usize];
    let mut trace = Trace { requests: Vec::new(), end: Time(warm_ns + measured_ns), parked: BTreeSet::new() };
    let mut measuring = false;
    let mut wake = Vec::new();
    loop {
        let Some(Reverse((now, _, process))) = queue.pop() else {
            assert!(trace.parked.is_empty(), "processes are parked and nobody is left to wake them");
            return trace;
        };
        if now.0 > warm_ns && !measuring {
            measuring = true;
            load.start_measurement(Time(warm_ns));
        }
        if now > trace.end {
            return trace;
        }
        if let Some(request) = out[process.index()].take() {
            trace.requests.push(TracedRequest { process, request, end: now });
        }
        match load.step(process, now, &mut wake) {
            Step::Io { cpu_ns, request, .. } => {
                assert!(request.range.offset_bytes.is_multiple_of(512) && request.range.len_bytes.is_multiple_of(512));
                assert!(request.range.offset_bytes + u64::from(request.range.len_bytes) <= load.footprint_bytes());
                let latency_ns = match request.operation {
                    Operation::Read => machine.read_ns,
                    Operation::Write | Operation::Trim => machine.write_ns,
                    Operation::Flush => machine.flush_ns,
                };
                out[process.index()] = Some(request);
                push(&mut queue, compute(now, cpu_ns) + latency_ns, process);
            }
            Step::Cpu { cpu_ns } => push(&mut queue, compute(now, cpu_ns), process),
            Step::Sleep { until } => push(&mut queue, until.max(now), process),
            Step::Park => _ = trace.parked.insert(process),
            Step::End => {}
        }
        for process in wake.drain(..) {
            if trace.parked.remove(&process) {
                push(&mut queue, now, process);
            }
        }
    }
}
