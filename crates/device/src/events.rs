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
    /// `nodes[1]` is the earliest event, node `i` the earlier of nodes `2i` and `2i + 1`, and the leaves are the slots. Two
    /// that are compared with each other lie together: node `i` is in pair `i / 2`.
    pairs: Vec<[Event; 2]>,
}

/// When something happens, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    time: Time,
    slot: u32,
}

/// Of two that come next to each other the earlier one: the first has the lower slot, and with it the tie.
#[inline]
fn earlier([first, second]: [Event; 2]) -> Event {
    if second.time < first.time { second } else { first }
}

impl EventTable {
    /// A table with `slots` (below 2^32) empty slots.
    pub fn new(slots: usize) -> EventTable {
        let leaves = slots.next_power_of_two().max(2);
        let never = |slot: usize| Event { time: Time::NEVER, slot: slot as u32 };
        let mut pairs = vec![[never(0); 2]; leaves];
        for slot in 0..leaves {
            pairs[(leaves + slot) / 2][slot & 1] = never(slot);
        }
        for node in (1..leaves).rev() {
            pairs[node / 2][node & 1] = earlier(pairs[node]);
        }
        EventTable { leaves, pairs }
    }

    /// Time of a slot's event.
    #[inline]
    pub fn time(&self, slot: usize) -> Time {
        let node = self.leaves + slot;
        self.pairs[node / 2][node & 1].time
    }

    /// Sets, moves or (with [`Time::NEVER`]) clears the event of a slot.
    #[inline]
    pub fn set(&mut self, slot: usize, time: Time) {
        let mut node = self.leaves + slot;
        let mut event = Event { time, slot: slot as u32 };
        loop {
            let pair = &mut self.pairs[node / 2];
            if pair[node & 1] == event {
                // Nothing above changes either.
                return;
            }
            pair[node & 1] = event;
            if node == 1 {
                return;
            }
            event = earlier(*pair);
            node /= 2;
        }
    }

    /// The earliest event: its time ([`Time::NEVER`] when there is none) and slot.
    #[inline]
    pub fn earliest(&self) -> (Time, usize) {
        let first = self.pairs[0][1];
        (first.time, first.slot as usize)
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
