//! Counters of a card's work.

/// Operations of the flash since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaCounters {
    /// Read commands that dies have begun.
    pub reads: u64,
    /// Program commands that dies have begun.
    pub programs: u64,
    /// Erase commands that dies have begun.
    pub erases: u64,
}

impl MediaCounters {
    /// The sum of all commands.
    pub fn total(&self) -> u64 {
        self.reads + self.programs + self.erases
    }
}
