//! The device that a session drives: a card, what is left of it without power, or disks.

use crate::disks::Disks;
use crate::pace::Lateness;
use crate::stats::{Kind, Recorders};
use card::{Card, SectorData};
use device::{Completion, Device, Operation, Request, RequestId, Time};
use media::Medium;
use session::{Backend, Condition, Finished, MAX_IN_FLIGHT};
use std::time::Instant;

/// The card, or what is left of it without power; or disks.
pub(crate) enum State {
    On(Box<Card>),
    Disks(Box<Disks>),
    Off(Medium),
    /// Its medium was given away.
    Gone,
}

/// Bytes of a request.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    /// To be written, and how many bytes of the first sector come before them.
    write: Vec<u8>,
    before: usize,
    /// Sectors that were read.
    pub sectors: Vec<SectorData>,
}

/// See the module.
pub(crate) struct Powered {
    pub state: State,
    /// Bytes that a client can address.
    pub size_bytes: u64,
    pub recorders: Recorders,
    pub lateness: Lateness,
    began: Instant,
    /// The clock when the engine last looked at it.
    pub wall_ns: u64,
    /// What is in flight, by id.
    requests: Vec<Option<Request>>,
    done: Vec<Completion>,
}

impl Powered {
    pub fn new(state: State, size_bytes: u64) -> Powered {
        Powered {
            state,
            size_bytes,
            recorders: Recorders::new(),
            lateness: Lateness::default(),
            began: Instant::now(),
            wall_ns: 0,
            requests: vec![None; MAX_IN_FLIGHT as usize],
            done: Vec::new(),
        }
    }

    /// Nanoseconds since the start, by the clock.
    pub fn clock_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Has a card do something on its own account.
    pub fn with_card<T>(
        &mut self,
        completions: &mut Vec<Completion<Bytes>>,
        work: impl FnOnce(&mut Card, &mut Vec<Completion>) -> T,
    ) -> Option<T> {
        let State::On(card) = &mut self.state else { return None };
        let answer = work(card, &mut self.done);
        self.complete(completions);
        Some(answer)
    }

    /// Nothing of what is in flight will complete.
    pub fn forget(&mut self) {
        self.done.clear();
        self.requests.fill(None);
    }

    /// Hands out what the device has completed.
    fn complete(&mut self, completions: &mut Vec<Completion<Bytes>>) {
        for Completion { id, result, parts, .. } in self.done.drain(..) {
            let Some(request) = self.requests[id.0 as usize].take() else { continue };
            let is_read = request.operation == Operation::Read && result.is_ok();
            let sectors = match &mut self.state {
                State::On(card) if is_read => card.take_read(id),
                State::Disks(disks) if is_read => {
                    disks.read(request.range.offset_bytes, request.range.len_bytes.into())
                }
                State::On(_) | State::Disks(_) => Vec::new(),
                State::Off(_) | State::Gone => unreachable!("it has just completed something"),
            };
            completions.push(Completion { id, result, data: Bytes { sectors, ..Bytes::default() }, parts });
        }
    }
}

impl Backend for Powered {
    type Data = Bytes;

    fn condition(&self) -> Condition {
        match &self.state {
            State::On(card) if card.is_halted() => Condition::Halted,
            State::On(_) | State::Disks(_) => Condition::Serving,
            State::Off(_) | State::Gone => Condition::NoPower,
        }
    }

    fn is_ready(&self) -> bool {
        match &self.state {
            State::On(card) => card.is_ready(),
            State::Disks(_) | State::Off(_) | State::Gone => true,
        }
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn pack(&mut self, within_first_sector: usize, bytes: &[u8]) -> Bytes {
        Bytes { write: bytes.to_vec(), before: within_first_sector, sectors: Vec::new() }
    }

    fn first_unreadable(&self, data: &Bytes) -> Option<u64> {
        data.sectors.iter().position(|sector| *sector == SectorData::Unreadable).map(|at| at as u64)
    }

    fn submit(&mut self, now: Time, id: RequestId, request: Request<Bytes>, completions: &mut Vec<Completion<Bytes>>) {
        let Request { operation, range, fua, data } = request;
        let request = Request { operation, range, fua, data: () };
        self.requests[id.0 as usize] = Some(request);
        match &mut self.state {
            State::On(card) => {
                if operation == Operation::Write {
                    card.set_write_within(id, data.before, &data.write);
                }
                card.submit(now, id, request, &mut self.done);
            }
            State::Disks(disks) => {
                match operation {
                    Operation::Write => disks.write(range.offset_bytes, &data.write),
                    Operation::Trim => disks.discard(range.offset_bytes, range.len_bytes.into()),
                    Operation::Read | Operation::Flush => {}
                }
                disks.submit(now, id, request, &mut self.done);
            }
            State::Off(_) | State::Gone => unreachable!("requests are refused without power"),
        }
        self.complete(completions);
    }

    fn next_event(&self) -> Time {
        match &self.state {
            State::On(card) => card.next_event(),
            State::Disks(disks) => disks.next_event(),
            State::Off(_) | State::Gone => Time::NEVER,
        }
    }

    fn advance(&mut self, now: Time, completions: &mut Vec<Completion<Bytes>>) {
        self.lateness.note(self.wall_ns, self.wall_ns.saturating_sub(now.0));
        match &mut self.state {
            State::On(card) => card.advance(now, &mut self.done),
            State::Disks(disks) => disks.advance(now, &mut self.done),
            State::Off(_) | State::Gone => unreachable!("nothing is due without power"),
        }
        self.complete(completions);
    }

    fn finished(&mut self, request: &Finished) {
        if !request.is_ok {
            self.recorders.errors += 1;
            return;
        }
        let ns = self.clock_ns().saturating_sub(request.submitted.0);
        self.recorders.note(Kind::of(request.operation), ns, u64::from(request.len_bytes));
    }
}
