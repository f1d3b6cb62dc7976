//! The bus of a channel: one transfer at a time.

use device::Time;

/// Transfers are booked ahead: a read books its slot when its array time begins, so that reads keep their order. The
/// gap this leaves in front may be used by a transfer that fits; one gap is remembered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bus {
    free_at: Time,
    gap_start: Time,
    gap_end: Time,
}

impl Bus {
    /// Books `duration_ns` of the bus, no sooner than `earliest`; returns when the transfer starts.
    #[inline]
    pub fn book(&mut self, earliest: Time, duration_ns: u64) -> Time {
        let in_gap = earliest.max(self.gap_start);
        if in_gap + duration_ns <= self.gap_end {
            self.gap_start = in_gap + duration_ns;
            return in_gap;
        }
        if earliest > self.free_at {
            (self.gap_start, self.gap_end) = (self.free_at, earliest);
        }
        let start = earliest.max(self.free_at);
        self.free_at = start + duration_ns;
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_never_overlap_and_gaps_are_used() {
        let mut bus = Bus::default();
        assert_eq!(bus.book(Time(100), 30), Time(100));
        // Fits in front of the booked transfer.
        assert_eq!(bus.book(Time(20), 30), Time(20));
        // Does not fit into what is left of the gap.
        assert_eq!(bus.book(Time(80), 30), Time(130));
        assert_eq!(bus.book(Time(50), 40), Time(50));
        assert_eq!(bus.book(Time(90), 5), Time(90));
        assert_eq!(bus.book(Time(0), 1), Time(95));
    }
}
