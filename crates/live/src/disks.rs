//! Disks that hold bytes: the array of the simulator, driven by the wall clock, with what was written kept in memory.
//!
//! Written data can be read from its submission on, in whatever order the disks answer: a host that reads what it is
//! still writing may get either. The controllers of arrays have a battery; what was answered is durable.

use crate::extents::{cut, joined};
use device::{ByteRange, Completion, Device, Operation, Request, RequestId, SECTOR_BYTES, Time};
use disk::{Array, ArrayConfig, DiskError};
use media::{RequestData, SectorData, Written};
use std::collections::HashMap;

/// Memory is taken in pieces of this size.
const CHUNK_BYTES: u64 = 64 << 10;
/// Disks address blocks of this size.
const BLOCK_BYTES: u64 = 512;

/// An array and what lies on it.
pub(crate) struct Disks {
    array: Array,
    /// Completions of the array, on their way to the host.
    completed: Vec<Completion>,
    /// Ranges that are being read, by request.
    reads: Vec<Option<ByteRange>>,
    /// Writes may be answered before they are durable: no controller with a battery takes them.
    has_volatile_cache: bool,
    /// By number; what was never written is not there. Never gone through in order.
    chunks: HashMap<u64, Box<[u8]>>,
}

/// The data of a write: its bytes in sectors, the first of which has others before them.
pub(crate) fn pack(within_first_sector: usize, bytes: &[u8]) -> RequestData {
    let written_of = |bytes: &[u8]| Written::new(bytes.into());
    RequestData::of_write(Vec::new(), SECTOR_BYTES as usize, within_first_sector, bytes, written_of)
}

impl Disks {
    pub fn new(config: ArrayConfig, max_requests: u32, seed: u64) -> Result<Disks, DiskError> {
        let has_volatile_cache = config.controller_cache_bytes < BLOCK_BYTES;
        let array = Array::new(config, max_requests, true, seed)?;
        let reads = vec![None; max_requests as usize];
        Ok(Disks { array, completed: Vec::new(), reads, has_volatile_cache, chunks: HashMap::new() })
    }

    pub fn has_volatile_cache(&self) -> bool {
        self.has_volatile_cache
    }

    pub fn next_event(&self) -> Time {
        self.array.next_event()
    }

    pub fn advance(&mut self, to: Time, done: &mut Vec<Completion<RequestData>>) {
        self.array.advance(to, &mut self.completed);
        self.hand_up(done);
    }

    fn hand_up(&mut self, done: &mut Vec<Completion<RequestData>>) {
        let mut completed = std::mem::take(&mut self.completed);
        done.extend(completed.drain(..).map(|Completion { id, result, data: (), parts }| {
            let data = match self.reads[id.0 as usize].take() {
                Some(range) => RequestData::of_read(self.read(range.offset_bytes, range.len_bytes.into())),
                None => RequestData::none(),
            };
            Completion { id, result, data, parts }
        }));
        self.completed = completed;
    }

    /// Begins a request for any bytes: the disks read and write whole blocks.
    pub fn submit(
        &mut self,
        now: Time,
        id: RequestId,
        request: Request<RequestData>,
        done: &mut Vec<Completion<RequestData>>,
    ) {
        let Request { operation, range, fua, data } = request;
        match operation {
            Operation::Read => self.reads[id.0 as usize] = Some(range),
            Operation::Write => self.write_sectors(range, data),
            Operation::Trim => self.discard(range.offset_bytes, range.len_bytes.into()),
            Operation::Flush => {}
        }
        let start = range.offset_bytes / BLOCK_BYTES * BLOCK_BYTES;
        let end = (range.offset_bytes + u64::from(range.len_bytes)).next_multiple_of(BLOCK_BYTES);
        let range = ByteRange { offset_bytes: start, len_bytes: (end - start) as u32 };
        self.array.submit(now, id, Request { operation, range, fua, data: () }, &mut self.completed);
        self.hand_up(done);
    }

    fn write_sectors(&mut self, range: ByteRange, mut data: RequestData) {
        let end = range.offset_bytes + u64::from(range.len_bytes);
        let mut at = range.offset_bytes;
        for sector in 0..data.payloads() {
            let start = at / SECTOR_BYTES * SECTOR_BYTES;
            let to = end.min(start + SECTOR_BYTES);
            let payload = data.take_written(sector).payload;
            self.write(at, &payload[(at - start) as usize..(to - start) as usize]);
            at = to;
        }
    }

    fn write(&mut self, offset_bytes: u64, bytes: &[u8]) {
        let (mut at, mut left) = (offset_bytes, bytes);
        while !left.is_empty() {
            let within = (at % CHUNK_BYTES) as usize;
            let (now, later) = left.split_at(left.len().min(CHUNK_BYTES as usize - within));
            let blank = || vec![0; CHUNK_BYTES as usize].into_boxed_slice();
            let chunk = self.chunks.entry(at / CHUNK_BYTES).or_insert_with(blank);
            chunk[within..within + now.len()].copy_from_slice(now);
            (at, left) = (at + now.len() as u64, later);
        }
    }

    /// Reads as zeroes from now on.
    fn discard(&mut self, offset_bytes: u64, len_bytes: u64) {
        for (at, len) in cut(offset_bytes, offset_bytes + len_bytes, CHUNK_BYTES) {
            let number = at / CHUNK_BYTES;
            if len == CHUNK_BYTES {
                self.chunks.remove(&number);
            } else if let Some(chunk) = self.chunks.get_mut(&number) {
                let within = (at % CHUNK_BYTES) as usize;
                chunk[within..within + len as usize].fill(0);
            }
        }
    }

    /// Reads the sectors that hold a range.
    fn read(&self, offset_bytes: u64, len_bytes: u64) -> Vec<SectorData> {
        let sectors = offset_bytes / SECTOR_BYTES..(offset_bytes + len_bytes).div_ceil(SECTOR_BYTES);
        sectors
            .map(|sector| {
                let at = sector * SECTOR_BYTES;
                let within = (at % CHUNK_BYTES) as usize;
                match self.chunks.get(&(at / CHUNK_BYTES)) {
                    Some(chunk) => SectorData::Data(chunk[within..within + SECTOR_BYTES as usize].into()),
                    None => SectorData::Zero,
                }
            })
            .collect()
    }

    /// Finds the parts of a range that hold something, by whole chunks.
    pub fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        let pieces = cut(offset_bytes, offset_bytes + len_bytes, CHUNK_BYTES);
        joined(pieces.map(|(at, len)| (len, self.chunks.contains_key(&(at / CHUNK_BYTES)))), most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disks() -> Disks {
        let profile = profile::Profile::open("sas-raid10-6").unwrap();
        let (config, _) = profile.disks_with_contents(Some(64 << 20)).unwrap().unwrap();
        Disks::new(config, 8, 1).unwrap()
    }

    fn bytes(disks: &Disks, at: u64, len: u64) -> Vec<u8> {
        let sectors = disks.read(at, len).into_iter().flat_map(|sector| match sector {
            SectorData::Data(bytes) => bytes.to_vec(),
            _ => vec![0; SECTOR_BYTES as usize],
        });
        sectors.skip((at % SECTOR_BYTES) as usize).take(len as usize).collect()
    }

    #[test]
    fn what_was_written_across_chunks_reads_back_until_it_is_discarded() {
        let mut disks = disks();
        let at = CHUNK_BYTES - 700;
        let pattern: Vec<u8> = (0..2 * CHUNK_BYTES).map(|i| (i % 251) as u8).collect();
        disks.write(at, &pattern);
        assert_eq!(bytes(&disks, at, 2 * CHUNK_BYTES), pattern);
        assert_eq!(disks.extents(0, 8 * CHUNK_BYTES, 9), [(3 * CHUNK_BYTES, true), (5 * CHUNK_BYTES, false)]);
        disks.discard(at + 100, 2 * CHUNK_BYTES - 200);
        let kept = bytes(&disks, at, 2 * CHUNK_BYTES);
        assert_eq!((&kept[..100], &kept[kept.len() - 100..]), (&pattern[..100], &pattern[pattern.len() - 100..]));
        assert!(kept[100..kept.len() - 100].iter().all(|byte| *byte == 0));
        assert_eq!(disks.extents(CHUNK_BYTES, CHUNK_BYTES, 9), [(CHUNK_BYTES, false)]);
    }
}
