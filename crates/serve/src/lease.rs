//! The right to answer clients of a card that several controllers share.

use std::sync::Arc;
use std::time::Duration;

/// The time after which a lease that has run out is asked again: the next renewal is mostly on its way.
pub(crate) const ASKED_AGAIN: Duration = Duration::from_millis(2);

/// A right that runs out by itself unless it is renewed. It is asked for each answer, so it has to be cheap.
pub trait Lease: Send + Sync {
    /// Clients may be answered now. Asked when an answer is known, just before it is sent; answers wait while it says no.
    fn may_answer(&self) -> bool;
}

/// The leases that the unsent answers of a connection need.
#[derive(Default)]
pub(crate) struct Gate {
    /// The lease of answers from now on.
    now: Option<Arc<dyn Lease>>,
    /// The leases of answers that were made before and are not sent.
    before: Vec<Arc<dyn Lease>>,
}

impl Gate {
    /// Another lease holds from now on. The answers that are not sent need those that they were made under.
    pub fn change(&mut self, lease: Option<Arc<dyn Lease>>, has_unsent: bool) {
        let before = std::mem::replace(&mut self.now, lease);
        self.before.extend(before.filter(|_| has_unsent));
        if !has_unsent {
            self.before.clear();
        }
    }

    pub fn may_answer(&self) -> bool {
        self.now.iter().chain(&self.before).all(|lease| lease.may_answer())
    }

    /// All answers were sent. `true` if those from now on need no lease.
    pub fn all_sent(&mut self) -> bool {
        self.before.clear();
        self.now.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Switch(AtomicBool);

    impl Lease for Switch {
        fn may_answer(&self) -> bool {
            self.0.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn answers_need_the_lease_that_they_were_made_under() {
        let switch = |on| Arc::new(Switch(AtomicBool::new(on)));
        let (first, second) = (switch(true), switch(false));
        let mut gate = Gate::default();
        assert!(gate.may_answer());
        gate.change(Some(Arc::clone(&first) as _), false);
        assert!(gate.may_answer() && !gate.all_sent());
        // The card goes, and answers of the time before are not sent.
        first.0.store(false, Ordering::SeqCst);
        gate.change(None, true);
        assert!(!gate.may_answer());
        gate.change(Some(Arc::clone(&second) as _), true);
        first.0.store(true, Ordering::SeqCst);
        assert!(!gate.may_answer());
        second.0.store(true, Ordering::SeqCst);
        assert!(gate.may_answer() && !gate.all_sent());
        first.0.store(false, Ordering::SeqCst);
        assert!(gate.may_answer(), "what needed the first lease was sent");
        gate.change(None, false);
        assert!(gate.all_sent());
    }
}
