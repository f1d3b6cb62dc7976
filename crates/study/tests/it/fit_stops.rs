//! A card whose writes stop while collection cleans is found as one, from a few loads of a review, and a card whose
//! collection is paced is not taken for one.

use load::FileioMode;
use profile::{Host, Profile};
use results::{Point, RunResult};
use review::Bench;
use study::fit::{Assumed, Base, Figure, Fit, Input, Observed, Options, Status, distance, fit, observe};
use target::{Measure, Silent};

const SCALE: f64 = 1.0 / 256.0;
const SEED: u64 = 3;
/// Bands that the hidden card cleans at once, of 16 dies.
const BANDS: u32 = 10;
const START_FREE_BANDS: u32 = 4;

/// A card of 16 dies: what a person knows of the hidden one.
const KNOWN: &[&str] = &[
    "buffer.capacitor_joules=100",
    "geometry.modules=1",
    "geometry.channels_per_module=16",
    "geometry.dies_per_channel=1",
    "geometry.blocks_per_plane=65536",
];

fn with(settings: &[String]) -> Profile {
    let mut card = Profile::builtin("tachion-400").unwrap();
    KNOWN.iter().for_each(|setting| card.set(setting).unwrap());
    settings.iter().for_each(|setting| card.set(setting).unwrap());
    card
}

/// The known card as a file.
fn base() -> Base {
    let mut text = Profile::builtin_text("tachion-400").unwrap().to_string();
    for setting in KNOWN {
        let (key, value) = setting.split_once('=').unwrap();
        let key = key.split_once('.').unwrap().1;
        let at = text.find(&format!("\n{key} = ")).unwrap() + 1;
        let end = at + text[at..].find('\n').unwrap();
        text.replace_range(at..end, &format!("{key} = {{ value = {value}, basis = \"assumed\", source = \"known\" }}"));
    }
    Base::card("known", &text)
}

fn measured(card: &Profile, mode: FileioMode, kib: u32, threads: u32, fill: f64, measure: Measure) -> RunResult {
    let host = Host::builtin("default").unwrap();
    let bench = Bench::new(card, &host, SCALE, SEED).unwrap();
    bench.run(&bench.fileio(mode, kib << 10, threads, fill), fill, measure, &Silent).unwrap()
}

/// A few loads of a review.
fn reviewed(card: &Profile) -> Observed {
    let mut result = import::published("published:tachion-400-fill").unwrap();
    let template = result.sweeps[0].points[0].clone();
    let points = [
        (FileioMode::RndWr, 16, 16, 0.5),
        (FileioMode::RndWr, 16, 16, 0.8),
        (FileioMode::RndWr, 16, 16, 1.0),
        (FileioMode::RndWr, 16, 64, 1.0),
        (FileioMode::RndRd, 16, 1, 1.0),
        (FileioMode::RndRd, 16, 16, 1.0),
    ]
    .map(|(mode, kib, threads, fill)| {
        let run = measured(card, mode, kib, threads, fill, Measure::Auto);
        let load = serde_json::json!({ "mode": mode.name(), "block_bytes": kib << 10, "threads": threads });
        Point { load, fill, read: run.read, write: run.write, steady: run.steady_state, ..template.clone() }
    });
    result.sweeps[0].points = points.to_vec();
    observe(&[Input { file: "hidden".into(), result, circumstances: None }], &Assumed::default()).unwrap()
}

fn fitted(observed: &Observed) -> Fit {
    let options = Options { base: Some(base()), ..Options::new(Host::builtin("default").unwrap()) };
    fit(observed, &options, &Silent).unwrap()
}

#[test]
#[ignore = "proof: a fit of a reviewed card"]
fn a_card_that_stops_the_world_is_found_with_what_it_cleans_at_once_and_predicts_other_loads() {
    let hidden = with(&[
        format!("ftl.start_free_bands={START_FREE_BANDS}"),
        format!("ftl.stop_free_bands={}", START_FREE_BANDS + BANDS),
        "ftl.gc=stop-the-world".into(),
        "timing.program_ns=300000".into(),
    ]);
    let fitted = fitted(&reviewed(&hidden));
    let parameter = |name: &str| fitted.parameters.iter().find(|p| p.name == name).unwrap();
    let gc = parameter("ftl.gc");
    assert_eq!((gc.value.as_str(), gc.status), ("stop-the-world", Status::Determined));
    let c = hidden.figures().unwrap().unwrap().capacities;
    let truth = f64::from(BANDS) * c.data_sectors_per_band as f64 * 4096.0;
    let found = parameter("bytes cleaned at once").number.unwrap();
    println!("cleaned at once: {:.2} of what is", found / truth);
    assert!(distance(found, truth) < 0.5, "{found} for {truth}");
    let twin = Profile::parse(&fitted.card_toml, "twin.toml").unwrap();
    // Not measured: 32 threads, nine tenths full. Half of one per cent of the writes wait for stalls.
    let run_on = |card: &Profile| measured(card, FileioMode::RndWr, 16, 32, 0.9, Measure::Requests(60_000));
    let (real, twin) = (run_on(&hidden), run_on(&twin));
    let percentile = |run: &RunResult, rank: f64| run.write.lat_ns.at(rank) as f64;
    for (what, twin, real, bound) in [
        ("throughput", twin.write.bw_bytes, real.write.bw_bytes, 0.10),
        ("99th percentile", percentile(&twin, 99.0), percentile(&real, 99.0), 0.25),
        ("99.9th percentile", percentile(&twin, 99.9), percentile(&real, 99.9), 0.35),
    ] {
        println!("{what}: {:+.1} %", (twin / real - 1.0) * 100.0);
        assert!(distance(twin, real) < bound, "{what}: {twin} for {real}");
    }
}

#[test]
#[ignore = "soak: a fit of a reviewed card"]
fn soak_a_card_whose_collection_is_paced_is_not_taken_for_one_that_stops_the_world() {
    let hidden = with(&["timing.program_ns=300000".into()]);
    let observed = reviewed(&hidden);
    assert!(observed.points.iter().all(|point| point.value(Figure::WriteLongest).is_none()));
    let fitted = fitted(&observed);
    assert_eq!(fitted.parameters.iter().find(|p| p.name == "ftl.gc").unwrap().value, "paced");
    let twin = Profile::parse(&fitted.card_toml, "twin.toml").unwrap();
    let gc = twin.lower(1e-9).unwrap().cards()[0].ftl.gc;
    assert!(matches!(gc, ftl::GcMode::Paced { .. }), "{gc:?}");
}
