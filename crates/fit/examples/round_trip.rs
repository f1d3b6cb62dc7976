//! Hidden cards, reviewed in the model with noise added, and fitted: how well do their twins predict what was not
//! measured? `cargo run --release -p fit --example round_trip -- 20` (cards; a second number is the first card's).

use device::Rng;
use fit::{Assumed, Errors, Input, Options, Status, distance, fit, observe};
use load::FileioMode;
use profile::{Host, Profile};
use results::{Point, ReviewResult, RunResult};
use review::{Bench, Phase, Subject};
use std::time::Instant;
use target::{Measure, ModelTarget, Silent};

const THROUGHPUT_NOISE: f64 = 0.025;
const LATENCY_NOISE: f64 = 0.05;
const SCALE: f64 = 1.0 / 256.0;
/// Seeds of what was not measured; how far a hidden card is from itself with another is what no twin can be better than.
const SEED: u64 = 7;
const OTHER_SEED: u64 = 8;
const USER_BYTES: u64 = 400_000_000_000;

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
fn hidden(rng: &mut Rng) -> (Profile, String) {
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

/// A review of it, as noisy as reviews are.
fn reviewed(card: &Profile, host: &Host, rng: &mut Rng) -> ReviewResult {
    let target = ModelTarget::new(card, host, SCALE, 1).expect("a valid card");
    let options = review::Options {
        seed: 1,
        scale: SCALE,
        fill: 1.0,
        quick: true,
        budget_s: None,
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
const UNSEEN: &[Unseen] = &[
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

/// A condition that no review has.
type Unseen = (&'static str, FileioMode, u32, u32, f64, f64);

fn measured(card: &Profile, host: &Host, unseen: &Unseen, seed: u64) -> RunResult {
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
    bench.run(&load, fill, Measure::Auto, &Silent).expect("a run")
}

/// What the hidden card has for a parameter, where it has something of the kind.
fn truth(card: &Profile, name: &str) -> Option<f64> {
    let device = card.lower(1e-9).expect("a valid card");
    let hidden = device.cards().first().expect("flash");
    let (timing, link) = (&hidden.nand.timing, &hidden.link);
    Some(match name {
        "link.read_bytes_per_s" => link.read_bytes_per_s as f64,
        "link.write_bytes_per_s" => link.write_bytes_per_s as f64,
        "link.read_command_ns" => link.read_command_ns as f64,
        "link.write_command_ns" => link.write_command_ns as f64,
        "link.latency_ns" => link.latency_ns as f64,
        "timing.read_ns" => timing.native.read_ns as f64,
        "timing.program_ns" => timing.native.program_ns as f64,
        "timing.erase_ns" => timing.native.erase_ns as f64,
        "timing.bus_bytes_per_s" => timing.bus_bytes_per_s as f64,
        "timing.suspend_ns" => timing.suspend_ns? as f64,
        "geometry.channels_per_module" => f64::from(hidden.nand.geometry.channels_per_module),
        "effective spare factor" => card.figures().expect("a valid card")?.capacities.effective_spare_factor,
        "buffer.bytes" => f64::from(hidden.buffer_sectors) * 4096.0,
        "geometry.pages_per_block" => f64::from(hidden.nand.geometry.pages_per_block),
        "geometry.dies_per_channel" => f64::from(hidden.nand.geometry.dies_per_channel),
        "ftl.parity_units" => f64::from(hidden.ftl.parity_units),
        _ => return None,
    })
}

/// Whether what a fit says of a parameter contradicts the card; `None` where it says that it can't be told.
fn contradicted(card: &Profile, parameter: &fit::Parameter) -> Option<bool> {
    let truth = truth(card, &parameter.name)?;
    let number = parameter.number?;
    let (low, high) = (parameter.low.unwrap_or(number), parameter.high.unwrap_or(number));
    match parameter.status {
        Status::Determined => Some(!(low * 0.999..=high * 1.001).contains(&truth)),
        Status::AtLeast => Some(truth < low),
        Status::AtMost => Some(truth > high),
        Status::Together | Status::Undetermined => None,
    }
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let (cards, first) = (numbers.next().unwrap_or(20), numbers.next().unwrap_or(1));
    let verbose = std::env::args().any(|word| word == "-v");
    let host = Host::builtin("default").expect("a built-in host");
    let (mut all_throughput, mut all_tails, mut all_floor) = (Vec::new(), Vec::new(), Vec::new());
    let (mut told, mut told_wrong) = (0, 0);
    let (mut said, mut said_wrong) = (0, 0);
    for number in first..first + cards {
        let mut rng = Rng::stream(number, "round trip");
        let (card, words) = hidden(&mut rng);
        let result = reviewed(&card, &host, &mut rng);
        let input = Input { file: format!("hidden-{number}"), result, circumstances: None };
        let observed = observe(&[input], &Assumed::default()).expect("a review has enough points");
        let clock = Instant::now();
        let fitted = fit(&observed, &Options::new(host.clone()), &Silent).expect("a fit");
        let took_s = clock.elapsed().as_secs_f64();
        if verbose {
            for p in &fitted.parameters {
                println!("  {:32} {:>12} {:?}", p.name, p.value, p.status);
            }
            for p in &fitted.points {
                let errors: Vec<String> =
                    p.figures.iter().map(|f| format!("{} {:+.0}%", f.figure, f.error * 100.0)).collect();
                println!("  {:28} {}", p.condition, errors.join(", "));
            }
        }
        let twin = Profile::parse(&fitted.card_toml, "twin.toml").expect("a card");
        let pairs = review::on_all_cores(UNSEEN, |unseen| {
            let again = measured(&card, &host, unseen, OTHER_SEED);
            Ok::<_, ()>((measured(&card, &host, unseen, SEED), measured(&twin, &host, unseen, SEED), again))
        });
        let (mut throughput, mut tails, mut floor) = (Vec::new(), Vec::new(), Vec::new());
        for (unseen, (real, twin, again)) in UNSEEN.iter().zip(pairs.expect("no errors")) {
            let bytes = |r: &RunResult| r.read.bw_bytes + r.write.bw_bytes;
            throughput.push(distance(bytes(&twin), bytes(&real)));
            let mut line = format!("  {unseen:?}: {:+.1} %", (bytes(&twin) / bytes(&real) - 1.0) * 100.0);
            let classes =
                [("read", &real.read, &twin.read, &again.read), ("write", &real.write, &twin.write, &again.write)];
            for (name, real, twin, again) in classes {
                if real.total_ios > 0 {
                    let p99 = |class: &results::IoClass| class.lat_ns.at(99.0) as f64;
                    tails.push(distance(p99(twin), p99(real)));
                    floor.push(distance(p99(again), p99(real)));
                    line.push_str(&format!(", {name} p99 {:+.1} %", (p99(twin) / p99(real) - 1.0) * 100.0));
                }
            }
            if verbose {
                println!("{line}");
            }
        }
        all_throughput.extend_from_slice(&throughput);
        all_tails.extend_from_slice(&tails);
        all_floor.extend_from_slice(&floor);
        let (t, p, f) = (Errors::of(throughput), Errors::of(tails), Errors::of(floor));
        let victim = fitted.parameters.iter().find(|p| p.name == "ftl.victim").expect("each fit has one");
        let is_told = victim.status == Status::Determined;
        told += u32::from(is_told);
        told_wrong += u32::from(is_told && !words.contains(&victim.value));
        let wrong: Vec<&str> = fitted
            .parameters
            .iter()
            .filter(|p| contradicted(&card, p) == Some(true))
            .map(|p| p.name.as_str())
            .collect();
        let says = fitted.parameters.iter().filter(|p| contradicted(&card, p).is_some()).count();
        said += says;
        said_wrong += wrong.len();
        println!(
            "{number:3}: throughput {:4.1} {:4.1}, p99 {:4.1} {:4.1} (itself {:.1} {:.1}) %, {took_s:.0} s, {} points, \
             cross-validated {:.1} %, victim {} {}; {words}",
            t.median * 100.0,
            t.p95 * 100.0,
            p.median * 100.0,
            p.p95 * 100.0,
            f.median * 100.0,
            f.p95 * 100.0,
            fitted.simulated_points,
            fitted.left_out_throughput.median * 100.0,
            victim.value,
            victim.status.words()
        );
        println!(
            "     {} of {says} parameters said to be told are not what they are: {}",
            wrong.len(),
            wrong.join(", ")
        );
    }
    println!("parameters said to be told: {said}, {said_wrong} of them not within their bounds");
    println!("victim policy called determined: {told} of {cards}, {told_wrong} of them wrongly");
    let all = [
        ("throughput", Errors::of(all_throughput)),
        ("p99", Errors::of(all_tails)),
        ("p99 of hidden cards with another seed", Errors::of(all_floor)),
    ];
    for (what, errors) in all {
        println!(
            "{what}: median {:.1} %, 95th percentile {:.1} %, most {:.1} % of {} figures that were not measured",
            errors.median * 100.0,
            errors.p95 * 100.0,
            errors.most * 100.0,
            errors.figures
        );
    }
}
