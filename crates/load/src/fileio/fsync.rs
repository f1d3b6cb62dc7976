//! Flushes that sysbench issues periodically.

/// `fsync_every`: a flush when so many requests were asked for, if any was a write since the last flush.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeriodicFsync {
    every: u32,
    /// Requests until the next multiple of `every`.
    left: u32,
    dirty: bool,
}

impl PeriodicFsync {
    pub fn new(every: u32) -> PeriodicFsync {
        PeriodicFsync { every, left: every, dirty: false }
    }

    #[inline]
    pub fn is_due(&mut self) -> bool {
        if self.left > 0 {
            return false;
        }
        self.left = self.every;
        std::mem::take(&mut self.dirty)
    }

    #[inline]
    pub fn count(&mut self, write: bool) {
        self.left -= 1;
        self.dirty |= write;
    }
}
