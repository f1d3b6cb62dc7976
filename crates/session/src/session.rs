//! The session: requests from submission to reply.

use crate::backend::{Backend, Condition};
use crate::canary::{Canary, planted};
use crate::client::{ClientId, Clients};
use crate::limits::Limits;
use crate::outstanding::Outstanding;
use crate::piece::{Pieces, Source};
use crate::request::{Reply, ReplyError, Request};
use crate::slots::{InFlight, Slots};
use crate::waiting::Waiting;
use device::{ByteRange, Completion, Operation, SECTOR_BYTES, Time};
use slab::Slab;

/// See the crate. A session is driven by its owner, who has the device.
#[derive(Clone, Debug)]
pub struct Session<D> {
    limits: Limits,
    pub(crate) clients: Clients,
    pub(crate) requests: Slab<Outstanding<D>>,
    pub(crate) slots: Slots,
    pub(crate) waiting: Waiting,
    /// Requests that the device has completed, and nobody was told of yet.
    pub(crate) completions: Vec<Completion<D>>,
    /// The device was ready once since its start.
    is_ready: bool,
    /// Writes go through to the medium: see [`Session::write_through`].
    writes_through: bool,
    /// The device's time.
    time: Time,
}

impl<D: Default> Session<D> {
    /// A session whose device was not started yet.
    ///
    /// # Panics
    /// When pieces would not be whole sectors.
    pub fn new(limits: Limits) -> Session<D> {
        limits.check();
        Session {
            limits,
            clients: Clients::default(),
            requests: Slab::new(),
            slots: Slots::new(limits.max_in_flight),
            waiting: Waiting::new(limits.max_waiting),
            completions: Vec::new(),
            is_ready: false,
            writes_through: false,
            time: Time::ZERO,
        }
    }

    /// From now on each write and trim is durable when it is acknowledged, and a read sees nothing that is not: it waits for
    /// the changes of its sectors that are in flight, and they for it.
    pub fn write_through(&mut self) {
        self.writes_through = true;
    }

    /// Each change is durable when it is acknowledged.
    pub fn writes_through(&self) -> bool {
        self.writes_through
    }

    /// Another client. No id is given twice.
    pub fn connect(&mut self) -> ClientId {
        self.clients.connect()
    }

    /// A client goes. Its requests are carried out, and get no reply.
    pub fn disconnect(&mut self, client: ClientId) {
        self.clients.disconnect(client);
        self.waiting.stop_waiting(client);
        if planted(Canary::DisconnectTakesAll) {
            self.waiting.take_all();
        }
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

    /// A request of a client that is gone is not finished.
    pub fn has_orphans(&self) -> bool {
        self.requests.iter().any(|(_, request)| !self.clients.is_connected(request.client))
    }

    /// The resources that the session may use up, and the sizes at which it divides requests.
    pub fn limits(&self) -> &Limits {
        &self.limits
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

    /// A client leaves the line without a request.
    pub fn stop_waiting(&mut self, client: ClientId) {
        self.waiting.stop_waiting(client);
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

    /// The list to which the device appends completions while its owner has it do something. [`Session::step`] must
    /// follow.
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
        let data = match request.operation {
            Operation::Write if refusal(backend, request).is_none() => {
                backend.pack(within_sector(request.range), request.bytes)
            }
            _ => D::default(),
        };
        self.submit_packed(backend, client, request, data, now, replies);
    }

    /// As [`Session::submit`], for a request whose bytes are in `data`, as [`Backend::pack`] makes it.
    pub fn submit_packed<B: Backend<Data = D>>(
        &mut self,
        backend: &mut B,
        client: ClientId,
        request: &Request,
        data: D,
        now: Time,
        replies: &mut Vec<Reply<D>>,
    ) {
        assert!(self.clients.is_connected(client), "{client:?} is not connected");
        assert!(self.admits(client), "{client:?} was not admitted");
        self.waiting.submitted(client);
        let Request { tag, is_part, operation, range, fua, .. } = *request;
        let fua = fua || self.writes_through;
        let refusal = refusal(backend, request);
        let key = self.requests.insert(Outstanding {
            client,
            tag,
            is_part,
            operation,
            fua,
            range,
            submitted: now,
            pieces: if refusal.is_none() { Pieces::of(request) } else { Pieces::NONE },
            in_flight: 0,
            result: refusal.map_or(Ok(()), Err),
            data,
        });
        let is_covered =
            planted(Canary::FlushOfOneClient) && operation == Operation::Flush && !self.clients.has_written(client);
        if refusal.is_some() || self.requests[key].pieces.is_empty() || is_covered {
            return self.finish(backend, key, None, replies);
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
            if self.slots.is_full() || self.slots.conflicts(&piece, self.writes_through) {
                return false;
            }
            let time = self.device_time(backend, now);
            let request = &mut self.requests[key];
            request.pieces = rest;
            request.in_flight += 1;
            let (operation, range, fua) = (piece.operation, piece.range, request.fua && !planted(Canary::FuaLost));
            let data = match piece.source {
                Source::Nothing => D::default(),
                Source::Client => std::mem::take(&mut request.data),
                Source::Zeroes => backend.pack_zeroes(within_sector(piece.range), piece.range.len_bytes),
            };
            let id = self.slots.take(InFlight { request: key, piece, since: time });
            let request = device::Request { operation, range, fua, data };
            backend.submit(time, id, request, &mut self.completions);
        }
    }

    /// Begins what waits, in order, as far as there is room.
    fn begin_waiting<B: Backend<Data = D>>(&mut self, backend: &mut B, now: Time) {
        while let Some(key) = self.waiting.front()
            && self.may_begin(backend)
            && (self.begin(backend, key, now) || planted(Canary::RequestDropped))
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
}

/// Why a request is not taken, if it is not.
fn refusal<B: Backend>(backend: &B, request: &Request) -> Option<ReplyError> {
    match backend.condition() {
        Condition::NoPower => Some(ReplyError::NoPower),
        Condition::Halted => Some(ReplyError::Halted),
        Condition::Serving if request.operation == Operation::Flush => None,
        Condition::Serving => {
            let end = request.range.offset_bytes.checked_add(u64::from(request.range.len_bytes));
            (end.is_none_or(|end| end > backend.size_bytes())).then_some(ReplyError::OutOfRange)
        }
    }
}

/// Bytes of the first sector that come before a range.
fn within_sector(range: ByteRange) -> usize {
    (range.offset_bytes % SECTOR_BYTES) as usize
}
