//! The log area of a module: writes that are durable when they end.

use crate::disks::IoKind;
use crate::files::{Files, Purpose};
use crate::module::BegunLog;
use crate::sizes::PAGE_BYTES;
use bytes::Bytes;
use media::{Ended, LogArea, MediaError};

/// The most that is read of a log in one request; the requests go side by side.
const CHUNK_BYTES: u64 = 1 << 19;

impl Files {
    pub(crate) fn area_of_log(&self) -> Option<LogArea> {
        (self.log_bytes > 0).then_some(LogArea { bytes: self.log_bytes, align_bytes: PAGE_BYTES as u32 })
    }

    /// Where a part of the log of a module lies in its file.
    fn log_place(&self, slot: u32, offset_bytes: u64, len: usize) -> Result<u64, MediaError> {
        let layout = self.module(slot)?.superblock.layout;
        let end = offset_bytes + len as u64;
        assert!(
            end <= layout.log_bytes() && offset_bytes.is_multiple_of(PAGE_BYTES) && end.is_multiple_of(PAGE_BYTES),
            "illegal address: {len} bytes at {offset_bytes} of a log"
        );
        Ok(layout.log() + offset_bytes)
    }

    pub(crate) fn read_all_of_log(&mut self, slot: u32) -> Result<Vec<u8>, MediaError> {
        let module = self.module(slot)?;
        let (handle, layout) = (module.handle, module.superblock.layout);
        let mut all = vec![0; layout.log_bytes() as usize];
        let (begin, end) = (layout.log(), layout.log() + layout.log_bytes());
        let mut requests = Vec::new();
        for offset in (begin..end).step_by(CHUNK_BYTES as usize) {
            let buffer = self.pool.take(CHUNK_BYTES.min(end - offset) as usize);
            requests.push((handle, IoKind::Read, offset, buffer));
        }
        let offsets = (begin..end).step_by(CHUNK_BYTES as usize);
        let read = offsets.zip(self.call_all(requests)).zip(all.chunks_mut(CHUNK_BYTES as usize));
        for ((offset, (read, _, buffer)), bytes) in read {
            match read {
                Ok(()) => bytes.copy_from_slice(buffer.bytes()),
                // Some of its pages may be readable.
                Err(_) => {
                    bytes.copy_from_slice(&self.read_pages(handle, offset, (bytes.len() as u64 / PAGE_BYTES) as u32))
                }
            }
            self.pool.give(buffer);
        }
        Ok(all)
    }

    pub(crate) fn write_log_now(&mut self, slot: u32, offset_bytes: u64, bytes: &[u8]) -> Result<(), MediaError> {
        while let Some(begun) = self.logs.get(&slot) {
            let Some(ended) = begun.ended else {
                self.turn();
                continue;
            };
            let is_same = std::ptr::eq(&*begun.bytes, bytes) || begun.bytes == bytes;
            let is_it = begun.offset_bytes == offset_bytes && is_same;
            self.logs.remove(&slot);
            if is_it {
                return ended;
            }
        }
        let place = self.log_place(slot, offset_bytes, bytes.len())?;
        let handle = self.module(slot)?.handle;
        let mut buffer = self.pool.take(bytes.len());
        buffer.bytes_mut().copy_from_slice(bytes);
        let (written, _, buffer) = self.call(handle, IoKind::Write { durable: true }, place, buffer);
        self.pool.give(buffer);
        written
    }

    pub(crate) fn begin_write_of_log(&mut self, slot: u32, offset_bytes: u64, bytes: &Bytes) {
        // A write that was begun and given up must not end after this one.
        while self.logs.get(&slot).is_some_and(|begun| begun.ended.is_none()) {
            self.turn();
        }
        let Ok(place) = self.log_place(slot, offset_bytes, bytes.len()) else { return };
        let mut buffer = self.pool.take(bytes.len());
        buffer.bytes_mut().copy_from_slice(bytes);
        self.logs.insert(slot, BegunLog { offset_bytes, bytes: bytes.clone(), ended: None });
        self.begin(slot, Purpose::Log, IoKind::Write { durable: true }, place, buffer);
    }

    /// Whether a write of a module's log that was begun is in flight.
    pub(crate) fn has_log_in_flight(&self, slot: u32) -> bool {
        self.logs.get(&slot).is_some_and(|begun| begun.ended.is_none())
    }

    /// Ends the write of a module's log that was begun, if there is one.
    pub(crate) fn log_ended(&mut self, slot: u32, result: Result<(), MediaError>) {
        if let Some(begun) = self.logs.get_mut(&slot).filter(|begun| begun.ended.is_none()) {
            begun.ended = Some(result);
            self.ended.push(Ended::Log { module: slot });
        }
    }
}
