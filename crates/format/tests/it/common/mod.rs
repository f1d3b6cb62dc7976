//! One example of each structure, and arbitrary ones.

use format::*;
use proptest::prelude::*;

pub const CARD: CardId =
    CardId([0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf]);

pub fn module(number: u8) -> ModuleId {
    ModuleId([number; 16])
}

pub fn spare() -> Spare {
    Spare {
        card: CARD.short(),
        role: Role::Data,
        slc: true,
        stream: 1,
        lba: 0x1122_3344,
        version: 0x0102_0304_0506_0708,
        band: 0x5566_7788,
        band_sequence: 0x1112_1314_1516_1718,
        stripe: 0x99aa_bbcc,
        unit: 3,
        sector: 2,
        members: 0xf,
        payload_crc: 0xddee_ff00,
        member_role: 0,
        member_crc: 0,
    }
}

pub fn header() -> ModuleHeader {
    ModuleHeader {
        card: CARD,
        module: module(0x11),
        slot: 1,
        generation: 7,
        sequence: 9,
        shape: Shape {
            modules: 3,
            dies_per_module: 4,
            blocks_per_die: 1024,
            rows_per_block: 64,
            unit_sectors: 2,
            payload_bytes: 4096,
            rows_sharing_cells: 2,
        },
        stripe_width: 3,
        parity_units: 1,
        user_sectors: 800_000,
        slc_bits_per_cell: 3,
        power_loss_protection: true,
        clean: true,
        read_only: true,
        lost_writes: false,
        durable: [
            Durable { band_sequence: 0x3_0000_0007, stripe: 11 },
            Durable { band_sequence: 0x3_0000_0005, stripe: 2 },
        ],
        log_begins: 0,
        holds: [0, 9, 64].into_iter().collect(),
        no_erases: false,
        power_cycles: 5,
        unsafe_shutdowns: 1,
        host_sectors_written: 1_000_000_007,
        host_sectors_read: 2_000_000_011,
        media_errors: 3,
        busy_ns: 86_400_000_000_000,
        power_on_ns: 172_800_000_000_000,
        host_read_commands: 500_000_003,
        host_write_commands: 400_000_009,
        new_data_sectors: 1_000_000,
        slots: vec![
            Slot::new(module(0x10), SlotState::Active),
            Slot::new(module(0x11), SlotState::Rebuilding),
            Slot::new(module(0x12), SlotState::Missing),
        ],
    }
}

pub fn checkpoint() -> Checkpoint {
    Checkpoint {
        head: CheckpointHead {
            id: 21,
            map_entries: 3,
            bands: 2,
            replay_from: 40,
            version_start: 1000,
            next_version: 1010,
            next_band_sequence: 44,
            body_bytes: 52,
            body_crc: 0xaa2d_6324,
            owed_segments: 2,
        },
        map: vec![5, u32::MAX, 0x0102_0304],
        bands: vec![
            BandRecord { sequence: 39, cycles: 12, state: 2 },
            BandRecord { sequence: 41, cycles: 11, state: 1 },
        ],
        owed_segments: vec![0, 7],
    }
}

pub fn summary() -> Vec<SummaryEntry> {
    vec![
        SummaryEntry { lba: 0x1122_3344, role: Role::Data as u8, version: 0x0102_0304_0506_0708 },
        SummaryEntry::default(),
        SummaryEntry { lba: 7, role: Role::Lost as u8, version: 9 },
    ]
}

pub fn any_spare() -> impl Strategy<Value = Spare> {
    let place = (any::<u32>(), any::<u64>(), any::<u32>(), 0u8..64, 0u8..64);
    let crcs = (any::<u64>(), any::<u32>(), any::<u8>(), any::<u32>());
    let kind = (any::<u64>(), 1u8..=7, any::<bool>(), any::<u8>(), any::<u32>(), any::<u64>());
    (kind, place, crcs).prop_map(|(kind, place, crcs)| Spare {
        card: kind.0,
        role: Role::from_byte(kind.1).expect("1 to 7 are roles"),
        slc: kind.2,
        stream: kind.3,
        lba: kind.4,
        version: kind.5,
        band: place.0,
        band_sequence: place.1,
        stripe: place.2,
        unit: place.3,
        sector: place.4,
        members: crcs.0,
        payload_crc: crcs.1,
        member_role: crcs.2,
        member_crc: crcs.3,
    })
}

pub fn any_header() -> impl Strategy<Value = ModuleHeader> {
    let shape = (1u32..=64, 1u32..=64, 1u32..=64, 1u32..=64, 1u32..=64, 16u32..=4096, 1u32..=8);
    let shape = shape.prop_map(|shape| Shape {
        modules: shape.0,
        dies_per_module: shape.1,
        blocks_per_die: shape.2,
        rows_per_block: shape.3,
        unit_sectors: shape.4,
        payload_bytes: shape.5,
        rows_sharing_cells: shape.6,
    });
    let slots = proptest::collection::vec((any::<[u8; 16]>(), 0u8..=3), 64);
    let ids = (any::<[u8; 16]>(), any::<[u8; 16]>(), any::<u64>(), any::<u64>(), any::<[bool; 2]>());
    (shape, slots, ids, any::<[u64; 6]>(), any::<[u32; 5]>()).prop_map(|(shape, slots, ids, life, picks)| {
        let dies = shape.modules * shape.dies_per_module;
        let widths: Vec<u32> = (1..=64).filter(|width| dies % width == 0).collect();
        let stripe_width = widths[picks[0] as usize % widths.len()];
        ModuleHeader {
            card: CardId(ids.0),
            module: ModuleId(ids.1),
            slot: (picks[1] % shape.modules) as u16,
            generation: ids.2,
            sequence: ids.3,
            shape,
            stripe_width,
            parity_units: picks[2] % stripe_width.min(2),
            user_sectors: 1 + u64::from(picks[3]) % shape.sectors().expect("limits are small"),
            slc_bits_per_cell: 1 + picks[4] % MAX_BITS_PER_CELL.min(shape.rows_per_block),
            power_loss_protection: ids.4[1],
            clean: ids.4[0],
            read_only: ids.4[0] != (life[0] % 3 == 0),
            lost_writes: life[1] % 3 == 0,
            durable: [(life[2], picks[0]), (life[3], picks[4])]
                .map(|(band_sequence, stripe)| Durable { band_sequence, stripe }),
            log_begins: life[4],
            holds: picks.into_iter().map(|pick| pick % shape.blocks_per_die).collect(),
            no_erases: life[2] % 2 == 0,
            power_cycles: life[0],
            unsafe_shutdowns: life[1],
            host_sectors_written: life[2],
            host_sectors_read: life[3],
            media_errors: life[4],
            busy_ns: life[5],
            power_on_ns: life[5] / 2,
            host_read_commands: life[3] / 3,
            host_write_commands: life[2] / 3,
            new_data_sectors: life[4] / 2,
            slots: slots[..shape.modules as usize]
                .iter()
                .map(|(id, state)| Slot {
                    module: ModuleId(*id),
                    state: SlotState::from_byte(*state).expect("0 to 3 are states"),
                    rebuilt: life[0],
                })
                .collect(),
        }
    })
}

pub fn any_checkpoint() -> impl Strategy<Value = Checkpoint> {
    let band = (any::<u64>(), any::<u32>(), any::<u8>());
    let band = band.prop_map(|(sequence, cycles, state)| BandRecord { sequence, cycles, state });
    let words = |most: usize| proptest::collection::vec(any::<u32>(), 0..most);
    let bands = proptest::collection::vec(band, 0..20);
    (any::<[u64; 5]>(), words(200), bands, words(10)).prop_map(|(numbers, map, bands, owed_segments)| {
        let head = CheckpointHead {
            id: numbers[0],
            replay_from: numbers[1],
            version_start: numbers[2],
            next_version: numbers[3],
            next_band_sequence: numbers[4],
            ..CheckpointHead::default()
        };
        Checkpoint { head, map, bands, owed_segments }
    })
}

pub fn any_summary() -> impl Strategy<Value = Vec<SummaryEntry>> {
    let entry = (any::<u32>(), any::<u8>(), any::<u64>());
    proptest::collection::vec(entry.prop_map(|(lba, role, version)| SummaryEntry { lba, role, version }), 0..40)
}

pub fn encoded(spare: &Spare) -> [u8; SPARE_BYTES] {
    let mut bytes = [0; SPARE_BYTES];
    spare.encode(&mut bytes);
    bytes
}

/// Puts the checksum right after something was changed: crc32c of all before `at`, at `at`.
pub fn put_crc(bytes: &mut [u8], at: usize) {
    let crc = payload_crc(&bytes[..at]);
    bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
}
