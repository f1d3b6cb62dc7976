//! The bytes that a host's request owns, from its submission to its completion.

use crate::Payload;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// The contents of a sector, as a read returns them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SectorData {
    /// The sector was not read yet.
    #[default]
    Pending,
    /// The sector was never written, or was trimmed.
    Zero,
    /// The sector has this payload.
    Data(Payload),
    /// The sector has this payload, which lies where the medium has put it: the memory goes back to it when all who have
    /// a part of it are done.
    Lent(Bytes),
    /// The sector can't be read.
    Unreadable,
}

impl SectorData {
    /// The payload of a sector that has one.
    pub fn payload(&self) -> Option<&[u8]> {
        match self {
            SectorData::Data(payload) => Some(payload),
            SectorData::Lent(payload) => Some(payload),
            SectorData::Pending | SectorData::Zero | SectorData::Unreadable => None,
        }
    }
}

/// The data of one request. A write brings a payload for each sector that it touches; the card takes them into its buffer
/// one by one. A read brings nothing and takes the sectors that were found back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestData {
    /// Payloads to write, by sector; `None` once the buffer has one.
    payloads: Vec<Option<Payload>>,
    /// Sectors that were read. For a write that covers sectors in part, their old contents.
    sectors: Vec<SectorData>,
}

impl RequestData {
    /// The data of a request that carries none: a read, a flush, a trim.
    pub fn none() -> RequestData {
        RequestData::default()
    }

    /// The data of a write: a payload for each sector, from the first on.
    pub fn of_write(payloads: Vec<Option<Payload>>) -> RequestData {
        RequestData { payloads, sectors: Vec::new() }
    }

    /// The data of a read that has completed.
    pub fn of_read(sectors: Vec<SectorData>) -> RequestData {
        RequestData { payloads: Vec::new(), sectors }
    }

    /// The sectors that a read has found, in order.
    pub fn sectors(&self) -> &[SectorData] {
        &self.sectors
    }

    /// Gives the sectors that a read has found away, in order.
    pub fn into_sectors(self) -> Vec<SectorData> {
        self.sectors
    }

    /// Prepares for the read of so many sectors; none of them is there yet.
    pub fn expect_sectors(&mut self, sectors: usize) {
        self.sectors.clear();
        self.sectors.resize(sectors, SectorData::Pending);
    }

    /// Sets the contents of a sector that was read.
    pub fn set(&mut self, sector: usize, data: SectorData) {
        self.sectors[sector] = data;
    }

    /// Takes the payload of a sector that is written.
    ///
    /// # Panics
    /// If it was taken before, or the request brought none for the sector.
    pub fn take_payload(&mut self, sector: usize) -> Payload {
        self.payloads[sector].take().expect("a sector is written once")
    }

    /// The number of sectors that a write brought payloads for.
    pub fn payloads(&self) -> usize {
        self.payloads.len()
    }

    /// The emptied list of a write's payloads, for its memory.
    pub fn take_payload_list(&mut self) -> Vec<Option<Payload>> {
        let mut list = std::mem::take(&mut self.payloads);
        list.clear();
        list
    }

    /// Fills a part of a written sector with the sector's old contents. `false` if these can't be read.
    ///
    /// # Panics
    /// If the payload was taken already.
    pub fn fill(&mut self, sector: usize, part: Range<usize>) -> bool {
        let to = self.payloads[sector].as_mut().expect("nothing of it is in the buffer yet");
        let to = &mut Arc::make_mut(to)[part.clone()];
        match &self.sectors[sector] {
            SectorData::Data(payload) => to.copy_from_slice(&payload[part]),
            SectorData::Lent(payload) => to.copy_from_slice(&payload[part]),
            SectorData::Zero => to.fill(0),
            SectorData::Unreadable | SectorData::Pending => return part.is_empty(),
        }
        true
    }
}
