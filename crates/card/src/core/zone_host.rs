//! How a host uses a card that has zones.

use device::SECTOR_BYTES;
use ftl::ZoneLimits;

/// How a host writes to zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneWrites {
    /// At the write pointer: one write of a zone is under way at once.
    #[default]
    AtPointer,
    /// By appends: the device puts them in order.
    Appended,
}

/// The host's use of zones, and what appends cost the card.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ZoneHost {
    /// How it writes.
    pub writes: ZoneWrites,
    /// Time of the command processor that an append takes beyond a write.
    pub append_ns: u64,
    /// Share of a zone that the host leaves unwritten: it finishes the zone before.
    pub unwritten: f64,
}

impl ZoneHost {
    /// Sectors of a zone that the host writes, at least one.
    pub fn written_sectors(&self, capacity: u32) -> u32 {
        ((f64::from(capacity) * (1.0 - self.unwritten)).round() as u32).clamp(1, capacity)
    }

    /// Bytes of all zones that the host writes.
    pub fn bytes(&self, limits: ZoneLimits) -> u64 {
        u64::from(self.written_sectors(limits.capacity)) * u64::from(limits.zones) * SECTOR_BYTES
    }
}
