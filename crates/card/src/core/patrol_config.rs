//! When a card looks for what fades: a setting of every card, which only cards with contents obey.

/// When a card looks for what fades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatrolConfig {
    /// All is read once in so long.
    pub interval_ns: u64,
    /// A band is read when one of its blocks was read so often.
    pub block_reads: u32,
}
