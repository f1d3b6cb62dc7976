//! A request, as a script holds it.

use crate::sim::Lba;
use serde::{Deserialize, Serialize};

/// A request of a host, without the contents that it writes: those are drawn when it is submitted.
///
/// A request of sectors has `count` of them from `lba` on. One of parts of sectors has `parts` of them from the part
/// `first` of `lba` on, in this sector and the following ones. With `fua` it is durable before it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Ask {
    /// Writes new versions of sectors.
    Write { lba: Lba, count: u32, fua: bool },
    /// Writes new versions of parts of sectors.
    WriteParts { lba: Lba, first: u32, parts: u32, fua: bool },
    /// Writes zeroes to parts of sectors, which keep their room if `keeps_room` is set.
    ZeroParts { lba: Lba, first: u32, parts: u32, keeps_room: bool, fua: bool },
    /// Declares parts of sectors unused: whole sectors of them read as zeroes, and the rest stays.
    TrimParts { lba: Lba, first: u32, parts: u32 },
    /// Declares sectors unused; from then on they read as zeroes.
    Trim { lba: Lba, count: u32 },
    /// Writes zeroes to sectors.
    WriteZeroes { lba: Lba, count: u32, fua: bool },
    /// Makes durable what was acknowledged before it was submitted.
    Flush,
    /// Reads consecutive sectors.
    Read { lba: Lba, count: u32 },
}
