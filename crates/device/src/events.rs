//! The pending events: one slot for each owner of a future.
//!
//! A die, a request, a core has at most one thing that happens to it next, so events need no heap of messages: each
//! owner has a slot with the time of its next event, and a winner tree above the slots knows the earliest. Setting,
//! moving and clearing a slot walk up the tree until nothing changes, which also makes a suspended program easy: its
//! slot is moved.
//!
//! Ties go to the lower slot, so the order of events never depends on history.

use crate::Time;

/// Times of next events by slot, with the earliest at hand.
#[derive(Clone, Debug)]
pub struct EventTable {
    /// A power of two; slots beyond the ones asked for are never set.
    leaves: usize,
    /// Node 1 is the earliest time, node `i` the earlier of nodes `2i` and `2i + 1`, and the leaves are the slots. Two
    /// that are compared with each other lie together: node `i` is in pair `i / 2`. The nodes hold no slots: half of the
    /// instructions of a change would go into them, and only the earliest is ever asked for.
    pairs: Vec<[Time; 2]>,
}

impl EventTable {
    /// A table with `slots` (below 2^32) empty slots.
    pub fn new(slots: usize) -> EventTable {
        let leaves = slots.next_power_of_two().max(2);
        EventTable { leaves, pairs: vec![[Time::NEVER; 2]; leaves] }
    }

    /// Time of a slot's event.
    #[inline]
    pub fn time(&self, slot: usize) -> Time {
        let node = self.leaves + slot;
        self.pairs[node / 2][node & 1]
    }

    /// Sets, moves or (with [`Time::NEVER`]) clears the event of a slot.
    #[inline]
    pub fn set(&mut self, slot: usize, mut time: Time) {
        let mut node = self.leaves + slot;
        loop {
            let pair = &mut self.pairs[node / 2];
            if pair[node & 1] == time {
                // Nothing above changes either.
                return;
            }
            pair[node & 1] = time;
            if node == 1 {
                return;
            }
            time = pair[0].min(pair[1]);
            node /= 2;
        }
    }

    /// The time of the earliest event; [`Time::NEVER`] when there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.pairs[0][1]
    }

    /// The earliest event: its time ([`Time::NEVER`] when there is none) and slot.
    #[inline]
    pub fn earliest(&self) -> (Time, usize) {
        let time = self.next();
        let mut node = 1;
        while node < self.leaves {
            // The first of two has the lower slots, and with them the tie.
            node = 2 * node + usize::from(self.pairs[node][0] != time);
        }
        (time, node - self.leaves)
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
                assert_eq!(table.time(slot), time);
            }
        }
    }
}
