//! The checkpoint that is being written.

/// How far the checkpoint under way is.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckpointInFlight {
    stripes: u32,
    version: u64,
    /// The version that was the next one when the last checkpoint was begun, or the card was found by one.
    next_version: u64,
    /// The number of bands that had been opened since the checkpoint then.
    bands: u64,
}

impl CheckpointInFlight {
    /// A card was found by a checkpoint, and so many bands that were opened since.
    pub fn found(next_version: u64, bands: u64) -> CheckpointInFlight {
        CheckpointInFlight { next_version, bands, ..CheckpointInFlight::default() }
    }

    /// Nothing was written since the last checkpoint was begun, or since the card was found.
    pub fn knows_all(&self, next_version: u64, bands: u64) -> bool {
        (self.next_version, self.bands) == (next_version, bands)
    }

    /// A checkpoint begins, as of a version, before the next one.
    pub fn begin(&mut self, version: u64, next_version: u64) {
        self.version = version;
        (self.next_version, self.bands) = (next_version, 0);
    }

    /// The version as of which the last checkpoint was begun.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A stripe of it is programmed, or was.
    pub fn stripe_begins(&mut self) {
        self.stripes += 1;
    }

    pub fn stripe_ends(&mut self) {
        self.stripes -= 1;
    }

    /// Stripes of it are being programmed.
    pub fn is_in_flight(&self) -> bool {
        self.stripes > 0
    }
}
