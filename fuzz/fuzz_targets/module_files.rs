//! Any bytes as changes to the files of a card's modules: opened or refused in one line, and then read, erased and
//! programmed. No panic, no hang.
//!
//! The first byte says how much of a file is left; then come changes of five bytes each: which module and whether the
//! checksums of what is changed are made right, where, and the new byte.
#![no_main]

#[path = "../../crates/files/tests/it/common/mod.rs"]
#[allow(dead_code, reason = "the tests of files use the rest")]
mod common;

use common::{SHAPE, Sim, block, create, paths, some, unit};
use files::Files;
use libfuzzer_sys::fuzz_target;
use media::{HEADER_BYTES, Media, Unit, UnitAt};
use std::sync::LazyLock;

const PAGE: usize = 4096;
/// Pages in front of the table of blocks.
const FRONT_PAGES: usize = 4;

/// Files of modules that were used in two sessions.
static MODULES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let sim = Sim::new(1);
    for session in 0..2 {
        let mut files = if session == 0 { create(&sim, SHAPE) } else { common::open(&sim, SHAPE) };
        for module in 0..SHAPE.modules {
            files.write_header(module, session, &[7; HEADER_BYTES]).expect("it takes a header");
            files.erase(block(module, 0, session)).expect("it erases");
            let at = UnitAt { block: block(module, 0, session), row: 0 };
            files.program(at, &unit(&SHAPE, at, 5)).expect("it programs");
            files.sync(module).expect("it syncs");
        }
        drop(files);
        sim.power_on();
    }
    paths(SHAPE.modules).iter().map(|path| sim.bytes(path)).collect()
});

fuzz_target!(|bytes: &[u8]| {
    let Some((cut, changes)) = bytes.split_first() else { return };
    let mut modules = MODULES.clone();
    for change in changes.chunks_exact(5).take(64) {
        let file = &mut modules[usize::from(change[0] >> 1) % MODULES.len()];
        let at = u32::from_le_bytes([change[1], change[2], change[3], 0]) as usize % file.len();
        file[at] = change[4];
        if change[0] & 1 == 1 {
            seal(file, at);
        }
    }
    if *cut > 0 {
        let left = modules[0].len() * usize::from(*cut) / 256;
        modules[0].truncate(left);
    }
    let sim = Sim::new(2);
    let paths = paths(SHAPE.modules);
    paths.iter().zip(modules).for_each(|(path, bytes)| sim.set_bytes(path, bytes));
    match Files::open_on(sim.boxed(), &some(&paths)) {
        Ok(files) => exercise(files),
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
    }
});

fn exercise(mut files: Files) {
    let shape = *files.shape();
    let mut found = Unit::new(&shape);
    for module in (0..shape.modules).filter(|slot| *slot < SHAPE.modules) {
        for copy in 0..2 {
            let _ = files.read_header(module, copy);
        }
        let _ = files.claim(module, 3);
        for number in 0..shape.blocks_per_die.min(4) {
            let at = UnitAt { block: block(module, 0, number), row: 0 };
            let _ = files.read(at, &mut found);
            let _ = (files.is_bad(at.block), files.cycles(at.block));
            if files.erase(at.block).is_ok() {
                let programmed = files.program(at, &unit(&shape, at, 9));
                assert!(programmed.is_err() || files.read(at, &mut found).is_ok());
            }
        }
        let _ = files.sync(module);
    }
}

/// Makes the checksum right of what a byte belongs to: a superblock, a record of syncs, or an entry of the table in front.
fn seal(file: &mut [u8], at: usize) {
    let page = at / PAGE * PAGE;
    let last = file.len() / PAGE - 1;
    let put = |bytes: &mut [u8], crc: u32| bytes[..4].copy_from_slice(&crc.to_le_bytes());
    match page / PAGE {
        number if number == 0 || number == last => {
            let page = &mut file[page..page + PAGE];
            let crc = crc32c::crc32c_append(crc32c::crc32c(&page[..12]), &page[16..]);
            put(&mut page[12..], crc);
        }
        2 => {
            let crc = crc32c::crc32c(&file[page + 8..page + 24]);
            put(&mut file[page + 4..], crc);
        }
        FRONT_PAGES => {
            let entry = at / 32 * 32;
            let crc = crc32c::crc32c(&file[entry + 4..entry + 32]);
            put(&mut file[entry..], crc);
        }
        _ => {}
    }
}
