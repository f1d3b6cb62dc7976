//! Payloads on their way to flash.

use format::{Role, payload_crc};
use ftl::{Lba, Ppa};
use media::{Payload, SectorData};
use rustc_hash::FxHashMap;

/// One sector's worth of what the card holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Data, holes or a lost sector.
    pub role: Role,
    /// Its write sequence number.
    pub version: u64,
    /// The map's address of it.
    pub lba: Lba,
    pub payload: Payload,
    /// The checksum of the payload, from where the payload came.
    pub payload_crc: u32,
    /// Failed stripes that are not durable before this is.
    pub awaited_by: Vec<u32>,
}

impl Content {
    /// Makes the content of a payload that has just come, and computes its checksum.
    pub fn new(role: Role, version: u64, lba: Lba, payload: Payload) -> Content {
        let payload_crc = payload_crc(&payload);
        Content { role, version, lba, payload, payload_crc, awaited_by: Vec::new() }
    }

    /// The sector as the host reads it: its data, or that it is unreadable.
    pub fn readable(&self) -> SectorData {
        match self.role {
            Role::Data => SectorData::Data(self.payload.clone()),
            _ => SectorData::Unreadable,
        }
    }

    /// As [`Content::readable`], for a content that is not needed any more.
    pub fn into_readable(self) -> SectorData {
        match self.role {
            Role::Data => SectorData::Data(self.payload),
            _ => SectorData::Unreadable,
        }
    }

    /// Makes the content of a payload whose checksum was compared when it was read.
    pub fn checked(role: Role, version: u64, lba: Lba, payload: Payload, payload_crc: u32) -> Content {
        Content { role, version, lba, payload, payload_crc, awaited_by: Vec::new() }
    }
}

/// The number of neighbouring addresses whose contents stand together. Addresses are given out one after the other, so a
/// table of single ones would cost a cache miss for each.
const RUN: usize = 64;

/// The contents for neighbouring addresses, and how many there are.
#[derive(Clone, Debug)]
struct Run {
    contents: Box<[Option<Content>]>,
    count: usize,
}

impl Run {
    fn new() -> Run {
        Run { contents: vec![None; RUN].into(), count: 0 }
    }
}

/// Runs without contents that are kept to be filled again.
const MAX_EMPTY: usize = 64;

/// By the address at which a sector will lie. At most what the write buffer and relocations under way hold.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    runs: FxHashMap<u32, Run>,
    empty: Vec<Run>,
}

impl Buffer {
    pub fn put(&mut self, ppa: Ppa, content: Content) {
        let (key, index) = place(ppa);
        let run = self.runs.entry(key).or_insert_with(|| self.empty.pop().unwrap_or_else(Run::new));
        let before = run.contents[index].replace(content);
        assert!(before.is_none(), "address {} was given out twice", ppa.0);
        run.count += 1;
    }

    pub fn get(&self, ppa: Ppa) -> Option<&Content> {
        let (key, index) = place(ppa);
        self.runs.get(&key)?.contents[index].as_ref()
    }

    pub fn take(&mut self, ppa: Ppa) -> Option<Content> {
        let (key, index) = place(ppa);
        let run = self.runs.get_mut(&key)?;
        let content = run.contents[index].take()?;
        run.count -= 1;
        if run.count == 0 {
            self.empty.extend(self.runs.remove(&key));
            self.empty.truncate(MAX_EMPTY);
        }
        Some(content)
    }
}

/// The run of an address, and its place there.
fn place(ppa: Ppa) -> (u32, usize) {
    (ppa.0 / RUN as u32, ppa.0 as usize % RUN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_where_they_were_put_and_leave_nothing_behind() {
        let mut buffer = Buffer::default();
        let content = |ppa: u32| Content::checked(Role::Data, u64::from(ppa), Lba(ppa), vec![0; 4].into(), ppa);
        for round in 0..3 {
            // Two stripes are filled side by side, across several runs.
            let addresses = || (0..5 * RUN as u32).step_by(2).chain((1..5 * RUN as u32).step_by(2)).map(Ppa);
            addresses().for_each(|ppa| buffer.put(ppa, content(ppa.0)));
            assert!(addresses().all(|ppa| buffer.get(ppa) == Some(&content(ppa.0))));
            assert_eq!(buffer.get(Ppa(5 * RUN as u32)), None);
            for ppa in addresses() {
                assert_eq!(buffer.take(ppa), Some(content(ppa.0)));
                assert!(buffer.get(ppa).is_none() && buffer.take(ppa).is_none());
            }
            assert!(buffer.runs.is_empty() && buffer.empty.len() == 5, "round {round}");
        }
    }
}
