//! The monotonic clock of a controller, which runs at a rate of its own and may stand still for a while.

use device::Time;

/// Parts of a clock's rate.
const WHOLE: u64 = 1024;
/// The largest part by which a clock is fast or slow: a sixteenth. Clocks that are disciplined keep within a thousandth.
pub const MOST: u64 = WHOLE / 16;

/// See the module.
#[derive(Clone, Debug)]
pub struct Clock {
    rate: u64,
    base: Time,
    /// It stood still in these times.
    stops: Vec<(Time, u64)>,
}

impl Clock {
    /// A clock that is fast by `faster - MOST` parts.
    pub fn new(faster: u64, base: Time) -> Clock {
        Clock { rate: WHOLE - MOST + faster, base, stops: Vec::new() }
    }

    /// It stands still for so long from a time on.
    pub fn stop(&mut self, at: Time, for_ns: u64) {
        self.stops.push((at, for_ns));
    }

    fn stood_ns(&self, at: Time) -> u64 {
        self.stops.iter().map(|(from, for_ns)| at.since_ns(*from).min(*for_ns)).sum()
    }

    /// The time that it shows.
    pub fn at(&self, at: Time) -> Time {
        self.base + at.0.saturating_sub(self.stood_ns(at)) / WHOLE * self.rate
    }

    /// A time at which it shows so much, if it does not stand still until then.
    pub fn when(&self, shown: Time, now: Time) -> Time {
        now + (shown.since_ns(self.at(now)) / self.rate + 2) * WHOLE
    }
}
