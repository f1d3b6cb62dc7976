//! The core that every card has: the host's requests, the link, the buffer, the dies, collection, and the account of its
//! work.

pub mod array_times;
pub mod buffer;
pub mod bus;
pub mod capacitors;
pub mod config;
pub mod counters;
pub mod die_op;
pub mod dies;
pub mod energy;
pub mod explain;
pub mod host_request;
pub mod host_side;
pub mod link;
pub mod map_reads;
pub mod occupancy;
pub mod patrol_config;
pub mod phase;
pub mod planes;
pub mod read_run;
pub mod recovery_time;
pub mod relocation;
pub mod stripes;
pub mod thermal;
pub mod timers;
pub mod watch;
pub mod zone_commands;
pub mod zone_host;

use buffer::WriteBuffer;
use config::CardConfig;
use dies::Dies;
use explain::Account;
use ftl::Ftl;
use host_side::HostSide;
use link::Link;
use map_reads::MapReads;
use phase::Lifecycle;
use relocation::Relocations;
use slab::Slab;
use stripes::{Erasing, StripeInFlight};
use thermal::Thermal;
use timers::Timers;

/// The state of a card beside its contents. `I` is what a request owns while it is in flight.
#[derive(Clone, Debug)]
pub struct Core<I> {
    pub config: CardConfig,
    pub phase: Lifecycle,
    pub timers: Timers,
    pub host: HostSide<I>,
    pub link: Link,
    pub buffer: WriteBuffer,
    pub ftl: Ftl,
    pub stripes: Slab<StripeInFlight>,
    pub erasing: Vec<Erasing>,
    pub relocations: Relocations,
    pub map_reads: MapReads,
    pub dies: Dies,
    pub account: Account,
    /// The temperature, of a model that has one.
    pub thermal: Option<Box<Thermal>>,
    /// The first request after a pause is something to note.
    pub notes_pauses: bool,
}

impl<I: Clone + Default> Core<I> {
    /// The card around its flash management.
    pub fn around(config: &CardConfig, ftl: Ftl, max_requests: u32, explain: bool, phase: Lifecycle) -> Core<I> {
        let geometry = &config.nand.geometry;
        let dies = geometry.dies() as usize;
        let parts = config.ftl.sector_room();
        let reads_by_plane = config.model.independent_planes && config.reads_first && geometry.pages_per_unit() > 1;
        let planes = if reads_by_plane { dies * geometry.planes_per_die as usize } else { 0 };
        Core {
            config: *config,
            phase,
            timers: Timers::new(dies, max_requests as usize, planes, config.model.thermal.is_some()),
            host: HostSide::new(max_requests, config.link.queue_depth, config.ftl.zones.is_some()),
            link: Link::new(config.link),
            buffer: WriteBuffer::new(config.durable_buffer_sectors().saturating_mul(parts), parts),
            ftl,
            stripes: Slab::new(),
            erasing: Vec::new(),
            relocations: Relocations::new(config.relocation_sectors.saturating_mul(parts)),
            map_reads: MapReads::default(),
            dies: Dies::new(&config.nand, parts, config.reads_first, reads_by_plane, explain),
            account: Account::new(max_requests as usize, explain),
            thermal: None,
            notes_pauses: config.ftl.slc_cache.is_some(),
        }
    }
}
