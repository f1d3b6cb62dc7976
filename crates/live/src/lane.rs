//! A client of one shard.

use crate::engine::Engine;
use crate::reply::{Bell, Reply};
use crate::shared::Shared;
use crate::state::State;
use parking_lot::MutexGuard;
use session::{ClientId, Request};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// A slow medium is handed what so many requests have begun, and works on it while the next ones are looked at.
const HANDED_OVER: usize = 8;

/// A client of one shard, connected until it is dropped.
pub(crate) struct Lane {
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

impl Lane {
    pub fn new(shared: &Arc<Shared>, bell: Arc<dyn Bell>) -> Lane {
        let client = shared.lock().connect(bell);
        Lane { shared: Arc::clone(shared), client, waits: Waits::default() }
    }

    /// Offers to hear a slow medium, as [`crate::Port::listen`] does.
    pub fn listen(&mut self) -> Option<OwnedFd> {
        let engine = self.shared.lock();
        let State::On(card) = &engine.device.state else { return None };
        let bell = card.medium().bell()?.try_clone_to_owned().ok()?;
        drop(engine);
        self.waits.listens = true;
        Some(bell)
    }

    /// Whether the client has to hear the medium of this shard now.
    pub fn hears(&self) -> bool {
        self.waits.hears
    }

    /// Leaves the medium to the card's own thread, before the client waits for something else.
    pub fn stop_hearing(&mut self) {
        if std::mem::take(&mut self.waits.hears) {
            let mut engine = self.shared.lock();
            engine.listening.client_waits(self.client, false);
            if engine.lacks_listener() {
                self.shared.wake();
            }
        }
    }

    /// Handles what has come from a slow medium. Appends the replies that there are.
    pub fn hear(&mut self, replies: &mut Vec<Reply>) {
        let mut engine = self.shared.lock();
        let before = replies.len();
        let wall_ns = engine.wall_ns();
        engine.advance(wall_ns, Some(self.client), replies);
        engine.take_replies(self.client, replies);
        self.waits.count(&mut engine, self.client, 0, replies.len() - before);
        self.shared.release(engine);
    }

    /// Submits requests, and appends the replies that there are already.
    pub fn submit<'a>(&mut self, requests: impl Iterator<Item = Request<'a>>, replies: &mut Vec<Reply>) {
        let shared = Arc::clone(&self.shared);
        self.submit_to(&shared, shared.lock(), requests, replies);
    }

    /// As [`Lane::submit`], unless another thread has the shard: false.
    pub fn try_submit<'a>(&mut self, requests: impl Iterator<Item = Request<'a>>, replies: &mut Vec<Reply>) -> bool {
        let shared = Arc::clone(&self.shared);
        let Some(engine) = shared.try_lock() else { return false };
        self.submit_to(&shared, engine, requests, replies);
        true
    }

    fn submit_to<'a>(
        &mut self,
        shared: &Shared,
        mut engine: MutexGuard<'_, Engine>,
        requests: impl Iterator<Item = Request<'a>>,
        replies: &mut Vec<Reply>,
    ) {
        let before = replies.len();
        let wall_ns = engine.wall_ns();
        let mut submitted = 0;
        for request in requests {
            while !engine.session.admits(self.client) {
                engine.session.wait_for_room(self.client);
                // It hears nothing meanwhile: the card's own thread does.
                engine.listening.client_waits(self.client, false);
                shared.wake();
                shared.room.wait_for(&mut engine, Duration::from_millis(100));
            }
            engine.submit(self.client, &request, wall_ns, replies);
            submitted += 1;
            if submitted % HANDED_OVER == 0 {
                engine.hand_over();
            }
        }
        engine.advance(wall_ns, Some(self.client), replies);
        engine.take_replies(self.client, replies);
        self.waits.count(&mut engine, self.client, submitted, replies.len() - before);
        shared.release(engine);
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

    /// Finds the parts of a range of the shard that hold something, as [`crate::Port::extents`] does.
    pub fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        self.shared.lock().extents(offset_bytes, len_bytes, most)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let mut engine = self.shared.lock();
        engine.disconnect(self.client);
        if engine.lacks_listener() {
            self.shared.wake();
        }
    }
}
