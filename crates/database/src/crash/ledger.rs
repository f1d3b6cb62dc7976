//! The memory of a session, which outlives a loss of power because it lies in this process.

/// A session's memory, over all cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ledger {
    /// Number of the last transaction that was acknowledged; the first one's is 1.
    pub acknowledged: u64,
    /// Number and row of the one that was asked for and not answered.
    pub in_flight: Option<(u64, u32)>,
    /// Number of the last acknowledged transaction that changed each row; 0: none.
    pub rows: Vec<u64>,
}

impl Ledger {
    pub fn new(rows: u32) -> Ledger {
        Ledger { acknowledged: 0, in_flight: None, rows: vec![0; rows as usize] }
    }
}
