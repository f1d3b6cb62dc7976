//! The pending events: one slot for each owner of a future.
//!
//! A die, a request, a core has at most one thing that happens to it next, so events need no heap of messages: each
//! owner has a slot with the time of its next event, and a winner tree above the slots knows the earliest. Setting,
//! moving and clearing a slot walk up the tree until nothing changes, which also makes a suspended program easy: its
//! slot is moved.
//!
//! Ties go to the lower slot, so the order of events never depends on history.

use crate::Time;

/// The children of a node of the tree. Four halve the steps of the walks in comparison with two: a step costs as much as
/// finding the earliest of four.
const ARITY: usize = 4;

/// Times of next events by slot, with the earliest at hand.
#[derive(Clone, Debug)]
pub struct EventTable {
    /// Each node holds the times of its children, and the lowest nodes those of the slots. Node 0 is the root, and the
    /// children of node `i` are the four from node `4i + 1`. The nodes hold no slots: half of the instructions of a
    /// change would go into them, and only the earliest is ever asked for.
    nodes: Vec<[Time; ARITY]>,
    /// The first of the lowest nodes. Their slots beyond the ones asked for are never set.
    first_leaf: usize,
    /// The earliest time of the root.
    next: Time,
}

impl EventTable {
    /// A table with `slots` (below 2^32) empty slots.
    pub fn new(slots: usize) -> EventTable {
        let (mut first_leaf, mut leaves) = (0, 1);
        while leaves * ARITY < slots {
            first_leaf += leaves;
            leaves *= ARITY;
        }
        EventTable { nodes: vec![[Time::NEVER; ARITY]; first_leaf + leaves], first_leaf, next: Time::NEVER }
    }

    /// Time of a slot's event.
    #[inline]
    pub fn time(&self, slot: usize) -> Time {
        self.nodes[self.first_leaf + slot / ARITY][slot % ARITY]
    }

    /// Sets, moves or (with [`Time::NEVER`]) clears the event of a slot.
    #[inline]
    pub fn set(&mut self, slot: usize, mut time: Time) {
        let (mut node, mut child) = (self.first_leaf + slot / ARITY, slot % ARITY);
        loop {
            let times = &mut self.nodes[node];
            if times[child] == time {
                // Nothing above changes either.
                return;
            }
            times[child] = time;
            time = times[0].min(times[1]).min(times[2].min(times[3]));
            if node == 0 {
                self.next = time;
                return;
            }
            (node, child) = ((node - 1) / ARITY, (node - 1) % ARITY);
        }
    }

    /// The time of the earliest event; [`Time::NEVER`] when there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// The earliest event: its time ([`Time::NEVER`] when there is none) and slot.
    #[inline]
    pub fn earliest(&self) -> (Time, usize) {
        let time = self.next;
        let mut node = 0;
        loop {
            let [first, second, third, _] = self.nodes[node];
            // The first of the children has the lower slots, and with them the tie. Sums, as a processor that guesses which
            // it will be is wrong most of the time.
            let after_first = usize::from(first != time);
            let after_second = after_first & usize::from(second != time);
            let child = after_first + after_second + (after_second & usize::from(third != time));
            if node >= self.first_leaf {
                return (time, (node - self.first_leaf) * ARITY + child);
            }
            node = ARITY * node + 1 + child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn the_earliest_slot_is_what_a_scan_finds() {
        for slots in [1usize, 2, 4, 5, 7, 16, 17, 64, 100] {
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
