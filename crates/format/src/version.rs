//! The versions of the format.

/// The version of the format that is written, and the highest that is read.
pub const VERSION: u16 = 1;
/// The oldest version of the format that is read.
pub const OLDEST_VERSION: u16 = 1;
