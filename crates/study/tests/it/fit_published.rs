//! Cards that were fitted to a part of what others published, held against the rest.

use profile::{Host, Profile};
use study::fit::{Assumed, Fit, Input, Options, distance, fit, observe};
use target::Silent;

/// Fitted to every other point.
fn half_of(name: &str) -> Fit {
    let circumstances = review::circumstances(name).unwrap();
    let host = Host::builtin(&circumstances.host).unwrap();
    let input =
        Input { file: name.into(), result: import::published(name).unwrap(), circumstances: Some(circumstances) };
    let observed = observe(&[input], &Assumed::default()).unwrap();
    fit(&observed, &Options { hold_out: Some(2), ..Options::new(host) }, &Silent).unwrap()
}

/// The worst prediction of what was held out.
fn worst(fit: &Fit) -> f64 {
    let held: Vec<_> = fit.points.iter().filter(|point| point.held_out).collect();
    assert!(!held.is_empty() && held.iter().all(|point| !point.figures.is_empty()));
    let figures = held.iter().flat_map(|point| &point.figures);
    figures.map(|f| distance(f.predicted.unwrap(), f.measured)).fold(0.0, f64::max)
}

#[test]
fn three_rows_of_the_violin_predict_the_other_three() {
    let fit = half_of("published:violin-3205");
    assert!(worst(&fit) < 0.15, "{:#?}", fit.points);
    let card = Profile::parse(&fit.card_toml, "mine.toml").unwrap();
    assert_eq!(card.lower(1.0 / 1024.0).unwrap().cards().len(), 1);
}
