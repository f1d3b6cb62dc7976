//! A device of tests, whose times are known.

use crate::Instant;
use device::{ByteRange, Completion, Device, Operation, Parts, Request, RequestId, Time};
use std::collections::BTreeMap;

const BLOCK: u32 = 4096;

/// A device that takes as long for each request, however many there are, and remembers what it was asked.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    read_ns: u64,
    write_ns: u64,
    capacity_bytes: u64,
    due: BTreeMap<(Time, u32), ()>,
    pub asked: Vec<(Time, Request)>,
}

impl Fixed {
    pub fn new(read_ns: u64, write_ns: u64, blocks: u64) -> Fixed {
        let capacity_bytes = blocks * u64::from(BLOCK);
        Fixed { read_ns, write_ns, capacity_bytes, due: BTreeMap::new(), asked: Vec::new() }
    }

    /// The blocks at which requests of a kind began, in order.
    pub fn asked(&self, operation: Operation) -> Vec<u64> {
        let same = self.asked.iter().filter(|(_, request)| request.operation == operation);
        same.map(|(_, request)| request.range.offset_bytes / u64::from(BLOCK)).collect()
    }

    /// Bytes that were written to it.
    pub fn written_bytes(&self) -> u64 {
        let writes = self.asked.iter().filter(|(_, request)| request.operation == Operation::Write);
        writes.map(|(_, request)| u64::from(request.range.len_bytes)).sum()
    }
}

impl Device for Fixed {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, request: Request, _: &mut Vec<Completion>) {
        assert!(self.next_event() >= now && !self.due.keys().any(|(_, other)| *other == id.0));
        assert!(request.operation == Operation::Flush || request.range.end_bytes() <= self.capacity_bytes);
        let ns = if request.operation == Operation::Read { self.read_ns } else { self.write_ns };
        self.asked.push((now, request));
        self.due.insert((now + ns, id.0), ());
    }

    fn next_event(&self) -> Time {
        self.due.keys().next().map_or(Time::NEVER, |(due, _)| *due)
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        while let Some((&(due, id), ())) = self.due.first_key_value() {
            if due > now {
                break;
            }
            self.due.remove(&(due, id));
            done.push(Completion { id: RequestId(id), result: Ok(()), data: (), parts: Parts::default() });
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn in_flight(&self) -> u64 {
        self.due.len() as u64
    }
}

impl Instant for Fixed {
    fn write_now(&mut self, range: ByteRange) -> Result<(), ftl::ReadOnly> {
        assert!(range.end_bytes() <= self.capacity_bytes);
        Ok(())
    }
}
