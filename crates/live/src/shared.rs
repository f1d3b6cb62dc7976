//! The engine behind its lock, and the signals between its clients and the card's own thread.

use crate::engine::Engine;
use crate::inbox::Inbox;
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Posted writes begin until so many bytes have begun; then others may have the engine.
const MOST_BEGUN_BYTES: u32 = 1 << 20;

/// The state that all ports share with the card's own thread.
pub(crate) struct Shared {
    engine: Mutex<Engine>,
    /// Long writes that clients have left to the card's own thread.
    pub inbox: Inbox,
    /// Wakes the card's own thread.
    pub wake: OwnedFd,
    /// There is room again for a client that waits.
    pub room: Condvar,
    pub stops: AtomicBool,
    /// When the card's own thread wakes by itself, by the card's clock.
    pub sleeps_until: AtomicU64,
    /// When something was due next, as whoever had the engine last has found.
    pub due: AtomicU64,
}

impl Shared {
    pub fn new(engine: Engine) -> io::Result<Shared> {
        let inbox = Inbox::with(Arc::clone(&engine.device.packing));
        Ok(Shared {
            engine: Mutex::new(engine),
            inbox,
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            room: Condvar::new(),
            stops: AtomicBool::default(),
            sleeps_until: AtomicU64::default(),
            due: AtomicU64::default(),
        })
    }

    pub fn lock(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock()
    }

    /// The engine, unless another thread has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, Engine>> {
        self.engine.try_lock()
    }

    /// Has the card's own thread look at what is due.
    pub fn wake(&self) {
        // The counter is far from full: whoever reads it sets it back.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// Has the card's own thread look at the inbox, unless it is about to.
    pub fn wake_for_inbox(&self) {
        // The thread says how long it sleeps, and looks at the count of the inbox then.
        if self.sleeps_until.load(Ordering::SeqCst) != 0 {
            self.wake();
        }
    }

    /// Begins posted writes as far as they are admitted, until so many bytes have begun. Whether another one may begin now.
    pub fn begin_posted(&self, engine: &mut Engine) -> bool {
        let mut begun = 0;
        while let Some(client) = self.inbox.first_client() {
            if !engine.session.admits(client) {
                // The thread that makes room wakes this one, which hears the medium: these clients do no longer.
                engine.session.wait_for_room(client);
                for client in self.inbox.clients() {
                    engine.listening.client_waits(client, false);
                }
                return false;
            }
            if begun >= MOST_BEGUN_BYTES {
                return true;
            }
            let posted = self.inbox.take().expect("only whoever has the engine takes some");
            begun += posted.request.range.len_bytes;
            engine.submit_posted(posted);
        }
        false
    }

    /// Lets go of the engine: clients with replies are told, and the card's own thread if something is due before it wakes.
    pub fn release(&self, engine: MutexGuard<'_, Engine>) {
        self.release_with(engine, drop);
    }

    /// As [`Shared::release`], for a thread that takes the engine again at once: whoever waits has it first.
    pub fn release_to_waiter(&self, engine: MutexGuard<'_, Engine>) {
        self.release_with(engine, MutexGuard::unlock_fair);
    }

    fn release_with<'a>(&self, mut engine: MutexGuard<'a, Engine>, unlock: impl FnOnce(MutexGuard<'a, Engine>)) {
        let mut bells = Vec::new();
        engine.bells(&mut bells);
        let due = engine.next_event().0;
        let lacks_listener = engine.lacks_listener();
        let admits = engine.session.next_waiter().is_some();
        // In this order, and in the other one in the card's own thread: one of the two sees the other's.
        self.due.store(due, Ordering::SeqCst);
        let sleeps_until = self.sleeps_until.load(Ordering::SeqCst);
        unlock(engine);
        for bell in bells {
            bell.ring();
        }
        if due < sleeps_until || lacks_listener || admits && !self.inbox.is_empty() {
            self.wake();
        }
        if admits {
            self.room.notify_all();
        }
    }
}
