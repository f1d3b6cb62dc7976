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
    /// `nodes[1]` is the earliest event, node `i` the earlier of nodes `2i` and `2i + 1`, and the leaves are the slots.
    nodes: Vec<Event>,
}

/// Time in the upper bits, slot in the lower 32: one comparison orders events and breaks ties.
type Event = u128;

#[inline]
fn event(time: Time, slot: usize) -> Event {
    u128::from(time.0) << 32 | slot as u128
}

#[inline]
fn time_of(event: Event) -> Time {
    Time((event >> 32) as u64)
}

impl EventTable {
    /// A table with `slots` (below 2^32) empty slots.
    pub fn new(slots: usize) -> EventTable {
        let leaves = slots.next_power_of_two().max(2);
        let mut nodes = vec![event(Time::NEVER, 0); 2 * leaves];
        for slot in 0..leaves {
            nodes[leaves + slot] = event(Time::NEVER, slot);
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node].min(nodes[2 * node + 1]);
        }
        EventTable { leaves, nodes }
    }

    /// Time of a slot's event.
    #[inline]
    pub fn time(&self, slot: usize) -> Time {
        time_of(self.nodes[self.leaves + slot])
    }

    /// Sets, moves or (with [`Time::NEVER`]) clears the event of a slot.
    #[inline]
    pub fn set(&mut self, slot: usize, time: Time) {
        let mut node = self.leaves + slot;
        let mut earlier = event(time, slot);
        self.nodes[node] = earlier;
        while node > 1 {
            earlier = earlier.min(self.nodes[node ^ 1]);
            node >>= 1;
            if self.nodes[node] == earlier {
                // Nothing above changes either.
                return;
            }
            self.nodes[node] = earlier;
        }
    }

    /// The earliest event: its time ([`Time::NEVER`] when there is none) and slot.
    #[inline]
    pub fn earliest(&self) -> (Time, usize) {
        let first = self.nodes[1];
        (time_of(first), first as u32 as usize)
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
