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

/// The units of a band on a module: its rows, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BandUnits {
    pub first: u64,
    pub dies: u64,
    pub rows: u64,
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
    /// Reports that the frame of a unit of a band is asked for. Returns the frames that have to be read now. A scan that looks
    /// at the first row of a band looks at all of its dies: these are read at once, and no more, because it may need no other
    /// row. Nothing is read ahead beyond the band. The first row and the present one are kept, because they may be asked for
    /// again.
    pub fn asked(&mut self, unit: u64, band: &BandUnits) -> Vec<Wanted> {
        let BandUnits { first, dies, rows } = *band;
        let (row, die) = ((unit - first) / dies, (unit - first) % dies);
        let is_in_order = self.expected.is_some_and(|expected| (expected..=expected + MAX_SKIPPED).contains(&unit));
        self.expected = Some(unit + 1);
        let is_kept = |frame: &Frame| frame.unit >= unit - die || (first..first + dies).contains(&frame.unit);
        self.let_go(|frame| !is_kept(frame));
        if self.frames.front().is_some_and(|frame| frame.unit > unit) {
            self.let_go(|_| true);
        }
        let next = self.frames.back().map_or(unit, |frame| unit.max(frame.unit + 1));
        if !is_in_order {
            self.ahead = FIRST_FRAMES / 2;
        }
        let wanted_end = match is_in_order {
            // Half of them are left: a new half goes in one batch.
            true if next - unit > self.ahead / 2 => next,
            true => {
                self.ahead = (self.ahead * 2).min(MOST_FRAMES);
                unit + self.ahead
            }
            false => next,
        };
        let (least, end) = if row == 0 { (unit - die + dies, first + dies) } else { (unit + 1, first + rows * dies) };
        let mut wanted = Vec::new();
        for unit in next..wanted_end.max(least).min(end) {
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

    /// The frame of a unit that was asked for: `None` while it is in flight, `Some(None)` if it could not be read.
    pub fn find(&self, unit: u64) -> Option<Option<&[u8]>> {
        match self.frames.iter().find(|frame| frame.unit == unit).map(|frame| &frame.state) {
            Some(State::There(buffer)) => Some(Some(buffer.bytes())),
            Some(State::InFlight) => None,
            Some(State::Failed) | None => Some(None),
        }
    }

    /// Forgets all frames, because a write may have made them stale.
    pub fn forget(&mut self) {
        self.let_go(|_| true);
        self.expected = None;
    }

    /// Lets frames go.
    fn let_go(&mut self, is_it: impl Fn(&Frame) -> bool) {
        let Frames { frames, unused, .. } = self;
        frames.retain_mut(|frame| {
            let goes = is_it(frame);
            if goes && let State::There(buffer) = std::mem::replace(&mut frame.state, State::Failed) {
                unused.push(buffer);
            }
            !goes
        });
    }

    /// Hands over memory that is not needed any more.
    pub fn take_unused(&mut self) -> Vec<Buffer> {
        std::mem::take(&mut self.unused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIES: u64 = 4;
    const ROWS: u64 = 100;

    /// The band that a unit lies in.
    fn band(unit: u64) -> BandUnits {
        BandUnits { first: unit / (DIES * ROWS) * DIES * ROWS, dies: DIES, rows: ROWS }
    }

    fn asked(frames: &mut Frames, unit: u64) -> Vec<Wanted> {
        frames.asked(unit, &band(unit))
    }

    #[test]
    fn frames_in_order_are_read_ahead_in_batches_and_others_are_not() {
        let mut frames = Frames::default();
        assert_eq!(asked(&mut frames, 40), [Wanted { number: 0, unit: 40 }], "the first");
        assert!(frames.find(40).is_none(), "in flight");
        assert!(frames.arrived(0, Buffer::new(512).unwrap(), true).is_none());
        assert!(matches!(frames.find(40), Some(Some(_))));
        let batch = asked(&mut frames, 41);
        assert_eq!((batch.len() as u64, batch[0].unit), (FIRST_FRAMES, 41));
        assert!(frames.arrived(3, Buffer::none(), false).is_some(), "one that failed is handed back");
        assert!(asked(&mut frames, 43).is_empty(), "most are left, and that between is not needed");
        assert!(matches!(frames.find(43), Some(None)), "it failed");
        let next = asked(&mut frames, 45);
        let first_next = 41 + FIRST_FRAMES;
        assert_eq!((next[0].unit, next.len() as u64), (first_next, 12), "half are left: twice as many from here");
        assert_eq!(frames.take_unused().len(), 1, "the row of the first one is behind");
        let mut most = 0;
        for unit in 46..300 {
            most = most.max(asked(&mut frames, unit).last().map_or(0, |wanted| wanted.unit + 1 - unit));
        }
        assert_eq!(most, MOST_FRAMES);
        let before = frames.numbers - 1;
        let elsewhere = asked(&mut frames, 9);
        assert_eq!((elsewhere.len(), elsewhere[0].unit), (1, 9));
        assert!(frames.arrived(before, Buffer::new(512).unwrap(), true).is_some(), "nobody waits for it any more");
    }

    #[test]
    fn the_first_row_of_a_band_is_read_at_once_and_kept_while_the_band_is_read() {
        let mut frames = Frames::default();
        assert_eq!(asked(&mut frames, 400).iter().map(|wanted| wanted.unit).collect::<Vec<_>>(), [400, 401, 402, 403]);
        (0..4).for_each(|number| assert!(frames.arrived(number, Buffer::new(512).unwrap(), true).is_none()));
        for unit in 404..500 {
            asked(&mut frames, unit);
        }
        assert!(asked(&mut frames, 402).is_empty() && matches!(frames.find(402), Some(Some(_))), "again");
        assert_eq!(asked(&mut frames, 800).len(), 4, "another band");
        assert!(matches!(frames.find(402), Some(None)));
    }

    #[test]
    fn nothing_is_read_beyond_the_end_and_nothing_old_after_a_write() {
        let mut frames = Frames::default();
        asked(&mut frames, 397);
        assert_eq!(asked(&mut frames, 398).len(), 2, "the band ends");
        frames.forget();
        assert!(frames.arrived(1, Buffer::new(512).unwrap(), true).is_some());
        assert!(matches!(frames.find(398), Some(None)), "it has to be asked for again");
        assert_eq!(asked(&mut frames, 399).len(), 1);
    }
}
