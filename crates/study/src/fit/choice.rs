//! Choices that are no numbers.

/// The choices that are no numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choices {
    pub victim: &'static str,
    pub through_host: bool,
    pub suspends: bool,
    pub reads_first: bool,
    /// Number of programs for each erase of a block.
    pub pages_per_block: u32,
    /// Number of dies that share a bus.
    pub dies_per_channel: u32,
    /// Pages of each stripe that hold no data.
    pub parity_units: u32,
    /// True if writes stop while collection works.
    pub stops_the_world: bool,
}

pub(crate) const VICTIMS: [&str; 4] = ["greedy", "cost-benefit", "fifo", "random-d"];
