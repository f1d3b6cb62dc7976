//! A client of one shard.

use crate::engine::Engine;
use crate::inbox::LONG_BYTES;
use crate::listening::{Ear, Hearer};
use crate::reply::{Bell, Reply};
use crate::shared::Shared;
use crate::state::State;
use device::{Operation, SECTOR_BYTES};
use files::Buffer;
use parking_lot::MutexGuard;
use session::{ClientId, Request};
use std::sync::Arc;
use std::time::Duration;

/// A slow medium is handed what so many requests have begun, and works on it while the next ones are looked at.
const HANDED_OVER: usize = 8;

/// The thing that follows on requests that are submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The client waits: a slow medium is handed all of them.
    Wait,
    /// More requests are submitted at once, or the medium is heard: it is handed these together with them.
    More,
}

/// A client of one shard, connected until it is dropped.
pub(crate) struct Lane {
    shared: Arc<Shared>,
    client: ClientId,
    waits: Waits,
    /// The client may leave long writes to the card's own thread.
    posts: bool,
}

/// The replies that a client waits for.
#[derive(Default)]
struct Waits {
    /// Requests whose replies were not handed out.
    outstanding: usize,
    /// The client's thread can hear a slow medium.
    ear: Option<Arc<Ear>>,
    /// Some of these requests were left to the card's own thread, which hears the medium until all have a reply.
    posted: bool,
}

impl Waits {
    fn count(&mut self, engine: &mut Engine, client: ClientId, submitted: usize, replied: usize) {
        self.outstanding = self.outstanding + submitted - replied;
        self.posted &= self.outstanding > 0;
        self.tell(engine, client);
    }

    fn tell(&self, engine: &mut Engine, client: ClientId) {
        if self.ear.is_some() {
            engine.listening.client_waits(client, self.outstanding > 0 && !self.posted);
        }
    }

    /// The card's own thread ends the client's wait when it takes the writes.
    fn posted(&mut self, writes: usize) {
        self.outstanding += writes;
        self.posted = true;
    }
}

impl Lane {
    pub fn new(shared: &Arc<Shared>, bell: Arc<dyn Bell>) -> Lane {
        let mut engine = shared.lock();
        let (client, posts) = (engine.connect(bell), engine.takes_posted());
        drop(engine);
        Lane { shared: Arc::clone(shared), client, waits: Waits::default(), posts }
    }

    /// Has the client's thread hear a slow medium, as [`crate::Port::listen`] does.
    pub fn listen(&mut self, hearer: Hearer) -> Option<Arc<Ear>> {
        let mut engine = self.shared.lock();
        let Engine { device, listening, .. } = &mut *engine;
        let State::On(card) = &device.state else { return None };
        let bell = || card.medium().bell()?.try_clone_to_owned().ok();
        self.waits.ear = listening.join(self.client, hearer, bell);
        self.waits.tell(&mut engine, self.client);
        if engine.lacks_listener() {
            self.shared.wake();
        }
        self.waits.ear.clone()
    }

    /// Leaves the medium to the card's own thread, before the client waits for something else.
    pub fn stop_hearing(&mut self) {
        if self.waits.ear.as_ref().is_some_and(|ear| ear.hears()) {
            let mut engine = self.shared.lock();
            engine.listening.suspend(self.client);
            if engine.lacks_listener() {
                self.shared.wake();
            }
        }
    }

    /// Handles what has come from a slow medium. Appends the replies that there are.
    pub fn hear(&mut self, replies: &mut Vec<Reply>) {
        let mut engine = self.shared.lock();
        self.waits.ear.iter().for_each(|ear| ear.set_owes(false));
        let before = replies.len();
        let wall_ns = engine.wall_ns();
        engine.advance(wall_ns, Some(self.client), replies);
        engine.take_replies(self.client, replies);
        self.waits.count(&mut engine, self.client, 0, replies.len() - before);
        self.shared.release(engine);
    }

    /// Submits requests, and appends the replies that there are already.
    pub fn submit<'a>(
        &mut self,
        requests: impl Iterator<Item = Request<'a>> + Clone,
        next: Next,
        replies: &mut Vec<Reply>,
    ) {
        if !self.post(requests.clone()) {
            let shared = Arc::clone(&self.shared);
            self.submit_to(&shared, shared.lock(), requests, next, replies);
        }
    }

    /// Memory for a write that can be left to the card's own thread from where it lies.
    pub fn memory(&self, bytes: usize) -> Option<Buffer> {
        if self.posts && bytes >= LONG_BYTES as usize { self.shared.inbox.memory(bytes) } else { None }
    }

    /// Leaves requests to the card's own thread if all of them are long writes of whole sectors; false: they are not, or the
    /// thread has enough to do.
    fn post<'a>(&mut self, requests: impl Iterator<Item = Request<'a>> + Clone) -> bool {
        if !self.posts {
            return false;
        }
        let is_long = |request: &Request| {
            let range = request.range;
            let is_whole =
                [range.offset_bytes, range.len_bytes.into()].iter().all(|at| at.is_multiple_of(SECTOR_BYTES));
            request.operation == Operation::Write && is_whole && range.len_bytes >= LONG_BYTES
        };
        if !requests.clone().all(|request| is_long(&request)) {
            return false;
        }
        let requests: Vec<Request> = requests.collect();
        let writes = requests.len();
        if writes == 0 {
            return false;
        }
        let inbox = &self.shared.inbox;
        let Some(packed) = inbox.pack(self.client, requests.iter()) else { return false };
        if !inbox.post(packed) {
            return false;
        }
        self.waits.posted(writes);
        self.shared.wake_for_inbox();
        true
    }

    /// As [`Lane::submit`], unless another thread has the shard: false.
    pub fn try_submit<'a>(
        &mut self,
        requests: impl Iterator<Item = Request<'a>> + Clone,
        next: Next,
        replies: &mut Vec<Reply>,
    ) -> bool {
        if self.post(requests.clone()) {
            return true;
        }
        let shared = Arc::clone(&self.shared);
        let Some(engine) = shared.try_lock() else { return false };
        self.submit_to(&shared, engine, requests, next, replies);
        true
    }

    fn submit_to<'a>(
        &mut self,
        shared: &Shared,
        mut engine: MutexGuard<'_, Engine>,
        requests: impl Iterator<Item = Request<'a>>,
        next: Next,
        replies: &mut Vec<Reply>,
    ) {
        let before = replies.len();
        let wall_ns = engine.wall_ns();
        let mut submitted = 0;
        for request in requests {
            self.wait_for_room(shared, &mut engine);
            engine.submit(self.client, &request, wall_ns, replies);
            submitted += 1;
            if submitted % HANDED_OVER == 0 {
                engine.hand_over();
            }
        }
        let owes = next == Next::More && self.waits.ear.is_some();
        self.waits.ear.iter().for_each(|ear| ear.set_owes(owes));
        if !owes {
            engine.advance(wall_ns, Some(self.client), replies);
        }
        engine.take_replies(self.client, replies);
        self.waits.count(&mut engine, self.client, submitted, replies.len() - before);
        shared.release(engine);
    }

    /// Waits until the client may submit a request.
    fn wait_for_room(&self, shared: &Shared, engine: &mut MutexGuard<'_, Engine>) {
        while !engine.session.admits(self.client) {
            engine.session.wait_for_room(self.client);
            // Its thread hears nothing meanwhile: the card's own one does.
            engine.listening.suspend(self.client);
            shared.wake();
            shared.room.wait_for(engine, Duration::from_millis(100));
        }
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
        // They are carried out, and get no reply.
        for posted in self.shared.inbox.take_of(self.client) {
            self.wait_for_room(&self.shared, &mut engine);
            engine.submit_posted(posted);
        }
        engine.disconnect(self.client);
        if engine.lacks_listener() {
            self.shared.wake();
        }
    }
}
