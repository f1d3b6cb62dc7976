//! Media that anything was done to: an explanation or an error, never a panic. `MUTATIONS=100000` tries more.

use crate::common::exercise::exercise;
use crate::common::{cut, fresh, used};
use device::Rng;
use format::{ModuleHeader, Role, SPARE_BYTES, Spare};
use media::image::{encode, parse};
use media::{BlockAt, Fault, Flash, Media, Physics, SectorState, Shape, Unit, UnitAt};
use torture::sim::CutOutcome;
use torture::{CardUnderTest, Kind};

fn mutations(least: u64) -> u64 {
    std::env::var("MUTATIONS").map_or(least, |n| n.parse().unwrap())
}

fn cards() -> Vec<Flash> {
    let cards: Vec<CardUnderTest> = vec![
        fresh(Kind::Protected),
        used(Kind::Protected, 1),
        used(Kind::Unprotected, 2),
        used(Kind::SharedCells, 3),
        cut(Kind::Unprotected, 4, CutOutcome::TornGarbage),
        cut(Kind::Protected, 5, CutOutcome::Any),
    ];
    let powered = |card: &CardUnderTest| {
        let mut flash = card.flash().clone();
        flash.power_on();
        flash
    };
    cards.iter().map(powered).collect()
}

/// Runs a mutation again and again, each time on one of the cards; says which it was when it panics.
fn mutate(name: &str, least: u64, change: impl Fn(&mut Flash, &mut Rng) -> bool) {
    let cards = cards();
    for seed in 0..mutations(least) {
        let mut rng = Rng::stream(seed, name);
        let mut flash = cards[rng.below(cards.len() as u64) as usize].clone();
        if change(&mut flash, &mut rng) {
            let tried = std::panic::catch_unwind(|| exercise(flash));
            assert!(tried.is_ok(), "{name}: mutation {seed}");
        }
    }
}

/// Makes the checksums of an image right again.
fn seal(image: &mut [u8], shape: &Shape) {
    let headers = [image[72], image[73]].into_iter().filter(|&state| state == 1).count();
    let dead = u32::from_le_bytes([image[76], image[77], image[78], image[79]]) as usize;
    let blocks = (shape.dies_per_module * shape.blocks_per_die) as usize;
    let (rows, sectors) = (shape.rows_per_block as usize, shape.unit_sectors as usize);
    let record = 8 + rows * 8 + rows * sectors * (4 + SPARE_BYTES + shape.payload_bytes as usize);
    let parts = [124, dead.saturating_mul(4).saturating_add(blocks * 16)].into_iter();
    let mut from = 0usize;
    for length in parts.chain(std::iter::repeat_n(4096, headers)).chain(std::iter::repeat(record)) {
        let Some(to) = from.checked_add(length).filter(|to| to + 4 <= image.len()) else { return };
        let crc = format::payload_crc(&image[from..to]);
        image[to..to + 4].copy_from_slice(&crc.to_le_bytes());
        from = to + 4;
    }
}

#[test]
fn images_with_changed_bytes_are_explained_or_refused() {
    mutate("image", 1_500, |flash, rng| {
        let slot = rng.below(3) as u32;
        let module = flash.pull(slot).unwrap();
        let shape = *module.shape();
        let mut image = encode(&module);
        for _ in 0..=rng.below(4) {
            // The head and the tables are small: they get their share.
            let within = [128, 600, image.len() as u64][rng.below(3) as usize];
            let at = rng.below(within) as usize;
            image[at] ^= 1 << rng.below(8);
        }
        if rng.below(8) > 0 {
            seal(&mut image, &shape);
        }
        match parse(&image) {
            Ok(module) if *module.shape() == shape => flash.insert(slot, module),
            Ok(_) => return false,
            Err(error) => assert_eq!(error.to_string().lines().count(), 1),
        }
        true
    });
}

#[test]
fn modules_of_any_shape_are_explained_or_refused() {
    let cards = cards();
    for seed in 0..mutations(500) {
        let mut rng = Rng::stream(seed, "shape");
        let flash = &cards[rng.below(cards.len() as u64) as usize];
        let mut image = encode(flash.module(0).unwrap());
        let field = 16 + 4 * rng.below(6) as usize;
        image[field] = rng.below(20) as u8;
        seal(&mut image, flash.module(0).unwrap().shape());
        let Ok(module) = parse(&image) else { continue };
        let mut other = Flash::without_modules(Shape { modules: 1, ..*module.shape() }, Physics::IDEAL, 1);
        other.insert(0, module);
        exercise(other);
    }
}

fn number(rng: &mut Rng) -> u64 {
    match rng.below(6) {
        0 => 0,
        1 => u64::MAX - rng.below(3),
        2 => u64::from(u32::MAX) - rng.below(3),
        3 => 1 << rng.below(64),
        _ => rng.below(64),
    }
}

#[test]
fn headers_with_fields_of_any_value_are_explained_or_refused() {
    mutate("header", 1_500, |flash, rng| {
        let slot = rng.below(3) as u32;
        let all = rng.below(2) == 0;
        let what = rng.below(16);
        let value = number(rng);
        for slot in if all { 0..3 } else { slot..slot + 1 } {
            for copy in 0..2 {
                let bytes = flash.read_header(slot, copy).unwrap().unwrap();
                let mut header = ModuleHeader::decode(&bytes).unwrap();
                match what {
                    0 => header.generation = value,
                    1 => header.sequence = value,
                    2 => header.user_sectors = 1 + value % 240,
                    3 => header.stripe_width = if value.is_multiple_of(2) { 1 } else { 3 },
                    4 => header.parity_units = 0,
                    5 => header.slc_bits_per_cell = 1 + value as u32 % 6,
                    6 => header.power_loss_protection = !header.power_loss_protection,
                    7 => header.shape.rows_sharing_cells = (value as u32).max(1),
                    8 => header.slot = (value % 3) as u16,
                    9 => header.card.0[0] ^= value as u8,
                    10 => header.module.0[15] ^= value as u8,
                    11 => header.slots[(value % 3) as usize].state = format::SlotState::Rebuilding,
                    12 => header.slots[(value % 3) as usize].state = format::SlotState::Missing,
                    13 => header.slots[(value % 3) as usize].module.0[3] ^= 1,
                    14 => (header.power_cycles, header.unsafe_shutdowns) = (value, value),
                    _ => header.clean = !header.clean,
                }
                header.parity_units = header.parity_units.min(header.stripe_width - 1);
                flash.write_header(slot, copy, &header.encode()).unwrap();
            }
        }
        true
    });
}

#[test]
fn sectors_with_spare_areas_of_any_value_are_explained() {
    mutate("spare", 1_500, |flash, rng| {
        for _ in 0..=rng.below(3) {
            let shape = *flash.shape();
            let block = BlockAt { module: rng.below(3) as u32, die: 0, block: rng.below(20) as u32 };
            let at = UnitAt { block, row: rng.below(6) as u32 };
            let sector = rng.below(2) as usize;
            let mut unit = Unit::new(&shape);
            flash.read(at, &mut unit).unwrap();
            if unit.state(sector) != SectorState::Good {
                continue;
            }
            let mut spare = Spare::decode(unit.spare(sector)).unwrap();
            let value = number(rng);
            match rng.below(14) {
                0 => spare.role = Role::from_byte(1 + (value % 7) as u8).unwrap(),
                1 => spare.slc = !spare.slc,
                2 => spare.stream = value as u8,
                3 => spare.lba = value as u32,
                4 => spare.version = value,
                5 => spare.band = value as u32 % 20,
                6 => spare.band_sequence = value,
                7 => spare.stripe = value as u32,
                8 => spare.unit = (value % 64) as u8,
                9 => spare.sector = (value % 64) as u8,
                10 => spare.members = value,
                11 => spare.payload_crc ^= 1,
                12 => spare.member_role = value as u8,
                _ => spare.member_crc = value as u32,
            }
            let mut bytes = [0; SPARE_BYTES];
            spare.encode(&mut bytes);
            let mut inject = |byte: usize, xor: u8| {
                flash.inject(Fault::DamageByte { at, sector: sector as u32, byte: byte as u32, xor });
            };
            for (byte, (old, new)) in unit.spare(sector).iter().zip(&bytes).enumerate() {
                inject(byte, old ^ new);
            }
            // The payloads of lists of holes and summaries matter too, so they become any payload with its checksum.
            if rng.below(4) == 0 {
                let mut payload = unit.payload(sector).to_vec();
                let byte = rng.below(payload.len() as u64) as usize;
                payload[byte] ^= 1 << rng.below(8);
                inject(SPARE_BYTES + byte, payload[byte] ^ unit.payload(sector)[byte]);
                spare.payload_crc = format::payload_crc(&payload);
                let mut again = [0; SPARE_BYTES];
                spare.encode(&mut again);
                for (byte, (old, new)) in bytes.iter().zip(&again).enumerate() {
                    inject(byte, old ^ new);
                }
            }
        }
        true
    });
}
