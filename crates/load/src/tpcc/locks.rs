//! The two rows that many transactions change: locks of warehouses and districts, first come first served.
//!
//! Invariants:
//! - a lock has one holder, and is handed to the one that waits longest;
//! - warehouses come before districts, so nobody waits in a circle.

use crate::ProcessId;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(super) struct Locks {
    held: Vec<bool>,
    waiting: FxHashMap<u32, VecDeque<ProcessId>>,
}

impl Locks {
    pub fn new(count: u32) -> Locks {
        Locks { held: vec![false; count as usize], waiting: FxHashMap::default() }
    }

    /// True: it is the process's. False: it must park now, and has the lock when it is woken.
    pub fn acquire(&mut self, lock: u32, process: ProcessId) -> bool {
        if !std::mem::replace(&mut self.held[lock as usize], true) {
            return true;
        }
        self.waiting.entry(lock).or_default().push_back(process);
        false
    }

    pub fn release(&mut self, lock: u32, wake: &mut Vec<ProcessId>) {
        let Some(queue) = self.waiting.get_mut(&lock) else {
            self.held[lock as usize] = false;
            return;
        };
        // It stays held: by the next one.
        wake.extend(queue.pop_front());
        if queue.is_empty() {
            self.waiting.remove(&lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_goes_to_the_one_that_has_waited_longest() {
        let mut locks = Locks::new(2);
        let mut wake = Vec::new();
        assert!(locks.acquire(1, ProcessId(0)));
        assert!(!locks.acquire(1, ProcessId(1)) && !locks.acquire(1, ProcessId(2)));
        assert!(locks.acquire(0, ProcessId(2)), "another lock");
        locks.release(1, &mut wake);
        assert_eq!(wake, [ProcessId(1)]);
        assert!(!locks.acquire(1, ProcessId(0)), "it was handed over");
        (0..3).for_each(|_| locks.release(1, &mut wake));
        assert_eq!(wake, [ProcessId(1), ProcessId(2), ProcessId(0)]);
        assert!(locks.acquire(1, ProcessId(0)), "free");
    }
}
