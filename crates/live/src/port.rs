//! A live card as those see it who use it.

use crate::clock;
use crate::engine::{Engine, Start};
use crate::reply::{Bell, Reply};
use crate::shared::Shared;
use crate::state::State;
use card::OpenError;
use disk::{ArrayConfig, DiskError};
use media::Medium;
use session::{ClientId, Request};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

/// A card that runs by the clock. Its own thread ends, and the card is shut down in order, when it is dropped or
/// [`Live::shut_down`] is called.
pub struct Live {
    pub(crate) shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    /// Makes a card on a medium whose contents are lost.
    pub fn format(medium: impl Into<Medium>, start: Start) -> Result<Live, LiveError> {
        let card = Engine::format(medium.into(), &start)?;
        Live::run(Engine::around(card, start, None))
    }

    /// Starts the card that lies on a medium.
    pub fn open(medium: impl Into<Medium>, start: Start) -> Result<Live, LiveError> {
        let (card, report) = Engine::open(medium.into(), &start).map_err(|failed| LiveError::Open(failed.0))?;
        Live::run(Engine::around(card, start, Some(report)))
    }

    /// Disks that hold so many bytes in memory, and take as long as disks do.
    pub fn disks(config: ArrayConfig, size_bytes: u64, seed: u64) -> Result<Live, LiveError> {
        Live::run(Engine::around_disks(config, size_bytes, seed)?)
    }

    fn run(engine: Engine) -> Result<Live, LiveError> {
        let shared = Arc::new(Shared::new(engine)?);
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("card".into()).spawn(move || clock::run(&for_thread))?;
        Ok(Live { shared, thread: Some(thread) })
    }

    /// Connects a client. `bell` rings when there are replies that [`Port::submit`] has not handed out.
    pub fn port(&self, bell: Arc<dyn Bell>) -> Port {
        let mut engine = self.shared.lock();
        let client = engine.connect(bell);
        Port { shared: Arc::clone(&self.shared), client, waits: Waits::default() }
    }

    /// Bytes that a client can address.
    pub fn size_bytes(&self) -> u64 {
        self.shared.lock().device.size_bytes
    }

    /// Writes what is only in the buffer, and ends. Requests are refused from now on.
    pub fn shut_down(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.shared.stops.store(true, Ordering::SeqCst);
        self.shared.wake();
        // A panic of the thread is its own message.
        let _ = thread.join();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Why a card was not started.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// It can't be made of, or found on, its medium.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There are no such disks.
    #[error(transparent)]
    Disks(#[from] DiskError),
    /// The system refuses a thread or a descriptor.
    #[error("the system refuses what a card needs to run: {0}")]
    System(#[from] io::Error),
}

/// A client of a card, connected until it is dropped.
pub struct Port {
    shared: Arc<Shared>,
    client: ClientId,
    waits: Waits,
}

/// The replies that a client waits for.
#[derive(Default)]
struct Waits {
    /// Requests whose replies were not handed out.
    outstanding: usize,
    /// The client can hear a slow medium.
    listens: bool,
    hears: bool,
}

impl Waits {
    fn count(&mut self, engine: &mut Engine, client: ClientId, submitted: usize, replied: usize) {
        self.outstanding = self.outstanding + submitted - replied;
        if self.listens {
            self.hears = engine.listening.client_waits(client, self.outstanding > 0);
        }
    }
}

impl Port {
    /// Offers to hear a slow medium. The descriptor becomes readable when the medium has done something: while
    /// [`Port::hears`] says so, the caller waits for it beside its bell, and calls [`Port::hear`] then. `None`: the
    /// medium is not slow.
    pub fn listen(&mut self) -> Option<OwnedFd> {
        let engine = self.shared.lock();
        let State::On(card) = &engine.device.state else { return None };
        let bell = card.medium().bell()?.try_clone_to_owned().ok()?;
        drop(engine);
        self.waits.listens = true;
        Some(bell)
    }

    /// Whether this client has to hear the medium now: a reply is outstanding, and nobody else hears it.
    pub fn hears(&self) -> bool {
        self.waits.hears
    }

    /// Handles what has come from a slow medium. Appends the replies that there are.
    pub fn hear(&mut self, replies: &mut Vec<Reply>) {
        let mut engine = self.shared.lock();
        let before = replies.len();
        let wall_ns = engine.wall_ns();
        engine.hear_medium(wall_ns);
        engine.advance(wall_ns, Some(self.client), replies);
        engine.take_replies(self.client, replies);
        self.waits.count(&mut engine, self.client, 0, replies.len() - before);
        self.shared.release(engine);
    }

    /// Submits requests, all at once, and appends the replies that there are already: to these and to earlier ones. For
    /// the others the bell rings later. Waits only while thousands of requests wait already.
    pub fn submit(&mut self, requests: &[Request], replies: &mut Vec<Reply>) {
        let mut engine = self.shared.lock();
        let before = replies.len();
        let wall_ns = engine.wall_ns();
        for request in requests {
            while !engine.session.admits(self.client) {
                engine.session.wait_for_room(self.client);
                // It hears nothing meanwhile: the card's own thread does.
                engine.listening.client_waits(self.client, false);
                self.shared.wake();
                self.shared.room.wait_for(&mut engine, Duration::from_millis(100));
            }
            engine.submit(self.client, request, wall_ns, replies);
        }
        // All that they began on a slow medium is handed over at once.
        engine.advance(wall_ns, Some(self.client), replies);
        engine.take_replies(self.client, replies);
        self.waits.count(&mut engine, self.client, requests.len(), replies.len() - before);
        self.shared.release(engine);
    }

    /// Appends the replies that have come since.
    pub fn replies(&mut self, replies: &mut Vec<Reply>) {
        let mut engine = self.shared.lock();
        let before = replies.len();
        engine.take_replies(self.client, replies);
        self.waits.count(&mut engine, self.client, 0, replies.len() - before);
        if engine.lacks_listener() {
            self.shared.wake();
        }
    }

    /// Finds the parts of a range that hold something: pairs of length in bytes and whether it is written, at most
    /// `most` of them. The first begins at `offset_bytes`; they may end before the range does.
    pub fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        self.shared.lock().extents(offset_bytes, len_bytes, most)
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        let mut engine = self.shared.lock();
        engine.disconnect(self.client);
        if engine.lacks_listener() {
            self.shared.wake();
        }
    }
}
