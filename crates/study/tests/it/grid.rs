//! Properties of a grid's answers.

use load::{FileioConfig, FileioMode, LoadConfig};
use profile::{Host, Profile};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use study::whatif::{Axis, Question, grid};
use target::{Measure, Progress, RunSpec, Silent};

fn question(axes: Vec<Axis>) -> Question {
    Question {
        profile: Profile::builtin("tachion-200").unwrap(),
        host: Host::builtin("default").unwrap(),
        scale: 1.0 / 4096.0,
        seed: 3,
        measure: Measure::Requests(2_000),
        load: FileioConfig { block_bytes: 16_384, ..FileioConfig::default() },
        axes,
    }
}

fn victims() -> Axis {
    Axis::Setting { key: "ftl.victim".into(), values: vec!["greedy".into(), "fifo".into()] }
}

fn all_axes() -> Vec<Axis> {
    vec![
        victims(),
        Axis::Load(vec![FileioMode::RndRw, FileioMode::RndRd]),
        Axis::Fill(vec![40.0, 90.0]),
        Axis::Threads(vec![1, 16]),
    ]
}

#[test]
fn answers_depend_neither_on_the_number_of_threads_nor_on_the_order_of_values() {
    let one = grid(&question(all_axes()), 1, &Silent).unwrap();
    assert_eq!((one.points.len(), one.stopped), (16, false));
    assert_eq!(one, grid(&question(all_axes()), 5, &Silent).unwrap());
    let mut turned = all_axes();
    turned[3] = Axis::Threads(vec![16, 1]);
    let turned = grid(&question(turned), 2, &Silent).unwrap();
    for pair in 0..8 {
        assert_eq!(one.points[2 * pair], turned.points[2 * pair + 1]);
    }
}

#[test]
fn a_point_is_what_a_single_run_gives() {
    let question = question(all_axes());
    let answers = grid(&question, 2, &Silent).unwrap();
    let mut profile = question.profile.clone();
    profile.set("ftl.victim=fifo").unwrap();
    let device = profile.lower(question.scale).unwrap();
    let sectors = device.user_bytes() / 4096;
    let load = LoadConfig::Fileio(FileioConfig {
        mode: FileioMode::RndRw,
        threads: 16,
        file_bytes: (sectors as f64 * 0.9).round() as u64 * 4096,
        ..question.load
    });
    let spec = RunSpec {
        device: &device,
        device_json: Value::Null,
        host: &question.host.config(),
        host_json: Value::Null,
        load: &load,
        fill: 0.9,
        seed: question.seed,
        measure: question.measure,
        fresh: false,
        explain_tail: false,
        histograms: false,
    };
    let run = target::run(&spec, &Silent).unwrap();
    // fifo, rndrw, 90 %, 16 threads.
    let point = &answers.points[8 + 3];
    assert_eq!(
        Value::Object(point.at.clone()).to_string(),
        r#"{"ftl.victim":"fifo","load":"rndrw","fill":90.0,"threads":16}"#
    );
    let answer = point.answer.unwrap();
    assert_eq!(answer.iops, run.read.iops + run.write.iops);
    assert_eq!(answer.waf, Some(run.flash.unwrap().waf));
    assert_eq!(answer.read_lat_ns.unwrap().p99, run.read.lat_ns.at(99.0));
    assert_eq!(answer.write_lat_ns.unwrap().p99_9, run.write.lat_ns.at(99.9));
}

#[test]
fn a_card_with_more_reserve_or_less_in_use_amplifies_less() {
    let axes = vec![Axis::Load(vec![FileioMode::RndWr]), Axis::Reserve(vec![0.0, 20.0]), Axis::Fill(vec![60.0, 100.0])];
    let answers = grid(&question(axes), 2, &Silent).unwrap();
    let waf: Vec<f64> = answers.points.iter().map(|point| point.answer.unwrap().waf.unwrap()).collect();
    assert!(waf[1] > waf[0] && waf[3] > waf[2] && waf[1] > waf[3] && waf[0] > waf[2], "{waf:?}");
    assert!(answers.points[0].user_bytes > answers.points[2].user_bytes);
}

#[test]
fn what_cannot_exist_is_refused_by_the_values_that_ask_for_it() {
    let refused = |axes: Vec<Axis>| grid(&question(axes), 1, &Silent).unwrap_err().to_string();
    let text =
        refused(vec![Axis::Fill(vec![50.0, 0.001]), Axis::Block(vec![4096, 16 << 20]), Axis::Threads(vec![1, 2])]);
    assert!(text.starts_with("--fill 0.001 --block 16777216: "), "{text}");
    let text = refused(vec![Axis::Fill(vec![50.0]), Axis::Threads(vec![8, 1 << 30])]);
    assert!(text.starts_with("--threads 1073741824: threads is"), "{text}");
    let gc = Axis::Setting { key: "ftl.stripe_width".into(), values: vec!["16".into(), "7".into()] };
    let text = refused(vec![Axis::Fill(vec![50.0, 60.0]), gc]);
    assert!(text.starts_with("--vary ftl.stripe_width=7: "), "{text}");
}

/// Asks to stop when some points are done.
struct StopsAt(AtomicU64);

impl Progress for StopsAt {
    fn begin(&self, _: &str, _: u64) {}
    fn at(&self, done: u64) {
        self.0.store(done, Ordering::Relaxed);
    }
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 5_000
    }
}

#[test]
fn what_was_finished_before_a_stop_is_kept_and_is_whole() {
    let whole = grid(&question(all_axes()), 1, &Silent).unwrap();
    let part = grid(&question(all_axes()), 1, &StopsAt(AtomicU64::new(0))).unwrap();
    assert!(part.stopped && !part.points.is_empty() && part.points.len() < whole.points.len());
    assert!(part.points.iter().all(|point| whole.points.contains(point)));
}

#[test]
fn a_grid_varies_how_compressible_the_data_are() {
    let mut question = question(vec![Axis::Setting {
        key: "host.compressible".into(),
        values: vec!["0".into(), "25%".into(), "50%".into()],
    }]);
    question.profile.set("compression.granule=512").unwrap();
    question.load.mode = FileioMode::RndWr;
    let answers = grid(&question, 2, &Silent).unwrap();
    let waf: Vec<f64> = answers.points.iter().map(|point| point.answer.unwrap().waf.unwrap()).collect();
    assert!(waf[0] > waf[1] && waf[1] > waf[2] && waf[2] < 0.7, "{waf:?}");
}
