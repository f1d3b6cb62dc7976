//! Finding what fades before it is lost: a pass over everything once in a while, and a look at bands that are read often.
//!
//! Data fade with time and with reads of their block, those that nobody asks for too. So a card with a patrol reads all
//! that is on flash at each start and then once in an interval, and a band when one of its blocks was read so often.
//! Data that a read reports to be near its end is written elsewhere (`scrub.rs`).
//!
//! Time for data is not only the time that requests take: [`Card::rest`] lets days pass in which nothing happens.

use device::Time;
use std::collections::BTreeSet;

const DAY_NS: f64 = 86_400e9;

/// The time of the last pass, and whether one is due.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patrol {
    /// Time in which nothing happened.
    rested_ns: u64,
    /// When the last pass began.
    last_ns: u64,
    /// A pass is to begin whatever the time.
    demanded: bool,
}

impl Patrol {
    /// The next pass is to begin whatever the time, or only when its interval is over.
    pub fn demand(&mut self, demanded: bool) {
        self.demanded = demanded;
    }

    /// Days have passed in which nothing happened.
    pub fn rest(&mut self, days: f64) {
        self.rested_ns = self.rested_ns.saturating_add((days * DAY_NS) as u64);
    }

    /// A pass is due: it was demanded, or the last one began an interval ago.
    pub fn is_due(&self, now: Time, interval_ns: u64) -> bool {
        self.demanded || self.time_ns(now) - self.last_ns >= interval_ns
    }

    /// A pass begins.
    pub fn begin(&mut self, now: Time) {
        self.demanded = false;
        self.last_ns = self.time_ns(now);
    }

    fn time_ns(&self, now: Time) -> u64 {
        now.0.saturating_add(self.rested_ns)
    }
}

/// Reads of each block since it was looked at or erased. Empty without a patrol.
#[derive(Clone, Debug, Default)]
pub struct BlockReads {
    dies: u32,
    /// A band is due when one of its blocks was read so often.
    most: u32,
    counts: Vec<u32>,
    /// Bands to be looked at.
    due: BTreeSet<u32>,
}

impl BlockReads {
    /// Counts for a card of so many bands on so many dies; a band is due when one of its blocks was read `most` times.
    pub fn of_card(bands: u32, dies: u32, most: u32) -> BlockReads {
        BlockReads { dies, most, counts: vec![0; (dies * bands) as usize], due: BTreeSet::new() }
    }

    /// A block was read.
    #[inline]
    pub fn count(&mut self, band: u32, die: u32, reads: u32) {
        if self.counts.is_empty() {
            return;
        }
        let count = &mut self.counts[(band * self.dies + die) as usize];
        *count = count.saturating_add(reads);
        if *count >= self.most {
            self.due.insert(band);
        }
    }

    /// A block was erased.
    pub fn forget(&mut self, band: u32, die: u32) {
        if !self.counts.is_empty() {
            self.counts[(band * self.dies + die) as usize] = 0;
        }
    }

    /// Takes the first band that is due: its reads are counted anew.
    pub fn take_due(&mut self) -> Option<u32> {
        let band = self.due.pop_first()?;
        let first = (band * self.dies) as usize;
        self.counts[first..first + self.dies as usize].fill(0);
        Some(band)
    }

    /// All bands are looked at: all reads are counted anew.
    pub fn looks_at_all(&mut self) {
        self.counts.fill(0);
        self.due.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_due_when_it_is_demanded_and_an_interval_after_the_last_one_began_with_the_days_of_rest() {
        let mut patrol = Patrol::default();
        assert!(!patrol.is_due(Time(99), 100) && patrol.is_due(Time(100), 100));
        patrol.demand(true);
        assert!(patrol.is_due(Time(0), 100));
        patrol.begin(Time(50));
        assert!(!patrol.is_due(Time(149), 100) && patrol.is_due(Time(150), 100));
        patrol.rest(1.0);
        assert!(patrol.is_due(Time(50), DAY_NS as u64));
        assert!(!patrol.is_due(Time(50), DAY_NS as u64 + 1));
    }

    #[test]
    fn a_band_is_due_once_when_a_block_was_read_often_since_it_was_looked_at_or_erased() {
        let mut reads = BlockReads::of_card(4, 2, 10);
        reads.count(3, 1, 9);
        reads.forget(3, 1);
        reads.count(3, 1, 9);
        reads.count(3, 0, 9);
        assert_eq!(reads.take_due(), None);
        reads.count(3, 1, 1);
        reads.count(1, 0, u32::MAX);
        assert_eq!([reads.take_due(), reads.take_due(), reads.take_due()], [Some(1), Some(3), None]);
        reads.count(3, 0, 9);
        reads.count(2, 0, 10);
        reads.looks_at_all();
        assert_eq!(reads.take_due(), None);
        // Without a patrol nothing is counted.
        let mut none = BlockReads::default();
        none.count(3, 1, 100);
        assert_eq!(none.take_due(), None);
    }
}
