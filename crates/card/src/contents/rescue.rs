//! Sectors that a start has found in stripes that are not whole.
//!
//! Power went while the stripes were programmed, or something of them is lost. The start has read the sectors that they
//! hold, and the card writes them elsewhere first of all; invariants:
//! - until all of it is durable elsewhere, no band is erased that held sectors: it may be the last to hold what was durable
//!   before the power went;
//! - a sector that was read counts even if the stripe loses more before it is moved.

use crate::contents::store::Content;
use ftl::Lba;
use ftl::recover::Rescued;
use std::collections::BTreeMap;

/// The data found there, until it is durable elsewhere. At most what recovery reads of it.
#[derive(Clone, Debug)]
pub struct Rescue {
    pub by_address: BTreeMap<u32, Content>,
    /// Nothing of it lies where it was found any more: it is durable elsewhere when this is.
    pub barriers: Option<[u64; 2]>,
    /// The number of bands waiting to be erased that held nothing that counts when the card was started, less those
    /// that were erased since.
    pub erasable: usize,
    /// There is no room for it before something is erased.
    pub lacks_room: bool,
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
}
