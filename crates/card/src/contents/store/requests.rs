//! Requests in flight on a card that holds bytes.

use ftl::{Lba, Ppa, UnitAddress};
use media::{RequestData, SectorData};

/// A read of a unit that is under way for a request.
#[derive(Clone, Copy, Debug)]
pub struct ReadPart {
    pub unit: UnitAddress,
    pub first_lba: Lba,
    pub first: Ppa,
    pub sectors: u32,
}

/// The data and the reads of a request in flight.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    pub data: RequestData,
    /// First sector of the request.
    pub first: u32,
    /// Reads under way.
    pub parts: Vec<ReadPart>,
}

impl InFlight {
    /// A request begins at sector `first` and reads `sectors` of it.
    pub fn begin(&mut self, data: RequestData, first: u32, sectors: usize) {
        self.data = data;
        self.data.expect_sectors(sectors);
        self.first = first;
        self.parts.clear();
    }

    /// A sector was read.
    pub fn set(&mut self, lba: Lba, data: SectorData) {
        self.data.set((lba.0 - self.first) as usize, data);
    }

    /// Takes the payload of a sector that is written.
    pub fn take_written(&mut self, lba: Lba) -> media::Written {
        self.data.take_written((lba.0 - self.first) as usize)
    }
}
