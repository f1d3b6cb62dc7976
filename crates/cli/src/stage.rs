//! How far a command is: written by the thread that works, read by whoever shows it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The piece of work that is under way, and how much of it is done.
#[derive(Default)]
pub struct Stage {
    done: AtomicU64,
    phase: Mutex<Phase>,
    /// Wakes the painter when the work is over.
    over: Condvar,
}

/// A piece of work, in the unit of its total.
#[derive(Clone)]
pub struct Phase {
    /// Grows with each piece of work; 0 before the first.
    pub number: u32,
    pub name: String,
    pub total: u64,
    began: Instant,
    pub over: bool,
}

impl Default for Phase {
    fn default() -> Phase {
        Phase { number: 0, name: String::new(), total: 0, began: Instant::now(), over: false }
    }
}

impl Phase {
    /// If it goes on as it went so far.
    pub fn time_left(&self, done: u64) -> Option<Duration> {
        let share = done.min(self.total) as f64 / self.total as f64;
        Duration::try_from_secs_f64(self.began.elapsed().as_secs_f64() * (1.0 - share) / share).ok()
    }
}

impl Stage {
    /// A writer that panicked has left a whole phase.
    pub fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin(&self, name: &str, total: u64) {
        let mut current = self.phase();
        self.done.store(0, Ordering::Relaxed);
        *current = Phase { number: current.number + 1, name: name.to_owned(), total, ..Phase::default() };
    }

    pub fn rename(&self, name: &str) {
        name.clone_into(&mut self.phase().name);
    }

    /// Threads that work side by side may tell of less after more: the count never goes back.
    pub fn at(&self, done: u64) {
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub fn end(&self) {
        self.phase().over = true;
        self.over.notify_all();
    }

    /// Lets the lock go until the work is over or the time is up.
    pub fn wait<'a>(&self, phase: MutexGuard<'a, Phase>, longest: Duration) -> MutexGuard<'a, Phase> {
        self.over.wait_timeout(phase, longest).map_or_else(|broken| broken.into_inner().0, |(phase, _)| phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_never_goes_back_within_a_piece_of_work() {
        let stage = Stage::default();
        stage.begin("first", 10);
        for done in [3, 5, 4] {
            stage.at(done);
        }
        assert_eq!(stage.done(), 5);
        stage.begin("second", 10);
        assert_eq!(stage.done(), 0);
        stage.at(1);
        assert_eq!(stage.done(), 1);
    }

    #[test]
    fn time_left_is_known_only_when_something_is_done() {
        let began = Instant::now().checked_sub(Duration::from_secs(10)).expect("the machine runs for ten seconds");
        let phase = |total| Phase { total, began, ..Phase::default() };
        assert_eq!(phase(100).time_left(0), None);
        assert_eq!(phase(0).time_left(0), None);
        let left = phase(100).time_left(20).unwrap();
        assert!((39.9..41.0).contains(&left.as_secs_f64()), "{left:?}");
        assert_eq!(phase(100).time_left(200).unwrap(), Duration::ZERO);
    }
}
