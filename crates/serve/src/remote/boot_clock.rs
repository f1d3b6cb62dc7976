//! The clock of leases: it runs while the machine sleeps, so that a lease ends then as well.

use device::Time;
use rustix::time::{ClockId, clock_gettime};

/// The time since the machine was started.
pub(crate) fn now() -> Time {
    let time = clock_gettime(ClockId::Boottime);
    Time(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
