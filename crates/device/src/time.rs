//! A point in virtual time.

use std::ops::{Add, AddAssign, Sub};

/// Nanoseconds since the start of a simulation. Durations are plain `u64` with `_ns` as the last word of their name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The start of a simulation.
    pub const ZERO: Time = Time(0);
    /// Later than any event: "nothing pending".
    pub const NEVER: Time = Time(u64::MAX);

    /// Seconds since the start.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Nanoseconds from `earlier` to `self`; 0 when `earlier` is later.
    pub fn since_ns(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<u64> for Time {
    type Output = Time;
    fn add(self, ns: u64) -> Time {
        Time(self.0 + ns)
    }
}

impl AddAssign<u64> for Time {
    fn add_assign(&mut self, ns: u64) {
        self.0 += ns;
    }
}

impl Sub for Time {
    type Output = u64;
    fn sub(self, earlier: Time) -> u64 {
        self.0 - earlier.0
    }
}
