//! The pending events: one slot for each owner of a future.
//!
//! A die, a request, a core has at most one thing that happens to it next, so events need no heap of messages: each
//! owner has a slot with the time of its next event, and a winner tree above the slots knows the earliest. Setting,
//! moving and clearing a slot cost the tree's height (8 levels for 256 owners) in straight-line code, which also
//! makes a suspended program easy: its slot is moved.
//!
//! Ties go to the lower slot, so the order of events never depends on history.

use crate::Time;

/// Times of next events by slot, with the earliest at hand.
#[derive(Clone, Debug)]
pub struct EventTable {
    /// `leaves` is a power of two; slots beyond the ones asked for are never set.
    leaves: usize,
    times: Vec<Time>,
    /// `winners[1]` is the slot of the earliest event; node `i` has children `2i` and `2i + 1`.
    winners: Vec<u32>,
}

impl EventTable {
    /// A table with `slots` empty slots.
    pub fn new(slots: usize) -> EventTable {
        let leaves = slots.next_power_of_two().max(2);
        let mut winners = vec![0; leaves];
        for node in (1..leaves).rev() {
            // Leftmost leaf below the node: all are NEVER, the lower slot wins.
            let mut n = node;
            while n < leaves {
                n *= 2;
            }
            winners[node] = (n - leaves) as u32;
        }
        EventTable { leaves, times: vec![Time::NEVER; leaves], winners }
    }

    /// Time of a slot's event.
    #[inline]
    pub fn time(&self, slot: usize) -> Time {
        self.times[slot]
    }

    /// Sets, moves or (with [`Time::NEVER`]) clears the event of a slot.
    #[inline]
    pub fn set(&mut self, slot: usize, time: Time) {
        self.times[slot] = time;
        let mut node = (self.leaves + slot) >> 1;
        // Lowest level: both children are leaves.
        let left = slot & !1;
        let mut winner = if self.times[left + 1] < self.times[left] { left + 1 } else { left } as u32;
        self.winners[node] = winner;
        while node > 1 {
            let sibling = self.winners[node ^ 1];
            let (ts, tw) = (self.times[sibling as usize], self.times[winner as usize]);
            // The sibling wins when it is earlier, or equal and to the left.
            let sibling_wins = ts < tw || (ts == tw && sibling < winner);
            winner = if sibling_wins { sibling } else { winner };
            node >>= 1;
            self.winners[node] = winner;
        }
    }

    /// The earliest event: its time ([`Time::NEVER`] when there is none) and slot.
    #[inline]
    pub fn earliest(&self) -> (Time, usize) {
        let slot = self.winners[1] as usize;
        (self.times[slot], slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn the_earliest_slot_is_what_a_scan_finds() {
        for slots in [1usize, 2, 3, 7, 64, 100] {
            let mut rng = Rng::stream(slots as u64, "events");
            let mut table = EventTable::new(slots);
            let mut plain = vec![Time::NEVER; slots];
            for _ in 0..2_000 {
                let slot = rng.below(slots as u64) as usize;
                let time = if rng.below(4) == 0 { Time::NEVER } else { Time(rng.below(50)) };
                table.set(slot, time);
                plain[slot] = time;
                let best = plain.iter().enumerate().min_by_key(|&(i, t)| (*t, i)).map(|(i, t)| (*t, i)).unwrap();
                assert_eq!(table.earliest(), best);
            }
        }
    }
}
