//! A slot with a module in it, and the operations that a power cut would lose.
//!
//! With a volatile cache there are two states of the module: the one that the card sees, and the durable one. They
//! share their memory where they are equal.

use crate::module::{Erased, Module, Put};
use crate::payload::Payload;
use crate::place::{BlockAt, UnitAt};
use crate::sectors::Sectors;
use std::collections::VecDeque;
use std::sync::Arc;

/// A program or an erase that was reported and that no sync has made durable yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsynced {
    /// The program of a unit.
    Program(UnitAt),
    /// The erase of a block.
    Erase(BlockAt),
}

/// The number of unsynced operations that a module's cache holds. Beyond it the oldest becomes durable, as in a drive's
/// cache.
pub const CACHE_OPERATIONS: usize = 65_536;

#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub live: Arc<Module>,
    cache: Option<Box<Cache>>,
}

#[derive(Clone, Debug)]
struct Cache {
    durable: Arc<Module>,
    pending: VecDeque<Pending>,
    /// A failed sync has dropped pending operations, so `durable` no longer becomes `live` by a sync.
    diverged: bool,
}

#[derive(Clone, Debug)]
enum Pending {
    Put(Put, Box<Sectors>),
    Erase { die: u32, block: u32, how: Erased },
}

impl Pending {
    fn apply(&self, module: &mut Module) {
        match self {
            Pending::Put(put, contents) => module.put(*put, contents),
            Pending::Erase { die, block, how } => module.erase(*die, *block, *how, &mut Vec::new()),
        }
    }
    fn describe(&self, slot: u32) -> Unsynced {
        match self {
            Pending::Put(put, _) => Unsynced::Program(UnitAt {
                block: BlockAt { module: slot, die: put.die, block: put.block },
                row: put.row,
            }),
            Pending::Erase { die, block, .. } => Unsynced::Erase(BlockAt { module: slot, die: *die, block: *block }),
        }
    }
}

impl Slot {
    pub fn new(module: Module, is_volatile: bool) -> Slot {
        let live = Arc::new(module);
        let cache = is_volatile
            .then(|| Box::new(Cache { durable: Arc::clone(&live), pending: VecDeque::new(), diverged: false }));
        Slot { live, cache }
    }

    /// Changes the module in a way that no power cut takes back.
    pub fn physical(&mut self, change: impl Fn(&mut Module)) {
        change(Arc::make_mut(&mut self.live));
        if let Some(cache) = &mut self.cache {
            change(Arc::make_mut(&mut cache.durable));
        }
    }

    /// The live module, to change state that does not concern durability: armed faults, counts of reads.
    #[inline]
    pub fn live_mut(&mut self) -> &mut Module {
        Arc::make_mut(&mut self.live)
    }

    pub fn put(&mut self, put: Put, contents: &Sectors) {
        Arc::make_mut(&mut self.live).put(put, contents);
        if let Some(cache) = &mut self.cache {
            cache.push(Pending::Put(put, Box::new(contents.clone())));
        }
    }

    /// Erases a block. Payloads without another owner go to `freed`.
    pub fn erase(&mut self, die: u32, block: u32, how: Erased, freed: &mut Vec<Payload>) {
        Arc::make_mut(&mut self.live).erase(die, block, how, freed);
        if let Some(cache) = &mut self.cache {
            cache.push(Pending::Erase { die, block, how });
        }
    }

    /// Makes the pending operations durable.
    pub fn sync(&mut self) {
        let Some(cache) = &mut self.cache else { return };
        if cache.diverged {
            let durable = Arc::make_mut(&mut cache.durable);
            cache.pending.drain(..).for_each(|pending| pending.apply(durable));
        } else {
            cache.pending.clear();
            cache.durable = Arc::clone(&self.live);
        }
    }

    /// Drops the pending operations: they never become durable, though they can still be read.
    pub fn drop_pending(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.diverged |= !cache.pending.is_empty();
            cache.pending.clear();
        }
    }

    /// Loses power. Pending operations stay if `keep` says so; it is asked in the order in which they were reported.
    pub fn lose(&mut self, slot: u32, keep: &mut dyn FnMut(&Unsynced) -> bool) {
        let Some(cache) = &mut self.cache else { return };
        let durable = Arc::make_mut(&mut cache.durable);
        for pending in cache.pending.drain(..) {
            if keep(&pending.describe(slot)) {
                pending.apply(durable);
            }
        }
        // State that is no part of the contents stays as it was.
        durable.armed.clone_from(&self.live.armed);
        for (durable, live) in durable.blocks.iter_mut().zip(&self.live.blocks) {
            if durable.cycles == live.cycles {
                durable.reads = live.reads;
            }
        }
        cache.diverged = false;
        self.live = Arc::clone(&cache.durable);
    }

    /// The number of pending operations.
    pub fn unsynced(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.pending.len())
    }

    pub fn into_module(self) -> Module {
        drop(self.cache);
        Arc::unwrap_or_clone(self.live)
    }
}

impl Cache {
    fn push(&mut self, pending: Pending) {
        if self.pending.len() == CACHE_OPERATIONS
            && let Some(oldest) = self.pending.pop_front()
        {
            oldest.apply(Arc::make_mut(&mut self.durable));
        }
        self.pending.push_back(pending);
    }
}
