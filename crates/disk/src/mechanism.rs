//! The arm and the platter: how long it takes to get to a place and to pass it.
//!
//! Time to position is seek plus rotation, and both are computed, not drawn: the arm is where the last command left
//! it, and the platter's angle is a function of virtual time, as in the most exact models of Ruemmler and Wilkes 1994.
//!
//! Invariants: the head serves one range at a time; a range that the head reads on to costs neither seek nor rotation.

use crate::DiskConfig;
use crate::error::DiskError;
use crate::geometry::{Geometry, Place, Track};
use crate::read_ahead::{READ_AHEAD_BLOCKS, ReadAhead};
use crate::seek::SeekCurve;
use crate::span::Span;
use device::Time;

/// Part of a turn that the firmware keeps in hand when it predicts whether a seek ends before its target comes by.
/// Assumed: a perfect prediction would make a queue of 32 worth 2.6 times a queue of 1, and real 15k disks gain about a
/// factor of 2.
const MARGIN_TURNS: f64 = 1.0 / 7.0;

/// The head's action on a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A range and where it lies on the platter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub span: Span,
    first: Place,
    last: Place,
}

/// The time to serve a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Motion {
    pub seek_ns: u64,
    pub rotation_ns: u64,
    pub transfer_ns: u64,
}

impl Motion {
    pub fn total_ns(&self) -> u64 {
        self.seek_ns + self.rotation_ns + self.transfer_ns
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Mechanism {
    geometry: Geometry,
    curve: SeekCurve,
    write_settle_ns: u64,
    /// Angle of the platter at time zero, as the time of the turn that has passed.
    phase_ns: u64,
    /// Track of the head when it does not read on.
    track: Track,
    buffer: ReadAhead,
}

impl Mechanism {
    /// At time zero the platter has turned for `phase_ns`.
    pub fn new(config: &DiskConfig, phase_ns: u64) -> Result<Mechanism, DiskError> {
        let geometry = Geometry::new(config)?;
        let curve =
            SeekCurve::new(config.track_seek_ns, config.average_seek_ns, config.full_seek_ns, geometry.stroke_tracks());
        Ok(Mechanism {
            phase_ns: phase_ns % geometry.turn_ns(),
            geometry,
            curve,
            write_settle_ns: config.write_settle_ns,
            track: Track::default(),
            buffer: ReadAhead::default(),
        })
    }

    pub fn turn_ns(&self) -> u64 {
        self.geometry.turn_ns()
    }

    pub fn target(&self, span: Span) -> Target {
        Target { span, first: self.geometry.at(span.start), last: self.geometry.after(span.end - 1) }
    }

    /// The track under the head.
    pub fn head(&self, now: Time) -> Track {
        if self.buffer.is_streaming() { self.geometry.track_at(self.buffer.end_ns(now)) } else { self.track }
    }

    /// Time from `now` until a place has come round.
    fn rotation_ns(&self, now: Time, stream_ns: u64) -> u64 {
        let turn_ns = self.geometry.turn_ns();
        let angle_ns = (now.0 + self.phase_ns) % turn_ns;
        (stream_ns % turn_ns + turn_ns - angle_ns) % turn_ns
    }

    fn reads_on_to(&self, now: Time, target: &Target) -> bool {
        self.buffer.reaches(target.first.stream_ns, self.geometry.skew_ns(), now)
    }

    /// Seek and rotation to a target from the track `head` at `now`.
    #[inline]
    pub fn positioning_ns(&self, now: Time, head: Track, target: &Target, access: Access) -> (u64, u64) {
        if access == Access::Read && self.reads_on_to(now, target) {
            return (0, 0);
        }
        let mut seek_ns = self.curve.ns(head.distance(target.first.track));
        if access == Access::Write && head != target.first.track {
            seek_ns += self.write_settle_ns;
        }
        (seek_ns, self.rotation_ns(now + seek_ns, target.first.stream_ns))
    }

    /// Seek and rotation as the firmware predicts them when it chooses between targets: it trusts a seek to end in
    /// time only with [`MARGIN_TURNS`] to spare.
    #[inline]
    pub fn predicted_ns(&self, now: Time, head: Track, target: &Target, access: Access) -> u64 {
        let (seek_ns, rotation_ns) = self.positioning_ns(now, head, target, access);
        let turn_ns = self.geometry.turn_ns();
        // The next track is where the skew expects the head: nothing to predict.
        let sure = head.distance(target.first.track) <= 1;
        let margin_ns = (turn_ns as f64 * MARGIN_TURNS) as u64;
        if sure || rotation_ns >= margin_ns { seek_ns + rotation_ns } else { seek_ns + rotation_ns + turn_ns }
    }

    /// True when a read needs no head: all of it is in the buffer.
    pub fn buffered(&mut self, now: Time, target: &Target) -> bool {
        let hit = self.buffer.holds(target.first.stream_ns, target.last.stream_ns, now);
        if hit {
            self.make_room(now, target.span);
        }
        hit
    }

    /// Lets a head that reads on go further, now that the host has taken `span`. Returns the wait for its place.
    fn make_room(&mut self, now: Time, span: Span) -> u64 {
        let mut buffer = self.buffer;
        let (first_ns, until_ns) = self.window(span);
        let waited_ns = buffer.make_room(now, first_ns, until_ns, |place| self.rotation_ns(now, place));
        self.buffer = buffer;
        waited_ns
    }

    /// Returns the bounds of the buffer around a range that was read, in stream time.
    fn window(&self, span: Span) -> (u64, u64) {
        let first = self.geometry.at(span.start.saturating_sub(READ_AHEAD_BLOCKS));
        let until = self.geometry.after((span.end + READ_AHEAD_BLOCKS).min(self.geometry.blocks()) - 1);
        (first.stream_ns, until.stream_ns)
    }

    /// Starts to serve a target; the head is taken for the time returned.
    pub fn start(&mut self, now: Time, target: &Target, access: Access) -> Motion {
        if access == Access::Read && self.reads_on_to(now, target) {
            let waited_ns = self.make_room(now, target.span);
            let end = self.buffer.when_at(target.last.stream_ns, now);
            let rotation_ns = waited_ns.min(end - now);
            return Motion { seek_ns: 0, rotation_ns, transfer_ns: end - now - rotation_ns };
        }
        let head = self.head(now);
        let (seek_ns, rotation_ns) = self.positioning_ns(now, head, target, access);
        self.buffer.stop(now);
        self.track = target.last.track;
        if access == Access::Write {
            self.buffer.overwrite(target.first.stream_ns, target.last.stream_ns);
        }
        Motion { seek_ns, rotation_ns, transfer_ns: target.last.stream_ns - target.first.stream_ns }
    }

    /// The head has passed the target. After a read it reads on.
    pub fn finish(&mut self, now: Time, target: &Target, access: Access) {
        if access == Access::Read && !self.buffer.is_streaming() {
            let (_, until_ns) = self.window(target.span);
            self.buffer.read_on(now, target.first.stream_ns, target.last.stream_ns, until_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::disk_15k;

    #[test]
    fn a_place_comes_round_once_a_turn() {
        let disk = Mechanism::new(&disk_15k(), 1_234_567).unwrap();
        let target = disk.target(Span::new(1_000_000, 1_000_016));
        let wait_ns = disk.rotation_ns(Time(999), target.first.stream_ns);
        assert!(wait_ns < 4_000_000);
        assert_eq!(disk.rotation_ns(Time(999) + wait_ns, target.first.stream_ns), 0);
        assert_eq!(disk.rotation_ns(Time(999) + wait_ns + 4_000_000, target.first.stream_ns), 0);
        assert_eq!(disk.rotation_ns(Time(999) + wait_ns + 1, target.first.stream_ns), 3_999_999);
    }

    #[test]
    fn writes_in_sequence_lose_no_turn_not_even_across_tracks() {
        let mut disk = Mechanism::new(&disk_15k(), 0).unwrap();
        let mut now = Time::ZERO;
        for i in 0..1_000u64 {
            let target = disk.target(Span::new(i * 128, (i + 1) * 128));
            let motion = disk.start(now, &target, Access::Write);
            if i > 0 {
                assert_eq!(motion.rotation_ns, 0, "write {i}");
            }
            now += motion.total_ns();
            disk.finish(now, &target, Access::Write);
        }
    }

    #[test]
    fn a_late_reader_finds_the_next_range_in_the_buffer() {
        let mut disk = Mechanism::new(&disk_15k(), 0).unwrap();
        let first = disk.target(Span::new(0, 128));
        let end = Time::ZERO + disk.start(Time::ZERO, &first, Access::Read).total_ns();
        disk.finish(end, &first, Access::Read);
        let next = disk.target(Span::new(128, 256));
        assert!(!disk.buffered(end, &next));
        assert!(disk.buffered(end + 5_000_000, &next));
        assert_eq!(disk.start(end + 5_000_000, &next, Access::Read), Motion::default());
    }
}
