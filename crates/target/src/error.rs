//! Errors of a run.

/// An error that keeps a run from being done.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RunError {
    /// The load does not fit the device.
    #[error("the load touches {footprint_bytes} bytes, but the device has {capacity_bytes}")]
    Footprint { footprint_bytes: u64, capacity_bytes: u64 },
    /// The share of the device in use is no share.
    #[error("fill {fill} is not between 0 and 1 (100 %)")]
    Fill { fill: f64 },
    /// A host that places its writes by what they do not have.
    #[error("placement.by: the load has no {what} to place by")]
    NothingToPlace { what: &'static str },
    /// More kinds of writes than handles.
    #[error("placement.handles: the load has {regions} regions to place, and the card {handles} handles")]
    TooFewHandles { regions: u32, handles: u32 },
    /// A load that writes where it likes.
    #[error(
        "zones are written in order and reset: take seqwr, seqrewr, seqrw, or a load that only reads; a card without [zones] takes all loads"
    )]
    ZonesInOrder,
    /// Writes of a part of a sector.
    #[error("zones are written in whole sectors: the blocks, and what shifts them, must be multiples of 4,096 bytes")]
    ZoneBlocks,
    /// A block that no zone has room for.
    #[error("blocks of {block_bytes} bytes are larger than the {zone_bytes} bytes that a zone is written with")]
    ZoneBelowBlock { block_bytes: u32, zone_bytes: u64 },
    /// A region that begins where no zone does.
    #[error(
        "the load begins to write at byte {at}, within a zone: its regions must be multiples of {zone_bytes} bytes"
    )]
    ZoneRegions { at: u64, zone_bytes: u64 },
    /// More zones than may be active.
    #[error("the load writes {streams} zones at once, and {max_active} may be active (zones.max_active)")]
    ZoneStreams { streams: u32, max_active: u32 },
    /// Nothing to measure.
    #[error("nothing to measure: {what}")]
    NoMeasure { what: &'static str },
    /// The card can't be built.
    #[error(transparent)]
    Ftl(#[from] ftl::FtlError),
    /// The disks can't be built.
    #[error(transparent)]
    Disk(#[from] disk::DiskError),
    /// The load can't be built.
    #[error(transparent)]
    Load(#[from] load::LoadError),
    /// The trace can't be read on.
    #[error(transparent)]
    Trace(#[from] load::trace::TraceError),
    /// The card wore out.
    #[error(transparent)]
    ReadOnly(#[from] ftl::ReadOnly),
    /// The person asked to stop before anything was measured.
    #[error("stopped before anything was measured")]
    Cancelled,
}
