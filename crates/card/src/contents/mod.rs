//! The contents of a card: bytes on media, and all that keeps them safe.

pub mod admission;
pub mod checkpoint;
pub mod checksums;
pub mod direct_reads;
pub mod failed_stripes;
pub mod health;
pub mod holes;
pub mod log;
pub mod modules;
pub mod patrol;
pub mod read_ahead;
pub mod read_bytes;
pub mod rebuild;
pub mod repair;
pub mod rescue;
pub mod scrub;
pub mod store;
pub mod sync;
pub mod watermark;

use admission::Admission;
use checkpoint::CheckpointInFlight;
use direct_reads::DirectReads;
use failed_stripes::FailedStripes;
use health::Life;
use holes::Holes;
use log::Log;
use patrol::Patrol;
use rebuild::Rebuilds;
use repair::Repair;
use rescue::Rescue;
use scrub::Scrub;
use slab::Slab;
use store::Store;
use sync::Syncs;
use watermark::Watermarks;

/// The contents of a card that holds bytes.
#[derive(Clone, Debug)]
pub struct Storage {
    pub(crate) store: Store,
    pub(crate) admission: Admission,
    pub(crate) direct_reads: DirectReads,
    pub(crate) failed: FailedStripes,
    pub(crate) syncs: Syncs,
    pub(crate) watermarks: Watermarks,
    pub(crate) holes: Holes,
    pub(crate) log: Log,
    pub(crate) checkpoint: CheckpointInFlight,
    /// Units being rebuilt from their stripes.
    pub(crate) repairs: Slab<Repair>,
    pub(crate) rebuilds: Rebuilds,
    pub(crate) rescue: Option<Box<Rescue>>,
    pub(crate) scrub: Option<Scrub>,
    pub(crate) patrol: Patrol,
    pub(crate) life: Life,
}

impl Storage {
    /// Nothing is under way.
    pub(crate) fn new(store: Store) -> Storage {
        Storage {
            store,
            admission: Admission::default(),
            direct_reads: DirectReads::default(),
            failed: FailedStripes::default(),
            syncs: Syncs::default(),
            watermarks: Watermarks::default(),
            holes: Holes::default(),
            log: Log::default(),
            checkpoint: CheckpointInFlight::default(),
            repairs: Slab::new(),
            rebuilds: Rebuilds::default(),
            rescue: None,
            scrub: None,
            patrol: Patrol::default(),
            life: Life::default(),
        }
    }
}
