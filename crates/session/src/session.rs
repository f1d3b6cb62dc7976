//! The session: requests from submission to reply.

use crate::client::Clients;
use crate::piece::{MAX_TRIM_BYTES, MAX_ZEROES_BYTES, Pieces, Source};
use crate::slots::{InFlight, Slots};
use crate::waiting::{MAX_WAITING, Waiting};
use crate::{Backend, ClientId, Completion, Condition, DeviceError, Finished, Reply, ReplyError, Request};
use device::{Op, SECTOR_BYTES, Time};
use slab::Slab;

/// Pieces that a device takes at once.
pub const MAX_IN_FLIGHT: u32 = 1024;

/// What a session may use up, and how it divides requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pieces in flight; the device was built for as many ids.
    pub max_in_flight: u32,
    /// Requests that wait.
    pub max_waiting: usize,
    /// Bytes of a piece of a trim: whole sectors.
    pub max_trim_bytes: u64,
    /// Bytes of a piece of zeroes that are written: whole sectors.
    pub max_zeroes_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_in_flight: MAX_IN_FLIGHT,
            max_waiting: MAX_WAITING,
            max_trim_bytes: MAX_TRIM_BYTES,
            max_zeroes_bytes: MAX_ZEROES_BYTES,
        }
    }
}

/// A request that has no reply yet.
#[derive(Clone, Debug)]
struct Outstanding<D> {
    client: ClientId,
    tag: u64,
    operation: Op,
    fua: bool,
    offset_bytes: u64,
    len_bytes: u32,
    submitted: Time,
    /// What of it was not submitted to the device.
    pieces: Pieces,
    in_flight: u32,
    result: Result<(), ReplyError>,
    /// Of a write until it is submitted, of a read from its completion on.
    data: D,
}

/// See the crate. A session is driven by its owner, who has the device.
#[derive(Clone, Debug)]
pub struct Session<D> {
    limits: Limits,
    clients: Clients,
    requests: Slab<Outstanding<D>>,
    slots: Slots,
    waiting: Waiting,
    /// What the device has completed, and nobody was told of yet.
    completions: Vec<Completion<D>>,
    /// The device was ready once since its start.
    is_ready: bool,
    /// The device's time.
    time: Time,
}

impl<D: Default> Session<D> {
    /// A session whose device was not started yet.
    ///
    /// # Panics
    /// When pieces would not be whole sectors.
    pub fn new(limits: Limits) -> Session<D> {
        for piece in [limits.max_trim_bytes, limits.max_zeroes_bytes] {
            assert!(piece > 0 && piece.is_multiple_of(SECTOR_BYTES) && piece <= u64::from(u32::MAX), "{limits:?}");
        }
        assert!(limits.max_in_flight > 0 && limits.max_waiting > 0, "{limits:?}");
        Session {
            limits,
            clients: Clients::default(),
            requests: Slab::new(),
            slots: Slots::new(limits.max_in_flight),
            waiting: Waiting::new(limits.max_waiting),
            completions: Vec::new(),
            is_ready: false,
            time: Time::ZERO,
        }
    }

    /// Another client. No id is given twice.
    pub fn connect(&mut self) -> ClientId {
        self.clients.connect()
    }

    /// A client goes. Its requests are carried out, and get no reply.
    pub fn disconnect(&mut self, client: ClientId) {
        self.clients.disconnect(client);
        self.waiting.stop_waiting(client);
    }

    /// Clients that are connected.
    pub fn clients(&self) -> usize {
        self.clients.count()
    }

    /// Requests without a reply.
    pub fn outstanding(&self) -> usize {
        self.requests.len()
    }

    /// Requests that wait for room on the device, or for another request.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Nothing is outstanding, and nobody has to be told of anything.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.completions.is_empty()
    }

    /// Whether a client may submit a request: there is room, and nobody else has waited for it longer.
    pub fn admits(&self, client: ClientId) -> bool {
        self.waiting.admits(client)
    }

    /// A client that is not admitted gets in line.
    pub fn wait_for_room(&mut self, client: ClientId) {
        assert!(self.clients.is_connected(client), "{client:?} is not connected");
        self.waiting.wait(client);
    }

    /// The client in line that is admitted now.
    pub fn next_waiter(&self) -> Option<ClientId> {
        self.waiting.next_waiter()
    }

    /// The device's time.
    pub fn time(&self) -> Time {
        self.time
    }

    /// The device's time has come this far without the session, as when power fails.
    pub fn passed(&mut self, time: Time) {
        self.time = self.time.max(time);
    }

    /// The device is being started: until it is ready, all requests wait.
    pub fn starts(&mut self) {
        self.is_ready = false;
    }

    /// What the device completes while its owner has it do something; to be followed by [`Session::step`].
    pub fn completions(&mut self) -> &mut Vec<Completion<D>> {
        &mut self.completions
    }

    /// The device's time when it is `now`: not later than what is due.
    pub fn device_time<B: Backend<Data = D>>(&mut self, backend: &B, now: Time) -> Time {
        if backend.condition() != Condition::NoPower {
            self.time = self.time.max(now.min(backend.next_event()));
        }
        self.time
    }

    /// Takes a request of a client that was admitted. Only a refusal is replied to at once.
    ///
    /// # Panics
    /// When the client is not connected, or was not admitted: bugs of the driver.
    pub fn submit<B: Backend<Data = D>>(
        &mut self,
        backend: &mut B,
        client: ClientId,
        request: &Request,
        now: Time,
        replies: &mut Vec<Reply<D>>,
    ) {
        assert!(self.clients.is_connected(client), "{client:?} is not connected");
        assert!(self.admits(client), "{client:?} was not admitted");
        self.waiting.stop_waiting(client);
        let Request { tag, operation, offset_bytes, len_bytes, fua, .. } = *request;
        let refusal = refusal(backend, request);
        let data = match operation {
            Op::Write if refusal.is_none() => backend.pack((offset_bytes % SECTOR_BYTES) as usize, request.bytes),
            _ => D::default(),
        };
        let key = self.requests.insert(Outstanding {
            client,
            tag,
            operation,
            fua,
            offset_bytes,
            len_bytes,
            submitted: now,
            pieces: if refusal.is_none() { Pieces::of(request) } else { Pieces::NONE },
            in_flight: 0,
            result: refusal.map_or(Ok(()), Err),
            data,
        });
        if refusal.is_some() || self.requests[key].pieces.is_empty() {
            return self.finish(backend, key, replies);
        }
        if !self.may_begin(backend) || !self.waiting.is_empty() || !self.begin(backend, key, now) {
            self.waiting.push(key);
        }
    }

    fn may_begin<B: Backend<Data = D>>(&mut self, backend: &B) -> bool {
        self.is_ready |= backend.is_ready();
        self.is_ready
    }

    /// Submits pieces of a request to the device; false: some of them have to wait.
    fn begin<B: Backend<Data = D>>(&mut self, backend: &mut B, key: usize, now: Time) -> bool {
        loop {
            let mut rest = self.requests[key].pieces;
            let Some(piece) = rest.next(&self.limits) else { return true };
            if self.slots.is_full() || self.slots.conflicts(&piece) {
                return false;
            }
            let time = self.device_time(backend, now);
            let request = &mut self.requests[key];
            request.pieces = rest;
            request.in_flight += 1;
            let (operation, fua) = (piece.operation, request.fua);
            let data = match piece.source {
                Source::Nothing => D::default(),
                Source::Client => std::mem::take(&mut request.data),
                Source::Zeroes => backend.pack_zeroes((piece.offset_bytes % SECTOR_BYTES) as usize, piece.len_bytes),
            };
            let id = self.slots.take(InFlight { request: key, piece });
            let (offset_bytes, len_bytes) = (piece.offset_bytes, piece.len_bytes);
            let request = device::Request { op: operation, fua, offset_bytes, len_bytes };
            backend.submit(time, id, request, data, &mut self.completions);
        }
    }

    /// Begins what waits, in order, as far as there is room.
    fn begin_waiting<B: Backend<Data = D>>(&mut self, backend: &mut B, now: Time) {
        while let Some(key) = self.waiting.front()
            && self.may_begin(backend)
            && self.begin(backend, key, now)
        {
            self.waiting.pop_front();
        }
    }

    /// Replies to what the device has completed, or handles its next event due by `now`. False: there was neither.
    pub fn step<B: Backend<Data = D>>(&mut self, backend: &mut B, now: Time, replies: &mut Vec<Reply<D>>) -> bool {
        if !self.completions.is_empty() {
            self.reply(backend, replies);
            if backend.condition() == Condition::Serving {
                self.begin_waiting(backend, now);
            }
            return true;
        }
        match backend.condition() {
            Condition::Serving => {}
            Condition::Halted => return self.give_up(backend, ReplyError::Halted, replies),
            Condition::NoPower => return false,
        }
        self.begin_waiting(backend, now);
        if !self.completions.is_empty() {
            self.reply(backend, replies);
            return true;
        }
        let next = backend.next_event();
        if next > now || next == Time::NEVER {
            return false;
        }
        self.time = self.time.max(next);
        backend.advance(next, &mut self.completions);
        self.reply(backend, replies);
        if backend.condition() == Condition::Serving {
            self.begin_waiting(backend, now.min(next));
        }
        true
    }

    /// Steps until nothing is due, at most so often; how often it was.
    pub fn advance<B: Backend<Data = D>>(
        &mut self,
        backend: &mut B,
        now: Time,
        max_steps: u32,
        replies: &mut Vec<Reply<D>>,
    ) -> u32 {
        (0..max_steps).find(|_| !self.step(backend, now, replies)).unwrap_or(max_steps)
    }

    /// Replies to the requests whose last piece is completed.
    fn reply<B: Backend<Data = D>>(&mut self, backend: &mut B, replies: &mut Vec<Reply<D>>) {
        let mut completions = std::mem::take(&mut self.completions);
        for Completion { id, result, data } in completions.drain(..) {
            let Some(InFlight { request: key, piece }) = self.slots.release(id) else {
                assert!(backend.condition() != Condition::Serving, "{id:?} was not in flight");
                continue;
            };
            let request = &mut self.requests[key];
            request.in_flight -= 1;
            let first_bytes = piece.first_sector() * SECTOR_BYTES;
            let result = result.map_err(|error| match error {
                DeviceError::ReadOnly => ReplyError::ReadOnly,
                DeviceError::EdgeUnreadable => ReplyError::Unreadable { offset_bytes: first_bytes },
            });
            request.result = request.result.and(result);
            if piece.operation == Op::Read {
                if let Some(sector) = backend.first_unreadable(&data) {
                    let offset_bytes = first_bytes + sector * SECTOR_BYTES;
                    request.result = request.result.and(Err(ReplyError::Unreadable { offset_bytes }));
                }
                request.data = data;
            }
            if request.in_flight == 0 && request.pieces.is_empty() {
                self.finish(backend, key, replies);
            }
        }
        self.completions = completions;
    }

    fn finish<B: Backend<Data = D>>(&mut self, backend: &mut B, key: usize, replies: &mut Vec<Reply<D>>) {
        let Outstanding { client, tag, operation, offset_bytes, len_bytes, submitted, result, data, .. } =
            self.requests.remove(key);
        backend.finished(&Finished { operation, len_bytes, submitted, is_ok: result.is_ok() });
        if self.clients.is_connected(client) {
            replies.push(Reply { client, tag, operation, offset_bytes, len_bytes, submitted, result, data });
        }
    }

    /// The device will do nothing more of what it has: all requests fail. False: there were none.
    pub fn give_up<B: Backend<Data = D>>(
        &mut self,
        backend: &mut B,
        error: ReplyError,
        replies: &mut Vec<Reply<D>>,
    ) -> bool {
        self.completions.clear();
        let in_flight = self.slots.take_all();
        let waiting = self.waiting.take_all();
        let had_any = !self.requests.is_empty();
        for key in in_flight.into_iter().chain(waiting) {
            // A request with several pieces comes several times.
            if let Some(request) = self.requests.get_mut(key) {
                (request.result, request.data) = (Err(error), D::default());
                self.finish(backend, key, replies);
            }
        }
        assert!(self.requests.is_empty(), "a request was lost");
        had_any
    }
}

/// Why a request is not taken, if it is not.
fn refusal<B: Backend>(backend: &B, request: &Request) -> Option<ReplyError> {
    match backend.condition() {
        Condition::NoPower => Some(ReplyError::NoPower),
        Condition::Halted => Some(ReplyError::Halted),
        Condition::Serving if request.operation == Op::Flush => None,
        Condition::Serving => {
            let end = request.offset_bytes.checked_add(u64::from(request.len_bytes));
            (end.is_none_or(|end| end > backend.size_bytes())).then_some(ReplyError::OutOfRange)
        }
    }
}
