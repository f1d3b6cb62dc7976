//! Doubly linked lists over slots, each of which is in one list at most.

/// The end of a list.
const NONE: u32 = u32::MAX;

/// The links of all slots. They grow as slots are used first.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Towards the tail, and towards the head.
    of: Vec<(u32, u32)>,
}

/// A list: slots enter at its head and leave at its tail, or from anywhere.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: u32,
    tail: u32,
    len: u32,
}

impl List {
    /// A list without slots.
    pub const EMPTY: List = List { head: NONE, tail: NONE, len: 0 };

    /// The number of slots in it.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether it has no slots.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot that would leave next.
    #[inline]
    pub fn tail(&self) -> Option<u32> {
        (self.tail != NONE).then_some(self.tail)
    }
}

impl Links {
    /// Puts a slot that is in no list at the head of one.
    #[inline]
    pub fn push(&mut self, list: &mut List, slot: u32) {
        let at = slot as usize;
        if self.of.len() <= at {
            self.of.resize(at + 1, (NONE, NONE));
        }
        self.of[at] = (list.head, NONE);
        match list.head {
            NONE => list.tail = slot,
            head => self.of[head as usize].1 = slot,
        }
        list.head = slot;
        list.len += 1;
    }

    /// Takes a slot out of the list that it is in.
    #[inline]
    pub fn remove(&mut self, list: &mut List, slot: u32) {
        let (next, previous) = self.of[slot as usize];
        match previous {
            NONE => list.head = next,
            previous => self.of[previous as usize].0 = next,
        }
        match next {
            NONE => list.tail = previous,
            next => self.of[next as usize].1 = previous,
        }
        self.of[slot as usize] = (NONE, NONE);
        list.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use std::collections::VecDeque;

    #[test]
    fn a_list_is_what_a_queue_is_from_which_anything_may_be_taken() {
        let (mut links, mut list, mut model) = (Links::default(), List::EMPTY, VecDeque::new());
        let mut rng = Rng::stream(1, "links");
        for _ in 0..10_000 {
            let slot = rng.below(40) as u32;
            match model.iter().position(|&other| other == slot) {
                Some(at) => {
                    model.remove(at);
                    links.remove(&mut list, slot);
                }
                None => {
                    model.push_front(slot);
                    links.push(&mut list, slot);
                }
            }
            assert_eq!((list.len() as usize, list.tail()), (model.len(), model.back().copied()));
        }
    }
}
