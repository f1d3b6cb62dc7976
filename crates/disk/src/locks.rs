//! Locks of the rows that are being written.
//!
//! Two writes to a row change the same parity, so they follow each other. Waiters are served in order of arrival
//! unless they wait for different rows.
//!
//! Invariants: rows that are held do not overlap; holders and waiters together are operations, whose number has a limit.

use std::collections::VecDeque;
use std::ops::Range;

#[derive(Clone, Debug, Default)]
pub(crate) struct RowLocks {
    held: Vec<(Range<u64>, u32)>,
    waiting: VecDeque<(Range<u64>, u32)>,
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

impl RowLocks {
    /// True when `op` holds the rows now; otherwise it waits.
    pub fn acquire(&mut self, rows: Range<u64>, op: u32) -> bool {
        if self.held.iter().chain(&self.waiting).any(|(taken, _)| overlap(taken, &rows)) {
            self.waiting.push_back((rows, op));
            return false;
        }
        self.held.push((rows, op));
        true
    }

    /// `op` is done with its rows. Returns who holds theirs now.
    pub fn release(&mut self, op: u32) -> Vec<u32> {
        let index = self.held.iter().position(|&(_, holder)| holder == op).expect("only a holder releases rows");
        let (freed, _) = self.held.swap_remove(index);
        let mut granted = Vec::new();
        let mut i = 0;
        while i < self.waiting.len() {
            let rows = &self.waiting[i].0;
            let free = overlap(rows, &freed)
                && !self.held.iter().any(|(taken, _)| overlap(taken, rows))
                && !self.waiting.range(..i).any(|(earlier, _)| overlap(earlier, rows));
            if free {
                let (rows, op) = self.waiting.remove(i).expect("the index is in range");
                self.held.push((rows, op));
                granted.push(op);
            } else {
                i += 1;
            }
        }
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_of_a_row_follow_each_other_and_others_pass() {
        let mut locks = RowLocks::default();
        assert!(locks.acquire(1..2, 10));
        assert!(!locks.acquire(0..4, 11));
        assert!(!locks.acquire(1..2, 12), "an earlier waiter comes first");
        assert!(locks.acquire(7..8, 13));
        assert_eq!(locks.release(13), []);
        assert_eq!(locks.release(10), [11]);
        assert_eq!(locks.release(11), [12]);
        assert_eq!(locks.release(12), []);
    }
}
