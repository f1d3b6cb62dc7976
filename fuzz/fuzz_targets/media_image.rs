//! Takes any bytes as the image of a flash module: an error of one line, or a module whose image they are.
//!
//! Mutations hardly ever find a checksum, so the bytes are also tried with all checksums made right, and as changes to
//! a small image that is whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use media::image::{encode, parse};
use media::{BlockAt, CutOutcome, Fault, Flash, HEADER_BYTES, Media, Physics, Shape, UnderWay, Unit, UnitAt};
use std::sync::LazyLock;

static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let shape = Shape {
        modules: 1,
        dies_per_module: 2,
        blocks_per_die: 3,
        rows_per_block: 2,
        unit_sectors: 2,
        payload_bytes: 8,
        rows_sharing_cells: 1,
    };
    let mut flash = Flash::new(shape, Physics::IDEAL, 1);
    let block = BlockAt { module: 0, die: 0, block: 0 };
    flash.program(UnitAt { block, row: 0 }, &Unit::new(&shape)).expect("ideal flash programs");
    flash.write_header(0, 1, &[3; HEADER_BYTES]).expect("ideal flash has headers");
    flash.settle(&UnderWay::Erase { at: BlockAt { die: 1, ..block } }, CutOutcome::PartlyErased);
    flash.inject(Fault::DieDead { module: 0, die: 1 });
    encode(flash.module(0).expect("the slot has a module"))
});

fuzz_target!(|bytes: &[u8]| {
    judge(bytes);
    let mut sealed = bytes.to_vec();
    seal(&mut sealed);
    judge(&sealed);

    let mut changed = WHOLE.clone();
    for change in bytes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % changed.len();
        changed[at] = change[2];
    }
    seal(&mut changed);
    judge(&changed);
});

fn judge(bytes: &[u8]) {
    match parse(bytes) {
        Ok(module) => assert!(encode(&module) == bytes, "a module has one image"),
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
}

/// Makes the checksums right, as far as the image goes.
fn seal(image: &mut [u8]) {
    let u32_at = |image: &[u8], at: usize| u32::from_le_bytes([image[at], image[at + 1], image[at + 2], image[at + 3]]);
    if image.len() < 128 {
        return;
    }
    let field = |at: usize| u128::from(u32_at(image, at));
    let (dies, blocks, rows, sectors, payload) = (field(16), field(20), field(24), field(28), field(32));
    let tables = field(76) * 4 + dies * blocks * 16;
    let record = 8 + rows * 8 + rows * sectors * (4 + 64 + payload);
    let headers = [image[72], image[73]].into_iter().filter(|&state| state == 1).count();
    let parts = [124, tables].into_iter().chain(std::iter::repeat_n(4096, headers)).chain(std::iter::repeat(record));
    let mut from = 0usize;
    for length in parts {
        let Some(to) = usize::try_from(length).ok().and_then(|length| from.checked_add(length)) else { return };
        if to >= image.len() || image.len() - to < 4 {
            return;
        }
        let crc = crc32c::crc32c(&image[from..to]);
        image[to..to + 4].copy_from_slice(&crc.to_le_bytes());
        from = to + 4;
    }
}
