//! What a disk and an array of disks are.

/// RAID level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaidLevel {
    /// Striping.
    Raid0,
    /// All disks hold the same.
    Raid1,
    /// Stripes over mirrored pairs.
    Raid10,
    /// Rotating parity.
    Raid5,
}

/// One disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskConfig {
    /// Capacity of one disk.
    pub capacity_bytes: u64,
    /// Spindle speed, turns a minute.
    pub rpm: u32,
    /// Seek to the next track.
    pub track_seek_ns: u64,
    /// Seek across a third of the stroke (what data sheets call average), for reads.
    pub average_seek_ns: u64,
    /// Seek across the whole stroke.
    pub full_seek_ns: u64,
    /// Head settling added to a seek before a write.
    pub write_settle_ns: u64,
    /// Sustained transfer at the outer edge, bytes a second.
    pub outer_bytes_per_s: u64,
    /// Sustained transfer at the inner edge, bytes a second.
    pub inner_bytes_per_s: u64,
    /// The disk's interface, bytes a second.
    pub interface_bytes_per_s: u64,
    /// Firmware time for each command.
    pub command_ns: u64,
    /// Commands that the disk may reorder (shortest positioning time first); 1: first come, first served.
    pub queue_depth: u32,
    /// The disk's own write cache, bytes; 0: off.
    pub write_cache_bytes: u64,
}

/// An array of equal disks behind one controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrayConfig {
    /// Its disks.
    pub disk: DiskConfig,
    /// How many.
    pub disks: u32,
    /// How they are joined.
    pub level: RaidLevel,
    /// Bytes on one disk before the next one's turn.
    pub chunk_bytes: u64,
    /// The controller's battery-backed write cache, bytes; 0: none. A write in it is durable.
    pub controller_cache_bytes: u64,
    /// Controller time for each request.
    pub controller_ns: u64,
}
