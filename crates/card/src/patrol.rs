//! Finding what fades before it is lost: a pass over everything once in a while, and a look at bands that are read often.
//!
//! Data fade with time and with reads of their block, those that nobody asks for too. So a card with a patrol reads all
//! that is on flash at each start and then once in an interval, and a band when one of its blocks was read so often. What
//! a read says to be near to its end is written elsewhere (`scrub.rs`).
//!
//! Time for data is not only the time that requests take: [`Card::rest`] lets days pass in which nothing happens.

use crate::card::Card;
use device::{Completion, Time};
use ftl::{BandId, UnitAddress};
use std::collections::BTreeSet;

/// When a card looks for what fades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatrolConfig {
    /// All is read once in so long.
    pub interval_ns: u64,
    /// A band is read when one of its blocks was read so often.
    pub block_reads: u32,
}

const DAY_NS: f64 = 86_400e9;

/// What the patrol knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patrol {
    /// Time in which nothing happened.
    rested_ns: u64,
    /// When the last pass began.
    last_ns: u64,
    /// A pass is to begin whatever the time.
    is_due: bool,
}

/// Reads of each block since it was looked at or erased. Empty without a patrol.
#[derive(Clone, Debug, Default)]
pub struct BlockReads {
    dies: u32,
    most: u32,
    counts: Vec<u32>,
    /// Bands to be looked at.
    due: BTreeSet<u32>,
}

impl BlockReads {
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

    fn take_due(&mut self) -> Option<u32> {
        let band = self.due.pop_first()?;
        let first = (band * self.dies) as usize;
        self.counts[first..first + self.dies as usize].fill(0);
        Some(band)
    }

    fn looks_at_all(&mut self) {
        self.counts.fill(0);
        self.due.clear();
    }
}

impl Card {
    /// Counts from now on. After a start nobody knows how long the power was away, nor how often what was read before.
    pub(crate) fn begin_patrol(&mut self, is_due: bool) {
        let Some(config) = self.config.patrol else { return };
        let (dies, bands) = (self.ftl.layout().dies, self.ftl.bands());
        self.patrol.is_due = is_due;
        self.contents().reads = BlockReads {
            dies,
            most: config.block_reads,
            counts: vec![0; (dies * bands) as usize],
            due: BTreeSet::new(),
        };
    }

    /// Begins what the patrol has to look at, while no pass is under way.
    pub(crate) fn patrol_on(&mut self, now: Time) {
        let (Some(config), Some(store)) = (self.config.patrol, &mut self.store) else { return };
        let time_ns = now.0.saturating_add(self.patrol.rested_ns);
        if self.patrol.is_due || time_ns - self.patrol.last_ns >= config.interval_ns {
            self.patrol.is_due = false;
            self.patrol.last_ns = time_ns;
            store.reads.looks_at_all();
            self.scrub_bands(BandId(0), self.ftl.bands());
        } else if let Some(band) = store.reads.take_due() {
            self.scrub_bands(BandId(band), band + 1);
        }
    }

    /// Lets days pass in which nothing happens: what is on flash fades. The patrol is due when its interval is over; so
    /// whoever lets more than that pass at once simulates a card that was without power.
    pub fn rest(&mut self, now: Time, days: f64, done: &mut Vec<Completion>) {
        self.patrol.rested_ns = self.patrol.rested_ns.saturating_add((days * DAY_NS) as u64);
        self.contents().media.flash_mut().expect("only emulated flash knows another time").advance_time(days);
        self.go_on(now, done);
    }

    /// Stands for so many reads of a block by the host: its neighbours are disturbed.
    pub fn read_often(&mut self, now: Time, at: UnitAddress, reads: u32, done: &mut Vec<Completion>) {
        let store = self.contents();
        if let Some(block) = store.block_at(at.die, at.band.0) {
            store.media.flash_mut().expect("only emulated flash can be read without being asked").disturb(block, reads);
        }
        store.reads.count(at.band.0, at.die, reads);
        self.go_on(now, done);
    }
}
