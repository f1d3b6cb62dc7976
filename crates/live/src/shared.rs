//! The engine behind its lock, and the signals between its clients and the card's own thread.

use crate::engine::Engine;
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The state that all ports share with the card's own thread.
pub(crate) struct Shared {
    engine: Mutex<Engine>,
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
        Ok(Shared {
            engine: Mutex::new(engine),
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

    /// Lets go of the engine: clients with replies are told, and the card's own thread if something is due before it wakes.
    pub fn release(&self, mut engine: MutexGuard<'_, Engine>) {
        let mut bells = Vec::new();
        engine.bells(&mut bells);
        let due = engine.next_event().0;
        let lacks_listener = engine.lacks_listener();
        let admits = engine.session.next_waiter().is_some();
        // In this order, and in the other one in the card's own thread: one of the two sees the other's.
        self.due.store(due, Ordering::SeqCst);
        let sleeps_until = self.sleeps_until.load(Ordering::SeqCst);
        drop(engine);
        for bell in bells {
            bell.ring();
        }
        if due < sleeps_until || lacks_listener {
            self.wake();
        }
        if admits {
            self.room.notify_all();
        }
    }
}
