//! The bell of a client's connection, wherever its thread is.

use crate::crew_bell::CrewBell;
use crate::waker::Waker;
use live::Bell;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Rings because the card has completions for a client, memory has become free, or the server wants something of it. It
/// wakes the client's own thread; after the client has joined a crew, the crew's thread.
pub(crate) struct ClientBell {
    waker: Waker,
    /// The crew, and the client's place in it.
    crew: OnceLock<(Arc<CrewBell>, usize)>,
    /// The crew was told, and has not looked yet.
    has_rung: AtomicBool,
}

impl ClientBell {
    pub fn new() -> io::Result<Arc<ClientBell>> {
        Ok(Arc::new(ClientBell { waker: Waker::new()?, crew: OnceLock::new(), has_rung: AtomicBool::new(false) }))
    }

    /// Wakes the client's thread.
    pub fn wake(&self) {
        let Some((crew, place)) = self.crew.get() else { return self.waker.wake() };
        if !self.has_rung.swap(true, Ordering::SeqCst) {
            crew.ring(*place);
        }
    }

    /// From now on the bell rings for a place in a crew. The thread that looked for the crew too early to find it uses the
    /// descriptor still.
    pub fn join(&self, crew: &Arc<CrewBell>, place: usize) {
        assert!(self.crew.set((Arc::clone(crew), place)).is_ok(), "a client joins once");
    }

    /// The descriptor that is readable when the bell has rung for the client's own thread.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.waker.fd()
    }

    /// The client looks at what the bell rang for from now on.
    pub fn clear(&self) {
        match self.crew.get() {
            None => self.waker.clear(),
            Some(_) => self.has_rung.store(false, Ordering::SeqCst),
        }
    }

    /// As [`ClientBell::clear`], for the descriptor of a client that has joined a crew since.
    pub fn clear_fd(&self) {
        self.waker.clear();
    }
}

impl Bell for ClientBell {
    fn ring(&self) {
        self.wake();
    }
}
