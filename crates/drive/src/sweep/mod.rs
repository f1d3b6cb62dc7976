//! How drives take the writes of a card on them, for several sizes of its units.
//!
//! All drives are asked at the same time, because they may share a bus, a controller or a disk. Each appends units, as a
//! card does, is synced every ten milliseconds, and answers a few random reads beside. The room is filled before anything
//! is measured: the first write to a place costs a file system or a drive other work than the next one. Sizes are measured
//! in several passes, up and down, so that a drive that becomes slower meanwhile is not held against the last size.
//!
//! Invariants:
//! - nothing outside the stated room of a drive is written;
//! - percentiles are those of all requests of all passes and drives, never means of percentiles.

mod choice;
mod figures;
mod load;

pub use choice::{Choice, choose, stripe_width};
pub use figures::{Percentiles, Swept, UnitSize};

use crate::drive::Drive;
use crate::engine::{Outcome, Span, Told};
use crate::error::DriveError;
use crate::sequence::{SEQUENTIAL_BYTES, Sequence};
use ::load::Load;
use load::Append;
use std::time::Duration;
use target::{OnlyCancel, Progress, Recorder};

/// The sizes that are tried, and how long.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPlan {
    /// The sizes in ascending order.
    pub units: Vec<UnitSize>,
    /// Writes that each drive is given at once.
    pub depth: u32,
    /// Bytes from the start of each drive that are written and read.
    pub room_bytes: u64,
    /// Measured time of one size in one pass.
    pub measured: Duration,
    /// Time of one size in one pass before it is measured.
    pub warm_up: Duration,
    /// Number of times that each size is measured.
    pub passes: u32,
    /// Seed of the places that are read.
    pub seed: u64,
}

impl SweepPlan {
    fn part(&self) -> Duration {
        self.warm_up + self.measured
    }

    /// Time that the measurement takes, without the filling of the room before it.
    pub fn time(&self) -> Duration {
        self.part() * self.passes * self.units.len() as u32
    }

    /// The sizes in the order in which they are measured, by their index: up, down, up …
    fn order(&self) -> Vec<usize> {
        let up: Vec<usize> = (0..self.units.len()).collect();
        (0..self.passes)
            .flat_map(|pass| {
                let mut order = up.clone();
                if pass % 2 == 1 {
                    order.reverse();
                }
                order
            })
            .collect()
    }
}

/// Measures all sizes on all drives at once. The figures are in the order of the plan's sizes.
///
/// # Panics
/// If the room is smaller than a unit, or the plan has no size or no pass.
pub fn sweep(drives: &mut [Drive], plan: &SweepPlan, progress: &dyn Progress) -> Result<Vec<Swept>, DriveError> {
    assert!(!plan.units.is_empty() && plan.passes > 0, "a sweep measures something");
    let room = plan.room_bytes;
    progress.begin("fill the room to measure in", room);
    let fill = |_| -> Box<dyn Load> { Box::new(Sequence::write(0..room)) };
    side_by_side(drives, fill, Span::UntilEnd, SEQUENTIAL_BYTES, Told::Bytes(0), progress)?;
    let span = Span::Timed { warm_up: plan.warm_up, measured: plan.measured };
    let step_ms = plan.part().as_millis() as u64;
    progress.begin("measure sizes of units", step_ms * plan.order().len() as u64);
    let mut recorders: Vec<Option<Recorder>> = vec![None; plan.units.len()];
    for (step, index) in plan.order().into_iter().enumerate() {
        let unit = plan.units[index];
        let load = |drive: usize| -> Box<dyn Load> {
            let seed = plan.seed.wrapping_add((step << 16 | drive) as u64);
            Box::new(Append::new(unit.medium_bytes, room, plan.depth, seed))
        };
        let part = Part { all: progress, before: step as u64 * step_ms };
        for outcome in side_by_side(drives, load, span, unit.medium_bytes, Told::Milliseconds, &part)? {
            match &mut recorders[index] {
                Some(recorder) => recorder.merge(&outcome.recorder),
                none => *none = Some(outcome.recorder),
            }
        }
    }
    let seconds = (plan.measured * plan.passes).as_secs_f64();
    let figures = |(unit, recorder): (&UnitSize, Option<Recorder>)| {
        let recorder = recorder.expect("each size was measured");
        let end = device::Time(plan.part().as_nanos() as u64);
        let (read, write, sync) = recorder.classes(end, false);
        Swept {
            unit: *unit,
            write_bw_bytes: write.total_ios as f64 * f64::from(unit.payload_bytes) / seconds,
            read_iops: read.total_ios as f64 / seconds,
            write: Percentiles::of(&write.lat_ns),
            read: Percentiles::of(&read.lat_ns),
            sync: Percentiles::of(&sync.lat_ns),
        }
    };
    Ok(plan.units.iter().zip(recorders).map(figures).collect())
}

/// Runs a load on each drive, all at the same time.
fn side_by_side(
    drives: &mut [Drive],
    load: impl Fn(usize) -> Box<dyn Load>,
    span: Span,
    buffer_bytes: u32,
    told: Told,
    progress: &dyn Progress,
) -> Result<Vec<Outcome>, DriveError> {
    let run = |(number, drive): (usize, &mut Drive), load: Box<dyn Load>| {
        // One of them tells for all how far they are.
        let quiet = OnlyCancel(progress);
        let progress = if number == 0 { progress } else { &quiet };
        drive.run_load(load, span, buffer_bytes, told, false, progress)
    };
    let run = &run;
    std::thread::scope(|scope| {
        let start = |(number, drive)| {
            let load = load(number);
            scope.spawn(move || run((number, drive), load))
        };
        let started: Vec<_> = drives.iter_mut().enumerate().map(start).collect();
        let joined = started.into_iter().map(|thread| thread.join());
        let ended: Vec<_> =
            joined.map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect();
        ended.into_iter().collect()
    })
}

/// Progress of one part of a longer piece of work.
struct Part<'a> {
    all: &'a dyn Progress,
    before: u64,
}

impl Progress for Part<'_> {
    fn begin(&self, _: &str, _: u64) {}

    fn at(&self, done: u64) {
        self.all.at(self.before + done);
    }

    fn cancelled(&self) -> bool {
        self.all.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_is_measured_once_in_each_pass_and_the_passes_alternate() {
        let unit = |payload_bytes| UnitSize { payload_bytes, medium_bytes: payload_bytes + 512 };
        let plan = SweepPlan {
            units: vec![unit(16384), unit(32768), unit(65536)],
            depth: 8,
            room_bytes: 1 << 20,
            measured: Duration::from_millis(400),
            warm_up: Duration::from_millis(100),
            passes: 3,
            seed: 1,
        };
        assert_eq!(plan.order(), [0, 1, 2, 2, 1, 0, 0, 1, 2]);
        assert_eq!(plan.time(), Duration::from_millis(4500));
    }
}
