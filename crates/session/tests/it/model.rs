//! A device that holds bytes, and completes at once, later, or in any order.

use device::{Completion, Operation, Parts, RequestId, Rng, SECTOR_BYTES, Time};
use proptest::prelude::*;
use session::{Backend, ClientId, Condition, Limits, Reply, Request, Session};

/// Bytes of the device: 64 sectors.
pub const SIZE_BYTES: u64 = 64 * SECTOR_BYTES;

pub const LIMITS: Limits =
    Limits { max_in_flight: 8, max_waiting: 16, max_trim_bytes: 4 * SECTOR_BYTES, max_zeroes_bytes: 2 * SECTOR_BYTES };

/// When the device completes what it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    AtOnce,
    InOrder,
    InAnyOrder,
}

pub fn any_pace() -> impl Strategy<Value = Pace> {
    prop_oneof![Just(Pace::AtOnce), Just(Pace::InOrder), Just(Pace::InAnyOrder)]
}

#[derive(Clone, Debug)]
struct InFlight {
    due: Time,
    /// Requests that were submitted before it.
    number: usize,
    id: RequestId,
    request: device::Request,
    /// A write has whole sectors, merged with their contents when it was submitted; a flush the bytes it makes durable.
    bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct Model {
    pub condition: Condition,
    pub is_ready: bool,
    pace: Pace,
    rng: Rng,
    pub bytes: Vec<u8>,
    pub durable: Vec<u8>,
    /// The flush of which `durable` is: an older one that ends later takes nothing back.
    flushed: usize,
    in_flight: Vec<InFlight>,
    pub max_in_flight: usize,
    /// Requests in the order in which they were submitted.
    pub submitted: Vec<device::Request>,
    pub finished: u32,
}

impl Model {
    pub fn new(pace: Pace, seed: u64) -> Model {
        let bytes = vec![0xee; SIZE_BYTES as usize];
        Model {
            condition: Condition::Serving,
            is_ready: true,
            pace,
            rng: Rng::stream(seed, "model"),
            durable: bytes.clone(),
            flushed: 0,
            bytes,
            in_flight: Vec::new(),
            max_in_flight: 0,
            submitted: Vec::new(),
            finished: 0,
        }
    }

    /// A read is in flight beside a change of one of its sectors.
    pub fn reads_what_changes(&self) -> bool {
        let is_read = |done: &&InFlight| done.request.operation == Operation::Read;
        let (reads, changes): (Vec<&InFlight>, Vec<&InFlight>) = self.in_flight.iter().partition(is_read);
        let shares = |one: &InFlight, other: &InFlight| {
            let (one, other) = (Model::sectors(&one.request), Model::sectors(&other.request));
            one.start < other.end && other.start < one.end
        };
        reads.iter().any(|read| changes.iter().any(|change| shares(read, change)))
    }

    fn sectors(request: &device::Request) -> std::ops::Range<usize> {
        let first = request.range.offset_bytes / SECTOR_BYTES * SECTOR_BYTES;
        first as usize..request.range.end_bytes().next_multiple_of(SECTOR_BYTES) as usize
    }

    fn complete(&mut self, done: InFlight, completions: &mut Vec<Completion<Vec<u8>>>) {
        let InFlight { number, id, request, bytes, .. } = done;
        let range = request.range.offset_bytes as usize..request.range.end_bytes() as usize;
        let mut data = Vec::new();
        match request.operation {
            Operation::Read => data = self.bytes[range].to_vec(),
            Operation::Write => self.bytes[Model::sectors(&request)].copy_from_slice(&bytes),
            Operation::Trim => self.bytes[range].fill(0),
            Operation::Flush if number < self.flushed => {}
            Operation::Flush => (self.durable, self.flushed) = (bytes, number),
        }
        completions.push(Completion { id, result: Ok(()), data, parts: Parts::default() });
    }
}

impl Backend for Model {
    type Data = Vec<u8>;

    fn condition(&self) -> Condition {
        self.condition
    }
    fn is_ready(&self) -> bool {
        self.is_ready
    }
    fn size_bytes(&self) -> u64 {
        SIZE_BYTES
    }
    fn pack(&mut self, _: usize, bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }
    fn first_unreadable(&self, _: &Vec<u8>) -> Option<u64> {
        None
    }

    fn submit(
        &mut self,
        now: Time,
        id: RequestId,
        request: device::Request<Vec<u8>>,
        completions: &mut Vec<Completion<Vec<u8>>>,
    ) {
        assert!(self.is_ready && self.condition == Condition::Serving);
        assert!(self.in_flight.iter().all(|other| other.id != id));
        let device::Request { operation, range, fua, data } = request;
        let request = device::Request { operation, range, fua, data: () };
        let number = self.submitted.len();
        self.submitted.push(request);
        let bytes = match request.operation {
            Operation::Write => {
                assert_eq!(data.len(), request.range.len_bytes as usize);
                let sectors = Model::sectors(&request);
                let mut bytes = self.bytes[sectors.clone()].to_vec();
                bytes[request.range.offset_bytes as usize - sectors.start..][..data.len()].copy_from_slice(&data);
                bytes
            }
            Operation::Flush => self.bytes.clone(),
            Operation::Read | Operation::Trim => Vec::new(),
        };
        let mut done = InFlight { due: now, number, id, request, bytes };
        match self.pace {
            Pace::AtOnce => return self.complete(done, completions),
            Pace::InOrder => done.due = now + 100,
            Pace::InAnyOrder => done.due = now + self.rng.below(1_000),
        }
        self.in_flight.push(done);
        self.max_in_flight = self.max_in_flight.max(self.in_flight.len());
    }

    fn next_event(&self) -> Time {
        self.in_flight.iter().map(|done| done.due).min().unwrap_or(Time::NEVER)
    }

    fn advance(&mut self, now: Time, completions: &mut Vec<Completion<Vec<u8>>>) {
        let next = self.in_flight.iter().position(|done| done.due == now).expect("called when something is due");
        let done = self.in_flight.remove(next);
        self.complete(done, completions);
    }

    fn finished(&mut self, _: &session::Finished) {
        self.finished += 1;
    }
}

/// A session, its device, and every reply.
pub struct Rig {
    pub session: Session<Vec<u8>>,
    pub model: Model,
    pub now: Time,
    pub replies: Vec<Reply<Vec<u8>>>,
}

impl Rig {
    pub fn new(pace: Pace, seed: u64) -> Rig {
        let (session, model) = (Session::new(LIMITS), Model::new(pace, seed));
        Rig { session, model, now: Time::ZERO, replies: Vec::new() }
    }

    /// Submits a request, once there is room.
    pub fn submit(&mut self, client: ClientId, request: &Request) {
        while !self.session.admits(client) {
            self.step();
        }
        self.session.submit(&mut self.model, client, request, self.now, &mut self.replies);
        assert!(self.session.waiting() <= LIMITS.max_waiting);
    }

    /// Takes the next step, whatever it is; false: nothing will ever happen.
    pub fn step(&mut self) -> bool {
        if self.session.step(&mut self.model, self.now, &mut self.replies) {
            return true;
        }
        let next = self.model.next_event();
        if next == Time::NEVER {
            return false;
        }
        self.now = self.now.max(next);
        self.session.step(&mut self.model, self.now, &mut self.replies)
    }

    pub fn settle(&mut self) {
        while self.step() {}
        assert!(self.session.is_idle(), "something is outstanding, and nothing will ever happen");
        assert!(self.model.max_in_flight <= LIMITS.max_in_flight as usize);
    }

    pub fn is_answered(&self, tag: u64) -> bool {
        self.replies.iter().any(|reply| reply.tag == tag)
    }
}

/// The kinds of requests that a client may make.
#[derive(Clone, Debug)]
pub enum Kind {
    Read,
    Write,
    Trim,
    Zeroes { keeps_room: bool },
    Flush,
}

/// A request of one of three clients, and how many steps come after it.
#[derive(Clone, Debug)]
pub struct Act {
    pub client: usize,
    pub kind: Kind,
    pub offset_bytes: u64,
    pub len_bytes: u32,
    pub steps: u32,
}

impl Act {
    /// The bytes that a write with this tag brings.
    pub fn bytes(&self, tag: u64) -> Vec<u8> {
        (0..self.len_bytes).map(|at| (u64::from(at) * 7 + tag * 31 + 1) as u8).collect()
    }

    pub fn request<'a>(&self, tag: u64, bytes: &'a [u8]) -> Request<'a> {
        let (offset, len) = (self.offset_bytes, self.len_bytes);
        match self.kind {
            Kind::Read => Request::read(tag, offset, len),
            Kind::Write => Request::write(tag, offset, bytes),
            Kind::Trim => Request::trim(tag, offset, len),
            Kind::Zeroes { keeps_room } => Request::write_zeroes(tag, offset, len, keeps_room),
            Kind::Flush => Request::flush(tag),
        }
    }

    /// Does to a plain copy the same as the request does to the device.
    pub fn apply(&self, tag: u64, plain: &mut [u8]) {
        let (from, to) = (self.offset_bytes, self.offset_bytes + u64::from(self.len_bytes));
        match self.kind {
            Kind::Read | Kind::Flush => {}
            Kind::Write => plain[from as usize..to as usize].copy_from_slice(&self.bytes(tag)),
            Kind::Zeroes { .. } => plain[from as usize..to as usize].fill(0),
            Kind::Trim => {
                let (first, end) = (from.next_multiple_of(SECTOR_BYTES), to / SECTOR_BYTES * SECTOR_BYTES);
                if first < end {
                    plain[first as usize..end as usize].fill(0);
                }
            }
        }
    }
}

pub fn any_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        2 => Just(Kind::Read),
        4 => Just(Kind::Write),
        2 => Just(Kind::Trim),
        1 => any::<bool>().prop_map(|keeps_room| Kind::Zeroes { keeps_room }),
        1 => Just(Kind::Flush),
    ]
}

/// Requests that begin and end at multiples of so many bytes, within the first sectors.
pub fn acts(kind: impl Strategy<Value = Kind>, align: u64, sectors: u64) -> impl Strategy<Value = Vec<Act>> {
    let places = sectors * SECTOR_BYTES / align;
    let act = (0..3usize, kind, 0..places, 1..=places, 0..4u32).prop_map(move |(client, kind, at, len, steps)| Act {
        client,
        kind,
        offset_bytes: at * align,
        len_bytes: (len.min(places - at) * align) as u32,
        steps,
    });
    proptest::collection::vec(act, 1..60)
}
