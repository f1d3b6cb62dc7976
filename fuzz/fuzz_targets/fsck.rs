//! Any bytes as changes to the media of a card that has been used: explained, and opened as a card that is then used. No
//! panic, no hang.
//!
//! The first byte says what is changed: the image of a module with its checksums made right, or spare areas and payloads
//! with theirs.
#![no_main]

#[path = "../../crates/fsck/tests/it/common/exercise.rs"]
mod exercise;

use device::{Device, Request, RequestId, SECTOR_BYTES, Time};
use exercise::exercise;
use format::{SPARE_BYTES, Spare, payload_crc};
use libfuzzer_sys::fuzz_target;
use media::image::{encode, parse};
use media::{BlockAt, Fault, Flash, Media, Physics, RequestData, SectorState, Shape, Unit, UnitAt};
use std::sync::LazyLock;
use torture::{Kind, tiny};

/// Media of cards that have collected, and whose power went without notice.
static CARDS: LazyLock<Vec<Flash>> = LazyLock::new(|| Kind::ALL.map(used).into());

fn used(kind: Kind) -> Flash {
    let config = tiny(kind);
    let flash = Flash::new(card::shape(&config), Physics::IDEAL, 1);
    let id = format::CardId(*b"card of a fuzzer");
    let mut card = card::StorageCard::format(&config, flash, id, 1, 1).expect("the tiny card can be made");
    let (mut now, mut done) = (Time::ZERO, Vec::new());
    for round in 0..400u64 {
        let len_bytes = SECTOR_BYTES as u32;
        let offset_bytes = round * 7 % config.ftl.user_sectors * SECTOR_BYTES;
        done.clear();
        let request = match round % 9 {
            8 => Request::trim(offset_bytes, len_bytes).with(RequestData::none()),
            _ => {
                let data = card.pack(0, &vec![round as u8; torture_payload(&config)]);
                Request::write(offset_bytes, len_bytes).with(data)
            }
        };
        card.submit(now, RequestId(0), Request { fua: round % 5 == 0, ..request }, &mut done);
        while done.is_empty() {
            now = card.next_event();
            card.advance(now, &mut done);
        }
    }
    card.into_media().expect("the card has contents")
}

fn torture_payload(config: &card::CardConfig) -> usize {
    card::shape(config).payload_bytes as usize
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let mut flash = CARDS[usize::from(kind >> 1) % CARDS.len()].clone();
    if kind & 1 == 0 {
        change_image(&mut flash, bytes);
    } else {
        change_sectors(&mut flash, bytes);
    }
    exercise(flash);
});

fn change_image(flash: &mut Flash, bytes: &[u8]) {
    let Some((slot, changes)) = bytes.split_first() else { return };
    let slot = u32::from(*slot) % flash.shape().modules;
    let Some(module) = flash.pull(slot) else { return };
    let shape = *module.shape();
    let mut image = encode(&module);
    for change in changes.chunks_exact(4) {
        let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize % image.len();
        image[at] = change[3];
    }
    seal(&mut image, &shape);
    match parse(&image) {
        Ok(module) if *module.shape() == shape => flash.insert(slot, module),
        Ok(_) => {}
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
}

/// Each change: block, row and sector, place of a byte, and its new value. Checksums of spare area and payload are made
/// right.
fn change_sectors(flash: &mut Flash, changes: &[u8]) {
    let shape = *flash.shape();
    let mut unit = Unit::new(&shape);
    for change in changes.chunks_exact(5).take(64) {
        let module = u32::from(change[0]) % shape.modules;
        let block = BlockAt { module, die: 0, block: u32::from(change[1]) % shape.blocks_per_die };
        let at = UnitAt { block, row: u32::from(change[2]) % shape.rows_per_block };
        let sector = u32::from(change[2] >> 4) % shape.unit_sectors;
        if flash.read(at, &mut unit).is_err() || unit.state(sector as usize) != SectorState::Good {
            continue;
        }
        let before = [unit.spare(sector as usize), unit.payload(sector as usize)].concat();
        let mut after = before.clone();
        let place = usize::from(change[3]) % after.len();
        after[place] = change[4];
        if let Ok(mut spare) = Spare::decode(&before[..SPARE_BYTES]) {
            spare.payload_crc = payload_crc(&after[SPARE_BYTES..]);
            if place >= SPARE_BYTES {
                spare.encode(&mut after[..SPARE_BYTES]);
            } else {
                let crc = payload_crc(&after[..60]);
                after[60..SPARE_BYTES].copy_from_slice(&crc.to_le_bytes());
            }
        }
        for (byte, (old, new)) in (0..).zip(before.iter().zip(&after)).filter(|(_, (old, new))| old != new) {
            flash.inject(Fault::DamageByte { at, sector, byte, xor: old ^ new });
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
        let crc = payload_crc(&image[from..to]);
        image[to..to + 4].copy_from_slice(&crc.to_le_bytes());
        from = to + 4;
    }
}
