//! Counters of a card's work.

/// Operations of the flash since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaCounters {
    /// Read commands.
    pub reads: u64,
    /// Program commands.
    pub programs: u64,
    /// Erase commands.
    pub erases: u64,
}

impl MediaCounters {
    /// All together.
    pub fn total(&self) -> u64 {
        self.reads + self.programs + self.erases
    }
}
