//! The reasons why a configuration of flash management can't work.

/// The reason why a configuration can't work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum FtlError {
    /// The stripe width does not divide the number of dies.
    #[error("stripe width {width} must divide the {dies} dies and be 1 to 64")]
    StripeWidth { width: u32, dies: u32 },
    /// Parity leaves no units for data.
    #[error("{parity_units} parity units in a stripe of {width} leave no data (0 or 1 are supported)")]
    Parity { parity_units: u32, width: u32 },
    /// A program unit is too large.
    #[error("a program unit of {sectors} sectors exceeds 64 (256 KiB)")]
    UnitSize { sectors: u32 },
    /// The sectors need addresses of more than 4 bytes.
    #[error("{sectors} sectors exceed what a 4-byte map entry can address; use a smaller scale")]
    TooLarge { sectors: u64 },
    /// The user capacity leaves garbage collection no spare space.
    #[error("{user_sectors} user sectors leave no spare: {usable_sectors} can be used beside open bands and reserve")]
    NoSpare { user_sectors: u64, usable_sectors: u64 },
    /// The bounds of garbage collection contradict each other.
    #[error("garbage collection must keep at least one free band, and stop at more free bands than it starts at")]
    GcBounds,
    /// A band with one bit a cell would have no row.
    #[error("{bits_per_cell} bits per cell leave none of {rows} rows to an SLC band")]
    SlcCache { bits_per_cell: u32, rows: u32 },
    /// Handles where they can't be.
    #[error(
        "{handles} handles: 2 to 16 are possible, with separate streams, without an SLC cache and without large mapping units"
    )]
    Handles { handles: u32 },
    /// Zones where they can't be.
    #[error(
        "zones of which {max_open} may be open and {max_active} active: 1 to 128 are possible, no more open than active, without handles, an SLC cache, a part of the map and large mapping units"
    )]
    Zones { max_open: u32, max_active: u32 },
    /// Fewer good bands than zones need.
    #[error("{zones} zones need {needed} bands without bad blocks and one more, and there are {bands}")]
    ZonesBeyondBands { zones: u32, needed: u32, bands: u32 },
    /// Compression where it can't be.
    #[error(
        "granules of {granule_bytes} bytes: 64 to 2,048 are possible that divide a sector, with mapping units of a sector and a whole map, without handles and without an SLC cache"
    )]
    Compression { granule_bytes: u32 },
    /// Garbage collection could run out of space.
    #[error("reserve of {reserve_bands} bands: garbage collection needs at least 2")]
    Reserve { reserve_bands: u32 },
}
