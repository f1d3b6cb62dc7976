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
