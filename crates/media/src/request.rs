//! The bytes that a host's request owns, from its submission to its completion.

use crate::Payload;
use std::ops::Range;
use std::sync::Arc;

/// What a sector reads as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SectorData {
    /// Not read yet.
    #[default]
    Pending,
    /// Never written, or trimmed.
    Zero,
    /// Its payload.
    Data(Payload),
    /// It can't be read.
    Unreadable,
}

/// The data of one request. A write brings a payload for each sector that it touches; the card takes them into its buffer
/// one by one. A read brings nothing and takes the sectors that were found back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestData {
    /// Payloads to write, by sector; `None` once the buffer has it.
    payloads: Vec<Option<Payload>>,
    /// Sectors read; of a write that covers sectors in part, the old contents of those.
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

    /// The sectors that a read has found, in order.
    pub fn into_sectors(self) -> Vec<SectorData> {
        self.sectors
    }

    /// Sectors are about to be read: so many, none of which is there yet.
    pub fn expect_sectors(&mut self, sectors: usize) {
        self.sectors.clear();
        self.sectors.resize(sectors, SectorData::Pending);
    }

    /// A sector was read.
    pub fn set(&mut self, sector: usize, data: SectorData) {
        self.sectors[sector] = data;
    }

    /// Takes the payload of a sector that is written.
    ///
    /// # Panics
    /// When it was taken before, or the request brought none for the sector.
    pub fn take_payload(&mut self, sector: usize) -> Payload {
        self.payloads[sector].take().expect("a sector is written once")
    }

    /// Sectors that a write brought payloads for.
    pub fn payloads(&self) -> usize {
        self.payloads.len()
    }

    /// The emptied list of a write's payloads, for its memory.
    pub fn take_payload_list(&mut self) -> Vec<Option<Payload>> {
        let mut list = std::mem::take(&mut self.payloads);
        list.clear();
        list
    }

    /// Part of a sector that is written keeps what the sector held; false: that can't be read.
    ///
    /// # Panics
    /// When the payload was taken already.
    pub fn fill(&mut self, sector: usize, part: Range<usize>) -> bool {
        let to = self.payloads[sector].as_mut().expect("nothing of it is in the buffer yet");
        let to = &mut Arc::make_mut(to)[part.clone()];
        match &self.sectors[sector] {
            SectorData::Data(payload) => to.copy_from_slice(&payload[part]),
            SectorData::Zero => to.fill(0),
            SectorData::Unreadable | SectorData::Pending => return part.is_empty(),
        }
        true
    }
}
