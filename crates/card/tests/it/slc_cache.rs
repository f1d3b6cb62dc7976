//! A cache of blocks with one bit a cell: fast until it is full, and again when the card had time to fold it.

use crate::common::{Finished, Rig, assert_close, band_data_sectors, read, small, throughput, use_share, write};
use card::CardConfig;
use device::{Cause, SECTOR_BYTES};
use ftl::{Lba, SlcCache};
use media::nand::{CellMode, OpTiming};

const CACHE: SlcCache = SlcCache { bands: 12, bits_per_cell: 4 };
/// A page on its bus.
const BUS_NS: u64 = 10_000;

fn card() -> CardConfig {
    let mut config = small();
    config.nand.timing.bus_bytes_per_s = 409_600_000;
    config.nand.timing.native = OpTiming { read_ns: 100_000, program_ns: 2_000_000, erase_ns: 4_000_000 };
    config.nand.timing.slc = OpTiming { read_ns: 30_000, program_ns: 200_000, erase_ns: 2_000_000 };
    config.nand.geometry.pages_per_block = 64;
    config.buffer_sectors = 12;
    config.ftl.slc_cache = Some(CACHE);
    use_share(&mut config, 0.9);
    config
}

/// Sectors that fit into the cache.
fn cache_sectors(config: &CardConfig) -> u64 {
    u64::from(CACHE.bands * band_data_sectors(config) / CACHE.bits_per_cell)
}

/// Bytes a second of the dies in a cell mode, less parity.
fn rate(config: &CardConfig, mode: CellMode) -> f64 {
    3.0 * SECTOR_BYTES as f64 * 1e9 / (BUS_NS + config.nand.timing.of(mode).program_ns) as f64
}

/// Writes sectors front to back.
fn write_range(rig: &mut Rig, sectors: std::ops::Range<u64>) -> Vec<Finished> {
    let mut next = sectors.start;
    rig.closed_loop(32, sectors.end - sectors.start, || {
        next += 1;
        write(next - 1, 1)
    })
}

#[test]
fn writes_are_fast_until_the_cache_is_full_and_again_after_idle_time() {
    let config = card();
    let (slc, native) = (rate(&config, CellMode::Slc), rate(&config, CellMode::Native));
    let cache = cache_sectors(&config);
    let mut rig = Rig::with(&config, 32, false);
    let fresh = write_range(&mut rig, 0..3 * cache);
    assert_close("into the cache", throughput(&fresh[..cache as usize]), slc, 0.03);
    assert_close("beyond the cache", throughput(&fresh[cache as usize + 100..]), native, 0.03);
    assert_eq!(rig.ftl().slc_bands(), CACHE.bands);
    rig.wait_ns(60_000_000_000);
    // Folded: all in the cache was moved to native blocks.
    assert_eq!(rig.ftl().slc_bands(), 0);
    assert_eq!(rig.ftl().counters().relocated_sectors, cache);
    // The band that was open is filled first.
    let again = write_range(&mut rig, 3 * cache..4 * cache);
    assert_close("after idle time", throughput(&again[band_data_sectors(&config) as usize..]), slc, 0.03);
    rig.settle();
    rig.ftl().check().unwrap();
    assert!((0..4 * cache).all(|s| rig.ftl().lookup(Lba(s as u32)).is_some()));
}

#[test]
fn a_card_that_is_never_idle_does_not_fold() {
    let config = card();
    let cache = cache_sectors(&config);
    let mut rig = Rig::with(&config, 32, false);
    write_range(&mut rig, 0..2 * cache);
    // One after the other, with short pauses.
    for sector in 0..200 {
        rig.ask(write(2 * cache + sector, 1));
        rig.wait_ns(100_000);
    }
    assert_eq!(rig.ftl().slc_bands(), CACHE.bands);
    assert_eq!(rig.ftl().counters().relocated_sectors, 0);
}

#[test]
fn a_read_from_the_cache_is_as_fast_as_its_cells() {
    let config = card();
    let cache = cache_sectors(&config);
    let mut rig = Rig::new(&config, 32);
    write_range(&mut rig, 0..2 * cache);
    assert_eq!(rig.ask(read(0, 1)).parts.get(Cause::FlashRead), 30_000);
    assert_eq!(rig.ask(read(2 * cache - 100, 1)).parts.get(Cause::FlashRead), 100_000);
    rig.wait_ns(60_000_000_000);
    assert_eq!(rig.ask(read(0, 1)).parts.get(Cause::FlashRead), 100_000);
}

#[test]
fn without_a_cache_the_first_write_is_as_slow_as_the_last() {
    let mut config = card();
    config.ftl.slc_cache = None;
    use_share(&mut config, 0.9);
    let fresh = write_range(&mut Rig::with(&config, 32, false), 0..800);
    assert_close("no cache", throughput(&fresh), rate(&config, CellMode::Native), 0.03);
}

#[test]
fn a_full_card_has_no_space_for_a_cache() {
    let config = card();
    let mut rig = Rig::with(&config, 32, false).filled().overwritten(2);
    rig.wait_ns(60_000_000_000);
    let sectors = rig.ftl().user_sectors();
    let mut rng = device::Rng::stream(41, "full");
    let finished = rig.closed_loop(32, 5_000, || write(rng.below(sectors), 1));
    assert!(throughput(&finished) < rate(&config, CellMode::Native));
    rig.settle();
    rig.ftl().check().unwrap();
}

#[test]
fn folding_keeps_to_its_rate_and_stops_for_the_host() {
    let config = CardConfig { fold_bytes_per_s: Some(1 << 20), ..card() };
    let cache = cache_sectors(&config);
    let mut rig = Rig::with(&config, 32, false);
    write_range(&mut rig, 0..2 * cache);
    rig.wait_ns(1_010_000_000);
    let folded = rig.ftl().counters().relocated_sectors;
    assert_close("folded in a second", folded as f64 * SECTOR_BYTES as f64, f64::from(1 << 20), 0.1);
    // Requests with short pauses between them: nothing is folded.
    for sector in 0..200 {
        rig.ask(write(2 * cache + sector, 1));
        rig.wait_ns(100_000);
    }
    assert!(rig.ftl().counters().relocated_sectors <= folded + u64::from(config.relocation_sectors));
    rig.wait_ns(60_000_000_000);
    assert!(rig.ftl().slc_bands() <= 1, "but for the band that the host writes into");
    rig.settle();
    rig.ftl().check().unwrap();
}
