//! Configurations that can't be a disk, an array or a volume.

use crate::span::BLOCK_BYTES;
use crate::{ArrayConfig, Limit, RaidLevel, VolumeConfig};

/// Disks of an array at most.
pub const MAX_DISKS: u32 = 1024;
/// Commands of a disk's queue at most.
pub const MAX_QUEUE_DEPTH: u32 = 1024;
/// Requests outstanding at an array at most.
pub const MAX_REQUESTS: u32 = 1 << 20;

/// An error of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum DiskError {
    /// Fewer disks than the level needs.
    #[error("{level} needs at least {needed} disks, not {disks}")]
    TooFewDisks { level: RaidLevel, needed: u32, disks: u32 },
    /// RAID 10 with an odd number of disks.
    #[error("RAID 10 is made of mirrored pairs: {disks} disks leave one alone")]
    OddDisks { disks: u32 },
    /// A setting that must be more than 0.
    #[error("{setting} must be more than 0")]
    Zero { setting: &'static str },
    /// A setting below its limit.
    #[error("{setting} is {value}, the least is {limit}")]
    TooSmall { setting: &'static str, value: u64, limit: u64 },
    /// A setting beyond its limit.
    #[error("{setting} is {value}, the most is {limit}")]
    TooLarge { setting: &'static str, value: u64, limit: u64 },
    /// A size that is no multiple of 512 bytes.
    #[error("{setting} is {bytes} bytes, which is no multiple of 512")]
    Unaligned { setting: &'static str, bytes: u64 },
    /// Seek times that don't rise with the distance.
    #[error("seek times must rise: track {track_ns} ns, average {average_ns} ns, full stroke {full_ns} ns")]
    SeekOrder {
        /// Seek to the next track.
        track_ns: u64,
        /// Seek across a third of the stroke.
        average_ns: u64,
        /// Seek across the whole stroke.
        full_ns: u64,
    },
    /// Inner tracks that transfer faster than outer ones.
    #[error(
        "the inner edge ({inner_bytes_per_s} bytes/s) can't be faster than the outer ({outer_bytes_per_s} bytes/s)"
    )]
    FasterInside {
        /// Rate at the inner edge.
        inner_bytes_per_s: u64,
        /// Rate at the outer edge.
        outer_bytes_per_s: u64,
    },
    /// Tracks shorter than a block, or longer than a block a nanosecond.
    #[error("a track of {rate_bytes_per_s} bytes/s at {rpm} turns a minute holds no sensible number of blocks")]
    TrackSize {
        /// The sustained rate.
        rate_bytes_per_s: u64,
        /// The spindle speed.
        rpm: u32,
    },
    /// Capacity and rates that make reading the whole disk take more than a century.
    #[error("{capacity_bytes} bytes at {inner_bytes_per_s} bytes/s would take more than a century to read")]
    TooSlow {
        /// Capacity of the disk.
        capacity_bytes: u64,
        /// Rate at the inner edge.
        inner_bytes_per_s: u64,
    },
    /// Chunks that are larger than a disk.
    #[error("a chunk of {chunk_bytes} bytes does not fit a disk of {disk_bytes} bytes")]
    ChunkTooLarge { chunk_bytes: u64, disk_bytes: u64 },
    /// A burst of a volume that is slower than the rate that lasts.
    #[error("{setting}: a burst of {burst} a second is below the {sustained} that last")]
    SlowBurst { setting: &'static str, sustained: u64, burst: u64 },
}

/// Seeks, settling and firmware times at most: a second.
const MAX_STEP_NS: u64 = 1_000_000_000;
/// A disk's capacity at most, 1 PB.
const MAX_DISK_BYTES: u64 = 1_000_000_000_000_000;
/// A transfer rate at most, 1 TB/s.
const MAX_BYTES_PER_S: u64 = 1_000_000_000_000;

/// Checks what does not depend on the platter's layout.
pub(crate) fn check(config: &ArrayConfig, max_requests: u32) -> Result<(), DiskError> {
    let disk = &config.disk;
    // (name, value, least, most)
    let ranges = [
        ("capacity_bytes", disk.capacity_bytes, 1, MAX_DISK_BYTES),
        // Slower than a turn a second is no disk.
        ("rpm", u64::from(disk.rpm), 60, 1_000_000),
        ("track_seek_ns", disk.track_seek_ns, 0, MAX_STEP_NS),
        ("average_seek_ns", disk.average_seek_ns, 0, MAX_STEP_NS),
        ("full_seek_ns", disk.full_seek_ns, 0, MAX_STEP_NS),
        ("write_settle_ns", disk.write_settle_ns, 0, MAX_STEP_NS),
        ("outer_bytes_per_s", disk.outer_bytes_per_s, 1, MAX_BYTES_PER_S),
        ("inner_bytes_per_s", disk.inner_bytes_per_s, 1, MAX_BYTES_PER_S),
        ("interface_bytes_per_s", disk.interface_bytes_per_s, 1, MAX_BYTES_PER_S),
        ("command_ns", disk.command_ns, 0, MAX_STEP_NS),
        ("queue_depth", u64::from(disk.queue_depth), 1, u64::from(MAX_QUEUE_DEPTH)),
        ("disks", u64::from(config.disks), 1, u64::from(MAX_DISKS)),
        ("chunk_bytes", config.chunk_bytes, 1, MAX_DISK_BYTES),
        ("controller_ns", config.controller_ns, 0, MAX_STEP_NS),
        ("max_requests", u64::from(max_requests), 1, u64::from(MAX_REQUESTS)),
    ];
    check_ranges(&ranges)?;
    for (setting, bytes) in [("capacity_bytes", disk.capacity_bytes), ("chunk_bytes", config.chunk_bytes)] {
        if !bytes.is_multiple_of(BLOCK_BYTES) {
            return Err(DiskError::Unaligned { setting, bytes });
        }
    }
    if disk.track_seek_ns > disk.average_seek_ns || disk.average_seek_ns > disk.full_seek_ns {
        return Err(DiskError::SeekOrder {
            track_ns: disk.track_seek_ns,
            average_ns: disk.average_seek_ns,
            full_ns: disk.full_seek_ns,
        });
    }
    if disk.inner_bytes_per_s > disk.outer_bytes_per_s {
        return Err(DiskError::FasterInside {
            inner_bytes_per_s: disk.inner_bytes_per_s,
            outer_bytes_per_s: disk.outer_bytes_per_s,
        });
    }
    let needed = match config.level {
        RaidLevel::Raid0 => 1,
        RaidLevel::Raid1 | RaidLevel::Raid10 => 2,
        RaidLevel::Raid5 => 3,
    };
    if config.disks < needed {
        return Err(DiskError::TooFewDisks { level: config.level, needed, disks: config.disks });
    }
    if config.level == RaidLevel::Raid10 && !config.disks.is_multiple_of(2) {
        return Err(DiskError::OddDisks { disks: config.disks });
    }
    if config.chunk_bytes > disk.capacity_bytes {
        return Err(DiskError::ChunkTooLarge { chunk_bytes: config.chunk_bytes, disk_bytes: disk.capacity_bytes });
    }
    Ok(())
}

/// Most requests a second of a volume, and most seconds of a burst.
const MAX_IOPS: u64 = 1_000_000_000;
const MAX_BURST_S: u64 = 1_000_000;

/// Checks a volume.
pub(crate) fn check_volume(config: &VolumeConfig, max_requests: u32) -> Result<(), DiskError> {
    check_ranges(&[
        ("capacity_bytes", config.capacity_bytes, 1, MAX_DISK_BYTES),
        ("iops", config.iops.sustained, 1, MAX_IOPS),
        ("burst_iops", config.iops.burst, 1, MAX_IOPS),
        ("bytes_per_s", config.bytes_per_s.sustained, 1, MAX_BYTES_PER_S),
        ("burst_bytes_per_s", config.bytes_per_s.burst, 1, MAX_BYTES_PER_S),
        ("io_bytes", config.io_bytes, 1, MAX_DISK_BYTES),
        ("read_ns", config.read_ns, 0, MAX_STEP_NS),
        ("write_ns", config.write_ns, 0, MAX_STEP_NS),
        ("spread_ns", config.spread_ns, 0, MAX_STEP_NS),
        ("burst_s", config.burst_s, 0, MAX_BURST_S),
        ("max_requests", u64::from(max_requests), 1, u64::from(MAX_REQUESTS)),
    ])?;
    for (setting, Limit { sustained, burst }) in [("iops", config.iops), ("bytes_per_s", config.bytes_per_s)] {
        if burst < sustained {
            return Err(DiskError::SlowBurst { setting, sustained, burst });
        }
    }
    Ok(())
}

/// Checks settings: each with its value, the least and the most.
fn check_ranges(ranges: &[(&'static str, u64, u64, u64)]) -> Result<(), DiskError> {
    for &(setting, value, least, most) in ranges {
        if value < least {
            return Err(if least == 1 {
                DiskError::Zero { setting }
            } else {
                DiskError::TooSmall { setting, value, limit: least }
            });
        }
        if value > most {
            return Err(DiskError::TooLarge { setting, value, limit: most });
        }
    }
    Ok(())
}
