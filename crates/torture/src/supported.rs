//! Which faults the card under test can be given.

use crate::CardUnderTest;
use sim::{Activity, FaultKind};

/// Faults that [`CardUnderTest`] can't be given yet.
pub const NOT_SUPPORTED_YET: &[FaultKind] = &[];

/// What the card does not do yet.
pub const NOT_DONE_YET: &[Activity] = &[];

impl CardUnderTest {
    /// Whether this fault can be given to some kind of card.
    pub fn supported(kind: FaultKind) -> bool {
        !NOT_SUPPORTED_YET.contains(&kind)
    }

    /// All faults that can be given.
    pub fn supported_kinds() -> Vec<FaultKind> {
        FaultKind::all().into_iter().filter(|&kind| CardUnderTest::supported(kind)).collect()
    }
}
