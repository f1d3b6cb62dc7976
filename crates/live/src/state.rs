//! The device that a session drives: a card, what is left of it without power, or disks.

use crate::disks::{self, Disks};
use crate::pace::Lateness;
use crate::packing::{self, Packing};
use crate::stats::{Kind, Recorders};
use card::StorageCard;
use device::{Cause, Completion, Device, Request, RequestId, Time};
use media::{Medium, RequestData, SectorData};
use session::{Backend, Condition, Finished, LastPiece};
use std::sync::Arc;
use std::time::Instant;

/// The card, or what is left of it without power; or disks.
pub(crate) enum State {
    On(Box<StorageCard>),
    Disks(Box<Disks>),
    Off(Medium),
    /// Its medium was given away.
    Gone,
}

/// See the module.
pub(crate) struct Powered {
    pub state: State,
    /// Bytes that a client can address.
    pub size_bytes: u64,
    pub recorders: Recorders,
    pub lateness: Lateness,
    /// The device says where the time of requests goes.
    pub explains: bool,
    began: Instant,
    /// Memory that writes to a slow medium are packed into.
    pub packing: Arc<Packing>,
    /// The clock when the engine last looked at it.
    pub wall_ns: u64,
}

impl Powered {
    pub fn new(state: State, size_bytes: u64) -> Powered {
        let packing = match &state {
            State::On(card) => Packing::of(card),
            State::Disks(_) | State::Off(_) | State::Gone => Packing::default(),
        };
        Powered {
            state,
            size_bytes,
            recorders: Recorders::new(),
            lateness: Lateness::default(),
            explains: false,
            began: Instant::now(),
            packing: Arc::new(packing),
            wall_ns: 0,
        }
    }

    /// Nanoseconds since the start, by the clock.
    pub fn clock_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Counts the time of a request by cause, where the device explains its part of it. The session's part is waiting for
    /// the device; the rest is this machine's, which hands requests over and may be behind the clock.
    fn explain(&mut self, kind: Kind, submitted: Time, ns: u64, last: LastPiece) {
        let of_device = last.parts.total_ns();
        if !self.explains || of_device > ns {
            return;
        }
        let mut parts = *last.parts;
        let waited = last.since.0.saturating_sub(submitted.0).min(ns - of_device);
        parts.add(Cause::CommandQueue, waited);
        parts.add(Cause::HostCpu, ns - of_device - waited);
        self.recorders.explain(kind, &parts);
    }

    /// Has a card do something on its own account.
    pub fn with_card<T>(
        &mut self,
        completions: &mut Vec<Completion<RequestData>>,
        work: impl FnOnce(&mut StorageCard, &mut Vec<Completion<RequestData>>) -> T,
    ) -> Option<T> {
        let State::On(card) = &mut self.state else { return None };
        Some(work(card, completions))
    }
}

impl Backend for Powered {
    type Data = RequestData;

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

    fn pack(&mut self, within_first_sector: usize, bytes: &[u8]) -> RequestData {
        if within_first_sector == 0
            && matches!(self.state, State::On(_))
            && let Some(memory) = self.packing.take(bytes.len())
        {
            return packing::pack(memory, bytes);
        }
        match &mut self.state {
            State::On(card) => card.pack(within_first_sector, bytes),
            State::Disks(_) => disks::pack(within_first_sector, bytes),
            State::Off(_) | State::Gone => RequestData::none(),
        }
    }

    fn first_unreadable(&self, data: &RequestData) -> Option<u64> {
        data.sectors().iter().position(|sector| *sector == SectorData::Unreadable).map(|at| at as u64)
    }

    fn submit(
        &mut self,
        now: Time,
        id: RequestId,
        request: Request<RequestData>,
        completions: &mut Vec<Completion<RequestData>>,
    ) {
        match &mut self.state {
            State::On(card) => card.submit(now, id, request, completions),
            State::Disks(disks) => disks.submit(now, id, request, completions),
            State::Off(_) | State::Gone => unreachable!("requests are refused without power"),
        }
    }

    fn next_event(&self) -> Time {
        match &self.state {
            State::On(card) => card.next_event(),
            State::Disks(disks) => disks.next_event(),
            State::Off(_) | State::Gone => Time::NEVER,
        }
    }

    fn advance(&mut self, now: Time, completions: &mut Vec<Completion<RequestData>>) {
        self.lateness.note(self.wall_ns, self.wall_ns.saturating_sub(now.0));
        match &mut self.state {
            State::On(card) => card.advance(now, completions),
            State::Disks(disks) => disks.advance(now, completions),
            State::Off(_) | State::Gone => unreachable!("nothing is due without power"),
        }
    }

    fn finished(&mut self, request: &Finished) {
        if request.is_part {
            // The request counts once, when its last part has ended.
            return;
        }
        if !request.is_ok {
            self.recorders.errors += 1;
            return;
        }
        let ns = self.clock_ns().saturating_sub(request.submitted.0);
        let kind = Kind::of(request.operation);
        self.recorders.note(kind, ns, u64::from(request.len_bytes));
        if let Some(last) = request.last {
            self.explain(kind, request.submitted, ns, last);
        }
    }
}
