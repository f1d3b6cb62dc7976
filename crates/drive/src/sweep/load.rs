//! The load of a card on a module: appended units, random reads beside them, and syncs.

use device::{Request, Rng, Time};
use load::{Load, ProcessId, Step};

/// Random reads that a drive is asked for beside the writes.
const READERS: u32 = 4;
/// Sizes of random reads; each read has one of them.
const READ_BYTES: [u32; 3] = [4096, 8192, 16384];
/// The room that reads may begin in is so much smaller than the room.
const LARGEST_READ_BYTES: u64 = 16384;
/// Reads begin on multiples of this.
const READ_ALIGN_BYTES: u64 = 4096;
/// Time between two syncs: that of a card which is written to without a pause.
const SYNC_EVERY_NS: u64 = 10_000_000;

/// See the module.
pub(super) struct Append {
    unit_bytes: u32,
    room_bytes: u64,
    depth: u32,
    next: u64,
    /// The last step of the process that syncs was a sync.
    has_synced: bool,
    rng: Rng,
}

impl Append {
    /// Units from the start of the room to its end, again and again, `depth` of them at once.
    pub fn new(unit_bytes: u32, room_bytes: u64, depth: u32, seed: u64) -> Append {
        let least = u64::from(unit_bytes).max(LARGEST_READ_BYTES);
        assert!(room_bytes >= least, "a room of {room_bytes} bytes, and {least} are needed");
        Append { unit_bytes, room_bytes, depth, next: 0, has_synced: true, rng: Rng::stream(seed, "sweep reads") }
    }

    fn write(&mut self) -> Request {
        let unit = u64::from(self.unit_bytes);
        if self.next + unit > self.room_bytes {
            self.next = 0;
        }
        let offset = self.next;
        self.next += unit;
        Request::write(offset, self.unit_bytes)
    }

    fn read(&mut self) -> Request {
        let bytes = READ_BYTES[self.rng.below(READ_BYTES.len() as u64) as usize];
        let places = (self.room_bytes - LARGEST_READ_BYTES) / READ_ALIGN_BYTES + 1;
        Request::read(self.rng.below(places) * READ_ALIGN_BYTES, bytes)
    }
}

impl Load for Append {
    fn processes(&self) -> u32 {
        self.depth + READERS + 1
    }

    fn step(&mut self, process: ProcessId, now: Time, _: &mut Vec<ProcessId>) -> Step {
        let request = if process.0 < self.depth {
            self.write()
        } else if process.0 < self.depth + READERS {
            self.read()
        } else if self.has_synced {
            self.has_synced = false;
            return Step::Sleep { until: now + SYNC_EVERY_NS };
        } else {
            self.has_synced = true;
            Request::flush()
        };
        Step::Io { cpu_ns: 0, request, due: None }
    }

    fn footprint_bytes(&self) -> u64 {
        self.room_bytes
    }

    fn start_measurement(&mut self, _: Time) {}

    fn report(&self, _: Time) -> Option<results::Application> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::Operation;

    #[test]
    fn units_follow_each_other_and_nothing_leaves_the_room() {
        let mut load = Append::new(16_896, 100_000, 2, 1);
        let mut wake = Vec::new();
        let mut step = |process| load.step(ProcessId(process), Time(5), &mut wake);
        let offset = |step: Step| match step {
            Step::Io { request, .. } => (request.operation, request.range.offset_bytes, request.range.end_bytes()),
            other => panic!("{other:?}"),
        };
        let writes: Vec<_> = (0..6).map(|number| offset(step(number % 2))).collect();
        let place = |unit: u64| (Operation::Write, unit * 16_896, (unit + 1) * 16_896);
        assert_eq!(writes, [0, 1, 2, 3, 4, 0].map(place));
        for _ in 0..1000 {
            let (operation, from, until) = offset(step(2));
            assert!(operation == Operation::Read && from % 4096 == 0 && until <= 100_000);
        }
        // A sync is followed by a pause.
        assert_eq!(step(6), Step::Sleep { until: Time(5 + SYNC_EVERY_NS) });
        assert_eq!(offset(step(6)).0, Operation::Flush);
        assert!(matches!(step(6), Step::Sleep { .. }));
    }
}
