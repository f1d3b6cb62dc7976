//! The card as a session drives it.
//!
//! A payload of a tiny card stands for a sector, and has fewer bytes: so have the parts of a sector.

use crate::tiny::PAYLOAD_BYTES;
use card::{Card, SectorData};
use device::{Completion, Device, Operation, Request, RequestId, SECTOR_BYTES, Time};
use session::{Backend, Condition};

/// Bytes that a byte of a payload stands for.
const SCALE: usize = SECTOR_BYTES as usize / PAYLOAD_BYTES as usize;

/// The data of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bytes {
    /// Of a write, and how many bytes of the first payload come before.
    write: Vec<u8>,
    before: usize,
    /// Sectors that were read.
    pub sectors: Vec<SectorData>,
}

/// A card, while there is power.
pub(crate) struct Powered<'a> {
    pub size_bytes: u64,
    pub card: Option<&'a mut Card>,
    /// What it has in flight, by id.
    pub requests: &'a mut [Option<Request>],
    /// What it has completed, and nobody was told of.
    pub completions: &'a mut Vec<Completion>,
}

impl Powered<'_> {
    /// Hands out what the card has completed.
    pub fn complete(&mut self, completions: &mut Vec<Completion<Bytes>>) {
        let Some(card) = &mut self.card else { return };
        for Completion { id, result, parts, .. } in self.completions.drain(..) {
            let request = self.requests[id.0 as usize].take().expect("it was asked for");
            let is_read = request.operation == Operation::Read && result.is_ok();
            let sectors = if is_read { card.take_read(id) } else { Vec::new() };
            completions.push(Completion { id, result, data: Bytes { sectors, ..Bytes::default() }, parts });
        }
    }
}

impl Backend for Powered<'_> {
    type Data = Bytes;

    fn condition(&self) -> Condition {
        match &self.card {
            None => Condition::NoPower,
            Some(card) if card.is_halted() => Condition::Halted,
            Some(_) => Condition::Serving,
        }
    }

    fn is_ready(&self) -> bool {
        self.card.as_ref().is_none_or(|card| card.is_ready())
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn pack(&mut self, within_first_sector: usize, bytes: &[u8]) -> Bytes {
        Bytes { write: bytes.to_vec(), before: within_first_sector / SCALE, sectors: Vec::new() }
    }

    fn pack_zeroes(&mut self, within_first_sector: usize, len_bytes: u32) -> Bytes {
        self.pack(within_first_sector, &vec![0; len_bytes as usize / SCALE])
    }

    fn first_unreadable(&self, data: &Bytes) -> Option<u64> {
        data.sectors.iter().position(|sector| *sector == SectorData::Unreadable).map(|at| at as u64)
    }

    fn submit(&mut self, now: Time, id: RequestId, request: Request<Bytes>, completions: &mut Vec<Completion<Bytes>>) {
        let Request { operation, range, fua, data } = request;
        let card = self.card.as_mut().expect("requests are refused without power");
        if operation == Operation::Write {
            card.set_write_within(id, data.before, &data.write);
        }
        let request = Request { operation, range, fua, data: () };
        self.requests[id.0 as usize] = Some(request);
        card.submit(now, id, request, self.completions);
        self.complete(completions);
    }

    fn next_event(&self) -> Time {
        self.card.as_ref().map_or(Time::NEVER, |card| card.next_event())
    }

    fn advance(&mut self, now: Time, completions: &mut Vec<Completion<Bytes>>) {
        self.card.as_mut().expect("nothing is due without power").advance(now, self.completions);
        self.complete(completions);
    }
}
