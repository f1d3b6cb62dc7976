//! Modules as files.

use crate::common::*;
use media::image::{ImageError, encode, parse};
use media::{BlockAt, CutOutcome, Fault, Flash, HEADER_BYTES, LoadError, Media, Physics, Shape, UnderWay};
use std::path::PathBuf;

/// Something of everything that a module can hold.
fn eventful() -> Flash {
    let mut flash = flash(Physics { fencing: true, ..Physics::IDEAL });
    flash.set_controller(77);
    flash.advance_time(3.5);
    flash.claim(0, 9).unwrap();
    flash.write_header(0, 1, &[5; HEADER_BYTES]).unwrap();
    flash.inject(Fault::LoseHeader { module: 0, copy: 0 });
    (0..3).for_each(|row| program(&mut flash, at(0, 2, row), row as u8).unwrap());
    flash.inject(Fault::FlipBits { at: at(0, 2, 1), sector: 3, bits: 12 });
    flash.mark_bad(at(0, 7, 0).block).unwrap();
    program(&mut flash, at(0, 4, 0), 1).unwrap();
    flash.erase(at(0, 4, 0).block).unwrap();
    flash.settle(&UnderWay::Erase { at: at(0, 5, 0).block }, CutOutcome::PartlyErased);
    flash.settle(&UnderWay::Erase { at: at(0, 6, 0).block }, CutOutcome::Weak);
    let torn = CutOutcome::Torn { good: 0, blank: u64::MAX, spoil_earlier: false };
    flash.settle(&UnderWay::Program { at: at(0, 3, 0), unit: unit(&SHAPE, 1) }, torn);
    flash.inject(Fault::ModuleSlow { module: 0, percent: 250 });
    flash.inject(Fault::DieDead { module: 0, die: 1 });
    flash
}

fn image() -> Vec<u8> {
    encode(eventful().module(0).unwrap())
}

/// The image with one part changed and the checksum after it made right: `part` begins and ends there.
fn resealed(part: std::ops::Range<usize>, change: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut image = image();
    change(&mut image);
    let crc = crc32c::crc32c(&image[part.clone()]);
    image[part.end..part.end + 4].copy_from_slice(&crc.to_le_bytes());
    image
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("media-{name}-{}", std::process::id()));
        let _none_left = std::fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _best_effort = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_image_holds_all_of_a_module() {
    let mut flash = eventful();
    let module = parse(&image()).unwrap();
    assert_eq!(encode(&module), image());
    let mut copy = Flash::without_modules(SHAPE, *flash.physics(), 3);
    copy.insert(0, module);
    copy.set_controller(78);
    assert_eq!(copy.erase(at(0, 0, 0).block), Err(media::MediaError::Fenced));
    copy.set_controller(77);
    assert_eq!(copy.read_header(0, 0), flash.read_header(0, 0));
    assert_eq!(copy.read_header(0, 1), flash.read_header(0, 1));
    assert_eq!(copy.slow_percent(0), 250);
    for block in 0..8 {
        let place = at(0, block, 0).block;
        assert_eq!((copy.cycles(place), copy.is_bad(place)), (flash.cycles(place), flash.is_bad(place)));
        for row in 0..4 {
            let (a, b) =
                (look(&mut copy, at(0, block, row), row as u8), look(&mut flash, at(0, block, row), row as u8));
            assert_eq!(a, b, "block {block} row {row}");
        }
    }
    assert_eq!(copy.erase(BlockAt { module: 0, die: 1, block: 0 }), Err(media::MediaError::NoAnswer));
    // Later programs have the luck that they would have had in the original.
    for flash in [&mut copy, &mut flash] {
        program(flash, at(0, 6, 0), 1).unwrap();
        program(flash, at(0, 3, 0), 1).unwrap();
    }
    assert_eq!(look(&mut copy, at(0, 6, 0), 1), look(&mut flash, at(0, 6, 0), 1));
    assert_eq!(look(&mut copy, at(0, 3, 0), 1), "UUUU");
}

#[test]
fn erased_blocks_take_no_room() {
    let blank = encode(flash(Physics::IDEAL).module(0).unwrap());
    assert_eq!(blank.len(), 128 + 16 * 16 + 4);
    assert_eq!(encode(&parse(&blank).unwrap()), blank);
}

#[test]
fn a_cut_image_is_refused_wherever_it_was_cut() {
    let image = image();
    for length in 1..image.len() {
        assert!(matches!(parse(&image[..length]), Err(ImageError::Truncated { .. })), "{length}");
    }
    assert_eq!(parse(&[]).unwrap_err(), ImageError::BadMagic);
    let longer = [&image[..], &[0]].concat();
    assert_eq!(parse(&longer).unwrap_err(), ImageError::TooLong { offset: image.len() as u64, extra: 1 });
}

#[test]
fn no_changed_byte_goes_unnoticed() {
    let image = image();
    for offset in 0..image.len() {
        let mut damaged = image.clone();
        damaged[offset] ^= 0x10;
        assert!(parse(&damaged).is_err(), "{offset}");
    }
}

#[test]
fn refusals_say_where_and_what() {
    let mut other = image();
    other[3] = b'X';
    assert_eq!(parse(&other).unwrap_err(), ImageError::BadMagic);
    let mut newer = image();
    newer[8] = 2;
    assert_eq!(parse(&newer).unwrap_err(), ImageError::UnknownVersion { version: 2 });
    let mut damaged = image();
    damaged[130] ^= 1;
    let error = parse(&damaged).unwrap_err();
    assert_eq!(error, ImageError::Checksum { offset: 128, what: "the tables of dies and blocks" });
    assert_eq!(error.to_string(), "the checksum of the tables of dies and blocks at offset 128 is wrong");
    for (offset, value) in [(16, 0), (20, u32::MAX), (24, 0), (24, 1 << 21), (28, 65), (32, 0), (32, u32::MAX)] {
        let image = resealed(0..124, |image| image[offset..offset + 4].copy_from_slice(&value.to_le_bytes()));
        let error = parse(&image).unwrap_err();
        assert!(
            matches!(error, ImageError::OutOfLimits { offset: at, value: v, .. } if at == offset as u64 && v == value),
            "{error}"
        );
    }
    for (offset, what) in [
        (12, "an unknown flag"),
        (74, "bytes that mean nothing are not 0"),
        (72, "an unknown state of a header"),
        (120, "bytes that mean nothing are not 0"),
    ] {
        let error = parse(&resealed(0..124, |image| image[offset] |= 0x80)).unwrap_err();
        assert!(matches!(error, ImageError::Malformed { what: w, .. } if w == what), "{error}");
    }
}

#[test]
fn a_shape_without_blocks_behind_it_allocates_nothing() {
    // 2^32 blocks in a file of a few kilobytes.
    let image = resealed(0..124, |image| {
        image[16..20].copy_from_slice(&65_535u32.to_le_bytes());
        image[20..24].copy_from_slice(&65_535u32.to_le_bytes());
    });
    assert!(matches!(parse(&image), Err(ImageError::Truncated { offset: 128, .. })));
}

#[test]
fn a_card_is_loaded_as_it_was_saved() {
    let folder = Folder::new("card");
    let mut flash = eventful();
    program(&mut flash, at(2, 1, 0), 4).unwrap();
    flash.save(&folder.0).unwrap();
    flash.pull(1);
    flash.save(&folder.0).unwrap();
    let mut loaded = Flash::load(&folder.0, 3, *flash.physics(), 1).unwrap();
    assert_eq!(loaded.shape(), flash.shape());
    assert!(loaded.module(1).is_none());
    assert_eq!(look(&mut loaded, at(2, 1, 0), 4), "GGGG");
    for slot in [0, 2] {
        assert_eq!(encode(loaded.module(slot).unwrap()), encode(flash.module(slot).unwrap()));
    }
    assert!(matches!(Flash::load(&folder.0, 2, Physics::IDEAL, 1), Err(LoadError::NoSuchSlot { slots: 2, .. })));
}

#[test]
fn a_folder_that_is_no_card_is_refused() {
    let folder = Folder::new("none");
    std::fs::create_dir_all(&folder.0).unwrap();
    assert!(matches!(Flash::load(&folder.0, 3, Physics::IDEAL, 1), Err(LoadError::NoModules { .. })));
    std::fs::write(folder.0.join("module-01.frm"), b"something else").unwrap();
    let error = Flash::load(&folder.0, 3, Physics::IDEAL, 1).unwrap_err();
    assert!(matches!(error, LoadError::Image { source: ImageError::BadMagic, .. }), "{error}");
    flash(Physics::IDEAL).save(&folder.0).unwrap();
    let other = Flash::new(Shape { rows_per_block: 5, ..SHAPE }, Physics::IDEAL, 1);
    std::fs::write(folder.0.join("module-02.frm"), encode(other.module(2).unwrap())).unwrap();
    assert!(matches!(Flash::load(&folder.0, 3, Physics::IDEAL, 1), Err(LoadError::ShapeDiffers { .. })));
}
