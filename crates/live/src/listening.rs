//! The thread that hears a slow medium: one at a time, because waking two costs more than the work.
//!
//! Usually it is the card's own thread. A thread that waits for the replies of its clients anyway may hear the medium itself
//! ([`crate::Port::listen`]): then a read costs one wake-up, and not three. When none of its clients waits any longer, and
//! operations are still in flight, the card's own thread listens again.

use session::ClientId;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A thread that hears slow media for all of its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hearer(u64);

impl Hearer {
    /// A hearer that is none of those there are.
    #[allow(clippy::new_without_default, reason = "each is another one")]
    pub fn new() -> Hearer {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Hearer(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A slow medium, as a thread hears it: its descriptor is readable when the medium has done something.
#[derive(Debug)]
pub struct Ear {
    bell: OwnedFd,
    hears: AtomicBool,
    owes: AtomicBool,
}

impl Ear {
    /// The ear that hears this descriptor.
    pub fn new(bell: OwnedFd) -> Ear {
        Ear { bell, hears: AtomicBool::new(false), owes: AtomicBool::new(false) }
    }

    /// Whether the thread has to hear the medium now: one of its clients waits, and no other thread hears it.
    pub fn hears(&self) -> bool {
        self.hears.load(Ordering::Acquire)
    }

    /// Has the thread hear the medium from now on, or no longer.
    pub fn set_hears(&self, hears: bool) {
        self.hears.store(hears, Ordering::Release);
    }

    /// Whether requests were submitted that the medium was not handed since ([`crate::Port::submit_more`]).
    pub fn owes(&self) -> bool {
        self.owes.load(Ordering::Relaxed)
    }

    /// Requests were submitted that the medium was not handed, or it was handed all of them.
    pub(crate) fn set_owes(&self, owes: bool) {
        self.owes.store(owes, Ordering::Relaxed);
    }
}

impl AsFd for Ear {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

/// A hearer with clients of this card.
#[derive(Debug)]
struct Listener {
    hearer: Hearer,
    ear: Arc<Ear>,
    clients: usize,
    /// The clients that wait for replies.
    waiting: usize,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    hearer: Hearer,
    waits: bool,
}

/// See the module. It stands behind the engine's lock.
#[derive(Debug, Default)]
pub(crate) struct Listening {
    listeners: Vec<Listener>,
    members: BTreeMap<ClientId, Member>,
    heard_by: Option<Hearer>,
    /// The card's own thread sleeps, and the medium wakes it.
    by_card: bool,
}

impl Listening {
    /// A client is one of a hearer's from now on, and of no other. `None`: the medium has no descriptor.
    pub fn join(
        &mut self,
        client: ClientId,
        hearer: Hearer,
        bell: impl FnOnce() -> Option<OwnedFd>,
    ) -> Option<Arc<Ear>> {
        self.leave(client);
        let known = self.listeners.iter().position(|listener| listener.hearer == hearer);
        let at = match known {
            Some(at) => at,
            None => {
                let ear = Arc::new(Ear::new(bell()?));
                self.listeners.push(Listener { hearer, ear, clients: 0, waiting: 0 });
                self.listeners.len() - 1
            }
        };
        self.members.insert(client, Member { hearer, waits: false });
        let listener = &mut self.listeners[at];
        listener.clients += 1;
        Some(Arc::clone(&listener.ear))
    }

    /// A client hears nothing any more.
    pub fn leave(&mut self, client: ClientId) {
        self.client_waits(client, false);
        if let Some(member) = self.members.remove(&client) {
            self.listener(member.hearer).clients -= 1;
            self.listeners.retain(|listener| listener.clients > 0);
        }
    }

    /// A client waits for replies, and its hearer would hear the medium, or it does so no longer.
    pub fn client_waits(&mut self, client: ClientId, waits: bool) {
        let Some(member) = self.members.get_mut(&client) else { return };
        let hearer = member.hearer;
        let waited = std::mem::replace(&mut member.waits, waits);
        let listener = self.listener(hearer);
        listener.waiting = listener.waiting + usize::from(waits) - usize::from(waited);
        if waits && self.heard_by.is_none() {
            self.set_heard_by(Some(hearer));
        } else if self.heard_by == Some(hearer) && self.listener(hearer).waiting == 0 {
            self.set_heard_by(None);
        }
    }

    /// The thread of a client waits for something else. It hears the medium again when one of its clients waits anew.
    pub fn suspend(&mut self, client: ClientId) {
        let hearer = self.members.get(&client).map(|member| member.hearer);
        if hearer.is_some() && self.heard_by == hearer {
            self.set_heard_by(None);
        }
    }

    fn listener(&mut self, hearer: Hearer) -> &mut Listener {
        self.listeners.iter_mut().find(|listener| listener.hearer == hearer).expect("one of its clients is here")
    }

    fn set_heard_by(&mut self, hearer: Option<Hearer>) {
        self.heard_by = hearer;
        self.listeners.iter().for_each(|listener| listener.ear.set_hears(hearer == Some(listener.hearer)));
    }

    /// The card's own thread is awake.
    pub fn card_wakes(&mut self) {
        self.by_card = false;
    }

    /// The card's own thread goes to sleep; whether the medium has to wake it.
    pub fn card_sleeps(&mut self) -> bool {
        self.by_card = self.heard_by.is_none();
        self.by_card
    }

    /// Somebody hears the medium.
    pub fn is_heard(&self) -> bool {
        self.heard_by.is_some() || self.by_card
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, eventfd};
    use session::{Limits, Session};

    fn bell() -> Option<OwnedFd> {
        eventfd(0, EventfdFlags::CLOEXEC).ok()
    }

    fn clients<const N: usize>() -> [ClientId; N] {
        let mut session: Session<()> = Session::new(Limits::default());
        [(); N].map(|()| session.connect())
    }

    #[test]
    fn one_listens_at_a_time_and_the_card_when_no_client_does() {
        let [a, b] = clients();
        let mut listening = Listening::default();
        let mut ear = |client| listening.join(client, Hearer::new(), bell).unwrap();
        let (of_a, of_b) = (ear(a), ear(b));
        assert!(!listening.is_heard() && listening.card_sleeps() && listening.is_heard());
        listening.card_wakes();
        listening.client_waits(a, true);
        listening.client_waits(b, true);
        assert!(of_a.hears() && !of_b.hears() && !listening.card_sleeps() && listening.is_heard());
        listening.client_waits(b, false);
        assert!(of_a.hears() && listening.is_heard(), "the other one listens");
        listening.client_waits(a, false);
        assert!(!of_a.hears() && !of_b.hears() && !listening.is_heard());
    }

    #[test]
    fn a_thread_hears_while_any_of_its_clients_waits() {
        let [a, b, c] = clients();
        let mut listening = Listening::default();
        let both = Hearer::new();
        let ear = listening.join(a, both, bell).unwrap();
        assert!(Arc::ptr_eq(&ear, &listening.join(b, both, || unreachable!()).unwrap()));
        listening.client_waits(a, true);
        listening.client_waits(b, true);
        listening.client_waits(b, true);
        listening.client_waits(a, false);
        assert!(ear.hears());
        // A client that moves to another thread takes its wait along when it says so again.
        let other = listening.join(b, Hearer::new(), bell).unwrap();
        assert!(!ear.hears() && !other.hears() && !listening.is_heard());
        listening.client_waits(b, true);
        assert!(other.hears());
        // A client that does not listen changes nothing.
        listening.client_waits(c, true);
        listening.suspend(c);
        listening.client_waits(c, false);
        assert!(other.hears());
        listening.leave(b);
        assert!(!other.hears() && !listening.is_heard());
    }

    #[test]
    fn a_thread_that_waits_for_something_else_hears_again_when_a_client_waits_anew() {
        let [a, b] = clients();
        let mut listening = Listening::default();
        let hearer = Hearer::new();
        let ear = listening.join(a, hearer, bell).unwrap();
        listening.join(b, hearer, bell).unwrap();
        listening.client_waits(a, true);
        listening.suspend(b);
        assert!(!ear.hears() && listening.card_sleeps());
        listening.client_waits(b, true);
        assert!(ear.hears());
        listening.client_waits(b, false);
        assert!(ear.hears(), "the first one waits still");
    }
}
