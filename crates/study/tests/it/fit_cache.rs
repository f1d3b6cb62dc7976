//! A hidden card with a cache of faster cells: its bursts tell how large it is, how fast its cells are, how fast it is folded.

use profile::{Host, Profile};
use results::{BurstReport, ReviewResult};
use review::{Phase, Subject, burst_report, burst_series};
use study::fit::{Assumed, Base, Input, Options, Parameter, Status, fit, observe};
use target::{BurstDevice, Clock, ModelTarget, Silent};

const SCALE: f64 = 1.0 / 256.0;

/// Cells of three bits, 40 GB of which are used with one.
fn hidden(fold: Option<u64>) -> Profile {
    let mut card = Profile::builtin("tachion-400").unwrap();
    for setting in [
        "link.write_bytes_per_s=4000000000",
        "timing.program_ns=900000",
        "timing.slc_read_ns=30000",
        "timing.slc_program_ns=300000",
        "timing.slc_erase_ns=2000000",
        "slc_cache.bits_per_cell=3",
        "slc_cache.bands=1800",
    ] {
        card.set(setting).unwrap();
    }
    if let Some(rate) = fold {
        card.set(&format!("slc_cache.fold_bytes_per_s={rate}")).unwrap();
    }
    card
}

fn reviewed(card: &Profile) -> ReviewResult {
    let target = ModelTarget::new(card, &Host::builtin("default").unwrap(), SCALE, 1).unwrap();
    let only = vec![Phase::Burst, Phase::Threads];
    let options = review::Options {
        seed: 1,
        scale: SCALE,
        fill: 1.0,
        quick: true,
        budget_s: None,
        only,
        shown_over_budget: false,
    };
    let plan = review::plan(&Subject::of(&target), &options).unwrap();
    let mut result = review::review(Box::new(target), &plan, review::Start::default(), &Silent, &|_| {}).result;
    // Enough for what the base lacks.
    result.sweeps.retain(|sweep| ["threads-rndrd", "threads-rndwr"].contains(&sweep.name.as_str()));
    result
}

fn fitted(card: &Profile) -> study::fit::Fit {
    let input = Input { file: "hidden.json".into(), result: reviewed(card), circumstances: None };
    let base = Base::card("tachion-400", include_str!("../../../../cards/tachion-400.toml"));
    let options = Options { base: Some(base), ..Options::new(Host::builtin("default").unwrap()) };
    fit(&observe(&[input], &Assumed::default()).unwrap(), &options, &Silent).unwrap()
}

fn bursts(card: &Profile, pause_s: f64) -> BurstReport {
    let mut series = burst_series(Clock::Virtual, 1.0, 0.0);
    series.bursts.iter_mut().skip(1).for_each(|burst| burst.idle_s = pause_s);
    let device = BurstDevice::new(card, SCALE).unwrap();
    let curves = device.bursts(&series, Host::builtin("default").unwrap().config(), 7, &Silent).unwrap();
    burst_report(&series, &curves)
}

fn near(what: &str, found: f64, truth: f64, share: f64) {
    assert!((found / truth).ln().abs() < share, "{what}: {found:.4e} for {truth:.4e}");
}

#[test]
#[ignore = "proof: a fit of a reviewed card"]
fn a_cache_is_found_and_its_bursts_are_predicted() {
    let card = hidden(Some(50_000_000));
    let twin = fitted(&card);
    let get = |name: &str| -> &Parameter { twin.parameters.iter().find(|p| p.name == name).unwrap() };
    let truth = bursts(&card, 300.0);
    let first = truth.bursts[0].cliff.unwrap();
    for (name, truth) in [
        ("SLC cache, bytes", first.bytes as f64),
        ("timing.slc_program_ns", 300_000.0),
        ("slc_cache.fold_bytes_per_s", 50e6),
    ] {
        let Parameter { number: Some(value), low: Some(low), high: Some(high), status, .. } = get(name) else {
            panic!("{name} has no bounds")
        };
        assert_eq!(*status, Status::Determined, "{name}");
        assert!(*low <= truth && truth <= *high, "{name}: {value:.4e} ({low:.4e} to {high:.4e}) for {truth:.4e}");
    }
    assert_eq!(get("slc_cache.bits_per_cell").status, Status::Undetermined);
    assert_eq!(get("timing.slc_erase_ns").status, Status::Undetermined);
    // A pause that was not measured.
    let predicted = bursts(&Profile::parse(&twin.card_toml, "twin.toml").unwrap(), 300.0);
    for (found, truth) in predicted.bursts.iter().zip(&truth.bursts) {
        let (found, truth) = (found.cliff.unwrap(), truth.cliff.unwrap());
        near("fast bytes", found.bytes as f64, truth.bytes as f64, 0.1);
        near("before", found.before_bw_bytes, truth.before_bw_bytes, 0.05);
        near("after", found.after_bw_bytes, truth.after_bw_bytes, 0.1);
    }
    assert!(twin.points.iter().any(|point| point.sweep == "burst"));
}

#[test]
#[ignore = "soak: a fit of a reviewed card"]
fn soak_a_card_that_folds_as_fast_as_it_can_gets_no_limit() {
    let quick = fitted(&hidden(None));
    let fold = quick.parameters.iter().find(|p| p.name == "slc_cache.fold_bytes_per_s").unwrap();
    assert_eq!(fold.status, Status::AtLeast, "{fold:?}");
    assert!(!quick.card_toml.contains("fold_bytes_per_s"));
}
