//! Operations of dies, and the queues in which they wait.

use device::{Cause, RequestId, Time};
use ftl::{BandId, UnitAddress};
use media::nand::CellMode;
use slab::Slab;

/// Why a die does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Reads for a request of the host.
    HostRead(RequestId),
    /// Reads a page of the map.
    MapRead(u32),
    /// Reads sectors to relocate: index of the relocation.
    RelocationRead(u32),
    /// Programs a unit of a stripe: index of the stripe in flight.
    Program {
        stripe: u32,
        cause: Cause,
        /// The stripe belongs to garbage collection's stream.
        collection: bool,
    },
    /// Reads a unit of a stripe that another unit of it is rebuilt from: index of the repair.
    RepairRead(u32),
    /// Erases a block of a module that is being rebuilt.
    RebuildErase,
    /// Programs a unit of a module that is being rebuilt.
    RebuildProgram,
    /// Erases its share of a band.
    Erase(BandId),
}

impl Work {
    /// Whether it is a read that goes ahead of others, and may suspend them: the host waits for it, or writes of the host do.
    #[inline]
    pub fn goes_first(self) -> bool {
        matches!(self, Work::HostRead(_) | Work::MapRead(_))
    }

    /// The cause that a request names when it waits for this work.
    pub fn cause(self) -> Cause {
        match self {
            Work::HostRead(_) => Cause::DieHostRead,
            Work::MapRead(_) => Cause::DieMap,
            Work::RelocationRead(_) | Work::RepairRead(_) => Cause::DieRelocationRead,
            Work::Program { cause, .. } => cause,
            Work::RebuildProgram => Cause::DieRelocationProgram,
            Work::RebuildErase | Work::Erase(_) => Cause::DieErase,
        }
    }
}

/// The end of a queue: the id of no operation.
pub const NONE: u32 = u32::MAX;
/// The index of a repair read that nothing waits for: it only takes its time.
pub const NOBODY: u32 = u32::MAX;

/// One operation of a die.
#[derive(Clone, Copy, Debug)]
pub struct DieOp {
    pub work: Work,
    pub unit: UnitAddress,
    pub mode: CellMode,
    /// Bytes over the bus.
    pub bytes: u32,
    /// The next operation of the queue that this one waits in.
    pub next: u32,
    /// When it started.
    pub started: Time,
    /// Time that suspending another operation took before it started.
    pub suspend_ns: u64,
    /// Time of the array in a read.
    pub array_ns: u64,
    /// Time of further reads with shifted thresholds, once it is known.
    pub retry_ns: Option<u64>,
    /// A read that found its unit in the page registers.
    pub is_in_register: bool,
}

impl DieOp {
    /// An operation that has not begun.
    pub fn new(work: Work, unit: UnitAddress, mode: CellMode, bytes: u32) -> DieOp {
        DieOp {
            work,
            unit,
            mode,
            bytes,
            next: NONE,
            started: Time::ZERO,
            suspend_ns: 0,
            array_ns: 0,
            retry_ns: None,
            is_in_register: false,
        }
    }
}

/// Operations that wait for a die, first come first served.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    pub head: u32,
    pub tail: u32,
}

/// A queue without operations.
pub const EMPTY: Queue = Queue { head: NONE, tail: NONE };

impl Default for Queue {
    fn default() -> Queue {
        EMPTY
    }
}

/// A unit within its die, as a number.
pub fn unit_key(op: &DieOp) -> u64 {
    u64::from(op.unit.band.0) << 32 | u64::from(op.unit.row)
}

/// Lines an operation up.
pub fn push(queue: &mut Queue, id: u32, ops: &mut Slab<DieOp>) {
    if queue.tail == NONE {
        queue.head = id;
    } else {
        ops[queue.tail as usize].next = id;
    }
    queue.tail = id;
}

/// Takes the operation that has waited longest.
pub fn pop(queue: &mut Queue, ops: &mut Slab<DieOp>) -> Option<u32> {
    let id = queue.head;
    if id == NONE {
        return None;
    }
    queue.head = ops[id as usize].next;
    if queue.head == NONE {
        queue.tail = NONE;
    }
    Some(id)
}
