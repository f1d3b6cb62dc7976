//! The disk's read-ahead buffer.
//!
//! After a read the head stays on its track and reads on into the buffer until a command needs the arm elsewhere or
//! the buffer is full; a read that follows the last one is then already there (Ruemmler and Wilkes 1994).
//! The buffer is one segment. Its contents are a range of stream time, see [`crate::geometry`].
//!
//! Invariants: what the buffer holds is one range without gaps; the head passes it at media rate.

use device::Time;

/// Blocks read ahead of what was asked for, and kept behind it: 1 MiB, a segment of a 16 MB buffer cut in a dozen.
pub(crate) const READ_AHEAD_BLOCKS: u64 = 2048;

/// A head that reads on.
#[derive(Clone, Copy, Debug)]
struct Streaming {
    /// At this time it was at `from_ns` of stream time.
    since: Time,
    from_ns: u64,
    /// It stops here, the buffer is full.
    until_ns: u64,
}

/// The contents, in stream time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadAhead {
    first_ns: u64,
    /// End of the contents when the head does not read on.
    end_ns: u64,
    streaming: Option<Streaming>,
}

impl ReadAhead {
    /// Returns the position that the head has reached.
    #[inline]
    pub fn end_ns(&self, now: Time) -> u64 {
        match self.streaming {
            Some(s) => (s.from_ns + now.since_ns(s.since)).min(s.until_ns),
            None => self.end_ns,
        }
    }

    #[inline]
    pub fn is_streaming(&self) -> bool {
        self.streaming.is_some()
    }

    /// True when all of the range is in the buffer.
    #[inline]
    pub fn holds(&self, start_ns: u64, end_ns: u64, now: Time) -> bool {
        self.first_ns <= start_ns && end_ns <= self.end_ns(now)
    }

    /// True when the head reads on and has the range's start in the buffer or is just coming to it.
    #[inline]
    pub fn reaches(&self, start_ns: u64, skew_ns: u64, now: Time) -> bool {
        self.is_streaming() && self.first_ns <= start_ns && start_ns <= self.end_ns(now) + skew_ns
    }

    /// The head is moved away; what is in the buffer stays.
    pub fn stop(&mut self, now: Time) {
        self.end_ns = self.end_ns(now);
        self.streaming = None;
    }

    /// The head has read up to `from_ns` and reads on to `until_ns`; the buffer keeps what lies behind `first_ns`.
    pub fn read_on(&mut self, now: Time, first_ns: u64, from_ns: u64, until_ns: u64) {
        debug_assert!(first_ns <= from_ns && from_ns <= until_ns);
        self.first_ns = first_ns;
        self.streaming = Some(Streaming { since: now, from_ns, until_ns });
    }

    /// Makes room up to `until_ns` for a head that reads on, dropping what lies before `first_ns`. A full buffer had
    /// stopped the head: it goes on when the place has come round again, after `wait_ns(place)`. Returns that wait.
    pub fn make_room(&mut self, now: Time, first_ns: u64, until_ns: u64, wait_ns: impl Fn(u64) -> u64) -> u64 {
        let Some(s) = &mut self.streaming else { return 0 };
        self.first_ns = self.first_ns.max(first_ns);
        if until_ns <= s.until_ns {
            return 0;
        }
        let mut waited_ns = 0;
        if s.from_ns + now.since_ns(s.since) > s.until_ns {
            waited_ns = wait_ns(s.until_ns);
            *s = Streaming { since: now + waited_ns, from_ns: s.until_ns, until_ns };
        } else {
            s.until_ns = until_ns;
        }
        waited_ns
    }

    /// When a head that reads on has come to `stream_ns`: `now` when it had been there before.
    pub fn when_at(&self, stream_ns: u64, now: Time) -> Time {
        let s = self.streaming.expect("only a head that reads on comes to a place by itself");
        debug_assert!(stream_ns <= s.until_ns);
        if stream_ns <= s.from_ns { now } else { (s.since + (stream_ns - s.from_ns)).max(now) }
    }

    /// A write changed the range: what is buffered of it is stale.
    pub fn overwrite(&mut self, start_ns: u64, end_ns: u64) {
        debug_assert!(!self.is_streaming());
        if start_ns < self.end_ns && self.first_ns < end_ns {
            *self = ReadAhead::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_stops_the_head_until_there_is_room() {
        let mut buffer = ReadAhead::default();
        buffer.read_on(Time(100), 1_000, 1_500, 2_000);
        assert!(buffer.holds(1_000, 1_500, Time(100)));
        assert!(!buffer.holds(1_000, 1_501, Time(100)));
        assert_eq!(buffer.when_at(1_800, Time(100)), Time(400));
        assert_eq!(buffer.end_ns(Time(10_000)), 2_000);
        let waited_ns = buffer.make_room(Time(10_000), 1_600, 3_000, |place| {
            assert_eq!(place, 2_000);
            70
        });
        assert_eq!(waited_ns, 70);
        assert_eq!(buffer.when_at(2_000, Time(10_000)), Time(10_000));
        assert_eq!(buffer.when_at(2_100, Time(10_000)), Time(10_170));
        assert!(!buffer.holds(1_500, 1_700, Time(10_000)));
    }

    #[test]
    fn a_write_makes_what_it_touches_stale() {
        let mut buffer = ReadAhead::default();
        buffer.read_on(Time(0), 1_000, 2_000, 2_000);
        buffer.stop(Time(5));
        buffer.overwrite(2_000, 2_100);
        assert!(buffer.holds(1_000, 2_000, Time(6)));
        buffer.overwrite(1_999, 2_100);
        assert!(!buffer.holds(1_000, 1_100, Time(6)));
    }
}
