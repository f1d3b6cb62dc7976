//! The checkpoint that is being written.

/// How far the checkpoint under way is.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckpointInFlight {
    stripes: u32,
    version: u64,
}

impl CheckpointInFlight {
    /// A checkpoint begins, as of a version.
    pub fn begin(&mut self, version: u64) {
        self.version = version;
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
