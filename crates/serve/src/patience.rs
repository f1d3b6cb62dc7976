//! Patience: the time to stay awake for a client that has all its replies.
//!
//! Waking a thread costs more than serving a request from memory, on a virtual machine several times more. A client
//! with one request at a time pays for two wake-ups with each request. Staying awake for it saves one of them, but is
//! lost on a slow client. So the thread stays awake for clients that were quick, and after each failure it sleeps for
//! twice as many requests.

use std::time::Duration;

/// The longest time awake.
pub(crate) const AWAKE: Duration = Duration::from_micros(50);
/// A client whose next request comes within this time, wake-up included, may be quick enough for [`AWAKE`] without one.
const QUICK: Duration = Duration::from_micros(100);
/// The highest number of requests before the next try, a power of two.
const MAX_SKIPPED: u32 = 1024;

#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// The last request came quickly.
    was_quick: bool,
    /// The number of requests before the next try.
    skips: u32,
    /// The value of `skips` after the last failure.
    skipped: u32,
}

impl Patience {
    /// The time to stay awake now.
    pub fn awake(&self) -> Duration {
        if self.was_quick && self.skips == 0 { AWAKE } else { Duration::ZERO }
    }

    /// Reports that the next request came after this time.
    pub fn asked_after(&mut self, waited: Duration) {
        if self.awake().is_zero() {
            self.skips = self.skips.saturating_sub(1);
        } else if waited <= AWAKE {
            self.skipped = 0;
        } else {
            self.skipped = (self.skipped * 2).clamp(1, MAX_SKIPPED);
            self.skips = self.skipped;
        }
        self.was_quick = waited <= QUICK;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time awake in vain for a client that sends so many requests, each after `waited`.
    fn in_vain(requests: u32, waited: Duration) -> Duration {
        let mut patience = Patience::default();
        let mut lost = Duration::ZERO;
        for _ in 0..requests {
            lost += if waited > AWAKE { patience.awake() } else { Duration::ZERO };
            patience.asked_after(waited);
        }
        lost
    }

    #[test]
    fn a_quick_client_is_waited_for_awake_from_its_second_request_on() {
        let mut patience = Patience::default();
        assert!(patience.awake().is_zero(), "nothing is known of it");
        patience.asked_after(QUICK);
        for _ in 0..10_000 {
            assert_eq!(patience.awake(), AWAKE);
            patience.asked_after(AWAKE);
        }
    }

    #[test]
    fn a_slow_client_costs_nothing_and_one_in_between_next_to_nothing() {
        assert!(in_vain(100_000, Duration::from_millis(1)).is_zero());
        let between = Duration::from_micros(80);
        let lost = in_vain(100_000, between);
        assert!(lost > Duration::ZERO && lost < 100_000 * between / 500, "{lost:?}");
    }

    #[test]
    fn a_client_that_gets_quick_again_is_tried_again() {
        let mut patience = Patience::default();
        (0..100_000).for_each(|_| patience.asked_after(Duration::from_micros(80)));
        (0..=MAX_SKIPPED).for_each(|_| patience.asked_after(Duration::from_micros(10)));
        assert_eq!(patience.awake(), AWAKE);
    }
}
