//! Hidden cards, their reviews, and what is asked of them that no review has.

use device::Rng;
use load::FileioMode;
use profile::{Host, Profile};
use results::{Point, ReviewResult, RunResult};
use review::{Bench, Phase, Subject};
use target::{Measure, ModelTarget, Silent};

const THROUGHPUT_NOISE: f64 = 0.025;
const LATENCY_NOISE: f64 = 0.05;
const SCALE: f64 = 1.0 / 256.0;
const START_FREE_BANDS: u32 = 4;
pub const USER_BYTES: u64 = 400_000_000_000;

/// Between two values, evenly in logarithms.
fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    (low.ln() + rng.unit() * (high / low).ln()).exp()
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[(rng.unit() * all.len() as f64) as usize]
}

/// A normal deviate (Box and Muller).
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.unit()).ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

/// A card with everything that a fit has to find drawn at random, and in words.
pub fn hidden(rng: &mut Rng) -> (Profile, String) {
    let mut card = Profile::builtin("tachion-400").expect("a built-in card");
    let dies = 8_u32 << (rng.unit() * 6.0) as u32;
    let per_channel = one_of(rng, &[1, 2, 4, 8]).min(dies / 2);
    let age = rng.unit();
    let time = |slc: f64, tlc: f64| (slc.ln() + age * (tlc / slc).ln()).exp().round() as u64;
    let (parity, width) = (one_of(rng, &[0, 1]), dies.min(16));
    let spare = 0.05 + 0.35 * rng.unit();
    let victim = one_of(rng, &["greedy", "cost-benefit", "fifo"]);
    let set =
        |card: &mut Profile, key: &str, value: String| card.set(&format!("{key}={value}")).expect("a valid setting");
    let rate = |rng: &mut Rng, low, high| (between(rng, low, high) as u64).to_string();
    for (key, value) in [
        // Enough for any number of dies: the card's own 1.2 J put a full buffer on 128, and less than a stripe on a few.
        ("buffer.capacitor_joules", "100".to_string()),
        ("geometry.modules", "1".to_string()),
        ("geometry.channels_per_module", (dies / per_channel).to_string()),
        ("geometry.dies_per_channel", per_channel.to_string()),
        ("ftl.stripe_width", width.to_string()),
        ("ftl.parity_units", parity.to_string()),
        ("ftl.victim", victim.to_string()),
        ("timing.read_ns", time(25e3, 70e3).to_string()),
        ("timing.program_ns", time(230e3, 1e6).to_string()),
        ("timing.erase_ns", time(700e3, 5e6).to_string()),
        ("timing.bus_bytes_per_s", time(133e6, 1.2e9).to_string()),
        ("link.read_bytes_per_s", rate(rng, 800e6, 6e9)),
        ("link.write_bytes_per_s", rate(rng, 800e6, 6e9)),
        ("link.read_command_ns", rate(rng, 1e3, 3e3)),
        ("link.write_command_ns", rate(rng, 1e3, 3e3)),
        ("link.latency_ns", rate(rng, 5e3, 20e3)),
        ("card.user_bytes", USER_BYTES.to_string()),
        ("geometry.blocks_per_plane", (1_u32 << 20).to_string()),
    ] {
        set(&mut card, key, value);
    }
    let c = card.figures().expect("a valid card").expect("flash").capacities;
    let bands = USER_BYTES as f64 / 4096.0 / (1.0 - spare) / c.data_sectors_per_band as f64;
    set(&mut card, "geometry.blocks_per_plane", (bands as u64 + u64::from(c.overhead_bands)).to_string());
    let words = format!(
        "{dies} dies, spare {:.0} %, program {} us, {victim}, parity {parity}",
        spare * 100.0,
        time(230.0, 1e3)
    );
    (card, words)
}

/// The same card with writes that stop while collection cleans: bursts of 32 MiB to 1 GiB, a band at least.
pub fn stopping(card: &Profile, rng: &mut Rng) -> (Profile, String) {
    let c = card.figures().expect("a valid card").expect("flash").capacities;
    let wanted = between(rng, 32.0 * 1024.0 * 1024.0, 1024.0 * 1024.0 * 1024.0);
    let bands = (wanted / (c.data_sectors_per_band as f64 * 4096.0)).round().max(1.0) as u32;
    let mut card = card.clone();
    let data_bands = c.bands - c.overhead_bands;
    for setting in [
        format!("ftl.start_free_bands={START_FREE_BANDS}"),
        format!("ftl.stop_free_bands={}", START_FREE_BANDS + bands),
        "ftl.gc=stop-the-world".into(),
    ] {
        card.set(&setting).expect("a valid setting");
    }
    // The part that swings counts as spare space: as much is left as there was.
    let overhead = card.figures().expect("a valid card").expect("flash").capacities.overhead_bands;
    card.set(&format!("geometry.blocks_per_plane={}", data_bands + overhead)).expect("a valid setting");
    let bytes = f64::from(bands) * c.data_sectors_per_band as f64 * 4096.0;
    (card, format!("{bands} bands ({:.0} MiB) at once", bytes / f64::from(1 << 20)))
}

/// A review of it, as noisy as reviews are.
pub fn reviewed(card: &Profile, host: &Host, rng: &mut Rng) -> ReviewResult {
    let target = ModelTarget::new(card, host, SCALE, 1).expect("a valid card");
    let options = review::Options {
        seed: 1,
        scale: SCALE,
        fill: 1.0,
        quick: true,
        budget_s: None,
        shown_over_budget: false,
        only: vec![Phase::Fill, Phase::Threads, Phase::Mix, Phase::Blocks],
    };
    let plan = review::plan(&Subject::of(&target), &options).expect("a valid plan");
    let start = review::Start {
        name: "hidden".into(),
        generator: "round trip".into(),
        started: None,
        price: None,
        prior: None,
    };
    let mut result = review::review(Box::new(target), &plan, start, &Silent, &|_| {}).result;
    result.sweeps.iter_mut().flat_map(|sweep| &mut sweep.points).for_each(|point| add_noise(point, rng));
    result
}

fn add_noise(point: &mut Point, rng: &mut Rng) {
    let factor = (THROUGHPUT_NOISE * normal(rng)).exp();
    for class in [&mut point.read, &mut point.write] {
        class.bw_bytes *= factor;
        class.iops *= factor;
        for ns in class.lat_ns.percentile.values_mut() {
            *ns = (*ns as f64 * (LATENCY_NOISE * normal(rng)).exp()) as u64;
        }
    }
}

/// Conditions that no review has: settings of the card, mode, block, threads, reads a write, fill.
pub const UNSEEN: &[Unseen] = &[
    ("", FileioMode::RndWr, 16, 16, 0.0, 0.35),
    ("", FileioMode::RndWr, 16, 16, 0.0, 0.85),
    ("", FileioMode::RndWr, 16, 8, 0.0, 0.6),
    ("", FileioMode::RndWr, 16, 32, 0.0, 1.0),
    ("ftl.reserve=10%", FileioMode::RndWr, 16, 16, 0.0, 1.0),
    ("ftl.reserve=25%", FileioMode::RndWr, 16, 16, 0.0, 1.0),
    ("", FileioMode::RndRd, 16, 2, 0.0, 1.0),
    ("", FileioMode::RndRd, 16, 8, 0.0, 1.0),
    ("", FileioMode::RndRd, 16, 32, 0.0, 1.0),
    ("", FileioMode::RndRd, 8, 16, 0.0, 0.5),
    ("", FileioMode::RndRw, 16, 8, 1.5, 0.7),
    ("", FileioMode::RndRw, 16, 32, 1.0, 1.0),
    ("", FileioMode::RndRw, 16, 16, 9.0, 0.8),
    ("ftl.reserve=15%", FileioMode::RndRw, 16, 16, 4.0, 1.0),
];

/// Reads and writes of each, at least: a thousand beyond the 99th percentile, so that it is one of many stalls and not of a
/// few.
const REQUESTS: u64 = 100_000;

/// A condition that no review has.
pub type Unseen = (&'static str, FileioMode, u32, u32, f64, f64);

pub fn measured(card: &Profile, host: &Host, unseen: &Unseen, seed: u64) -> RunResult {
    let (setting, mode, kib, threads, rw_ratio, fill) = *unseen;
    let mut card = card.clone();
    if !setting.is_empty() {
        card.set(setting).expect("a valid setting");
    }
    let bench = Bench::new(&card, host, SCALE, seed).expect("a valid card");
    let mut load = bench.fileio(mode, kib << 10, threads, fill);
    if let (load::LoadConfig::Fileio(load), true) = (&mut load, rw_ratio > 0.0) {
        load.rw_ratio = rw_ratio;
    }
    let rarer = if rw_ratio > 0.0 { rw_ratio.min(1.0 / rw_ratio) / (1.0 + rw_ratio.min(1.0 / rw_ratio)) } else { 1.0 };
    let requests = (REQUESTS as f64 / rarer) as u64;
    bench.run(&load, fill, Measure::Requests(requests), &Silent).expect("a run")
}
