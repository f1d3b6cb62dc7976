//! A card of a few hundred sectors.

use crate::fading::{FADING, PATROL, RATED_CYCLES};
use crate::sim::HostConfig;
use card::{Capacitors, CardConfig, Care, LinkConfig, ModelState, RelocationPath};
use ftl::{FtlConfig, GcMode, Persistence, VictimPolicy};
use media::Physics;
use media::nand::{Endurance, Geometry, NandConfig, OpTiming, Timing};
use serde::{Deserialize, Serialize};

/// The promise that a card gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Capacitors: what is acknowledged is durable.
    Protected,
    /// None: what is flushed is durable.
    Unprotected,
    /// None, and two rows of a block share cells.
    SharedCells,
    /// None, and each module is a file or a drive that may lose what was not synced.
    VolatileCache,
    /// As before, and each module has a log.
    Logged,
    /// Capacitors, on flash that fades and is disturbed by reads, which a patrol looks over.
    Fading,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] =
        [Kind::Protected, Kind::Unprotected, Kind::SharedCells, Kind::VolatileCache, Kind::Logged, Kind::Fading];

    /// Those whose media lose nothing that was reported.
    pub const ON_FLASH: [Kind; 3] = [Kind::Protected, Kind::Unprotected, Kind::SharedCells];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Protected => "protected",
            Kind::Unprotected => "unprotected",
            Kind::SharedCells => "shared-cells",
            Kind::VolatileCache => "volatile-cache",
            Kind::Logged => "logged",
            Kind::Fading => "fading",
        }
    }
}

/// The media of such a card: flash that never errs by itself (but for the kind that fades), and refuses whoever has not
/// claimed it last (except where cells are shared: some media can't refuse).
pub fn physics(kind: Kind) -> Physics {
    if kind == Kind::Fading {
        // Cycles enough for a life, so that it is time and reads that count.
        return Physics { rated_cycles: 10 * RATED_CYCLES, fencing: true, ..FADING };
    }
    Physics {
        volatile_cache: matches!(kind, Kind::VolatileCache | Kind::Logged),
        log_bytes: if kind == Kind::Logged { LOG_BYTES } else { 0 },
        fencing: kind != Kind::SharedCells,
        ..Physics::IDEAL
    }
}

/// Bytes of a sector's payload: enough for eight entries of a band's summary.
pub const PAYLOAD_BYTES: u32 = 128;

/// Three modules of one die; stripes of two data units and parity, of two sectors each; collection sets in after a few
/// dozen writes.
pub fn tiny(kind: Kind) -> CardConfig {
    let times = OpTiming { read_ns: 50_000, program_ns: 400_000, erase_ns: 2_000_000 };
    CardConfig {
        nand: NandConfig {
            geometry: Geometry {
                modules: 3,
                channels_per_module: 1,
                dies_per_channel: 1,
                planes_per_die: 2,
                blocks_per_plane: BANDS,
                pages_per_block: 6,
                page_bytes: 4096,
                spare_bytes: 64,
                multi_plane: true,
            },
            timing: Timing {
                native: times,
                slc: times,
                bus_bytes_per_s: 400_000_000,
                suspend_ns: Some(15_000),
                max_suspends: 4,
            },
            endurance: Endurance { rated_cycles: 100_000, factory_bad_ppm: 0, erase_fail_ppm_at_rated: 0 },
        },
        ftl: FtlConfig {
            user_sectors: 36,
            mapping_sectors: 1,
            stripe_width: 3,
            parity_units: 1,
            victim: VictimPolicy::Greedy,
            gc: GcMode::Paced { target_free_bands: 2 },
            reserve_bands: 2,
            separate_streams: true,
            static_wear_spread_cycles: 8,
            slc_cache: None,
            persistence: Some(Persistence {
                payload_bytes: PAYLOAD_BYTES,
                checkpoint_every_bands: 5,
                cell_rows: if kind == Kind::SharedCells { 2 } else { 1 },
            }),
            placement: None,
            map_cache: None,
            zones: None,
            compression: None,
        },
        bands: BANDS,
        link: LinkConfig {
            read_bytes_per_s: 1_000_000_000,
            write_bytes_per_s: 1_000_000_000,
            half_duplex: false,
            read_command_ns: 2_000,
            write_command_ns: 2_000,
            latency_ns: 5_000,
            write_latency_ns: 5_000,
            queue_depth: u32::MAX,
            housekeeping: None,
        },
        // Stripes wait for others before they are synced: the log holds what such a stripe has.
        buffer_sectors: if kind == Kind::Logged { 32 } else { 12 },
        power_loss_protection: matches!(kind, Kind::Protected | Kind::Fading),
        acknowledge_flush_early: false,
        reads_first: true,
        relocation_sectors: 6,
        relocation_path: RelocationPath::Internal,
        fold_bytes_per_s: None,
        capacitors: Some(CAPACITORS),
        care: Care {
            spare_threshold_percent: 10,
            patrol: (kind == Kind::Fading).then_some(PATROL),
            module_timeout_ns: 50_000_000,
        },
        model: ModelState::default(),
    }
}

/// A usual host of such a card. One of a card with a log has small writes, and flushes often.
pub fn host_of(kind: Kind) -> HostConfig {
    let usual = HostConfig::life(tiny(kind).ftl.user_sectors as u32);
    if kind != Kind::Logged {
        return usual;
    }
    HostConfig { longest: 3, reads: 200, flushes: 120, fua: 400, ..usual }
}

const BANDS: u32 = 20;
/// A log that some requests fill, so that it is used again all the time.
const LOG_BYTES: u32 = 1_024;
/// Energy for the buffer, and nothing more: nine milliseconds at a watt.
const CAPACITORS: Capacitors = Capacitors { energy_uj: 9_000, drain_uw: 1_000_000 };
