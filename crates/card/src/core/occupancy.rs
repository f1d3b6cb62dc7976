//! The time of each die by cause, so that a read that waited can say for what. It is kept only when asked for.

use device::{Cause, Parts, Time};

/// Time of all dies by cause.
#[derive(Clone, Debug)]
pub struct Occupancy {
    dies: Vec<DieTime>,
    /// By operation, for reads of the host: while one waits, its die's time when it came; then what it waited for.
    reads: Vec<Parts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct DieTime {
    spent: Parts,
    /// The cause of the operation under way, and since when it is.
    current: Option<(Cause, Time)>,
}

impl DieTime {
    fn until(&self, now: Time) -> Parts {
        let mut spent = self.spent;
        if let Some((cause, since)) = self.current {
            spent.add(cause, now - since);
        }
        spent
    }
}

impl Occupancy {
    /// The occupancy of dies that are all idle.
    pub fn new(dies: usize) -> Occupancy {
        Occupancy { dies: vec![DieTime::default(); dies], reads: Vec::new() }
    }

    /// A die begins something, or goes on with it.
    pub fn begin(&mut self, now: Time, die: usize, cause: Cause) {
        self.dies[die].current = Some((cause, now));
    }

    /// A die has finished or suspended what it was doing.
    pub fn end(&mut self, now: Time, die: usize) {
        self.dies[die].spent = self.dies[die].until(now);
        self.dies[die].current = None;
    }

    /// A read was queued.
    pub fn read_came(&mut self, now: Time, die: usize, op: u32) {
        let op = op as usize;
        if op >= self.reads.len() {
            self.reads.resize(op + 1, Parts::default());
        }
        self.reads[op] = self.dies[die].until(now);
    }

    /// The wait of a read is over; its die was never idle meanwhile.
    pub fn read_begins(&mut self, die: usize, op: u32) {
        let before = &mut self.reads[op as usize];
        let mut waited = Parts::default();
        for cause in Cause::ALL {
            waited.add(cause, self.dies[die].spent.get(cause) - before.get(cause));
        }
        *before = waited;
    }

    /// The time that a read that has begun waited, by cause.
    pub fn waited(&self, op: u32) -> Parts {
        self.reads[op as usize]
    }
}
