//! The clients for which there is no room: counted, and told of in the log now and then.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time between two lines of the log: somebody who tries again at once must not fill it.
const LOG_EVERY: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(crate) struct TurnedAway {
    count: AtomicU64,
    /// The time of the last line, and the count at that time.
    told: Mutex<Option<(Instant, u64)>>,
}

impl TurnedAway {
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Counts a client. The number of clients since the last line, if a line is due.
    pub fn add(&self, now: Instant) -> Option<u64> {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let mut told = self.told.lock();
        if told.is_some_and(|(last, _)| now < last + LOG_EVERY) {
            return None;
        }
        let before = told.replace((now, count)).map_or(0, |(_, before)| before);
        Some(count.saturating_sub(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_few_lines_are_written() {
        let (turned_away, now) = (TurnedAway::default(), Instant::now());
        assert_eq!(turned_away.add(now), Some(1));
        assert!((0..99).all(|_| turned_away.add(now + LOG_EVERY / 2).is_none()));
        assert_eq!((turned_away.add(now + LOG_EVERY), turned_away.count()), (Some(100), 101));
    }
}
