//! The rate at which writes of the host are taken in, on modules that are drives.
//!
//! A buffer in front of drives fills at the speed of memory and empties at theirs, some megabytes with each sync; and on a
//! full card, bands come free one at a time. Taken in as fast as they come, writes cost nothing until the buffer is full or
//! no band is left, and then all wait together. So when half of the buffer is in use, or less space is free than collection
//! aims at, writes are admitted at the rate at which the modules have really taken them of late, which includes what
//! collection costs: at twice this rate at first, at the same rate half way to the end, and ever slower beyond. The host
//! then sees a steady rate in place of bursts and stalls.

use device::Time;

const NS_PER_S: u64 = 1_000_000_000;
/// The rate is measured over spans of this length: some syncs of a drive.
const SPAN_NS: u64 = 200_000_000;
/// Credit that is not used within this time is gone.
const MAX_CREDIT_NS: u64 = 5_000_000;
/// The rate is never below this part of what was measured.
const MIN_RATE_PART: u64 = 16;
/// This part of the buffer is taken in each second at least: a host that was slow shows little of the modules' speed, and
/// its next burst must not wait for seconds because of that.
const MIN_BUFFER_PART: u64 = 4;
/// Waiting writes are looked at again when so many sectors may be taken in, or this part of a small buffer.
const BATCH_SECTORS: u64 = 16;
const BATCH_BUFFER_PART: u64 = 16;

/// The room that the host's writes have, in sectors.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub buffer_free: u32,
    pub buffer: u32,
    /// Room on flash before the host has to wait for a band.
    pub space_free: u64,
    /// The room on flash that collection aims at.
    pub space_aim: u64,
}

impl Room {
    /// The scarcer of buffer and space, from 0 for none to [`FULL`] for more than anybody needs.
    fn part(&self) -> u64 {
        let of = |free: u64, enough: u64| if free >= enough { FULL } else { free * FULL / enough };
        of(self.buffer_free.into(), (self.buffer / 2).into()).min(of(self.space_free, self.space_aim))
    }
}

/// Room enough, as [`Room::part`] counts it.
const FULL: u64 = 1 << 16;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// Sectors a second that became durable, by the last spans; 0: not known yet.
    measured: u64,
    span_began: Time,
    /// Sectors that became durable in this span.
    drained: u64,
    /// Writes were held back in this span.
    held_back: bool,
    /// Waiting writes are looked at again when so many sectors may be taken in.
    batch: u64,
    /// Sectors that may be taken in, times nanoseconds of a second.
    credit: u64,
    credited: Time,
    /// Sectors a second that are taken in now; `None`: all that come.
    rate: Option<u64>,
}

impl Admission {
    /// Time has come to `now`, with so much room.
    pub fn tick(&mut self, now: Time, room: &Room) {
        let buffer = u64::from(room.buffer);
        self.rate = self.rate_for(room.part(), buffer / MIN_BUFFER_PART);
        self.batch = (buffer / BATCH_BUFFER_PART).clamp(1, BATCH_SECTORS);
        let elapsed = now.since_ns(self.credited).min(NS_PER_S);
        self.credited = now;
        match self.rate {
            None => self.credit = 0,
            Some(rate) => {
                let most = rate * MAX_CREDIT_NS + self.batch * NS_PER_S;
                self.credit = (self.credit + rate * elapsed).min(most);
            }
        }
    }

    fn rate_for(&self, part: u64, least: u64) -> Option<u64> {
        if self.measured == 0 || part == FULL {
            return None;
        }
        Some((self.measured * 2 * part / FULL).max(self.measured / MIN_RATE_PART).max(least).max(1))
    }

    /// One more sector may be taken in.
    pub fn allows(&self) -> bool {
        self.rate.is_none() || self.credit >= NS_PER_S
    }

    /// A sector was taken in.
    pub fn take(&mut self) {
        if self.rate.is_some() {
            self.credit = self.credit.saturating_sub(NS_PER_S);
        }
    }

    /// Writes wait although the buffer has room. Returns when to look at them again.
    pub fn hold_back(&mut self, now: Time) -> Time {
        self.held_back = true;
        let lacking = (self.batch * NS_PER_S).saturating_sub(self.credit);
        now + lacking.div_ceil(self.rate.unwrap_or(1).max(1)).max(1)
    }

    /// Sectors of the host became durable.
    pub fn drained(&mut self, now: Time, sectors: u32) {
        self.drained += u64::from(sectors);
        let elapsed = now.since_ns(self.span_began);
        if elapsed < SPAN_NS {
            return;
        }
        let rate = (u128::from(self.drained) * u128::from(NS_PER_S) / u128::from(elapsed)) as u64;
        // A host that asks for less than it could have shows only that much of the modules' speed.
        self.measured = match self.measured {
            0 => rate,
            measured if self.held_back => (measured * 3 + rate) / 4,
            measured => measured.max(rate),
        };
        self.drained = 0;
        self.held_back = false;
        self.span_began = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFER: u32 = 1000;

    /// An admission that has measured so many sectors a second.
    fn measured(per_s: u32) -> Admission {
        let mut admission = Admission::default();
        admission.drained(Time(NS_PER_S), per_s);
        admission
    }

    /// The sectors that are taken in during a second with so much of the buffer in use.
    fn taken_in(admission: &mut Admission, used: u32, space_free: u64) -> u64 {
        let room = Room { buffer_free: BUFFER - used, buffer: BUFFER, space_free, space_aim: 4_000 };
        let mut taken = 0;
        let mut now = Time(2 * NS_PER_S);
        admission.tick(now, &room);
        admission.credit = 0;
        let end = now + NS_PER_S;
        while now < end {
            while admission.allows() {
                admission.take();
                taken += 1;
                if admission.rate.is_none() {
                    return u64::MAX;
                }
            }
            now = admission.hold_back(now);
            admission.tick(now, &room);
        }
        taken
    }

    #[test]
    fn the_rate_falls_from_twice_what_was_measured_to_next_to_nothing() {
        let mut admission = measured(10_000);
        assert_eq!(taken_in(&mut admission, 500, 4_000), u64::MAX, "all that come");
        let cases = [(501, 4_000, 20_000), (750, 4_000, 10_000), (900, 4_000, 4_000), (1000, 4_000, 625)];
        for (used, space_free, expected) in cases.into_iter().chain([(0, 3_000, 15_000), (750, 1_000, 5_000)]) {
            let taken = taken_in(&mut admission, used, space_free);
            assert!(taken.abs_diff(expected) <= 60, "{used} in use, {space_free} free: {taken}");
        }
        assert_eq!(taken_in(&mut Admission::default(), 1000, 0), u64::MAX, "nothing was measured");
    }

    #[test]
    fn no_write_waits_for_seconds_after_a_host_that_wrote_next_to_nothing() {
        let mut admission = measured(1);
        let taken = taken_in(&mut admission, 1000, 0);
        assert!(taken.abs_diff(u64::from(BUFFER) / MIN_BUFFER_PART) <= 16, "{taken}");
    }

    #[test]
    fn writes_to_a_small_buffer_wait_for_a_part_of_it() {
        let mut admission = measured(1);
        let now = Time(2 * NS_PER_S);
        admission.tick(now, &Room { buffer_free: 16, buffer: 16, space_free: 0, space_aim: 4_000 });
        admission.credit = 0;
        // Four sectors a second are taken in, one by one.
        assert_eq!(admission.hold_back(now), now + NS_PER_S / 4);
    }

    #[test]
    fn a_slow_host_does_not_make_the_modules_slow_and_slow_modules_do() {
        let mut admission = measured(10_000);
        admission.drained(Time(2 * NS_PER_S), 100);
        assert_eq!(admission.measured, 10_000);
        admission.hold_back(Time(2 * NS_PER_S));
        admission.drained(Time(3 * NS_PER_S), 2_000);
        assert_eq!(admission.measured, 8_000);
    }
}
