//! A module in its slot: its file, and the operations that are in flight on it.

use crate::ahead::Ahead;
use crate::buffer::Buffer;
use crate::discard::Discards;
use crate::disks::Handle;
use crate::erase::Pages;
use crate::frames::Frames;
use crate::marks::Marks;
use crate::sizes::SESSION_BITS;
use crate::superblock::Superblock;
use crate::table::Entry;
use bytes::Bytes;
use media::{BlockAt, MediaError, UnitAt};
use std::path::PathBuf;

#[derive(Debug)]
pub(crate) struct Module {
    pub path: PathBuf,
    pub handle: Handle,
    pub superblock: Superblock,
    /// The module was claimed since its file was opened.
    pub is_claimed: bool,
    /// The entries of the table of blocks, by block.
    pub table: Vec<Entry>,
    pub pages: Pages,
    pub ahead: Ahead,
    pub frames: Frames,
    pub marks: Marks,
    pub syncs: Syncs,
    /// Discards of erased bands; `None`: the disk has no use for them.
    pub discards: Option<Discards>,
    /// The last number that was given to a program.
    pub last_program: u64,
}

/// The syncs of this session.
#[derive(Debug, Default)]
pub(crate) struct Syncs {
    /// The last program that a sync has covered.
    pub synced: u64,
    /// A sync failed, so it is unknown which programs a later sync covers.
    pub is_spoilt: bool,
    /// The value of `synced` in the record, or in the record that is being written.
    pub recorded: u64,
    /// A record is being written.
    pub is_recording: bool,
    /// The copy that is written next.
    pub next_copy: usize,
}

impl Module {
    /// The epoch of a block after its next erase. It is above all epochs that the block ever had, including lost ones.
    pub fn next_epoch(&self, block: u32) -> u64 {
        (self.table[block as usize].epoch + 1).max(u64::from(self.superblock.session) << SESSION_BITS)
    }
}

/// An operation of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read(UnitAt),
    Program {
        at: UnitAt,
        /// The number of the program in its module.
        number: u64,
    },
    Erase(BlockAt),
}

/// The state of a die.
#[derive(Debug, Default)]
pub(crate) enum Die {
    #[default]
    Idle,
    /// An operation is in flight.
    Busy(Operation),
    /// The operation has ended, and its result was not taken yet.
    Ended(Operation, Result<Buffer, MediaError>),
}

/// The state of a module's cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sync {
    #[default]
    Idle,
    /// A sync is in flight that covers programs up to this one.
    Busy(u64),
    Ended(Result<(), MediaError>),
}

/// The part of a read that a request to the disk brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Payloads,
    Frame,
}

/// A read that was begun, until its result is taken.
#[derive(Debug)]
pub(crate) struct SectorRead {
    pub slot: u32,
    /// Requests to the disk that have not ended.
    pub left: u32,
    pub payloads: Buffer,
    pub frame: Buffer,
    /// A part can't be read, though the disk may be well.
    pub is_damaged: bool,
    pub error: Option<MediaError>,
}

impl SectorRead {
    /// A read that has no request to the disk, and this error.
    pub fn ends_with(slot: u32, error: Option<MediaError>) -> SectorRead {
        let (payloads, frame) = (Buffer::none(), Buffer::none());
        SectorRead { slot, left: 0, payloads, frame, is_damaged: false, error }
    }
}

/// A write of a module's log that was begun.
#[derive(Debug)]
pub(crate) struct BegunLog {
    pub offset_bytes: u64,
    pub bytes: Bytes,
    /// The result, when the write has ended.
    pub ended: Option<Result<(), MediaError>>,
}

/// A slot, with or without a module.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub module: Option<Module>,
    /// The number of the module in this slot. Requests of an earlier module are ignored when they end.
    pub visit: u64,
    pub dies: Vec<Die>,
    pub sync: Sync,
}
