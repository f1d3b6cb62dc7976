//! Blocks that are remembered without their data, the newest ones.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// As many blocks as it has room for; the oldest is forgotten.
#[derive(Clone, Debug)]
pub(super) struct Ghost {
    room: usize,
    /// The number under which a block was noted last.
    known: FxHashMap<u64, u64>,
    order: VecDeque<(u64, u64)>,
    noted: u64,
}

impl Ghost {
    pub fn new(room: u32) -> Ghost {
        Ghost { room: room as usize, known: FxHashMap::default(), order: VecDeque::new(), noted: 0 }
    }

    pub fn note(&mut self, block: u64) {
        self.noted += 1;
        self.known.insert(block, self.noted);
        self.order.push_back((block, self.noted));
        // An entry whose block was taken, or noted again, says nothing any more.
        while let Some(&(oldest, number)) = self.order.front() {
            let stands = self.known.get(&oldest) == Some(&number);
            if stands && self.known.len() <= self.room {
                break;
            }
            if stands {
                self.known.remove(&oldest);
            }
            self.order.pop_front();
        }
    }

    /// Returns whether the block was remembered; it no longer is.
    pub fn take(&mut self, block: u64) -> bool {
        self.known.remove(&block).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_blocks_are_remembered_and_each_is_taken_once() {
        let mut ghost = Ghost::new(3);
        (0..5).for_each(|block| ghost.note(block));
        assert_eq!((0..5).map(|block| ghost.take(block)).collect::<Vec<_>>(), [false, false, true, true, true]);
        assert!(!ghost.take(4));
        [7, 8, 9, 7, 10].iter().for_each(|&block| ghost.note(block));
        assert!(!ghost.take(8) && ghost.take(9) && ghost.take(7) && ghost.take(10));
        assert!(ghost.order.len() <= 5);
    }
}
