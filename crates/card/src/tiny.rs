//! A small card for the tests of this crate's parts.

use crate::{CardConfig, Care, LinkConfig, MODULE_TIMEOUT_NS, ModelState, RelocationPath, StorageCard, shape};
use device::{Device, Request, RequestId, SECTOR_BYTES, Time};
use format::CardId;
use ftl::{FtlConfig, GcMode, Persistence, VictimPolicy};
use media::nand::{Endurance, Geometry, NandConfig, OpTiming, Timing};
use media::{Flash, Physics};

/// Bytes of a sector's payload.
pub const PAYLOAD_BYTES: usize = 128;

/// Six modules of one die. A stripe lies on three of them, the next one on the others; units of two sectors.
pub fn config() -> CardConfig {
    let times = OpTiming { read_ns: 50_000, program_ns: 400_000, erase_ns: 2_000_000 };
    let link = LinkConfig {
        read_bytes_per_s: 400_000_000,
        write_bytes_per_s: 400_000_000,
        half_duplex: false,
        read_command_ns: 0,
        write_command_ns: 0,
        latency_ns: 0,
        write_latency_ns: 0,
        queue_depth: u32::MAX,
        housekeeping: None,
    };
    CardConfig {
        nand: NandConfig {
            geometry: Geometry {
                modules: 6,
                channels_per_module: 1,
                dies_per_channel: 1,
                planes_per_die: 1,
                blocks_per_plane: 16,
                pages_per_block: 8,
                page_bytes: 8192,
                spare_bytes: 0,
                multi_plane: false,
            },
            timing: Timing {
                native: times,
                slc: times,
                bus_bytes_per_s: 40_000_000,
                suspend_ns: None,
                max_suspends: 0,
            },
            endurance: Endurance { rated_cycles: 1_000, factory_bad_ppm: 0, erase_fail_ppm_at_rated: 0 },
        },
        ftl: FtlConfig {
            user_sectors: 200,
            mapping_sectors: 1,
            stripe_width: 3,
            parity_units: 1,
            victim: VictimPolicy::Greedy,
            gc: GcMode::Paced { target_free_bands: 2 },
            reserve_bands: 2,
            separate_streams: true,
            static_wear_spread_cycles: 0,
            slc_cache: None,
            persistence: Some(Persistence {
                payload_bytes: PAYLOAD_BYTES as u32,
                cell_rows: 1,
                checkpoint_every_bands: 0,
            }),
            placement: None,
            map_cache: None,
            zones: None,
            compression: None,
        },
        bands: 16,
        link,
        buffer_sectors: 12,
        power_loss_protection: false,
        acknowledge_flush_early: false,
        capacitors: None,
        reads_first: true,
        relocation_sectors: 12,
        relocation_path: RelocationPath::Internal,
        fold_bytes_per_s: None,
        care: Care { spare_threshold_percent: 10, patrol: None, module_timeout_ns: MODULE_TIMEOUT_NS },
        model: ModelState::default(),
    }
}

/// A new card.
pub fn card() -> StorageCard {
    let config = config();
    let flash = Flash::new(shape(&config), Physics::IDEAL, 1);
    StorageCard::format(&config, flash, CardId([7; 16]), 1, 1).unwrap()
}

/// Hands a write of whole sectors over.
pub fn submit(card: &mut StorageCard, now: Time, first: u32, sectors: u32) {
    let data = card.pack(0, &vec![first as u8; sectors as usize * PAYLOAD_BYTES]);
    let bytes = |sectors: u32| u64::from(sectors) * SECTOR_BYTES;
    let request = Request::write(bytes(first), bytes(sectors) as u32);
    card.submit(now, RequestId(0), request.with(data), &mut Vec::new());
}

/// The card does what comes next; when that was. [`Time::NEVER`]: nothing comes.
pub fn step(card: &mut StorageCard) -> Time {
    let now = card.next_event();
    if now != Time::NEVER {
        card.advance(now, &mut Vec::new());
    }
    now
}

/// Until the card has nothing left to do; when that is.
pub fn rest(card: &mut StorageCard, mut now: Time) -> Time {
    loop {
        match step(card) {
            Time::NEVER => return now,
            at => now = at,
        }
    }
}
