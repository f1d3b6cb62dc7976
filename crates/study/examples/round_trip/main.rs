//! Hidden cards, reviewed in the model with noise added, and fitted: how well do their twins predict what was not
//! measured? `cargo run --profile dist -p study --example round_trip -- 20` (cards; a second number is the first card's).
//! With `--stops` their writes stop while collection cleans.
//! With `conditioning` nothing is fitted: how far the hidden cards' own 99th percentiles move when a number is a little off.

mod conditioning;
mod hidden;

use device::Rng;
use hidden::{UNSEEN, hidden, measured, reviewed, stopping};
use profile::{Host, Profile};
use results::RunResult;
use std::time::Instant;
use study::fit::{Assumed, Errors, Input, Options, Status, distance, fit, observe};
use target::Silent;

/// Seeds of what was not measured; how far a hidden card is from itself with another is what no twin can be better than.
const SEED: u64 = 7;
const OTHER_SEED: u64 = 8;

/// Returns the hidden card's value of a parameter, where it has something of the kind.
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
        "bytes cleaned at once" => match hidden.ftl.gc {
            ftl::GcMode::StopTheWorld { start_free_bands, stop_free_bands } => {
                let band_sectors = card.figures().expect("a valid card")?.capacities.data_sectors_per_band;
                f64::from(stop_free_bands - start_free_bands) * band_sectors as f64 * 4096.0
            }
            ftl::GcMode::Paced { .. } => return None,
        },
        "ftl.parity_units" => f64::from(hidden.ftl.parity_units),
        _ => return None,
    })
}

/// Returns whether what a fit says of a parameter contradicts the card; `None` where it says that it can't be told.
fn contradicted(card: &Profile, parameter: &study::fit::Parameter) -> Option<bool> {
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
    if std::env::args().any(|word| word == "conditioning") {
        return conditioning::print(first, cards);
    }
    let verbose = std::env::args().any(|word| word == "-v");
    let stops = std::env::args().any(|word| word == "--stops");
    let host = Host::builtin("default").expect("a built-in host");
    let (mut all_throughput, mut all_tails, mut all_floor) = (Vec::new(), Vec::new(), Vec::new());
    let (mut told, mut told_wrong) = (0, 0);
    let mut stops_wrong = 0;
    let (mut said, mut said_wrong) = (0, 0);
    for number in first..first + cards {
        let mut rng = Rng::stream(number, "round trip");
        let (mut card, mut words) = hidden(&mut rng);
        if stops {
            let (stopping, how) = stopping(&card, &mut rng);
            (card, words) = (stopping, format!("{words}, {how}"));
        }
        let result = reviewed(&card, &host, &mut rng);
        let input = Input { file: format!("hidden-{number}"), result, circumstances: None };
        let observed = observe(&[input], &Assumed::default()).expect("a review has enough points");
        let clock = Instant::now();
        let fitted = fit(&observed, &Options::new(host.clone()), &Silent).expect("a fit");
        let took_s = clock.elapsed().as_secs_f64();
        if verbose {
            for p in &fitted.parameters {
                let is = truth(&card, &p.name).map_or(String::new(), |truth| format!("{truth:.3e}"));
                println!("  {:32} {:>12} {is:>10} {:?}", p.name, p.value, p.status);
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
        let gc = fitted.parameters.iter().find(|p| p.name == "ftl.gc").expect("each fit has one");
        stops_wrong += u32::from((gc.value == "stop-the-world") != stops);
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
             cross-validated {:.1} %, victim {} {}, {} {}; {words}",
            t.median * 100.0,
            t.p95 * 100.0,
            p.median * 100.0,
            p.p95 * 100.0,
            f.median * 100.0,
            f.p95 * 100.0,
            fitted.simulated_points,
            fitted.left_out_throughput.median * 100.0,
            victim.value,
            victim.status.words(),
            gc.value,
            gc.status.words()
        );
        println!(
            "     {} of {says} parameters said to be told are not what they are: {}",
            wrong.len(),
            wrong.join(", ")
        );
    }
    println!("parameters said to be told: {said}, {said_wrong} of them not within their bounds");
    println!("victim policy called determined: {told} of {cards}, {told_wrong} of them wrongly");
    println!("paced or not found wrongly: {stops_wrong} of {cards}");
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
