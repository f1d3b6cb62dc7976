//! The method on a target that counts what is done to it, and on models.

use load::BurstCurve;
use profile::{Host, Profile};
use results::{
    HostInfo, IoClass, LatencyRecorder, PhaseStatus, Preconditioning, Purge, ReviewResult, RunResult, SeriesRow,
    SteadyState, TargetInfo, TargetKind,
};
use review::{Options, Phase, Plan, Start, Subject, check_resumable, plan, review};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use target::{BurstSeries, Clock, Measurement, ModelTarget, Progress, Silent, State, Target, TargetError};

/// Actions on the device, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// A drive that exists only in this test. It fails after so many steps.
struct Fake {
    log: Log,
    fails_at: Option<usize>,
}

#[derive(Debug, thiserror::Error)]
#[error("/dev/fake: write of 16 KiB at 4096: Input/output error (os error 5)")]
struct Broken;

impl Fake {
    fn step(&self, what: String) -> Result<(), TargetError> {
        let mut log = self.log.lock().unwrap();
        if self.fails_at == Some(log.len()) {
            return Err(TargetError::Real(Box::new(Broken)));
        }
        log.push(what);
        Ok(())
    }
}

fn class(load: &Value, iops: f64) -> IoClass {
    let mut latency = LatencyRecorder::new();
    (1..=100).for_each(|i| latency.record(i * 10_000));
    let bytes = load["block_bytes"].as_f64().unwrap_or(16_384.0);
    IoClass {
        total_ios: 100,
        io_bytes: 100 * bytes as u64,
        iops,
        bw_bytes: iops * bytes,
        lat_ns: latency.summary(),
        histogram: Some(latency.histogram()),
    }
}

impl Target for Fake {
    fn info(&self) -> TargetInfo {
        TargetInfo {
            kind: TargetKind::BlockDevice,
            name: "/dev/fake".into(),
            title: "Fake".into(),
            capacity_bytes: self.capacity_bytes(),
            sold_bytes: None,
            facts: Vec::new(),
            power_loss_protection: None,
            volatile_write_cache: Some(true),
            profile: None,
        }
    }

    fn host(&self) -> HostInfo {
        HostInfo::default()
    }

    fn capacity_bytes(&self) -> u64 {
        1 << 30
    }

    fn clock(&self) -> Clock {
        Clock::Wall
    }

    fn purge(&mut self, _: &dyn Progress) -> Result<Purge, TargetError> {
        self.step("purge".into())?;
        Ok(Purge { what: "discarded".into(), discarded_bytes: 1 << 30, took_s: 0.0 })
    }

    fn bring_to(&mut self, state: &State, _: &dyn Progress) -> Result<Preconditioning, TargetError> {
        self.step(format!("state {:.2} {} x{}", state.fill, state.pattern, state.effort.sequential_passes))?;
        Ok(Preconditioning {
            fill: state.fill,
            pattern: state.pattern.to_string(),
            sequential_bytes: 0,
            overwritten_bytes: 0,
            metric: "bytes a second".into(),
            steady: SteadyState { rounds: vec![1.0; 5], range: 0.0, slope: 0.0, attained: true, overwriting: None },
            took_s: 1.0,
        })
    }

    fn measure(&mut self, measurement: &Measurement, _: &dyn Progress) -> Result<RunResult, TargetError> {
        let load = measurement.load.describe();
        let threads = load["threads"].as_f64().unwrap_or(1.0);
        let rate = load["rate_iops"].as_f64();
        self.step(format!("{} {threads} {}", load["mode"], rate.map_or("free".into(), |r| format!("{r:.0}"))))?;
        let iops = rate.unwrap_or(1_000.0 * threads.min(8.0));
        let reads = !load["mode"].as_str().is_some_and(|mode| mode.contains('w'));
        let both = load["mode"] == "rndrw" || load["kind"] == "redo";
        let none = IoClass::default;
        Ok(RunResult {
            schema: 1,
            target: Value::Null,
            seed: measurement.seed,
            host: Value::Null,
            read: if reads || both { class(&load, iops) } else { none() },
            write: if !reads || both { class(&load, iops) } else { none() },
            sync: if load["fsync_all"] == true || load["kind"] == "redo" { class(&load, iops) } else { none() },
            load,
            series: (1..=5).map(|t| SeriesRow { t_s: t.into(), write_bw_bytes: 1e8, ..SeriesRow::default() }).collect(),
            flash: None,
            steady_state: None,
            transactions_per: None,
            application: None,
            cache: None,
            tail: None,
            sim: None,
            generator: None,
            trace: None,
            thermal: None,
        })
    }

    fn bursts(&mut self, series: &BurstSeries, _: &dyn Progress) -> Result<Vec<BurstCurve>, TargetError> {
        self.step(format!("bursts {}", series.bursts.len()))?;
        // Fast for a quarter of each.
        let curve = |i: u64| {
            (1..=100_u64).map(move |row| (row << 20, ((i + 1) * (row.min(25) + 4 * row.saturating_sub(25))) << 20))
        };
        Ok((0..series.bursts.len() as u64).map(|i| BurstCurve { rows: curve(i).collect() }).collect())
    }

    fn fork(&self) -> Option<Box<dyn Target>> {
        None
    }

    fn expected_write_bw_bytes(&self) -> f64 {
        1e9
    }
}

fn options(only: &[Phase]) -> Options {
    Options {
        seed: 1,
        scale: 1.0,
        fill: 1.0,
        quick: true,
        budget_s: None,
        only: only.to_vec(),
        shown_over_budget: false,
    }
}

fn fake(fails_at: Option<usize>) -> (Fake, Log) {
    let log = Log::default();
    (Fake { log: log.clone(), fails_at }, log)
}

fn run(fails_at: Option<usize>, only: &[Phase], prior: Option<ReviewResult>) -> (review::Review, Vec<String>) {
    let (fake, log) = fake(fails_at);
    let plan = plan(&Subject::of(&fake), &options(only)).unwrap();
    let done = review(Box::new(fake), &plan, Start { prior, ..Start::default() }, &Silent, &|_| {});
    let log = log.lock().unwrap().clone();
    (done, log)
}

fn status(result: &ReviewResult, phase: &str) -> PhaseStatus {
    result.phases.iter().find(|p| p.name == phase).unwrap().status
}

#[test]
fn a_real_device_is_emptied_first_and_filled_step_by_step() {
    let (done, log) = run(None, &[], None);
    assert!(done.error.is_none() && done.result.partial.is_none());
    assert_eq!(log[..3], ["purge", "bursts 3", "purge"], "bursts are into an emptied device, and leave one");
    assert!(log[3].starts_with("state 0.20 random 16 KiB x0"), "{log:?}");
    assert_eq!(log.iter().filter(|l| *l == "purge").count(), 2);
    let burst = &done.result.burst.as_ref().unwrap().bursts[0];
    assert_eq!(burst.cliff.map(|cliff| cliff.bytes >> 20), Some(25));
    let full = log.iter().position(|l| l.starts_with("state 1.00 random 16 KiB x2")).unwrap();
    assert_eq!(log[full + 1], "\"rndwr\" 8 free", "the timeline comes first on the fresh steady state");
    assert!(done.result.phases.iter().all(|p| p.status == PhaseStatus::Done), "{:?}", done.result.phases);
    for sweep in &done.result.sweeps {
        assert!(sweep.points.is_sorted_by(|a, b| a.x < b.x), "{}", sweep.name);
    }
}

#[test]
fn rates_are_shares_of_what_the_device_takes() {
    let (done, log) = run(None, &[Phase::Rate], None);
    let most = done.result.sweep("rate").unwrap().points.last().unwrap().iops();
    let limited: Vec<&String> = log.iter().filter(|l| l.starts_with("\"rndrw\"")).collect();
    assert_eq!(limited[0], "\"rndrw\" 64 free");
    assert!(limited[1..].contains(&&format!("\"rndrw\" 64 {:.0}", most * 0.25)), "{limited:?}");
}

#[test]
fn a_device_that_fails_leaves_what_was_measured_and_the_reason() {
    let (whole, log) = run(None, &[Phase::Fill, Phase::Sync], None);
    for fails_at in 0..log.len() {
        let (done, so_far) = run(Some(fails_at), &[Phase::Fill, Phase::Sync], None);
        assert_eq!(so_far, log[..fails_at]);
        assert!(done.result.partial.as_ref().unwrap().contains("/dev/fake: write of 16 KiB at 4096"));
        assert!(done.error.is_some());
        let points = |r: &ReviewResult| r.sweeps.iter().map(|s| s.points.len()).sum::<usize>();
        assert_eq!(points(&done.result), so_far.iter().filter(|l| l.starts_with('"')).count());
        assert_eq!(status(&done.result, "sync") == PhaseStatus::Done, points(&done.result) == points(&whole.result));
    }
}

#[test]
fn a_resumed_review_measures_what_is_missing_and_trusts_no_state() {
    let only = [Phase::Fill, Phase::Sync, Phase::Rate];
    let (whole, log) = run(None, &only, None);
    for fails_at in 1..log.len() {
        let (part, first) = run(Some(fails_at), &only, None);
        let (rest, second) = run(None, &only, Some(part.result));
        assert!(rest.error.is_none() && rest.result.partial.is_none());
        let points = |log: &[String]| log.iter().filter(|l| l.starts_with('"')).cloned().collect::<Vec<_>>();
        let mut together = points(&first);
        together.extend(points(&second));
        assert_eq!(together, points(&log), "each point once, in order");
        assert!(!second.contains(&"purge".to_owned()), "what was measured full must not be thrown away unasked");
        let state = second.iter().find(|l| l.starts_with("state")).expect("a state is reached again");
        assert!(!state.ends_with("x0"), "{state}: nobody knows what is on the device");
        let names = |r: &ReviewResult| {
            r.sweeps
                .iter()
                .map(|s| (s.name.clone(), s.points.iter().map(|p| p.x).collect::<Vec<_>>()))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&rest.result), names(&whole.result));
    }
}

#[test]
fn bursts_that_were_cut_off_are_written_into_an_emptied_device_again() {
    let only = [Phase::Burst, Phase::Sync];
    let (part, first) = run(Some(1), &only, None);
    assert_eq!(first, ["purge"]);
    assert!(part.result.burst.is_none());
    let (rest, second) = run(None, &only, Some(part.result));
    assert_eq!(second[..3], ["purge", "bursts 3", "purge"]);
    assert_eq!(status(&rest.result, "burst"), PhaseStatus::Done);
    // Once they are there, nothing is thrown away for them.
    let (part, _) = run(Some(4), &only, None);
    let (rest, second) = run(None, &only, Some(part.result));
    assert!(!second.iter().any(|l| l == "purge" || l.starts_with("bursts")), "{second:?}");
    assert!(rest.result.burst.is_some());
}

#[test]
fn a_modelled_cache_shows_in_a_burst_as_its_profile_has_it() {
    let card = model("consumer-qlc-2tb", &[Phase::Burst]);
    let bursts = card.burst.unwrap().bursts;
    let cliff = bursts[0].cliff.unwrap();
    // `cards/consumer-qlc-2tb.toml`: 275 GB.
    assert!((cliff.bytes as f64 / 275e9 - 1.0).abs() < 0.05, "{cliff:?}");
    assert!(cliff.before_bw_bytes > 2.0 * cliff.after_bw_bytes, "{cliff:?}");
    let none = model("tachion-400", &[Phase::Burst]);
    assert!(none.burst.unwrap().bursts.iter().all(|burst| burst.cliff.is_none()));
}

#[test]
fn every_point_of_a_real_device_is_saved_before_the_next_is_begun() {
    let (fake, log) = fake(None);
    let plan = plan(&Subject::of(&fake), &options(&[Phase::Fill])).unwrap();
    let saved = Mutex::new(Vec::new());
    let save = |result: &ReviewResult| {
        let points = result.sweeps.iter().map(|s| s.points.len()).sum::<usize>();
        assert_eq!(result.partial.as_deref(), Some("not finished"));
        let measured = log.lock().unwrap().iter().filter(|l| l.starts_with('"')).count();
        assert_eq!(points, measured);
        saved.lock().unwrap().push(points);
    };
    review(Box::new(fake), &plan, Start::default(), &Silent, &save);
    assert_eq!(*saved.lock().unwrap(), [0, 1, 2, 3, 4, 5], "after the purge, and after each point");
}

/// Says stop after so many looks.
struct Impatient(Mutex<u32>);

impl Progress for Impatient {
    fn begin(&self, _: &str, _: u64) {}
    fn at(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        let mut left = self.0.lock().unwrap();
        *left = left.saturating_sub(1);
        *left == 0
    }
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let (fake, log) = fake(None);
    let plan = plan(&Subject::of(&fake), &options(&[Phase::Fill])).unwrap();
    let done = review(Box::new(fake), &plan, Start::default(), &Impatient(Mutex::new(6)), &|_| {});
    assert!(matches!(done.error, Some(TargetError::Cancelled)));
    assert_eq!(done.result.partial.as_deref(), Some("stopped by Ctrl-C"));
    let measured = log.lock().unwrap().iter().filter(|l| l.starts_with('"')).count();
    assert_eq!(done.result.sweep("fill").unwrap().points.len(), measured);
    assert_eq!(status(&done.result, "fill"), PhaseStatus::Partial);
}

#[test]
fn a_modelled_point_that_is_cut_off_is_no_point() {
    let only = [Phase::Sync];
    let whole = model("tachion-400", &only);
    let mut kept = Vec::new();
    for looks in [1, 20, 100, 200, 400, 800, 1600, 3200] {
        let profile = Profile::builtin("tachion-400").unwrap();
        let target = ModelTarget::new(&profile, &Host::builtin("default").unwrap(), 1.0 / 256.0, 1).unwrap();
        let options = Options { scale: 1.0 / 256.0, ..options(&only) };
        let plan = plan(&Subject::of(&target), &options).unwrap();
        let done = review(Box::new(target), &plan, Start::default(), &Impatient(Mutex::new(looks)), &|_| {});
        let points = done.result.sweep("sync").map_or(&[][..], |sweep| &sweep.points[..]);
        assert_eq!(points, &whole.sweep("sync").unwrap().points[..points.len()], "after {looks} looks");
        kept.push((points.len(), done.error.is_some()));
    }
    assert!(kept.contains(&(0, true)) && kept.iter().any(|(points, _)| *points > 0), "{kept:?}");
}

#[test]
fn another_device_or_other_options_are_not_resumed() {
    let (part, _) = run(Some(5), &[Phase::Fill], None);
    let (whole, _) = run(None, &[Phase::Fill], None);
    let check = |prior: &ReviewResult, options: &Options| {
        let (fake, _) = fake(None);
        let plan: Plan = plan(&Subject::of(&fake), options).unwrap();
        check_resumable(prior, &fake.info(), &fake.host(), &plan).map_err(|e| e.to_string())
    };
    let same = options(&[Phase::Fill]);
    assert_eq!(check(&part.result, &same), Ok(()));
    assert!(check(&whole.result, &same).unwrap_err().contains("complete"));
    assert!(check(&part.result, &Options { seed: 2, ..same.clone() }).unwrap_err().contains("--seed 1"));
    assert!(check(&part.result, &Options { quick: false, ..same.clone() }).unwrap_err().contains("--quick"));
    let other = Options { only: vec![Phase::Fill, Phase::Sync], ..same.clone() };
    assert!(check(&part.result, &other).unwrap_err().contains("--only fill"));
    assert!(check(&part.result, &Options { budget_s: Some(1e5), ..same.clone() }).unwrap_err().contains("no --budget"));
    let mut other = part.result.clone();
    other.target.name = "/dev/other".into();
    assert!(check(&other, &same).unwrap_err().contains("/dev/other"));
}

fn model(card: &str, only: &[Phase]) -> ReviewResult {
    let profile = Profile::builtin(card).unwrap();
    let target = ModelTarget::new(&profile, &Host::builtin("default").unwrap(), 1.0 / 256.0, 1).unwrap();
    let options = Options { scale: 1.0 / 256.0, ..options(only) };
    let plan = plan(&Subject::of(&target), &options).unwrap();
    let done = review(Box::new(target), &plan, Start::default(), &Silent, &|_| {});
    assert!(done.error.is_none(), "{:?}", done.error);
    done.result
}

#[test]
fn the_same_plan_runs_on_a_model() {
    let mut result = model("tachion-400", &[]);
    assert!(result.phases.iter().all(|p| p.status == PhaseStatus::Done), "{:?}", result.phases);
    let (_, log) = run(None, &[], None);
    // Beside the sweeps there are the timeline and the bursts.
    let points = result.sweeps.iter().map(|s| s.points.len()).sum::<usize>() + 2;
    assert_eq!(points, log.iter().filter(|l| !l.starts_with("purge") && !l.starts_with("state")).count());
    for topic in ["steady", "full", "stall", "tails", "threads", "redo", "sync"] {
        assert!(result.verdict.iter().any(|claim| claim.topic == topic), "{topic}: {:#?}", result.verdict);
    }
    let answer = result.answer.as_ref().expect("a whole review has an answer");
    assert_eq!(answer.figures.len(), 4, "{answer:#?}");
    assert!(answer.action.gain.is_some_and(|gain| gain > 1.2) && !answer.limit.is_empty(), "{answer:#?}");
    // The same again, however the work fell on the cores.
    let mut again = model("tachion-400", &[]);
    for r in [&mut result, &mut again] {
        r.wall_seconds = 0.0;
        r.phases.iter_mut().for_each(|p| p.took_s = 0.0);
    }
    assert_eq!(serde_json::to_string(&result).unwrap(), serde_json::to_string(&again).unwrap());
}

#[test]
fn a_card_that_stops_the_world_is_told_from_one_that_paces_itself() {
    let claim = |card: &str, topic: &str| {
        let result = model(card, &[Phase::Timeline]);
        result.verdict.iter().find(|c| c.topic == topic).unwrap().clone()
    };
    assert_eq!(claim("tachion-400", "stall").tone, results::Tone::Good);
    assert_eq!(claim("tachion-400-preproduction", "stall").tone, results::Tone::Bad);
}
