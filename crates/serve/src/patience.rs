//! How long to stay awake for a client that has all its answers.
//!
//! Waking a thread costs more than serving a request from memory, on a virtual machine several times more: a client that
//! asks one thing at a time pays it twice for each. Staying awake for it saves one, and is lost on a client that takes its
//! time. So it is tried with clients that were quick, and after each failure given up for twice as many requests.

use std::time::Duration;

/// Longest time awake.
pub(crate) const AWAKE: Duration = Duration::from_micros(50);
/// Who asks again within this time, though somebody has to be woken, may do so within [`AWAKE`] if nobody has.
const QUICK: Duration = Duration::from_micros(100);
/// Requests for which it is given up at most, a power of two.
const MOST_SKIPPED: u32 = 1024;

#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// The last request came quickly.
    was_quick: bool,
    /// Requests before the next try.
    skips: u32,
    /// That many it was after the last failure.
    skipped: u32,
}

impl Patience {
    /// How long to stay awake now.
    pub fn awake(&self) -> Duration {
        if self.was_quick && self.skips == 0 { AWAKE } else { Duration::ZERO }
    }

    /// The client asked again after so long.
    pub fn asked_after(&mut self, waited: Duration) {
        if self.awake().is_zero() {
            self.skips = self.skips.saturating_sub(1);
        } else if waited <= AWAKE {
            self.skipped = 0;
        } else {
            self.skipped = (self.skipped * 2).clamp(1, MOST_SKIPPED);
            self.skips = self.skipped;
        }
        self.was_quick = waited <= QUICK;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time awake in vain while a client asks so often, always after `waited`.
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
        (0..=MOST_SKIPPED).for_each(|_| patience.asked_after(Duration::from_micros(10)));
        assert_eq!(patience.awake(), AWAKE);
    }
}
