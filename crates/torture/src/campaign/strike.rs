//! One fault that struck in a life.

use crate::sim::{Activity, FaultKind};
use serde::{Serialize, Serializer};
use std::fmt;

/// A fault that struck, and when. People and JSON are told the same sentence of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strike {
    /// Requests of the host submitted before.
    pub asks: u32,
    /// The fault that struck.
    pub kind: FaultKind,
    /// The activity of the card that it met.
    pub activity: Activity,
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {}: {} ({})", self.asks, self.kind, self.activity)
    }
}

impl Serialize for Strike {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
