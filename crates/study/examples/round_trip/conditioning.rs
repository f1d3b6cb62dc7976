//! Sensitivity of hidden cards' 99th percentiles to one number that is a little off: it shows what a fit has to get
//! right, and how much no twin can.

use crate::hidden::{UNSEEN, USER_BYTES, hidden, measured};
use device::Rng;
use profile::{Host, Profile};
use results::{IoClass, RunResult};
use study::fit::{Errors, distance};

const SEED: u64 = 7;
const OTHER_SEED: u64 = 8;
/// Figures that are further off than the bound of the 95th percentile.
const FAR: f64 = 0.25;

/// A number of a card times so many per mille.
fn changed(card: &Profile, key: &str, value: u64, per_mille: u64) -> Profile {
    let mut card = card.clone();
    card.set(&format!("{key}={}", value * per_mille / 1000)).expect("a valid setting");
    card
}

/// The card with this share more of spare space.
fn with_more_spare(card: &Profile, share: f64) -> Profile {
    let c = card.figures().expect("a valid card").expect("flash").capacities;
    let used = 1.0 - c.effective_spare_factor * (1.0 + share);
    let bands = USER_BYTES as f64 / 4096.0 / used / c.data_sectors_per_band as f64;
    changed(card, "geometry.blocks_per_plane", bands as u64 + u64::from(c.overhead_bands), 1000)
}

/// Reads and writes of two runs: how far the second's 99th percentiles are from the first's.
fn apart(a: &RunResult, b: &RunResult) -> Vec<f64> {
    let of = |a: &IoClass, b: &IoClass| {
        (a.total_ios > 0).then(|| distance(b.lat_ns.at(99.0) as f64, a.lat_ns.at(99.0) as f64))
    };
    [of(&a.read, &b.read), of(&a.write, &b.write)].into_iter().flatten().collect()
}

/// Prints it, a line for each card.
pub fn print(first: u64, cards: u64) {
    let host = Host::builtin("default").expect("a built-in host");
    let names = ["another seed", "program 1 % longer", "erase 3 % longer", "spare 2 % more"];
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    let words = |tails: Vec<f64>| {
        let far = tails.iter().filter(|t| **t > FAR).count();
        let errors = Errors::of(tails);
        format!("{:.1} {:.1} {:.1} ({far} far)", errors.median * 100.0, errors.p95 * 100.0, errors.most * 100.0)
    };
    for number in first..first + cards {
        let (card, title) = hidden(&mut Rng::stream(number, "round trip"));
        let timing = card.lower(1e-9).expect("a valid card").cards()[0].nand.timing.native;
        let others = [
            (card.clone(), OTHER_SEED),
            (changed(&card, "timing.program_ns", timing.program_ns, 1010), SEED),
            (changed(&card, "timing.erase_ns", timing.erase_ns, 1030), SEED),
            (with_more_spare(&card, 0.02), SEED),
        ];
        let runs = review::on_all_cores(UNSEEN, |unseen| {
            let own = measured(&card, &host, unseen, SEED);
            Ok::<_, ()>(others.clone().map(|(card, seed)| apart(&own, &measured(&card, &host, unseen, seed))))
        });
        let runs = runs.expect("no errors");
        let mut line = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let tails: Vec<f64> = runs.iter().flat_map(|run| run[i].clone()).collect();
            all[i].extend(&tails);
            line.push(format!("{name} {}", words(tails)));
        }
        println!("{number:3}: {}; {title}", line.join(", "));
    }
    for (name, tails) in names.iter().zip(all) {
        println!("{name}: {}", words(tails));
    }
}
