//! Every request completes exactly once, whatever the card is made of.

use crate::common::{Rig, SECTOR, band_data_sectors, small, stripe_data_sectors};
use card::{CardConfig, ModelCard, RelocationPath};
use device::{Operation, Request, Rng, SECTOR_BYTES};
use ftl::{GcMode, Lba, SlcCache, VictimPolicy};
use media::nand::OpTiming;
use std::collections::BTreeMap;

/// Largest request of the mixes.
const MAX_BYTES: u64 = 1 << 20;
const REQUESTS: u64 = 3_000;

fn one_of<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.below(choices.len() as u64) as usize]
}

fn chance(rng: &mut Rng) -> bool {
    rng.below(2) == 0
}

/// Any card that a profile may describe, but small.
fn any_card(rng: &mut Rng) -> CardConfig {
    let mut c = small();
    let g = &mut c.nand.geometry;
    g.modules = one_of(rng, &[1, 2, 4, 6]);
    g.channels_per_module = one_of(rng, &[1, 2]);
    g.dies_per_channel = one_of(rng, &[1, 2, 3]);
    g.planes_per_die = one_of(rng, &[1, 2, 4]);
    g.multi_plane = chance(rng);
    g.pages_per_block = one_of(rng, &[4, 8, 16]);
    g.page_bytes = one_of(rng, &[4096, 8192, 16_384]);
    g.spare_bytes = one_of(rng, &[0, 218]);
    let dies = g.dies();
    let widths: Vec<u32> = (1..=dies).filter(|w| dies.is_multiple_of(*w)).collect();
    c.ftl.stripe_width = one_of(rng, &widths);
    c.ftl.parity_units = if c.ftl.stripe_width > 1 { one_of(rng, &[0, 1]) } else { 0 };
    if chance(rng) {
        c.nand.timing.suspend_ns = Some(one_of(rng, &[0, 20_000]));
        c.nand.timing.max_suspends = one_of(rng, &[0, 1, 4]);
    }
    c.nand.endurance.factory_bad_ppm = one_of(rng, &[0, 10_000]);
    c.ftl.victim =
        one_of(rng, &[VictimPolicy::Greedy, VictimPolicy::CostBenefit, VictimPolicy::Fifo, VictimPolicy::RandomD(4)]);
    c.ftl.gc = if chance(rng) {
        GcMode::Paced { target_free_bands: one_of(rng, &[1, 4]) }
    } else {
        let start_free_bands = one_of(rng, &[0, 1, 3]);
        GcMode::StopTheWorld { start_free_bands, stop_free_bands: start_free_bands + one_of(rng, &[1, 4]) }
    };
    c.ftl.reserve_bands = one_of(rng, &[2, 3]);
    c.ftl.separate_streams = chance(rng);
    c.ftl.static_wear_spread_cycles = one_of(rng, &[0, 2]);
    if chance(rng) {
        c.ftl.slc_cache = Some(SlcCache { bands: 3, bits_per_cell: one_of(rng, &[2, 3, 4]) });
        c.nand.timing.slc = OpTiming { read_ns: 20_000, program_ns: 100_000, erase_ns: 1_000_000 };
    }
    let stripe = stripe_data_sectors(&c);
    c.buffer_sectors = stripe * one_of(rng, &[1, 2, 5]);
    c.relocation_sectors = stripe * one_of(rng, &[1, 2, 5]);
    c.power_loss_protection = chance(rng);
    c.reads_first = chance(rng);
    c.link.half_duplex = chance(rng);
    c.link.latency_ns = one_of(rng, &[0, 5_000]);
    c.link.read_command_ns = one_of(rng, &[0, 2_000]);
    if chance(rng) {
        c.relocation_path = RelocationPath::Host { sector_ns: 12_000 };
    }
    // All bands that may be kept free at once, and two open ones, come on top of the data, as a profile asks.
    let kept = match c.ftl.gc {
        GcMode::Paced { target_free_bands } => target_free_bands,
        GcMode::StopTheWorld { stop_free_bands, .. } => stop_free_bands,
    };
    let overhead = c.ftl.reserve_bands + kept + 2;
    c.bands = overhead + (MAX_BYTES / SECTOR_BYTES * 3).div_ceil(u64::from(band_data_sectors(&c))).max(12) as u32;
    let data = f64::from((c.bands - overhead) * band_data_sectors(&c));
    c.ftl.user_sectors = (data * one_of(rng, &[0.5, 0.8, 0.9])) as u64;
    // Bad blocks narrow bands or retire them.
    while ModelCard::new(&c, 1, false, 1).is_err() || Rig::new(&c, 1).ftl().effective_spare_factor() < 0.1 {
        c.ftl.user_sectors = c.ftl.user_sectors * 9 / 10;
    }
    c
}

/// Reads, writes, flushes and trims of 512 bytes to 1 MiB, aligned or not.
fn any_request(rng: &mut Rng, capacity_bytes: u64) -> Request {
    let max = MAX_BYTES.min(capacity_bytes);
    let len_bytes = match rng.below(4) {
        0 => 512 * (1 + rng.below(16)),
        1 => SECTOR_BYTES,
        2 => SECTOR_BYTES * (1 + rng.below(16)),
        _ => 512 * (1 + rng.below(max / 512)),
    };
    let unit = one_of(rng, &[512, SECTOR_BYTES]);
    let offset_bytes = rng.below((capacity_bytes - len_bytes) / unit + 1) * unit;
    let len_bytes = len_bytes as u32;
    match rng.below(20) {
        0..7 => Request::read(offset_bytes, len_bytes),
        7..16 => Request { fua: rng.below(4) == 0, ..Request::write(offset_bytes, len_bytes) },
        16..18 => Request::trim(offset_bytes, len_bytes),
        _ => Request::flush(),
    }
}

/// Kinds of requests that a sector was part of.
#[derive(Clone, Copy, Default)]
struct Sector {
    written: bool,
    trimmed: bool,
}

fn sectors_of(request: &Request) -> std::ops::Range<u64> {
    let end = request.range.offset_bytes + u64::from(request.range.len_bytes);
    request.range.offset_bytes / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES)
}

fn run(seed: u64) {
    let mut rng = Rng::stream(seed, "any card");
    let config = any_card(&mut rng);
    println!("seed {seed}: {config:?}");
    let depth = one_of(&mut rng, &[1, 4, 32]);
    let mut rig = Rig::with(&config, depth, chance(&mut rng));
    let mut sectors = vec![Sector::default(); config.ftl.user_sectors as usize];
    if chance(&mut rng) {
        rig = rig.filled().overwritten(1);
        sectors.fill(Sector { written: true, trimmed: false });
    }
    let mut asked = BTreeMap::new();
    let capacity_bytes = config.ftl.user_sectors * SECTOR_BYTES;
    let finished = rig.closed_loop(depth, REQUESTS, || {
        let request = any_request(&mut rng, capacity_bytes);
        *asked.entry(format!("{:?}", request.operation)).or_insert(0) += 1;
        if matches!(request.operation, Operation::Write | Operation::Trim) {
            for s in sectors_of(&request) {
                let sector = &mut sectors[s as usize];
                if request.operation == Operation::Write { sector.written = true } else { sector.trimmed = true }
            }
        }
        request
    });
    let mut answered = BTreeMap::new();
    finished.iter().for_each(|f| *answered.entry(format!("{:?}", f.request.operation)).or_insert(0) += 1);
    assert_eq!(asked, answered);
    assert_eq!(finished.len() as u64, REQUESTS);
    rig.settle();
    rig.ftl().check().unwrap();
    for (s, sector) in sectors.iter().enumerate() {
        let mapped = rig.ftl().lookup(Lba(s as u32)).is_some();
        assert!(mapped || sector.trimmed || !sector.written, "sector {s} was written and is lost");
        assert!(!mapped || sector.written, "sector {s} was never written");
    }
    // The card still works.
    let last = rig.ask(Request::read(0, SECTOR));
    assert_eq!(last.request.operation, Operation::Read);
}

#[test]
fn every_request_completes_exactly_once_on_any_card() {
    (0..100).for_each(run);
}
