//! Events among clients that share a card, counted.

use crate::sim::{Ask, PARTS};
use serde::Serialize;

/// How often each happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Met {
    /// Writes, zeroes and trims of parts of sectors.
    pub partial_writes: u64,
    /// Trims that were divided.
    pub split_trims: u64,
    /// Clients that went with requests in flight.
    pub disconnects: u64,
    /// Flushes that covered what another client had written.
    pub cross_flushes: u64,
}

impl Met {
    /// A request is submitted; trims are divided that are longer than so many sectors.
    pub fn count(&mut self, ask: &Ask, trim_sectors: u64) {
        let (parts, trimmed) = match *ask {
            Ask::WriteParts { .. } => (true, 0),
            Ask::ZeroParts { keeps_room: true, .. } => (true, 0),
            Ask::ZeroParts { first, parts, .. } | Ask::TrimParts { first, parts, .. } => {
                (true, ((first + parts) / PARTS).saturating_sub(first.div_ceil(PARTS)))
            }
            Ask::Trim { count, .. } | Ask::WriteZeroes { count, .. } => (false, count),
            Ask::Write { .. } | Ask::Flush | Ask::Read { .. } => (false, 0),
        };
        self.partial_writes += u64::from(parts);
        self.split_trims += u64::from(u64::from(trimmed) > trim_sectors);
    }

    /// Adds what was met in another life.
    pub fn add(&mut self, other: &Met) {
        self.partial_writes += other.partial_writes;
        self.split_trims += other.split_trims;
        self.disconnects += other.disconnects;
        self.cross_flushes += other.cross_flushes;
    }

    /// All of it, by name.
    pub fn counts(&self) -> [(&'static str, u64); 4] {
        [
            ("partial write", self.partial_writes),
            ("split trim", self.split_trims),
            ("disconnect with requests in flight", self.disconnects),
            ("flush across clients", self.cross_flushes),
        ]
    }
}
