//! The thread that hears a slow medium: one at a time, because waking two costs more than the work.
//!
//! Usually it is the card's own thread. A client that waits for its replies anyway may hear the medium itself
//! ([`crate::Port::listen`]): then a read costs one wake-up, and not three. When it waits no longer, and operations are
//! still in flight, the card's own thread listens again.

use session::ClientId;

/// See the module. It stands behind the engine's lock.
#[derive(Debug, Default)]
pub(crate) struct Listening {
    client: Option<ClientId>,
    /// The card's own thread sleeps, and the medium wakes it.
    by_card: bool,
}

impl Listening {
    /// A client waits for replies and would hear the medium, or does so no longer. Whether it has to.
    pub fn client_waits(&mut self, client: ClientId, waits: bool) -> bool {
        if waits {
            return *self.client.get_or_insert(client) == client;
        }
        self.client.take_if(|listens| *listens == client);
        false
    }

    /// The card's own thread is awake.
    pub fn card_wakes(&mut self) {
        self.by_card = false;
    }

    /// The card's own thread goes to sleep; whether the medium has to wake it.
    pub fn card_sleeps(&mut self) -> bool {
        self.by_card = self.client.is_none();
        self.by_card
    }

    /// Somebody hears the medium.
    pub fn is_heard(&self) -> bool {
        self.client.is_some() || self.by_card
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use session::{Limits, Session};

    #[test]
    fn one_listens_at_a_time_and_the_card_when_no_client_does() {
        let mut session: Session<()> = Session::new(Limits::default());
        let (a, b) = (session.connect(), session.connect());
        let mut listening = Listening::default();
        assert!(!listening.is_heard() && listening.card_sleeps() && listening.is_heard());
        listening.card_wakes();
        assert!(listening.client_waits(a, true) && !listening.client_waits(b, true));
        assert!(!listening.card_sleeps() && listening.is_heard());
        assert!(!listening.client_waits(b, false) && listening.is_heard(), "the other one listens");
        assert!(!listening.client_waits(a, false) && !listening.is_heard());
    }
}
