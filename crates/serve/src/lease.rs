//! The right to answer clients of a card that several controllers share.

use std::time::Duration;

/// The time after which a lease that has run out is asked again: the next renewal is mostly on its way.
pub(crate) const ASKED_AGAIN: Duration = Duration::from_millis(2);

/// A right that runs out by itself unless it is renewed. It is asked for each answer, so it has to be cheap.
pub trait Lease: Send + Sync {
    /// Clients may be answered now. Asked when an answer is known, just before it is sent; answers wait while it says no.
    fn may_answer(&self) -> bool;
}
