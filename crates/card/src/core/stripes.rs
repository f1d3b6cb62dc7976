//! Stripes and bands that the dies work on.

use ftl::{BandId, StreamId};

/// A stripe being programmed.
#[derive(Clone, Copy, Debug)]
pub struct StripeInFlight {
    pub stream: StreamId,
    /// The number of the handle whose stream it is; 0: none.
    pub handle: u8,
    pub sequence: u64,
    pub units_left: u32,
    /// Sectors of the host: room in the buffer that comes free with it.
    pub host_sectors: u32,
    /// Relocated sectors that are on flash with it.
    pub relocated_sectors: u32,
}

/// A band being erased.
#[derive(Clone, Debug)]
pub struct Erasing {
    pub band: BandId,
    /// Dies whose blocks are being erased.
    pub dies: Vec<u32>,
    /// How many of them are not done.
    pub left: u32,
    /// Dies whose block can't be used again.
    pub failed: Vec<u32>,
}
