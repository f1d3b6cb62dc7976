//! Measuring a card whose writes stop while collection cleans: whole cycles of stall and run.
//!
//! It would be chance whether a part of a cycle holds the stall, and one stall more or less is half of a short run's
//! throughput. So measuring begins right after a stall and ends right after another.

use crate::fit::stops::cycle_sectors;
use device::HostConfig;
use load::LoadConfig;
use profile::DeviceConfig;
use results::IoClass;
use target::{Machine, Modelled, Progress, RunError, Stop, StopReason};

/// A cycle is looked at in so many pieces, to see where it ends.
const PIECES: f64 = 100.0;
/// Cycles are longer than the bands that are cleaned: what is under way is cleaned as well, and on cards of few dies that
/// is several bands more. A stall that does not come within so many is not waited for.
const MAX_CYCLES: f64 = 12.0;

/// Length of a measurement in requests.
pub(crate) struct Length {
    pub warm_up: u64,
    /// Least number of measured requests.
    pub requests: u64,
    /// From one stall to the next, at least.
    pub cycle: f64,
}

impl Length {
    /// Finds the length for a device that stops the world; `None`: it does not, or several cards do at different times.
    pub fn of(device: &DeviceConfig, warm_up: u64, requests: u64, per_request: f64) -> Option<Length> {
        let [card] = device.cards() else { return None };
        let cycle = cycle_sectors(card) / per_request;
        (cycle >= 1.0).then_some(Length { warm_up, requests, cycle })
    }
}

/// Measurement of whole cycles.
pub(crate) struct Cycles {
    pub read: IoClass,
    pub write: IoClass,
    /// Times as much was written from one stall to the next as is cleaned at once; 1 where none came.
    pub longer: f64,
}

pub(crate) fn measure(
    modelled: Modelled,
    load: &LoadConfig,
    host: HostConfig,
    seed: u64,
    length: &Length,
    progress: &dyn Progress,
) -> Result<Cycles, RunError> {
    let mut load = load.build(seed)?;
    let mut machine = Machine::new(modelled, load.as_mut(), host, false);
    let cancelled = || progress.cancelled();
    let run = |machine: &mut Machine<Modelled>, finished: u64| match machine
        .run_until_or(Stop::Finished(finished), &cancelled)
    {
        StopReason::Cancelled => Err(RunError::Cancelled),
        _ if machine.device().cards().iter().any(card::ModelCard::is_read_only) => Err(ftl::ReadOnly.into()),
        _ => Ok(()),
    };
    let free = |machine: &Machine<Modelled>| machine.device().cards()[0].ftl().free_bands();
    let piece = (length.cycle / PIECES).ceil().max(1.0) as u64;
    // Until a stall has ended; whether one has.
    let next_stall = |machine: &mut Machine<Modelled>| -> Result<bool, RunError> {
        let began = machine.finished();
        // Bands under way in the last stall still come free.
        run(machine, began + (length.cycle / 2.0) as u64)?;
        let mut before = free(machine);
        while ((machine.finished() - began) as f64) < MAX_CYCLES * length.cycle {
            let until = machine.finished() + piece;
            run(machine, until)?;
            let now = free(machine);
            if now > before {
                return Ok(true);
            }
            before = now;
        }
        Ok(false)
    };
    if length.warm_up > 0 {
        machine.run_until_or(Stop::Finished(length.warm_up), &cancelled);
    }
    next_stall(&mut machine)?;
    machine.start_measurement();
    let began = machine.finished();
    let mut stalls = 0;
    loop {
        let stalled = next_stall(&mut machine)?;
        stalls += u64::from(stalled);
        if !stalled || machine.finished() - began >= length.requests {
            break;
        }
    }
    let (read, write, _) = machine.recorder().expect("measuring").classes(machine.now(), true);
    let each = (machine.finished() - began) as f64 / stalls.max(1) as f64;
    let longer = if stalls == 0 { 1.0 } else { (each / length.cycle).max(1.0) };
    Ok(Cycles { read, write, longer })
}
