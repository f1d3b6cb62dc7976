//! Fitted to every other point of what was published, held against the others.
//! `cargo run --profile dist -p study --example published`; names of tables after `--` run only those.

use profile::Host;
use study::fit::{Assumed, Input, Options, distance, fit, observe};
use target::Silent;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for name in import::PUBLISHED.iter().filter(|name| wanted.is_empty() || wanted.iter().any(|w| w == *name)) {
        let circumstances = review::circumstances(name).expect("a published table");
        let host = Host::builtin(&circumstances.host).expect("a built-in host");
        let result = import::published(name).expect("a published table");
        let input = Input { file: (*name).to_string(), result, circumstances: Some(circumstances) };
        let observed = observe(&[input], &Assumed::default()).expect("enough points");
        let options = Options { hold_out: Some(2), ..Options::new(host) };
        let fitted = match fit(&observed, &options, &Silent) {
            Ok(fitted) => fitted,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        println!("{name} ({} points simulated)", fitted.simulated_points);
        for p in &fitted.parameters {
            println!("  {:32} {:>12} {:?}", p.name, p.value, p.status);
        }
        for point in &fitted.points {
            for f in &point.figures {
                let far = distance(f.fitted, f.measured) * 100.0;
                let held = if point.held_out { "held out" } else { "" };
                println!(
                    "  {:24} {:14} {:12.0} {:12.0} {far:6.1} % {held}",
                    point.condition, f.figure, f.measured, f.fitted
                );
            }
        }
    }
}
