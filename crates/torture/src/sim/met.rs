//! Events among clients that share a card, and of its write-ahead log, counted.

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

/// How often each of these happened to the write-ahead log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogMet {
    /// Records that were written.
    pub records: u64,
    /// Power cuts after which one copy of a record was whole and the other was not.
    pub cut_between_copies: u64,
    /// Times that the ring was used again from its beginning.
    pub wraps: u64,
    /// Records that lost a module while they were written.
    pub moved_records: u64,
    /// Starts that found something in the log after a start that was cut.
    pub cut_replays: u64,
    /// Starts that found something in the log while a module was away, or not believed.
    pub degraded_replays: u64,
    /// Records that answered several flushes together.
    pub shared_records: u64,
    /// Flushes that padded a stripe, for the log had no room.
    pub flushes_without_room: u64,
    /// Trims and zeroes of sectors that a needed record held.
    pub trimmed: u64,
    /// Writes of sectors that a needed record held.
    pub overwritten: u64,
    /// Rebuilds whose end waited for a record with one copy.
    pub exposed_waits: u64,
}

impl LogMet {
    /// Adds what was met in another life.
    pub fn add(&mut self, other: &LogMet) {
        self.records += other.records;
        self.cut_between_copies += other.cut_between_copies;
        self.wraps += other.wraps;
        self.moved_records += other.moved_records;
        self.cut_replays += other.cut_replays;
        self.degraded_replays += other.degraded_replays;
        self.shared_records += other.shared_records;
        self.flushes_without_room += other.flushes_without_room;
        self.trimmed += other.trimmed;
        self.overwritten += other.overwritten;
        self.exposed_waits += other.exposed_waits;
    }

    /// All that lives are to meet, by name. Rebuilds are hardly ever quicker than stripes: situations have those that wait.
    pub fn counts(&self) -> [(&'static str, u64); 10] {
        [
            ("record of the log", self.records),
            ("cut between the copies of a record", self.cut_between_copies),
            ("log used again from its beginning", self.wraps),
            ("module gone while a record is written", self.moved_records),
            ("replay of the log cut", self.cut_replays),
            ("replay of the log without a module", self.degraded_replays),
            ("record for several flushes", self.shared_records),
            ("flush without room in the log", self.flushes_without_room),
            ("trim of a sector in the log", self.trimmed),
            ("write over a sector in the log", self.overwritten),
        ]
    }
}
