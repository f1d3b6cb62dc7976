//! Sectors that a start has found in stripes that are not whole.
//!
//! Power went while the stripes were programmed, or something of them is lost. The start has read the sectors that they
//! hold, and the card writes them elsewhere first of all; invariants:
//! - until all of it is durable elsewhere, no band is erased that held sectors: it may be the last to hold what was durable
//!   before the power went;
//! - a sector that was read counts even if the stripe loses more before it is moved.

use crate::contents::store::Content;
use ftl::recover::Rescued;
use ftl::{Ftl, Lba, Ppa};
use std::collections::BTreeMap;

/// The data found there, until it is durable elsewhere. At most what recovery reads of it.
#[derive(Clone, Debug)]
pub struct Rescue {
    by_address: BTreeMap<u32, Content>,
    /// Nothing of it lies where it was found any more: it is durable elsewhere when this is.
    barriers: Option<[u64; 2]>,
    /// The number of bands waiting to be erased that held nothing that counts when the card was started, less those
    /// that were erased since.
    erasable: usize,
    /// There is no room for it before something is erased.
    lacks_room: bool,
}

impl Rescue {
    /// A rescue of `found`, with `erasable` bands waiting to be erased. `None`: there is nothing to rescue.
    pub fn of(found: Vec<Rescued>, erasable: usize) -> Option<Box<Rescue>> {
        if found.is_empty() {
            return None;
        }
        let content = |found: Rescued| {
            (found.ppa.0, Content::new(found.role, found.version, Lba(found.index), found.payload.into()))
        };
        let by_address = found.into_iter().map(content).collect();
        Some(Box::new(Rescue { by_address, barriers: None, erasable, lacks_room: false }))
    }

    /// Forgets the sectors that lie elsewhere by now; true when all of them are durable there: the rescue is over.
    pub fn forget_moved(&mut self, ftl: &Ftl) -> bool {
        // Once a sector lies elsewhere its band may be erased, and the address be given to something else.
        self.by_address.retain(|ppa, _| ftl.is_current(Ppa(*ppa)));
        self.by_address.is_empty() && ftl.is_durable(*self.barriers.get_or_insert_with(|| ftl.barriers()))
    }

    /// The number of waiting bands that may be erased, as far as the rescue is concerned.
    pub fn erasable(&self) -> usize {
        if self.lacks_room { usize::MAX } else { self.erasable }
    }

    /// A band is about to be erased.
    pub fn erase_begins(&mut self) {
        self.erasable = self.erasable.saturating_sub(1);
    }

    /// Nothing goes on any more unless bands are erased: from now on any may be.
    pub fn release_erases(&mut self) {
        self.lacks_room = true;
    }

    /// The sector that was found at an address.
    pub fn found_at(&self, ppa: Ppa) -> Option<&Content> {
        self.by_address.get(&ppa.0)
    }
}
