//! Counts of the reads of files, for whoever wants to know the cost of a start.

use crate::disks::IoKind;
use media::ReadCount;
use std::time::Instant;

/// Reads since they were last asked for.
#[derive(Debug)]
pub(crate) struct Reads {
    requests: u64,
    bytes: u64,
    since: Instant,
}

impl Default for Reads {
    fn default() -> Reads {
        Reads { requests: 0, bytes: 0, since: Instant::now() }
    }
}

impl Reads {
    /// Counts a request, if it is a read.
    pub fn count(&mut self, kind: IoKind, bytes: usize) {
        if kind == IoKind::Read {
            self.requests += 1;
            self.bytes += bytes as u64;
        }
    }

    /// Hands the counts over, and begins anew.
    pub fn take(&mut self) -> ReadCount {
        let Reads { requests, bytes, since } = std::mem::take(self);
        ReadCount { requests, bytes, ns: since.elapsed().as_nanos() as u64 }
    }
}
