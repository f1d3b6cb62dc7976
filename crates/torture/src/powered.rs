//! The card as a session drives it.
//!
//! A payload of a tiny card stands for a sector, and has fewer bytes: so have the parts of a sector.

use crate::tiny::PAYLOAD_BYTES;
use card::StorageCard;
use device::{Completion, Device, Request, RequestId, SECTOR_BYTES, Time};
use media::{RequestData, SectorData};
use session::{Backend, Condition};

/// Bytes that a byte of a payload stands for.
const SCALE: usize = SECTOR_BYTES as usize / PAYLOAD_BYTES as usize;

/// A card, while there is power.
pub(crate) struct Powered<'a> {
    pub size_bytes: u64,
    pub card: Option<&'a mut StorageCard>,
}

impl Powered<'_> {
    fn card(&mut self) -> &mut StorageCard {
        self.card.as_mut().expect("requests are refused without power")
    }
}

impl Backend for Powered<'_> {
    type Data = RequestData;

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

    fn pack(&mut self, within_first_sector: usize, bytes: &[u8]) -> RequestData {
        self.card().pack(within_first_sector / SCALE, bytes)
    }

    fn pack_zeroes(&mut self, within_first_sector: usize, len_bytes: u32) -> RequestData {
        self.pack(within_first_sector, &vec![0; len_bytes as usize / SCALE])
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
        self.card().submit(now, id, request, completions);
    }

    fn next_event(&self) -> Time {
        self.card.as_ref().map_or(Time::NEVER, |card| card.next_event())
    }

    fn advance(&mut self, now: Time, completions: &mut Vec<Completion<RequestData>>) {
        self.card().advance(now, completions);
    }
}
