//! The interface between flash management and a medium.

use crate::error::MediaError;
use crate::payload::Payload;
use crate::place::{BlockAt, LogArea, UnitAt};
use crate::unit::Unit;
use bytes::Bytes;
use format::Shape;
use std::any::Any;
use std::fmt;
use std::os::fd::BorrowedFd;

/// The cost of a read, and its distance from the limit of error correction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// The number of further reads with shifted thresholds.
    pub retries: u32,
    /// The number of corrected bits of the worst sector.
    pub corrected_bits: u32,
    /// The unit should be written elsewhere soon, because time, reads or a fault have brought it near to the limit of error
    /// correction. Not set if only the wear of its block has, because another block would be no better.
    pub refresh_advised: bool,
}

/// Reads of a medium outside of this program, and the time that went by meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCount {
    /// Requests to the files or drives.
    pub requests: u64,
    /// Bytes that they were asked for.
    pub bytes: u64,
    /// Nanoseconds by the clock.
    pub ns: u64,
}

impl std::ops::AddAssign for ReadCount {
    fn add_assign(&mut self, more: ReadCount) {
        self.requests += more.requests;
        self.bytes += more.bytes;
        self.ns += more.ns;
    }
}

/// Neighbouring sectors of a unit that are read beside the operations of dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorsAt {
    /// The unit that the sectors lie in.
    pub unit: UnitAt,
    /// The first sector within the unit.
    pub first: u32,
    /// The number of sectors.
    pub count: u32,
    /// The spare areas of all sectors of the unit are read as well, without their payloads.
    pub with_spares: bool,
}

impl SectorsAt {
    /// The sectors, as bits.
    pub fn mask(&self) -> u64 {
        (u64::MAX >> (64 - self.count)) << self.first
    }
}

/// The end of an operation that was begun on a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the comment of each variant says what its fields are")]
pub enum Ended {
    /// The operation of a die has ended.
    Die { module: u32, die: u32 },
    /// The read of sectors with this tag has ended.
    Sectors { tag: u64 },
    /// The sync of a module has ended.
    Sync { module: u32 },
    /// The write of a module's log has ended.
    Log { module: u32 },
}

/// The modules of a card.
///
/// Operations happen at once, in the order in which they are called; the layers above model time. After a power cut
/// every operation fails with [`MediaError::NoPower`].
///
/// On a medium that is itself slow (a file, a drive), operations can be begun ([`Media::begin_program`] and so on), so
/// that several are in flight. The operation itself is called when [`Media::is_under_way`] no longer holds, and only
/// hands over the result. A die has at most one operation in flight. No operation has to be begun.
///
/// Reads of sectors ([`Media::begin_sectors`]) are no operations of a die: any number of them are in flight beside it, as
/// a drive's own queue allows.
pub trait Media: Any + fmt::Debug + Send + Sync {
    /// The division of the modules.
    fn shape(&self) -> &Shape;

    /// Reads a unit; each sector has its own outcome. Overwrites `unit`; the contents of sectors that are not
    /// [`crate::SectorState::Good`] are undefined.
    fn read(&mut self, at: UnitAt, unit: &mut Unit) -> Result<ReadReport, MediaError>;

    /// Reads only the sectors of a unit whose bits are set in `wanted`, from bit 0 on. The outcome of the others is
    /// undefined. Units have at most 64 sectors.
    fn read_some(&mut self, at: UnitAt, _wanted: u64, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        self.read(at, unit)
    }

    /// Reads sectors of a unit beside the operations of its die, and hands over the result if the read was begun under this
    /// tag. The payloads of the sectors are there afterwards and, where `at.with_spares` asks for them, the spare areas
    /// of all sectors of the unit; everything else is undefined. Nothing is checked against the place: the caller
    /// compares checksums.
    fn read_sectors(&mut self, _tag: u64, at: &SectorsAt, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        self.read_some(at.unit, if at.with_spares { u64::MAX } else { at.mask() }, unit)
    }

    /// The payloads of the sectors that a read under this tag has brought, one after the other, in memory that the medium
    /// lends. `None`: this medium lends none, or has not brought them all; [`Media::read_sectors`] tells.
    fn lend_sectors(&mut self, _tag: u64, _at: &SectorsAt) -> Option<Bytes> {
        None
    }

    /// Whether [`Media::read_some`] lends the payloads of these sectors where they are read in place of copying them. A payload
    /// that is lent holds the memory of the whole unit.
    fn lends(&self, _wanted: u64) -> bool {
        false
    }

    /// Reads the spare areas of a unit, where a medium keeps them apart from the payloads. Each sector has the outcome that
    /// [`Media::read`] would give it. `true`: the payloads were read as well; otherwise they are undefined.
    fn read_spares(&mut self, at: UnitAt, unit: &mut Unit) -> Result<bool, MediaError> {
        self.read(at, unit)?;
        Ok(true)
    }

    /// Reads since this was last asked, or since the medium was opened. Emulated flash counts nothing.
    fn take_read_count(&mut self) -> ReadCount {
        ReadCount::default()
    }

    /// Whether units were found, since this was last asked, that were durable and are not there any more. From now on they
    /// can't be read, where before they seemed never to have been programmed.
    fn take_fallen(&mut self) -> bool {
        false
    }

    /// Whether a unit was found to be one of those.
    fn has_fallen(&self, _at: UnitAt) -> bool {
        false
    }

    /// Whether a program that a cut ended is read as if it had never begun: what can't be read then was durable once.
    fn tears_read_as_erased(&self) -> bool {
        false
    }

    /// Whether a program that went astray is recognised where it landed.
    fn shows_strays(&self) -> bool {
        true
    }

    /// Programs a unit. After [`MediaError::Failed`] its contents are undefined, and the block should not be used any
    /// more.
    fn program(&mut self, at: UnitAt, unit: &Unit) -> Result<(), MediaError>;

    /// Erases a block. After [`MediaError::Failed`] the block is not erased and should not be used any more. A block
    /// that was marked bad may still be erased, and stays marked.
    fn erase(&mut self, at: BlockAt) -> Result<(), MediaError>;

    /// Makes the programs and erases of a module durable. Media without a volatile cache have nothing to do.
    fn sync(&mut self, module: u32) -> Result<(), MediaError>;

    /// Whether programs and erases may be lost in a power cut before [`Media::sync`].
    fn is_volatile(&self) -> bool;

    /// Whether an erase survives a power cut as soon as it has ended, although programs may be lost.
    fn keeps_erases(&self) -> bool {
        !self.is_volatile()
    }

    /// Whether sectors can be read while their dies do something else, because a module is a drive with a queue of its
    /// own.
    fn reads_beside_programs(&self) -> bool {
        false
    }

    /// Whether a block was marked bad.
    fn is_bad(&self, at: BlockAt) -> bool;

    /// Marks a block bad. The mark stays for ever.
    fn mark_bad(&mut self, at: BlockAt) -> Result<(), MediaError>;

    /// The number of times that a block was erased.
    fn cycles(&self, at: BlockAt) -> u32;

    /// Reads one copy of a module's header; `None` if it was never written or can't be read. Does not check the
    /// contents.
    fn read_header(&mut self, module: u32, copy: u32) -> Result<Option<Vec<u8>>, MediaError>;

    /// Writes one copy of a module's header ([`crate::HEADER_BYTES`]). The copy is durable when the call returns. A
    /// power cut may leave this copy unreadable, but not the other.
    fn write_header(&mut self, module: u32, copy: u32, bytes: &[u8]) -> Result<(), MediaError>;

    /// The log area of each module; `None` if the modules have none.
    fn log_area(&self) -> Option<LogArea> {
        None
    }

    /// Reads the log area of a module. Places that can't be read, or were never written, hold no record.
    fn read_log(&mut self, _module: u32) -> Result<Vec<u8>, MediaError> {
        Ok(Vec::new())
    }

    /// Writes a part of the log area of a module. It is durable when the call returns. A power cut may leave any part of
    /// it.
    fn write_log(&mut self, _module: u32, _offset_bytes: u64, _bytes: &[u8]) -> Result<(), MediaError> {
        Err(MediaError::Host)
    }

    /// Claims a module: from now on only the caller may write to it, and an earlier claimant with a lower generation
    /// gets [`MediaError::Fenced`]. A claim with a generation that is not above the present one is fenced itself. Media
    /// that can't refuse writes do nothing.
    fn claim(&mut self, module: u32, generation: u64) -> Result<(), MediaError>;

    /// Whether there is a module in a slot.
    fn has_module(&self, slot: u32) -> bool;

    /// The number of further reads with shifted thresholds that a read of a unit would take now.
    fn retries(&self, _at: UnitAt) -> u32 {
        0
    }

    /// Whether operations on a module never end.
    fn is_stuck(&self, _module: u32) -> bool {
        false
    }

    /// The times of a module, in percent of its normal times.
    fn slow_percent(&self, _module: u32) -> u32 {
        100
    }

    /// Begins the read of a unit.
    fn begin_read(&mut self, _at: UnitAt) {}

    /// Begins a read of the spare areas of a unit, where a medium keeps them apart: [`Media::read_spares`] waits for less.
    fn begin_spares(&mut self, _at: UnitAt) {}

    /// Begins a read of sectors. No other read in flight has this tag.
    fn begin_sectors(&mut self, _tag: u64, _at: &SectorsAt) {}

    /// Begins the program of a unit.
    fn begin_program(&mut self, _at: UnitAt, _unit: &Unit) {}

    /// Begins the erase of a block.
    fn begin_erase(&mut self, _at: BlockAt) {}

    /// Begins the sync of a module. It covers the programs and erases that have ended.
    fn begin_sync(&mut self, _module: u32) {}

    /// Claims modules side by side, as far as the medium can: [`Media::claim`] then has nothing left to do for those of
    /// which it worked.
    fn begin_claims(&mut self, _claims: &[(u32, u64)]) {}

    /// Begins the write of one copy of a module's header.
    fn begin_header(&mut self, _module: u32, _copy: u32, _bytes: &[u8]) {}

    /// Begins a write of a module's log. A module has at most one in flight.
    fn begin_log(&mut self, _module: u32, _offset_bytes: u64, _bytes: &Bytes) {}

    /// Whether a write of a module's log that was begun is in flight.
    fn writes_log(&self, _module: u32) -> bool {
        false
    }

    /// Whether an operation that was begun on a die is in flight.
    fn is_under_way(&self, _module: u32, _die: u32) -> bool {
        false
    }

    /// Whether a read of sectors that was begun is in flight.
    fn reads_sectors(&self, _tag: u64) -> bool {
        false
    }

    /// Whether a sync that was begun is in flight.
    fn is_syncing(&self, _module: u32) -> bool {
        false
    }

    /// Whether any operation that was begun has not ended, or its end was not taken.
    fn has_in_flight(&self) -> bool {
        false
    }

    /// Ends are there to be taken. The bell does not ring for them if a call that waited for another end has collected them.
    fn has_ended(&self) -> bool {
        false
    }

    /// Submits the operations that were begun, if the medium collects them.
    fn submit(&mut self) {}

    /// Appends the ends, since the last call, of operations that were begun.
    fn take_ended(&mut self, _ended: &mut Vec<Ended>) {}

    /// Memory of a payload that was erased and that has no owner, to be used again; `None` if there is none.
    fn take_payload(&mut self) -> Option<Payload> {
        None
    }

    /// A file descriptor that becomes readable when an operation that was begun has ended.
    fn bell(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
