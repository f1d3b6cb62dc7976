//! Actions that a card says between the points of a review: the model's own, and one fitted to what looks like a device.

use profile::{Host, Profile};
use results::{Ground, ReviewResult, TargetKind};
use review::{Options, Phase, Start, Subject, plan, review};
use std::time::Duration;
use study::fit::{advise_device, advise_model, distance};
use study::whatif::{Axis, Question, grid};
use target::{Measure, ModelTarget, Progress, Silent};

const SCALE: f64 = 1.0 / 2048.0;
/// Other tests have the cores too.
const PATIENCE: Duration = Duration::from_secs(120);

struct Hidden {
    profile: Profile,
    host: Host,
    result: ReviewResult,
}

fn reviewed(card: &str, only: &[Phase]) -> Hidden {
    let (profile, host) = (Profile::builtin(card).unwrap(), Host::builtin("default").unwrap());
    let target = ModelTarget::new(&profile, &host, SCALE, 1).unwrap();
    let options = Options {
        seed: 1,
        scale: SCALE,
        fill: 1.0,
        quick: true,
        budget_s: None,
        only: only.to_vec(),
        shown_over_budget: false,
    };
    let plan = plan(&Subject::of(&target), &options).unwrap();
    let done = review(Box::new(target), &plan, Start::default(), &Silent, &|_| {});
    assert!(done.error.is_none());
    Hidden { profile, host, result: done.result }
}

/// Random writes of the hidden card itself at some fills over those when it is full.
fn truth(hidden: &Hidden, left: f64) -> f64 {
    let load =
        load::FileioConfig { mode: load::FileioMode::RndWr, block_bytes: 16 << 10, threads: 16, ..Default::default() };
    let question = Question {
        profile: hidden.profile.clone(),
        host: hidden.host.clone(),
        scale: SCALE,
        seed: 3,
        measure: Measure::Auto,
        load,
        axes: vec![Axis::Fill(vec![100.0 - left, 100.0])],
    };
    let answers = grid(&question, 2, &Silent).unwrap().points;
    let bw = |i: usize| answers[i].answer.unwrap().bw_bytes;
    bw(0) / bw(1)
}

/// The share in `Leave 25 % unpartitioned`.
fn left(text: &str) -> f64 {
    let share = text.strip_prefix("Leave ").and_then(|rest| rest.split_once(" % unpartitioned"));
    share.unwrap_or_else(|| panic!("{text}")).0.parse().unwrap()
}

#[test]
fn a_model_says_what_lies_between_its_points() {
    let mut hidden = reviewed("tachion-400", &[Phase::Fill]);
    let action = hidden.result.answer.clone().unwrap().action;
    assert_eq!((action.ground, action.twin), (Ground::Points, None));
    let mut again = hidden.result.clone();
    for result in [&mut hidden.result, &mut again] {
        advise_model(result, &hidden.profile, &hidden.host, 1).unwrap();
    }
    assert_eq!(hidden.result, again, "the same, however often it is asked");
    let action = hidden.result.answer.clone().unwrap().action;
    assert_eq!(action.ground, Ground::Twin, "{action:?}");
    let twin = action.twin.clone().unwrap();
    assert!(twin.fitted_points.is_none() && twin.took_s.is_none() && twin.error < 0.1, "{twin:?}");
    let truth = truth(&hidden, left(&action.text));
    assert!(distance(action.gain.unwrap(), truth) < 0.1, "{action:?}: {truth}");
}

#[test]
#[ignore = "proof: a fit takes some seconds of all cores"]
fn a_card_fitted_in_seconds_says_what_the_hidden_one_gains() {
    let mut hidden = reviewed("tachion-400", &[Phase::Fill, Phase::Threads]);
    hidden.result.target.kind = TargetKind::BlockDevice;
    hidden.result.target.profile = None;
    advise_device(&mut hidden.result, 1, PATIENCE, &Silent).unwrap();
    let action = hidden.result.answer.clone().unwrap().action;
    assert_eq!(action.ground, Ground::Twin, "{action:?}");
    let twin = action.twin.clone().unwrap();
    assert!(twin.fitted_points.is_some_and(|n| n >= 3) && twin.took_s.is_some(), "{twin:?}");
    let truth = truth(&hidden, left(&action.text));
    assert!(distance(action.gain.unwrap(), truth) < 0.2, "{action:?}: {truth}");
}

#[test]
#[ignore = "proof: a fit takes some seconds of all cores"]
fn what_no_card_does_is_left_to_the_points_that_were_measured() {
    let mut hidden = reviewed("tachion-400", &[Phase::Fill, Phase::Threads]);
    hidden.result.target.kind = TargetKind::BlockDevice;
    for sweep in &mut hidden.result.sweeps {
        for (i, point) in sweep.points.iter_mut().enumerate() {
            for class in [&mut point.read, &mut point.write] {
                // Up and down by a factor of four: as a neighbour in the cloud makes it.
                let factor = if i % 2 == 0 { 0.25 } else { 1.0 };
                class.bw_bytes *= factor;
                class.iops *= factor;
            }
        }
    }
    let before = hidden.result.answer.clone();
    advise_device(&mut hidden.result, 1, PATIENCE, &Silent).unwrap();
    let action = hidden.result.answer.clone().unwrap().action;
    assert_eq!((action.ground, action.twin), (Ground::Points, None), "{before:?}");
}

struct Impatient;

impl Progress for Impatient {
    fn begin(&self, _: &str, _: u64) {}
    fn at(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn who_has_no_time_keeps_the_measured_action() {
    let mut hidden = reviewed("tachion-400", &[Phase::Fill]);
    let before = hidden.result.clone();
    advise_device(&mut hidden.result, 1, PATIENCE, &Impatient).unwrap();
    assert_eq!(hidden.result, before);
}
