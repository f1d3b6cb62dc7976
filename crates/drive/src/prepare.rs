//! Bringing a drive to a state.
//!
//! - *Filled* is written front to back, once for each pass.
//! - *Overwritten at random* in rounds of equal time, until the SNIA rule holds for their bytes a second.
//! - *Overwritten front to back* once more, as a whole: each pass leaves the same state behind, so there is nothing to
//!   converge to, and slices of a pass are no rounds, because a hard disk is faster at its rim. The pass is the one
//!   round, and is ended after the time that the rounds would have had.

use crate::drive::Drive;
use crate::engine::{Span, Told};
use crate::error::DriveError;
use crate::sequence::{Overwrite, SEQUENTIAL_BYTES, Sequence};
use load::Access;
use results::{Preconditioning, SteadyState};
use std::time::{Duration, Instant};
use target::{Pattern, Progress, State, SteadyRule, steady_state};

/// Fills that are shorter say nothing about a drive's speed.
const MIN_SEEN_BYTES: u64 = 64 << 20;
/// Most rounds, whatever is asked: a day of one-minute rounds.
const MAX_ROUNDS: u32 = 1440;
/// Shares are rounded up to this, as models do.
const GRAIN_BYTES: u64 = 4096;

impl Drive {
    /// Fills, then overwrites.
    pub(crate) fn prepare(&mut self, state: &State, progress: &dyn Progress) -> Result<Preconditioning, DriveError> {
        if !(0.0..=1.0).contains(&state.fill) {
            return Err(DriveError::Fill { fill: state.fill });
        }
        let began = Instant::now();
        let align = u64::from(self.align_bytes).max(GRAIN_BYTES);
        let fill_bytes = ((self.capacity_bytes as f64 * state.fill) as u64).next_multiple_of(align);
        let fill_bytes = fill_bytes.min(self.capacity_bytes);
        if fill_bytes < self.in_use_bytes {
            self.discard(fill_bytes..self.capacity_bytes, progress)?;
            self.in_use_bytes = fill_bytes;
        }
        let sequential_bytes = self.fill(fill_bytes, state, progress)?;
        let (steady, overwritten_bytes) = self.overwrite(fill_bytes, state, progress)?;
        Ok(Preconditioning {
            fill: state.fill,
            pattern: state.pattern.to_string(),
            sequential_bytes,
            overwritten_bytes,
            metric: "bytes a second".into(),
            steady,
            took_s: began.elapsed().as_secs_f64(),
        })
    }

    /// Writes the part in use front to back, or what of it is new; returns the bytes.
    fn fill(&mut self, fill_bytes: u64, state: &State, progress: &dyn Progress) -> Result<u64, DriveError> {
        let passes = state.effort.sequential_passes;
        let first = if passes == 0 { self.in_use_bytes } else { 0 };
        let passes = u64::from(passes.max(1));
        let pass_bytes = fill_bytes.saturating_sub(first);
        if pass_bytes == 0 {
            return Ok(0);
        }
        let verified = if self.options.verify_fill { pass_bytes } else { 0 };
        progress.begin("fill", passes * pass_bytes + verified);
        for pass in 0..passes {
            let load = Box::new(Sequence::write(first..fill_bytes));
            let told = Told::Bytes(pass * pass_bytes);
            let outcome = self.run_load(load, Span::UntilEnd, SEQUENTIAL_BYTES, told, false, progress)?;
            if pass_bytes >= MIN_SEEN_BYTES {
                self.write_bw_bytes = Some(pass_bytes as f64 / outcome.elapsed_s);
            }
            self.in_use_bytes = self.in_use_bytes.max(fill_bytes);
        }
        // Data in a cache is not yet in the state that was asked for.
        self.file.sync_all().map_err(|e| self.doing("flushing it", e))?;
        if self.options.verify_fill {
            self.read_back(first..fill_bytes, passes * pass_bytes, progress)?;
        }
        Ok(passes * pass_bytes)
    }

    /// Overwrites in the pattern; how it went, and the bytes.
    fn overwrite(
        &mut self,
        fill_bytes: u64,
        state: &State,
        progress: &dyn Progress,
    ) -> Result<(SteadyState, u64), DriveError> {
        let rounds = state.effort.max_rounds.min(MAX_ROUNDS);
        // Nothing was to be done, so nothing is claimed of it.
        let none = || SteadyState { rounds: Vec::new(), range: 0.0, slope: 0.0, attained: false, overwriting: None };
        if rounds == 0 || fill_bytes == 0 {
            return Ok((none(), 0));
        }
        let round_s = if state.effort.round_s > 0.0 { state.effort.round_s.min(1e6) } else { return Ok((none(), 0)) };
        match state.pattern {
            Pattern::None => Ok((SteadyState { attained: true, ..none() }, 0)),
            Pattern::Sequential => self.overwrite_in_order(fill_bytes, round_s * f64::from(rounds), progress),
            Pattern::Random { block_bytes, access, footprint_bytes } => {
                let block_bytes = u32::try_from(block_bytes).unwrap_or(u32::MAX).min(load::MAX_REQUEST_BYTES as u32);
                let blocks = footprint_bytes.min(fill_bytes) / u64::from(block_bytes.max(1));
                if blocks == 0 {
                    return Ok((none(), 0));
                }
                let blocks = Blocks { count: blocks, bytes: block_bytes, access };
                self.overwrite_at_random(blocks, round_s, rounds, progress)
            }
        }
    }

    fn overwrite_in_order(
        &mut self,
        fill_bytes: u64,
        limit_s: f64,
        progress: &dyn Progress,
    ) -> Result<(SteadyState, u64), DriveError> {
        progress.begin("overwrite front to back", fill_bytes);
        let limit = Duration::from_secs_f64(limit_s.min(1e6));
        let began = Instant::now();
        let limited = Limited { progress, began, limit };
        let load = Box::new(Sequence::write(0..fill_bytes));
        let told = Told::Bytes(0);
        match self.run_load(load, Span::UntilEnd, SEQUENTIAL_BYTES, told, false, &limited) {
            Ok(outcome) => {
                let bytes = outcome.recorder.bytes();
                let rounds = vec![bytes as f64 / outcome.elapsed_s];
                Ok((SteadyState { rounds, range: 0.0, slope: 0.0, attained: true, overwriting: None }, bytes))
            }
            // Out of time, and not stopped by a person: so far it came, and that is no state to speak of.
            Err(DriveError::Cancelled) if !progress.cancelled() => {
                Ok((SteadyState { rounds: Vec::new(), range: 0.0, slope: 0.0, attained: false, overwriting: None }, 0))
            }
            Err(e) => Err(e),
        }
    }

    fn overwrite_at_random(
        &mut self,
        blocks: Blocks,
        round_s: f64,
        max_rounds: u32,
        progress: &dyn Progress,
    ) -> Result<(SteadyState, u64), DriveError> {
        let mut rounds = Vec::new();
        let mut bytes = 0;
        // Nobody knows how many rounds it takes: as many as the rule looks at, at least.
        let rule = SteadyRule { max_rounds: max_rounds as usize, ..SteadyRule::SNIA };
        let measured = Duration::from_secs_f64(round_s);
        loop {
            progress.begin("overwrite until steady", measured.as_millis() as u64);
            progress.step(&format!("round {} of at most {max_rounds}", rounds.len() + 1));
            let round = rounds.len();
            let load = Overwrite::new(blocks.access, blocks.count, blocks.bytes, self.options.seed, round)?;
            let span = Span::Timed { warm_up: Duration::ZERO, measured };
            let outcome = self.run_load(Box::new(load), span, blocks.bytes, Told::Milliseconds, false, progress)?;
            bytes += outcome.recorder.bytes();
            rounds.push(outcome.recorder.bytes() as f64 / outcome.elapsed_s);
            let steady = steady_state(&rounds, &rule);
            if steady.attained || rounds.len() >= rule.max_rounds {
                return Ok((steady, bytes));
            }
        }
    }
}

/// Blocks that are overwritten at random.
#[derive(Clone, Copy)]
struct Blocks {
    count: u64,
    bytes: u32,
    access: Access,
}

/// Ends work that takes too long.
struct Limited<'a> {
    progress: &'a dyn Progress,
    began: Instant,
    limit: Duration,
}

impl Progress for Limited<'_> {
    fn begin(&self, phase: &str, total: u64) {
        self.progress.begin(phase, total);
    }

    fn at(&self, done: u64) {
        self.progress.at(done);
    }

    fn cancelled(&self) -> bool {
        self.progress.cancelled() || self.began.elapsed() >= self.limit
    }
}
