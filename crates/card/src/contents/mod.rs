//! What a card holds: bytes on media, and all that keeps them safe.

pub mod health;
pub mod holes;
pub mod modules;
pub mod noted;
pub mod patrol;
pub mod rebuild;
pub mod repair;
pub mod rescue;
pub mod scrub;
pub mod store;

use crate::core::dies::Started;
use crate::core::stripes::StripeInFlight;
use health::Life;
use holes::{OwedSinceStart, TrimsBeforeErase};
use noted::Noted;
use patrol::Patrol;
use rebuild::{ModuleRebuild, RebuildRate};
use repair::Repair;
use rescue::Rescue;
use scrub::Scrub;
use slab::Slab;
use std::collections::VecDeque;
use store::Store;

/// The contents of a card that holds bytes.
#[derive(Clone, Debug)]
pub struct Storage {
    pub(crate) store: Store,
    /// Units being rebuilt from their stripes.
    pub(crate) repairs: Slab<Repair>,
    /// Stripes of which a program failed, with how many of their sectors are not yet on flash elsewhere.
    pub(crate) failed_stripes: Slab<(StripeInFlight, u32)>,
    /// Sectors of failed stripes for which there was no room elsewhere yet, by the address that they were written for.
    pub(crate) homeless: VecDeque<ftl::Ppa>,
    /// Sectors of failed stripes that are on flash elsewhere, in a stripe that others share cells with: the stripe, and the
    /// failed one.
    pub(crate) sharing_cells: Vec<(ftl::StripeId, u32)>,
    /// What the start found in stripes that are not whole.
    pub(crate) rescue: Option<Box<Rescue>>,
    /// What the headers say of what is durable.
    pub(crate) noted: Noted,
    /// A pass over all that is on flash.
    pub(crate) scrub: Option<Scrub>,
    /// Modules to be rebuilt after the one that is; at most all.
    pub(crate) to_rebuild: VecDeque<u32>,
    /// A module being rebuilt.
    pub(crate) rebuild: Option<Box<ModuleRebuild>>,
    /// How fast that may go.
    pub(crate) rebuild_rate: RebuildRate,
    /// Stripes that were programmed to media with a volatile cache, and are not synced.
    pub(crate) unsynced: Vec<StripeInFlight>,
    /// Stripes that the sync under way covers.
    pub(crate) syncing: Vec<StripeInFlight>,
    /// Stripes of a checkpoint that are being programmed, and its number.
    pub(crate) checkpoint_stripes: u32,
    pub(crate) checkpoint_version: u64,
    /// Lists of holes that only a checkpoint told of have to be written before the card is ready.
    pub(crate) owes_since_start: Option<OwedSinceStart>,
    /// What has begun on dies and is not begun on a slow medium yet: how the operation before it ended is asked first.
    pub(crate) to_begin: Vec<Started>,
    /// Trims that have to be durable before what they made stale is erased.
    pub(crate) trims: TrimsBeforeErase,
    /// Totals of its life.
    pub(crate) life: Life,
    /// Looks for what fades.
    pub(crate) patrol: Patrol,
}

impl Storage {
    /// Nothing is under way.
    pub(crate) fn new(store: Store) -> Storage {
        Storage {
            store,
            repairs: Slab::new(),
            failed_stripes: Slab::new(),
            homeless: VecDeque::new(),
            sharing_cells: Vec::new(),
            rescue: None,
            noted: Noted::default(),
            scrub: None,
            to_rebuild: VecDeque::new(),
            rebuild: None,
            rebuild_rate: RebuildRate::default(),
            unsynced: Vec::new(),
            syncing: Vec::new(),
            checkpoint_stripes: 0,
            checkpoint_version: 0,
            owes_since_start: None,
            to_begin: Vec::new(),
            trims: TrimsBeforeErase::default(),
            life: Life::default(),
            patrol: Patrol::default(),
        }
    }
}
