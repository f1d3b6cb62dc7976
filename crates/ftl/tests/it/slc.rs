//! Bands used with one bit a cell, in front of the rest.

use crate::common::{Card, PLAIN, assert_all_readable, steady_waf};
use ftl::{Ftl, Lba, SlcCache};
use media::nand::CellMode;

const CACHE: SlcCache = SlcCache { bands: 10, bits_per_cell: 4 };
const CARD: Card =
    Card { bands: 96, dies: 4, width: 4, parity_units: 1, pages_per_block: 16, slc_cache: Some(CACHE), ..PLAIN };
/// Sectors of data in an SLC band, and in all that the cache may have.
const BAND_SECTORS: u32 = 3 * 16 / CACHE.bits_per_cell;
const CACHE_SECTORS: u32 = CACHE.bands * BAND_SECTORS;

fn write(ftl: &mut Ftl, lbas: std::ops::Range<u32>) {
    lbas.for_each(|lba| ftl.write_now(Lba(lba)).unwrap());
}

fn mode_of(ftl: &Ftl, lba: u32) -> CellMode {
    ftl.cell_mode(ftl.layout().band_of(ftl.lookup(Lba(lba)).unwrap()))
}

#[test]
fn the_first_writes_go_to_as_many_slc_bands_as_the_cache_has() {
    let mut ftl = CARD.empty();
    for lba in 0..3 * CACHE_SECTORS {
        write(&mut ftl, lba..lba + 1);
        let expected = if lba < CACHE_SECTORS { CellMode::Slc } else { CellMode::Native };
        assert_eq!(mode_of(&ftl, lba), expected, "sector {lba}");
        assert_eq!(ftl.slc_bands(), (lba / BAND_SECTORS + 1).min(CACHE.bands));
    }
    ftl.check().unwrap();
}

#[test]
fn an_slc_band_uses_the_first_rows_of_all_dies() {
    let mut ftl = CARD.empty();
    write(&mut ftl, 0..BAND_SECTORS);
    let mut on_die = [0; 4];
    for lba in 0..BAND_SECTORS {
        let unit = ftl.layout().locate(ftl.lookup(Lba(lba)).unwrap());
        assert_eq!(unit.band, ftl.layout().band_of(ftl.lookup(Lba(0)).unwrap()));
        assert!(unit.row < CARD.pages_per_block / CACHE.bits_per_cell);
        on_die[unit.die as usize] += 1;
    }
    // Parity takes its turn on each die.
    assert_eq!(on_die, [3; 4]);
}

#[test]
fn a_full_card_leaves_no_space_to_the_cache_and_amplifies_as_one_without() {
    let waf = |slc_cache| {
        let mut ftl = Card { bands: 512, slc_cache, ..CARD }.filled();
        let all: Vec<u32> = (0..ftl.user_sectors() as u32).collect();
        let waf = steady_waf(&mut ftl, &all);
        (waf, ftl.slc_bands())
    };
    let (with, slc_bands) = waf(Some(CACHE));
    let (without, _) = waf(None);
    println!("WAF {with:.4} with a cache, {without:.4} without; {slc_bands} SLC bands");
    assert!(slc_bands <= 1, "{slc_bands}");
    assert!((with / without - 1.0).abs() < 0.01, "{with} {without}");
}

#[test]
fn folding_moves_everything_out_of_the_cache_and_nothing_else() {
    let mut ftl = CARD.empty();
    write(&mut ftl, 0..2 * CACHE_SECTORS);
    let native: Vec<_> = (CACHE_SECTORS..2 * CACHE_SECTORS).map(|lba| ftl.lookup(Lba(lba))).collect();
    assert!(ftl.can_fold());
    let mut moved = 0;
    while ftl.prepare_fold() {
        if let Some(relocation) = ftl.next_relocation() {
            assert_eq!(relocation.mode, CellMode::Slc);
            moved += relocation.sectors();
            ftl.relocate(relocation, |_, _| {});
        }
        ftl.settle_now();
    }
    assert_eq!(moved, CACHE_SECTORS);
    assert_eq!(ftl.slc_bands(), 0);
    assert!(!ftl.can_fold());
    ftl.check().unwrap();
    assert!((0..CACHE_SECTORS).all(|lba| mode_of(&ftl, lba) == CellMode::Native));
    assert!((CACHE_SECTORS..2 * CACHE_SECTORS).map(|lba| ftl.lookup(Lba(lba))).eq(native));
    // The cache is there for the next burst.
    write(&mut ftl, 0..2 * CACHE_SECTORS);
    assert_eq!(ftl.slc_bands(), CACHE.bands);
}

#[test]
fn what_is_overwritten_or_trimmed_need_not_be_folded() {
    let mut ftl = CARD.empty();
    write(&mut ftl, 0..CACHE_SECTORS);
    // Native from here on: the cache is full.
    write(&mut ftl, 0..CACHE_SECTORS / 2);
    (CACHE_SECTORS / 2..CACHE_SECTORS).for_each(|lba| ftl.trim(Lba(lba)));
    while ftl.prepare_fold() {
        if let Some(relocation) = ftl.next_relocation() {
            ftl.relocate(relocation, |_, _| {});
        }
        ftl.settle_now();
    }
    assert_eq!(ftl.slc_bands(), 0);
    assert_eq!(ftl.counters().relocated_sectors, 0);
}

#[test]
fn a_card_without_a_cache_has_nothing_to_fold() {
    let mut ftl = Card { slc_cache: None, ..CARD }.filled();
    let sectors = ftl.user_sectors() as u32;
    write(&mut ftl, 0..sectors);
    assert_eq!(ftl.slc_bands(), 0);
    assert!(!ftl.can_fold());
    ftl.settle_now();
    assert_all_readable(&ftl);
}
