//! A module that is new, or was away, gets what belongs on it.
//!
//! Block by block, front to back, one stripe at a time: the unit is made from the others of its stripe and programmed at
//! its place. Stripes that nobody needs are passed over. Bands that are erased meanwhile need nothing more; of bands that
//! do without the module its block is erased, so that they can use it from their next opening on. Rebuilt units
//! count at once, but the headers say that the module is complete only at the end, and meanwhile how far it is: after a
//! cut the rebuild goes on from there. They say it of openings: bands that were opened up to that one and are still in use
//! are whole on the module, and that is durable. A band that was opened again since has a higher one, and is done again.
//! Units that can't be made because another module is missing are left out, and made when none is missing any more.
//!
//! A rebuild can be held to a rate. It counts what is programmed, and never makes up for what it did not use.

use device::Time;
use ftl::{BandId, UnitAddress};
use media::Unit;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A module being rebuilt.
#[derive(Clone, Debug)]
pub struct ModuleRebuild {
    /// Its number within the card.
    pub logical: u32,
    /// Blocks to be rebuilt. At most all blocks of the module.
    pub todo: VecDeque<(BandId, u32)>,
    pub blocks: usize,
    /// Flash management has taken the snapshot that says which sectors have to be rebuilt.
    pub snapshot_taken: bool,
    pub at: Option<UnitAddress>,
    /// The unit at `at` waits for its time.
    pub waits: bool,
    /// The unit being programmed.
    pub unit: Option<Unit>,
    /// When the first of it began, and the last of it ended.
    pub begun: Option<Time>,
    pub ended: Time,
    pub bytes_done: u64,
    /// The module is gone: what is under way is the last of it.
    pub given_up: bool,
    pub told: ToldRebuild,
}

/// The headers are told so many times of a rebuild, at most.
const TELLS: usize = 32;

/// The part of a rebuild that the headers are told of, so that it need not be done again.
#[derive(Clone, Copy, Debug)]
pub struct ToldRebuild {
    /// The last opening of any band when the rebuild began. Nothing is told of later ones: they have units on the module
    /// that no rebuild wrote, and that may be torn after a cut.
    pub last_opening: u64,
    /// Blocks that were done when they were told last, or were to be.
    blocks_done: usize,
    /// To be told when it is durable.
    waits: Option<u64>,
    /// To be told when the sync under way has ended.
    syncing: Option<u64>,
}

impl ToldRebuild {
    pub fn new(last_opening: u64) -> ToldRebuild {
        ToldRebuild { last_opening, blocks_done: 0, waits: None, syncing: None }
    }

    /// Tells whether enough blocks are done since the headers were told last: `done` of `blocks`.
    pub fn is_due(&mut self, done: usize, blocks: usize) -> bool {
        let is_due = done - self.blocks_done >= blocks.div_ceil(TELLS);
        if is_due {
            self.blocks_done = done;
        }
        is_due
    }

    /// All up to an opening is programmed.
    pub fn programmed(&mut self, opening: u64) {
        self.waits = Some(opening);
    }

    /// A sync of the module begins.
    pub fn sync_begins(&mut self) {
        self.syncing = self.waits.take().or(self.syncing);
    }

    /// It has ended: all up to this opening is durable.
    pub fn synced(&mut self) -> Option<u64> {
        self.syncing.take()
    }
}

impl ModuleRebuild {
    /// The unit that is being rebuilt.
    pub fn at(&self) -> Option<UnitAddress> {
        self.at
    }

    /// The band of which a block is being rebuilt: it is not erased meanwhile.
    pub fn band(&self) -> Option<BandId> {
        self.at.map(|at| at.band)
    }
}

/// How far a rebuild is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebuildProgress {
    /// The module, by its number within the card.
    pub module: u32,
    /// Blocks that are done.
    pub blocks_done: u64,
    /// Blocks in all.
    pub blocks: u64,
    /// Bytes that were programmed.
    pub bytes_done: u64,
    /// Bytes that are left, at most: units of stripes that somebody needs, as of now. Bands that were not filled when
    /// the power went have units that were never written.
    pub bytes_left: u64,
    /// How long that takes at the pace so far; `None` before there is one.
    pub left_ns: Option<u64>,
}

impl RebuildProgress {
    /// Share of the bytes that is done.
    pub fn share(&self) -> f64 {
        self.bytes_done as f64 / (self.bytes_done + self.bytes_left).max(1) as f64
    }
}

/// A limit, and when it lets the next unit begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct RebuildRate {
    pub bytes_per_s: Option<u64>,
    /// Units begin no sooner.
    pub next: Time,
    /// When the unit that is under way began.
    pub unit_begun: Time,
}

/// The module that is being rebuilt, and those that wait.
#[derive(Clone, Debug, Default)]
pub struct Rebuilds {
    pub current: Option<Box<ModuleRebuild>>,
    /// Modules to be rebuilt after it; at most all.
    pub waiting: VecDeque<u32>,
    /// Modules whose rebuild went as far as it could while another module or a die was missing: it goes on when none is.
    pub unfinished: BTreeSet<u32>,
    /// Blocks of which units could not be made because another module or a die was missing, with the sequence number of
    /// their band's opening.
    pub left_out: BTreeMap<(BandId, u32), u64>,
    pub rate: RebuildRate,
}
