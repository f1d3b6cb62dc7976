//! Read-ahead: a scan reads the units of a band one by one, in the order in which they lie in the file.
//!
//! Read-ahead begins when units are read in this order. Then there are two windows: one that units are taken from, and
//! the next one, whose read is in flight meanwhile. The contents of a window are as old as its read, so a program
//! empties both windows. A unit that was written before an erase is recognised when it is taken out.

use crate::buffer::Buffer;

/// The approximate size of the largest window.
const WINDOW_BYTES: usize = 1 << 20;
/// Units of the first window: a reader of few units in order does not pay for many. Each window has twice as many.
const FIRST_UNITS: u64 = 2;
/// Reads that skip at most so many units still count as being in order. A scan that reads a unit here and there would get all
/// those between as well.
const MAX_SKIPPED: u64 = 2;
const MAX_WINDOWS: usize = 2;

#[derive(Debug)]
enum State {
    InFlight,
    There(Buffer),
    Failed,
}

#[derive(Debug)]
struct Window {
    /// The number of the window among all windows of the module.
    number: u64,
    first: u64,
    units: u64,
    state: State,
}

/// A window that is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub number: u64,
    pub first: u64,
    pub units: u64,
}

/// The result of looking for a unit in the windows.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// The unit is in no window and has to be read.
    Nowhere,
    /// The window with the unit is being read.
    InFlight,
    /// The bytes of a window from this unit on.
    There(&'a [u8]),
}

/// The windows of a module.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    windows: Vec<Window>,
    numbers: u64,
    /// The unit that is read next if units are read in order.
    expected: Option<u64>,
    /// Units of the last window, as long as units are read in order.
    last_units: u64,
    /// Memory of windows that are not needed any more.
    unused: Vec<Buffer>,
}

impl Ahead {
    /// Reports the read of a unit. Returns the windows that have to be read now.
    pub fn asked(&mut self, unit: u64, unit_bytes: usize, units: u64) -> Vec<Wanted> {
        let is_in_order = self.expected.is_some_and(|expected| (expected..=expected + MAX_SKIPPED).contains(&unit));
        self.expected = Some(unit + 1);
        let most = (WINDOW_BYTES / unit_bytes).max(1) as u64;
        let holds = |window: &Window| (window.first..window.first + window.units).contains(&unit);
        let mut wanted = Vec::new();
        let mut next = match self.windows.iter().position(holds) {
            Some(at) => {
                self.let_go(at);
                self.windows.last().map_or(unit, |last| last.first + last.units)
            }
            None if is_in_order => {
                self.let_go(self.windows.len());
                unit
            }
            None => {
                self.last_units = 0;
                return wanted;
            }
        };
        while self.windows.len() < MAX_WINDOWS && next < units {
            self.last_units = (2 * self.last_units).clamp(FIRST_UNITS.min(most), most);
            let window = Wanted { number: self.numbers, first: next, units: self.last_units.min(units - next) };
            self.numbers += 1;
            next += window.units;
            let Wanted { number, first, units } = window;
            self.windows.push(Window { number, first, units, state: State::InFlight });
            wanted.push(window);
        }
        wanted
    }

    /// Looks for a unit in the windows.
    pub fn find(&self, unit: u64, unit_bytes: usize) -> Found<'_> {
        let holds = |window: &&Window| (window.first..window.first + window.units).contains(&unit);
        match self.windows.iter().find(holds) {
            None | Some(Window { state: State::Failed, .. }) => Found::Nowhere,
            Some(Window { state: State::InFlight, .. }) => Found::InFlight,
            Some(Window { state: State::There(buffer), first, .. }) => {
                Found::There(&buffer.bytes()[(unit - first) as usize * unit_bytes..])
            }
        }
    }

    /// Reports the end of a window's read. Returns the buffer if it is not needed.
    pub fn arrived(&mut self, number: u64, buffer: Buffer, is_whole: bool) -> Option<Buffer> {
        match self.windows.iter_mut().find(|window| window.number == number) {
            Some(window) if is_whole => window.state = State::There(buffer),
            Some(window) => {
                window.state = State::Failed;
                return Some(buffer);
            }
            None => return Some(buffer),
        }
        None
    }

    /// Empties the windows, because a write may have made them stale.
    pub fn forget(&mut self) {
        self.let_go(self.windows.len());
        (self.expected, self.last_units) = (None, 0);
    }

    /// Lets the first windows go.
    fn let_go(&mut self, count: usize) {
        let buffers = self.windows.drain(..count).filter_map(|window| match window.state {
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

    const UNIT: usize = 1 << 18;

    #[test]
    fn units_in_their_order_are_read_ahead_and_others_are_not() {
        let mut ahead = Ahead::default();
        assert!(ahead.asked(40, UNIT, 100).is_empty(), "the first");
        assert!(ahead.asked(7, UNIT, 100).is_empty(), "elsewhere");
        let wanted = ahead.asked(8, UNIT, 100);
        assert_eq!(
            wanted,
            [Wanted { number: 0, first: 8, units: 2 }, Wanted { number: 1, first: 10, units: 4 }],
            "the next one: few at first, then twice as many"
        );
        assert!(matches!(ahead.find(8, UNIT), Found::InFlight));
        let mut buffer = Buffer::new(2 * UNIT).unwrap();
        buffer.bytes_mut()[UNIT] = 9;
        assert!(ahead.arrived(0, buffer, true).is_none());
        assert!(matches!(ahead.find(9, UNIT), Found::There([9, ..])));
        assert!(matches!(ahead.find(99, UNIT), Found::Nowhere));
        assert!(ahead.asked(9, UNIT, 100).is_empty() && ahead.take_unused().is_empty());
        let third = ahead.asked(13, UNIT, 100);
        assert_eq!(third, [Wanted { number: 2, first: 14, units: 4 }], "the first window is left, and none is larger");
        assert_eq!(ahead.take_unused().len(), 1, "its memory is used again");
        assert!(matches!(ahead.find(9, UNIT), Found::Nowhere));
        assert!(ahead.arrived(1, Buffer::none(), false).is_some(), "one that failed is handed back");
        assert!(matches!(ahead.find(13, UNIT), Found::Nowhere));
    }

    #[test]
    fn nothing_is_read_beyond_the_end_and_nothing_old_after_a_write() {
        let mut ahead = Ahead::default();
        ahead.asked(96, UNIT, 100);
        assert_eq!(
            ahead.asked(97, UNIT, 100),
            [Wanted { number: 0, first: 97, units: 2 }, Wanted { number: 1, first: 99, units: 1 }]
        );
        ahead.forget();
        assert!(ahead.arrived(0, Buffer::new(2 * UNIT).unwrap(), true).is_some());
        assert!(matches!(ahead.find(98, UNIT), Found::Nowhere));
    }
}
