//! Positions of blocks on the platter.
//!
//! Blocks fill the disk from the outer edge inwards, in zones of equally long tracks. The place of a block is its
//! *stream time*: when the head would pass it if it had read the disk from its first block on without a break. One
//! number then answers three questions:
//!
//! - its angle: stream time modulo the time of a turn;
//! - how long it takes to transfer a range: the difference of stream times;
//! - how far a head that reads ahead has come: the stream time at which it started plus the time since.
//!
//! From the end of a track to the start of the next one the head needs the time of a track switch; tracks are skewed by
//! just that much, so that streaming goes on without losing a turn ("track skewing" in Ruemmler and Wilkes 1994). The
//! skew covers the settling of a write. The rates of a configuration are sustained ones, so a track holds what is
//! transferred at that rate in a turn and a switch.
//!
//! Invariants: stream time grows with the LBA, by at least 1 ns a block; [`Geometry::track_at`] inverts [`Geometry::at`].

use crate::DiskConfig;
use crate::error::DiskError;
use crate::span::BLOCK_BYTES;

/// Zones of a disk. Disks of the 2000s have 15 to 30; with the rate stepping down evenly the number hardly matters.
const ZONES: u64 = 24;

/// Time to read a whole disk at most, 146 years: stream times and sums of them stay below 2^64 ns.
const MAX_STREAM_NS: u128 = 1 << 62;

/// A track, counted from the outer edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Track(pub u64);

impl Track {
    pub fn distance(self, other: Track) -> u64 {
        self.0.abs_diff(other.0)
    }
}

/// A block's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub track: Track,
    /// When the head is at the block's start, in stream time.
    pub stream_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Zone {
    first_lba: u64,
    first_track: u64,
    blocks_per_track: u64,
}

/// Zones and tracks of the platter.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    blocks: u64,
    turn_ns: u64,
    skew_ns: u64,
    zones: Vec<Zone>,
}

impl Geometry {
    pub fn new(config: &DiskConfig) -> Result<Geometry, DiskError> {
        let blocks = config.capacity_bytes / BLOCK_BYTES;
        let turn_ns = 60_000_000_000 / u64::from(config.rpm);
        let skew_ns = config.track_seek_ns + config.write_settle_ns;
        let pitch_ns = turn_ns + skew_ns;
        let fall_bytes_per_s = config.outer_bytes_per_s - config.inner_bytes_per_s;
        let mut per_track = [0; ZONES as usize];
        for (zone, blocks_per_track) in per_track.iter_mut().enumerate() {
            // The first zone has the outer rate, the last one the inner rate.
            let fall = u128::from(fall_bytes_per_s) * zone as u128 / u128::from(ZONES - 1);
            let rate_bytes_per_s = u128::from(config.outer_bytes_per_s) - fall;
            let unit = u128::from(BLOCK_BYTES) * 1_000_000_000;
            let track = (rate_bytes_per_s * u128::from(pitch_ns) + unit / 2) / unit;
            if track == 0 || track > u128::from(turn_ns) {
                return Err(DiskError::TrackSize { rate_bytes_per_s: rate_bytes_per_s as u64, rpm: config.rpm });
            }
            *blocks_per_track = track as u64;
        }
        let tracks_per_zone = blocks.div_ceil(per_track.iter().sum());
        if u128::from(tracks_per_zone) * u128::from(ZONES) * u128::from(pitch_ns) > MAX_STREAM_NS {
            return Err(DiskError::TooSlow {
                capacity_bytes: config.capacity_bytes,
                inner_bytes_per_s: config.inner_bytes_per_s,
            });
        }
        let mut zones = Vec::with_capacity(per_track.len());
        let (mut first_lba, mut first_track) = (0, 0);
        for blocks_per_track in per_track {
            if first_lba >= blocks {
                break;
            }
            zones.push(Zone { first_lba, first_track, blocks_per_track });
            first_lba += tracks_per_zone * blocks_per_track;
            first_track += tracks_per_zone;
        }
        Ok(Geometry { blocks, turn_ns, skew_ns, zones })
    }

    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    pub fn turn_ns(&self) -> u64 {
        self.turn_ns
    }

    /// Time from a track's end to the next one's start.
    pub fn skew_ns(&self) -> u64 {
        self.skew_ns
    }

    /// Tracks from the first block to the last.
    pub fn stroke_tracks(&self) -> u64 {
        self.at(self.blocks - 1).track.0
    }

    /// Track and index within it, with the track's length.
    #[inline]
    fn split(&self, lba: u64) -> (Track, u64, u64) {
        debug_assert!(lba < self.blocks);
        let zone = &self.zones[self.zones.partition_point(|z| z.first_lba <= lba) - 1];
        let inside = lba - zone.first_lba;
        let track = zone.first_track + inside / zone.blocks_per_track;
        (Track(track), inside % zone.blocks_per_track, zone.blocks_per_track)
    }

    /// Returns the place where block `lba` starts.
    #[inline]
    pub fn at(&self, lba: u64) -> Place {
        let (track, index, length) = self.split(lba);
        Place { track, stream_ns: track.0 * (self.turn_ns + self.skew_ns) + index * self.turn_ns / length }
    }

    /// Returns the place where block `last_lba` ends.
    #[inline]
    pub fn after(&self, last_lba: u64) -> Place {
        let (track, index, length) = self.split(last_lba);
        Place { track, stream_ns: track.0 * (self.turn_ns + self.skew_ns) + (index + 1) * self.turn_ns / length }
    }

    /// The track of a head that has come to `stream_ns`.
    #[inline]
    pub fn track_at(&self, stream_ns: u64) -> Track {
        Track(stream_ns / (self.turn_ns + self.skew_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::disk_15k;

    #[test]
    fn stream_time_grows_with_the_lba_and_gives_the_track_back() {
        let geometry = Geometry::new(&disk_15k()).unwrap();
        let mut rng = device::Rng::stream(1, "geometry");
        for _ in 0..100_000 {
            let lba = rng.below(geometry.blocks() - 1);
            let (here, next) = (geometry.at(lba), geometry.at(lba + 1));
            assert!(here.stream_ns < geometry.after(lba).stream_ns);
            assert!(geometry.after(lba).stream_ns <= next.stream_ns);
            assert_eq!(geometry.track_at(here.stream_ns), here.track);
        }
    }

    #[test]
    fn the_edges_have_the_stated_rates() {
        let config = disk_15k();
        let geometry = Geometry::new(&config).unwrap();
        let million = 1_000_000;
        let rate = |from: u64| {
            let ns = geometry.at(from + million).stream_ns - geometry.at(from).stream_ns;
            (million * BLOCK_BYTES) as f64 / (ns as f64 / 1e9)
        };
        let (outer, inner) = (rate(0), rate(geometry.blocks() - 1 - million));
        assert!((outer / config.outer_bytes_per_s as f64 - 1.0).abs() < 0.002, "{outer}");
        assert!((inner / config.inner_bytes_per_s as f64 - 1.0).abs() < 0.002, "{inner}");
    }

    #[test]
    fn a_disk_of_one_block_has_a_place_for_it() {
        let geometry = Geometry::new(&DiskConfig { capacity_bytes: 512, ..disk_15k() }).unwrap();
        assert_eq!(geometry.stroke_tracks(), 0);
        assert_eq!(geometry.at(0), Place { track: Track(0), stream_ns: 0 });
    }
}
