//! Settings of a disk, of an array of disks, and of a volume.
//!
//! The model derives the rest: tracks from rate and spindle speed, angles from the seed. The firmware's behaviour
//! beyond these settings (read-ahead of 1 MiB, caution in predicting seeks, age limit) stands as constants beside the
//! code.

/// Arrangement of data and redundancy over the disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RaidLevel {
    Raid0,
    /// All disks hold the same.
    Raid1,
    /// Stripes over mirrored pairs.
    Raid10,
    Raid5,
}

impl std::fmt::Display for RaidLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RaidLevel::Raid0 => "RAID 0",
            RaidLevel::Raid1 => "RAID 1",
            RaidLevel::Raid10 => "RAID 10",
            RaidLevel::Raid5 => "RAID 5",
        })
    }
}

/// Settings of one disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskConfig {
    /// Capacity of one disk, a multiple of 512 bytes.
    pub capacity_bytes: u64,
    /// Spindle speed, turns a minute.
    pub rpm: u32,
    /// Seek to the next track. Rises to the average and the full seek.
    pub track_seek_ns: u64,
    /// Seek across a third of the stroke (what data sheets call average), for reads.
    pub average_seek_ns: u64,
    /// Seek across the whole stroke.
    pub full_seek_ns: u64,
    /// Head settling added to a seek before a write. Track switches take the track seek and this.
    pub write_settle_ns: u64,
    /// Sustained transfer at the outer edge, bytes a second: over many tracks, the switches between them included.
    pub outer_bytes_per_s: u64,
    /// Sustained transfer at the inner edge, bytes a second.
    pub inner_bytes_per_s: u64,
    /// The disk's interface, bytes a second.
    pub interface_bytes_per_s: u64,
    /// Firmware time for each command. The firmware takes one command after another, while the arm works for others.
    pub command_ns: u64,
    /// Commands that the disk may reorder (shortest positioning time first, none overtaken for long); 1: first come,
    /// first served. More commands wait in front of the disk. At most 1024.
    pub queue_depth: u32,
    /// The disk's own write cache, bytes; 0: off. A write in it is volatile until a flush. A controller with a cache
    /// writes through it.
    pub write_cache_bytes: u64,
}

/// An array of equal disks behind one controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrayConfig {
    /// Settings of each disk.
    pub disk: DiskConfig,
    /// Number of disks, at most 1024.
    pub disks: u32,
    /// RAID level that joins them.
    pub level: RaidLevel,
    /// Bytes on one disk before the next one's turn. A disk's capacity counts in whole chunks, RAID 1 included.
    pub chunk_bytes: u64,
    /// The controller's battery-backed write cache, bytes; 0: none. A write in it is durable, and a larger one passes by.
    pub controller_cache_bytes: u64,
    /// Controller time for each request. The controller takes one request after another.
    pub controller_ns: u64,
}

/// A limit in units a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Rate that lasts.
    pub sustained: u64,
    /// Rate while there are credits; the sustained one where there are none to be had.
    pub burst: u64,
}

/// Settings of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeConfig {
    /// Bytes that the host can address, a multiple of 4 KiB.
    pub capacity_bytes: u64,
    /// Requests a second.
    pub iops: Limit,
    /// Bytes a second.
    pub bytes_per_s: Limit,
    /// A larger request counts as several.
    pub io_bytes: u64,
    /// Time of a read when nothing waits: the least of it.
    pub read_ns: u64,
    /// The same of a write.
    pub write_ns: u64,
    /// Mean of what comes to it by chance.
    pub spread_ns: u64,
    /// Seconds that a full bucket of credits lasts at the rate of the burst.
    pub burst_s: u64,
    /// The bucket is full in the beginning.
    pub full_at_start: bool,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Like a 146 GB SAS disk of 15,000 turns a minute, about 2007.
    pub(crate) fn disk_15k() -> DiskConfig {
        DiskConfig {
            capacity_bytes: 146_815_733_760,
            rpm: 15_000,
            track_seek_ns: 200_000,
            average_seek_ns: 3_500_000,
            full_seek_ns: 7_400_000,
            write_settle_ns: 400_000,
            outer_bytes_per_s: 125_000_000,
            inner_bytes_per_s: 73_000_000,
            interface_bytes_per_s: 300_000_000,
            command_ns: 50_000,
            queue_depth: 32,
            write_cache_bytes: 0,
        }
    }
}
