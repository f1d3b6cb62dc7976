//! A module that is in its slot: what is known of its file, and what is under way on it.

use crate::ahead::Ahead;
use crate::disks::Handle;
use crate::erase::Pages;
use crate::superblock::{SESSION_BITS, Superblock};
use crate::table::Entry;
use media::{BlockAt, MediaError, UnitAt};
use std::path::PathBuf;

/// See the module.
#[derive(Debug)]
pub(crate) struct Module {
    pub path: PathBuf,
    pub handle: Handle,
    pub superblock: Superblock,
    /// Claimed since it was opened.
    pub is_claimed: bool,
    /// By block.
    pub table: Vec<Entry>,
    pub pages: Pages,
    pub ahead: Ahead,
    pub syncs: Syncs,
    /// The last number that was given to a program.
    pub last_program: u64,
}

/// What is known of syncs in this session.
#[derive(Debug, Default)]
pub(crate) struct Syncs {
    /// The last program that a sync has covered.
    pub synced: u64,
    /// A sync failed: what a later one covers nobody knows.
    pub is_spoilt: bool,
    /// What the records say, or are about to say.
    pub recorded: u64,
    /// A record is being written.
    pub is_recording: bool,
    /// The copy that is written next.
    pub next_copy: usize,
}

impl Module {
    /// The epoch of a block after its next erase: above all that were ever given to it, also those that were lost.
    pub fn next_epoch(&self, block: u32) -> u64 {
        (self.table[block as usize].epoch + 1).max(u64::from(self.superblock.session) << SESSION_BITS)
    }
}

/// What is asked of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read(UnitAt),
    Program {
        at: UnitAt,
        /// Its number.
        number: u64,
    },
    Erase(BlockAt),
}

/// What a die does.
#[derive(Debug, Default)]
pub(crate) enum Die {
    #[default]
    Idle,
    /// Something is under way.
    Busy(Operation),
    /// It has ended, and nobody has asked how.
    Ended(Operation, Result<crate::Buffer, MediaError>),
}

/// What a module's cache does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sync {
    #[default]
    Idle,
    /// A sync is under way that covers programs up to this one.
    Busy(u64),
    Ended(Result<(), MediaError>),
}

/// A slot, with or without a module.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub module: Option<Module>,
    /// Which module: what an earlier one had under way is nobody's.
    pub visit: u64,
    pub dies: Vec<Die>,
    pub sync: Sync,
}
