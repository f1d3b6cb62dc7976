//! Frames that are read ahead: a scan asks for the units of a band in the order in which they lie in the file, and needs no
//! payloads. The frames lie apart, so each is a request of its own; many are in flight beside the one that is waited for. A
//! program makes stale all that were read ahead.

use crate::buffer::Buffer;
use std::collections::VecDeque;

/// Frames of a module that are in flight, or wait to be asked for: so many at first, as a row of a band has, and twice as
/// many each time, up to the most.
const FIRST_FRAMES: u64 = 8;
const MOST_FRAMES: u64 = 64;
/// Asks that skip at most so many units still count as being in order.
const MAX_SKIPPED: u64 = 16;

#[derive(Debug)]
enum State {
    InFlight,
    There(Buffer),
    Failed,
}

#[derive(Debug)]
struct Frame {
    unit: u64,
    /// The number of the request among all of the module.
    number: u64,
    state: State,
}

/// A frame that is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub number: u64,
    pub unit: u64,
}

/// The frames of a module that were asked for, in the order of their units.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    frames: VecDeque<Frame>,
    numbers: u64,
    /// The unit that is asked for next if units are asked for in order.
    expected: Option<u64>,
    /// Frames that are read ahead as long as that goes on.
    ahead: u64,
    /// Memory of frames that nobody asked for.
    unused: Vec<Buffer>,
}

impl Frames {
    /// Reports that the frame of a unit is asked for. Returns the frames that have to be read now.
    pub fn asked(&mut self, unit: u64, units: u64) -> Vec<Wanted> {
        let is_in_order = self.expected.is_some_and(|expected| (expected..=expected + MAX_SKIPPED).contains(&unit));
        self.expected = Some(unit + 1);
        let passed = self.frames.iter().take_while(|frame| frame.unit < unit).count();
        self.let_go(passed);
        if self.frames.front().is_some_and(|frame| frame.unit > unit) {
            self.let_go(self.frames.len());
        }
        let next = self.frames.back().map_or(unit, |frame| frame.unit + 1);
        if !is_in_order {
            self.ahead = FIRST_FRAMES / 2;
        }
        let end = match is_in_order {
            // Half of them are left: a new half goes in one batch.
            true if next - unit > self.ahead / 2 => next,
            true => {
                self.ahead = (self.ahead * 2).min(MOST_FRAMES);
                (unit + self.ahead).min(units)
            }
            false => next.max(unit + 1),
        };
        let mut wanted = Vec::new();
        for unit in next..end {
            let number = self.numbers;
            self.numbers += 1;
            self.frames.push_back(Frame { unit, number, state: State::InFlight });
            wanted.push(Wanted { number, unit });
        }
        wanted
    }

    /// Reports the end of a request. Returns the buffer if it is not needed.
    pub fn arrived(&mut self, number: u64, buffer: Buffer, is_whole: bool) -> Option<Buffer> {
        match self.frames.iter_mut().find(|frame| frame.number == number) {
            Some(frame) if is_whole => frame.state = State::There(buffer),
            Some(frame) => {
                frame.state = State::Failed;
                return Some(buffer);
            }
            None => return Some(buffer),
        }
        None
    }

    /// The frame that was asked for last: `None` while it is in flight, `Some(None)` if it could not be read.
    pub fn take(&mut self) -> Option<Option<Buffer>> {
        if matches!(self.frames.front()?.state, State::InFlight) {
            return None;
        }
        match self.frames.pop_front()?.state {
            State::There(buffer) => Some(Some(buffer)),
            State::InFlight | State::Failed => Some(None),
        }
    }

    /// Forgets all frames, because a write may have made them stale.
    pub fn forget(&mut self) {
        self.let_go(self.frames.len());
        self.expected = None;
    }

    /// Lets the first frames go.
    fn let_go(&mut self, count: usize) {
        let buffers = self.frames.drain(..count).filter_map(|frame| match frame.state {
            State::There(buffer) => Some(buffer),
            State::InFlight | State::Failed => None,
        });
        self.unused.extend(buffers);
    }

    /// Hands over memory that is not needed any more.
    pub fn take_unused(&mut self) -> Vec<Buffer> {
        std::mem::take(&mut self.unused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_in_order_are_read_ahead_in_batches_and_others_are_not() {
        let mut frames = Frames::default();
        assert_eq!(frames.asked(40, 1000), [Wanted { number: 0, unit: 40 }], "the first");
        assert_eq!(frames.take().map(|there| there.is_some()), None, "in flight");
        assert!(frames.arrived(0, Buffer::new(512).unwrap(), true).is_none());
        assert!(matches!(frames.take(), Some(Some(_))));
        let batch = frames.asked(41, 1000);
        assert_eq!((batch.len() as u64, batch[0].unit), (FIRST_FRAMES, 41));
        assert!(frames.arrived(3, Buffer::none(), false).is_some(), "one that failed is handed back");
        assert!(frames.asked(43, 1000).is_empty(), "most are left, and that between is not needed");
        assert!(matches!(frames.take(), Some(None)), "it failed");
        let next = frames.asked(45, 1000);
        assert_eq!(
            (next[0].unit, next.len() as u64),
            (41 + FIRST_FRAMES, 12),
            "half are left: twice as many from here"
        );
        let mut most = 0;
        for unit in 46..300 {
            most = most.max(frames.asked(unit, 1000).last().map_or(0, |wanted| wanted.unit + 1 - unit));
        }
        assert_eq!(most, MOST_FRAMES);
        let elsewhere = frames.asked(7, 1000);
        assert_eq!((elsewhere.len(), elsewhere[0].unit), (1, 7));
        assert!(frames.take_unused().is_empty(), "none of them was there");
        assert!(frames.arrived(elsewhere[0].number, Buffer::new(512).unwrap(), true).is_none());
        assert_eq!((frames.asked(70, 1000).len(), frames.take_unused().len()), (1, 1));
        let before = elsewhere[0].number - 1;
        assert!(frames.arrived(before, Buffer::new(512).unwrap(), true).is_some(), "nobody waits for it any more");
    }

    #[test]
    fn nothing_is_read_beyond_the_end_and_nothing_old_after_a_write() {
        let mut frames = Frames::default();
        frames.asked(97, 100);
        assert_eq!(frames.asked(98, 100).len(), 2);
        frames.forget();
        assert!(frames.arrived(1, Buffer::new(512).unwrap(), true).is_some());
        assert!(frames.take().is_none());
        assert_eq!(frames.asked(99, 100).len(), 1);
    }
}
