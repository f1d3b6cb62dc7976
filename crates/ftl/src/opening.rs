//! The opening of a band, which all its sectors have in common.

/// An opening of a band: the fields that all sectors of the band have in common until its erase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// The number of the opening.
    pub sequence: u64,
    /// The cells are used with one bit each.
    pub slc: bool,
    /// The stream that the sectors came from: 0 host, 1 relocation, 2 checkpoint.
    pub stream: u8,
}
