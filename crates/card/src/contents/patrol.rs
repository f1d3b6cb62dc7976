//! Finding what fades before it is lost: a pass over everything once in a while, and a look at bands that are read often.
//!
//! Data fade with time and with reads of their block, those that nobody asks for too. So a card with a patrol reads all
//! that is on flash at each start and then once in an interval, and a band when one of its blocks was read so often.
//! Data that a read reports to be near its end is written elsewhere (`scrub.rs`).
//!
//! Time for data is not only the time that requests take: [`Card::rest`] lets days pass in which nothing happens.

use std::collections::BTreeSet;

pub const DAY_NS: f64 = 86_400e9;

/// The time of the last pass, and whether one is due.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patrol {
    /// Time in which nothing happened.
    pub rested_ns: u64,
    /// When the last pass began.
    pub last_ns: u64,
    /// A pass is to begin whatever the time.
    pub is_due: bool,
}

/// Reads of each block since it was looked at or erased. Empty without a patrol.
#[derive(Clone, Debug, Default)]
pub struct BlockReads {
    pub dies: u32,
    pub most: u32,
    pub counts: Vec<u32>,
    /// Bands to be looked at.
    pub due: BTreeSet<u32>,
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

    pub fn take_due(&mut self) -> Option<u32> {
        let band = self.due.pop_first()?;
        let first = (band * self.dies) as usize;
        self.counts[first..first + self.dies as usize].fill(0);
        Some(band)
    }

    pub fn looks_at_all(&mut self) {
        self.counts.fill(0);
        self.due.clear();
    }
}
