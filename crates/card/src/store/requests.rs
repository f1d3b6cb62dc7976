//! What requests of the host carry.

use ftl::{Lba, Ppa, UnitAddress};
use media::Payload;
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

/// A read of a unit that is under way for a request.
#[derive(Clone, Copy, Debug)]
pub struct ReadPart {
    pub unit: UnitAddress,
    pub first_lba: Lba,
    pub first: Ppa,
    pub sectors: u32,
}

/// The sectors of a request.
#[derive(Clone, Debug, Default)]
pub struct RequestData {
    /// Payloads to write, by sector; those that were taken into the buffer are `None`. Of a read, none.
    pub write: Vec<Option<Payload>>,
    /// First sector of the request.
    pub first: u32,
    /// What a read found, by sector; of a write, the old contents of its first and last sector if they are needed.
    pub read: Vec<SectorData>,
    /// Reads under way.
    pub parts: Vec<ReadPart>,
}

impl RequestData {
    /// A request of `sectors` from `first` on. A write keeps the payloads that were handed over.
    pub fn begin(&mut self, first: u32, sectors: usize, is_write: bool) {
        if !is_write {
            self.write.clear();
        }
        self.first = first;
        self.read.clear();
        self.read.resize(sectors, SectorData::Pending);
        self.parts.clear();
    }

    /// Part of a sector that is written keeps what the sector held; false: that can't be read. Indices count from the
    /// request's first sector.
    pub fn fill(&mut self, sector: usize, part: std::ops::Range<usize>) -> bool {
        let to = self.write[sector].as_mut().expect("nothing of it is in the buffer yet");
        let to = &mut Arc::make_mut(to)[part.clone()];
        match &self.read[sector] {
            SectorData::Data(payload) => to.copy_from_slice(&payload[part]),
            SectorData::Zero => to.fill(0),
            SectorData::Unreadable | SectorData::Pending => return part.is_empty(),
        }
        true
    }

    /// A sector was read.
    pub fn set(&mut self, lba: Lba, data: SectorData) {
        let index = (lba.0 - self.first) as usize;
        self.read[index] = data;
    }
}
