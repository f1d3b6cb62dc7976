//! The sectors that a rebuild has to restore.

use crate::valid::ValidMap;

/// The sectors that a rebuild has to restore: those that were valid when the rebuild began. A sector that was not valid
/// then is not needed once everything written before is on flash. A sector that becomes stale later still has to be
/// restored: it may be the newest durable version if power goes.
#[derive(Clone, Debug)]
pub(crate) struct RebuildSnapshot {
    pub valid: ValidMap,
    /// Barriers of the host's stream and the relocation stream when the rebuild began.
    pub barriers: [u64; 2],
}
