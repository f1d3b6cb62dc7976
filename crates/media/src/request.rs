//! The bytes that a host's request owns, from its submission to its completion.

use crate::Payload;
use bytes::Bytes;
use format::payload_crc;
use std::ops::Range;

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

/// A payload that a host writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The bytes of the sector.
    pub payload: Payload,
    /// Their checksum, if it was computed already.
    crc: Option<u32>,
}

impl Written {
    /// A payload whose checksum is computed now, because its bytes were just copied and are still in the processor's cache.
    pub fn checked(payload: Payload) -> Written {
        let crc = Some(payload_crc(&payload));
        Written { payload, crc }
    }

    /// A payload whose checksum is computed when it is asked for.
    pub fn new(payload: Payload) -> Written {
        Written { payload, crc: None }
    }

    /// The checksum of the payload.
    pub fn crc(&self) -> u32 {
        self.crc.unwrap_or_else(|| payload_crc(&self.payload))
    }
}

/// The payloads of a write, by sector; `None` once the buffer has one.
pub type WrittenList = Vec<Option<Written>>;

/// The data of one request. A write brings a payload for each sector that it touches; the card takes them into its buffer
/// one by one. A read brings nothing and takes the sectors that were found back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestData {
    /// Payloads to write.
    written: WrittenList,
    /// Sectors that were read. For a write that covers sectors in part, their old contents.
    sectors: Vec<SectorData>,
}

impl RequestData {
    /// The data of a request that carries none: a read, a flush, a trim.
    pub fn none() -> RequestData {
        RequestData::default()
    }

    /// The data of a write: its bytes in sectors, the first of which has others before them. `written_of` takes the bytes
    /// of a whole sector; the list is empty.
    pub fn of_write(
        mut list: WrittenList,
        sector_bytes: usize,
        within_first_sector: usize,
        bytes: &[u8],
        mut written_of: impl FnMut(&[u8]) -> Written,
    ) -> RequestData {
        let (mut rest, mut from) = (bytes, within_first_sector);
        while !rest.is_empty() {
            let (bytes, next) = rest.split_at(rest.len().min(sector_bytes - from));
            list.push(Some(match bytes.len() == sector_bytes {
                true => written_of(bytes),
                false => {
                    let mut sector = vec![0; sector_bytes];
                    sector[from..from + bytes.len()].copy_from_slice(bytes);
                    Written::new(sector.into())
                }
            }));
            (rest, from) = (next, 0);
        }
        RequestData { written: list, sectors: Vec::new() }
    }

    /// The data of a write of whole sectors.
    pub fn of_sectors(sectors: impl IntoIterator<Item = Written>) -> RequestData {
        RequestData { written: sectors.into_iter().map(Some).collect(), sectors: Vec::new() }
    }

    /// The data of a read that has completed.
    pub fn of_read(sectors: Vec<SectorData>) -> RequestData {
        RequestData { written: Vec::new(), sectors }
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
    pub fn take_written(&mut self, sector: usize) -> Written {
        self.written[sector].take().expect("a sector is written once")
    }

    /// The number of sectors that a write brought payloads for.
    pub fn payloads(&self) -> usize {
        self.written.len()
    }

    /// The emptied list of a write's payloads, for its memory.
    pub fn take_written_list(&mut self) -> WrittenList {
        let mut list = std::mem::take(&mut self.written);
        list.clear();
        list
    }

    /// Fills a part of a written sector with the sector's old contents. `false` if these can't be read.
    ///
    /// # Panics
    /// If the payload was taken already.
    pub fn fill(&mut self, sector: usize, part: Range<usize>) -> bool {
        let to = self.written[sector].as_mut().expect("nothing of it is in the buffer yet");
        to.crc = None;
        let to = &mut to.payload.make_mut()[part.clone()];
        match &self.sectors[sector] {
            SectorData::Data(payload) => to.copy_from_slice(&payload[part]),
            SectorData::Lent(payload) => to.copy_from_slice(&payload[part]),
            SectorData::Zero => to.fill(0),
            SectorData::Unreadable | SectorData::Pending => return part.is_empty(),
        }
        true
    }
}
