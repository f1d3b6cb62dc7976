//! The patience of the write-ahead log: clients that a record has answered flush again soon, and one record for all of them
//! costs little more than one for those that wait by then.
//!
//! A record begins at once when as many flushes wait as were answered or waited when the last one ended, so one client
//! alone never waits. Else it waits for them, a quarter of the time that the last record took. Where they do not come, the
//! next records do not wait: twice as many each time.

use device::Time;

/// The share of a record's time that the next one waits for flushes at most.
const SHARE: u64 = 4;
/// Records that do not wait after too few flushes came, at most, as a power of two.
const MOST_SKIPPED: u32 = 6;

/// How long the next record waits, and for how many flushes.
#[derive(Clone, Debug, Default)]
pub struct Gathering {
    begun: Time,
    expected: usize,
    until: Time,
    /// The next record has waited.
    has_waited: bool,
    /// Times in a row that too few flushes came.
    disappointed: u32,
    /// Records that do not wait.
    skipped: u32,
}

impl Gathering {
    /// The time until which the next record waits for more flushes than these; `None`: it begins now.
    pub fn waits_until(&mut self, now: Time, waiting: usize) -> Option<Time> {
        let waits = waiting < self.expected && now < self.until;
        self.has_waited |= waits;
        waits.then_some(self.until)
    }

    /// A record begins that so many flushes wait for.
    pub fn record_begins(&mut self, now: Time, waiting: usize) {
        if std::mem::take(&mut self.has_waited) {
            if waiting >= self.expected {
                self.disappointed = 0;
            } else {
                self.disappointed = (self.disappointed + 1).min(MOST_SKIPPED);
                self.skipped = 1 << self.disappointed;
            }
        }
        self.begun = now;
    }

    /// The record has answered so many flushes, and others wait for the next one.
    pub fn record_ends(&mut self, now: Time, answered: usize, waiting: usize) {
        self.expected = answered + waiting;
        self.until = Time(now.0 + (now - self.begun) / SHARE);
        if self.skipped > 0 {
            self.skipped -= 1;
            self.until = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record from 0 to 100 us that answered so many flushes, and left others waiting.
    fn after_a_record(answered: usize, waiting: usize) -> Gathering {
        let mut gathering = Gathering::default();
        gathering.record_begins(Time(0), answered);
        gathering.record_ends(Time(100_000), answered, waiting);
        gathering
    }

    #[test]
    fn one_client_never_waits() {
        let mut gathering = after_a_record(1, 0);
        assert_eq!(gathering.waits_until(Time(100_001), 1), None);
    }

    #[test]
    fn two_groups_that_take_turns_become_one() {
        let mut gathering = after_a_record(8, 8);
        assert_eq!(gathering.waits_until(Time(100_000), 8), Some(Time(125_000)));
        assert_eq!(gathering.waits_until(Time(110_000), 15), Some(Time(125_000)));
        assert_eq!(gathering.waits_until(Time(111_000), 16), None);
        gathering.record_begins(Time(111_000), 16);
        gathering.record_ends(Time(211_000), 16, 0);
        assert_eq!(gathering.waits_until(Time(212_000), 1), Some(Time(236_000)));
    }

    #[test]
    fn clients_that_do_not_come_back_are_waited_for_less_and_less() {
        let mut gathering = after_a_record(1, 1);
        let (mut now, mut waited) = (100_000, 0);
        for _ in 0..1_000 {
            if let Some(until) = gathering.waits_until(Time(now), 1) {
                (now, waited) = (until.0, waited + 1);
            }
            gathering.record_begins(Time(now), 1);
            now += 100_000;
            gathering.record_ends(Time(now), 1, 1);
        }
        // After 2, 4, 8, 16, 32 records that did not wait, and then after each 64.
        assert_eq!(waited, 20);
    }
}
