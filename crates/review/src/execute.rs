//! Carries out a plan: the same for every target.

use crate::burst::burst_report;
use crate::parallel;
use crate::phase::{Phase, SWEEPS};
use crate::plan::{Group, Plan, PlannedBurst, PlannedPoint};
use crate::timeline;
use crate::verdict;
use load::LoadConfig;
use results::{PhaseStatus, Point, Preconditioning, Price, ReviewResult, RunResult, Sweep};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use target::{Measurement, Progress, Target, TargetError};

/// Name of a review, and the result that it continues.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Name in comparisons.
    pub name: String,
    /// The program and its version.
    pub generator: String,
    /// RFC 3339, for real devices.
    pub started: Option<String>,
    /// Price, if known.
    pub price: Option<Price>,
    /// A partial result of the same review, whose points are taken over.
    pub prior: Option<ReviewResult>,
}

/// A review, whole or as far as it came.
#[derive(Debug)]
pub struct Review {
    /// The result as far as it was measured.
    pub result: ReviewResult,
    /// The error that ended it early.
    pub error: Option<TargetError>,
}

/// Reviews a target. `save` gets the result so far after each point of a real device, so that nothing measured is lost
/// whatever happens to this process.
pub fn review(
    mut target: Box<dyn Target>,
    plan: &Plan,
    start: Start,
    progress: &dyn Progress,
    save: &(dyn Fn(&ReviewResult) + Sync),
) -> Review {
    let began = Instant::now();
    let prior = start.prior.clone();
    let resumed = prior.is_some();
    let before_s = prior.as_ref().map_or(0.0, |prior| prior.wall_seconds);
    let result = first_result(target.as_ref(), plan, start);
    let work = Work {
        plan,
        progress,
        save,
        result: Mutex::new(result),
        done_ms: AtomicU64::new(0),
        total_ms: (plan.expected_s() * 1e3) as u64,
        began,
        before_s,
    };
    progress.begin("review", work.total_ms);
    let outcome = work.carry_out(target.as_mut(), resumed);
    let mut result = work.result.into_inner().expect("no worker panics with the lock");
    result.partial = match &outcome {
        Ok(()) => None,
        Err(TargetError::Cancelled) => Some("stopped by Ctrl-C".into()),
        Err(error) => Some(error.to_string()),
    };
    finish(&mut result, plan);
    result.wall_seconds = before_s + began.elapsed().as_secs_f64();
    Review { result, error: outcome.err() }
}

fn first_result(target: &dyn Target, plan: &Plan, start: Start) -> ReviewResult {
    let fresh = ReviewResult {
        kind: ReviewResult::KIND.into(),
        schema: ReviewResult::SCHEMA,
        generator: start.generator,
        name: start.name,
        target: target.info(),
        host: target.host(),
        options: plan.options_report(),
        started: start.started,
        price: start.price,
        phases: plan.phases(),
        purge: None,
        preconditioning: Vec::new(),
        sweeps: Vec::new(),
        timeline: None,
        burst: None,
        health: None,
        sync: None,
        database: None,
        comparisons: Vec::new(),
        answer: None,
        verdict: Vec::new(),
        partial: None,
        wall_seconds: 0.0,
    };
    let Some(prior) = start.prior else { return fresh };
    // Measured points stay; facts about device and plan are said anew.
    let took = |name: &str| prior.phases.iter().find(|p| p.name == name).map_or(0.0, |p| p.took_s);
    let phases = fresh.phases.iter().map(|p| results::PhaseReport { took_s: took(&p.name), ..p.clone() }).collect();
    ReviewResult {
        phases,
        started: prior.started,
        purge: prior.purge,
        preconditioning: prior.preconditioning,
        sweeps: prior.sweeps,
        timeline: prior.timeline,
        burst: prior.burst,
        ..fresh
    }
}

/// A part of a plan that a copy of a model can do while another does the next.
enum Job<'a> {
    Burst(&'a PlannedBurst),
    Group(&'a Group),
}

impl Job<'_> {
    fn expected_s(&self) -> f64 {
        match self {
            Job::Burst(burst) => burst.expected_s,
            Job::Group(group) => group.total_s(),
        }
    }
}

/// A plan under way.
struct Work<'a> {
    plan: &'a Plan,
    progress: &'a dyn Progress,
    save: &'a (dyn Fn(&ReviewResult) + Sync),
    result: Mutex<ReviewResult>,
    /// Expected milliseconds of what is done.
    done_ms: AtomicU64,
    total_ms: u64,
    began: Instant,
    before_s: f64,
}

impl Work<'_> {
    fn carry_out(&self, target: &mut dyn Target, resumed: bool) -> Result<(), TargetError> {
        match target.fork() {
            Some(_) => {
                let groups = self.plan.groups.iter().map(Job::Group);
                let all: Vec<Job> = self.plan.burst.iter().map(Job::Burst).chain(groups).collect();
                let forks = Mutex::new(target);
                parallel::map(&all, |job| {
                    if self.has_it(job) {
                        self.add_done(job.expected_s());
                        return Ok(());
                    }
                    let mut fork = {
                        let target = forks.lock().expect("no worker panics with the lock");
                        target.fork().expect("it forked before")
                    };
                    match job {
                        Job::Burst(burst) => self.burst(fork.as_mut(), burst),
                        Job::Group(group) => self.group(fork.as_mut(), group, group.state, false),
                    }
                })?;
                Ok(())
            }
            None => {
                let burst = self.plan.burst.as_ref().filter(|burst| !self.has_it(&Job::Burst(burst)));
                if self.plan.purges && (!resumed || burst.is_some()) {
                    let purge = self.purge(target)?;
                    self.with(|result| result.purge = Some(purge));
                    self.saved();
                }
                if let Some(burst) = burst {
                    self.burst_and_purge(target, burst)?;
                    self.saved();
                }
                // After an interruption nobody knows what the device holds.
                let mut known = !resumed;
                for group in &self.plan.groups {
                    if self.has_all(group) {
                        self.add_done(group.total_s());
                        continue;
                    }
                    let mut state = group.state;
                    if !known {
                        state.effort.sequential_passes = state.effort.sequential_passes.max(1);
                        known = true;
                    }
                    self.group(target, group, state, true)?;
                }
                Ok(())
            }
        }
    }

    fn purge(&self, target: &mut dyn Target) -> Result<results::Purge, TargetError> {
        self.progress.step("empty the device");
        let clock = Instant::now();
        let purge = target.purge(&Within::of(self, 0.0))?;
        self.took("purge", clock);
        Ok(purge)
    }

    /// The bursts of a real device, which is empty again afterwards. One that can't be emptied has none: nobody would know
    /// what its cache held before.
    fn burst_and_purge(&self, target: &mut dyn Target, burst: &PlannedBurst) -> Result<(), TargetError> {
        let emptied = self.with(|result| result.purge.as_ref().is_some_and(|purge| purge.discarded_bytes > 0));
        if emptied {
            self.burst(target, burst)?;
            self.purge(target)?;
            return Ok(());
        }
        self.add_done(burst.expected_s);
        self.with(|result| {
            let report = result.phases.iter_mut().find(|p| p.name == Phase::Burst.name());
            let report = report.expect("every phase has its report");
            report.status = PhaseStatus::Skipped;
            report.note = "the device could not be emptied".into();
        });
        Ok(())
    }

    fn burst(&self, target: &mut dyn Target, burst: &PlannedBurst) -> Result<(), TargetError> {
        self.progress.step("bursts");
        let clock = Instant::now();
        let curves = target.bursts(&burst.series, &Within::of(self, burst.expected_s))?;
        self.took(Phase::Burst.name(), clock);
        self.with(|result| result.burst = Some(burst_report(&burst.series, &curves)));
        self.add_done(burst.expected_s);
        Ok(())
    }

    fn group(
        &self,
        target: &mut dyn Target,
        group: &Group,
        state: target::State,
        save: bool,
    ) -> Result<(), TargetError> {
        if self.progress.cancelled() {
            return Err(TargetError::Cancelled);
        }
        self.progress.step(&format!("precondition at {:.0} % in use", state.fill * 100.0));
        let clock = Instant::now();
        let preconditioning = target.bring_to(&state, &Within::of(self, group.expected_s))?;
        self.took("precondition", clock);
        self.add_done(group.expected_s);
        self.with(|result| remember(&mut result.preconditioning, preconditioning));
        for point in &group.points {
            if self.progress.cancelled() {
                return Err(TargetError::Cancelled);
            }
            if !self.has(point) {
                self.measure(target, point)?;
            }
            self.add_done(point.expected_s());
            if save {
                self.saved();
            }
        }
        Ok(())
    }

    fn measure(&self, target: &mut dyn Target, planned: &PlannedPoint) -> Result<(), TargetError> {
        self.progress.step(&words(planned));
        let clock = Instant::now();
        let load = self.with(|result| paced(planned, result));
        let measurement =
            Measurement { load, fill: planned.fill, seconds: planned.seconds, seed: self.plan.options.seed };
        let within = Within::of(self, planned.expected_s());
        let measured = target.measure(&measurement, &within)?;
        // A model that is told to stop hands out what it has: a part of a point, which is none.
        if within.stopped.load(Ordering::Relaxed) {
            return Err(TargetError::Cancelled);
        }
        self.took(planned.phase().name(), clock);
        let point = point(planned, &load, measured);
        self.with(|result| match planned.spec() {
            None => result.timeline = Some(timeline::timeline(point)),
            Some(spec) => {
                let i = result.sweeps.iter().position(|sweep| sweep.name == spec.name).unwrap_or_else(|| {
                    result.sweeps.push(Sweep {
                        name: spec.name.into(),
                        phase: spec.phase.name().into(),
                        title: spec.title.into(),
                        note: spec.note.into(),
                        axis: spec.axis,
                        points: Vec::new(),
                    });
                    result.sweeps.len() - 1
                });
                let points = &mut result.sweeps[i].points;
                let place = points.partition_point(|p| p.x < point.x);
                points.insert(place, point);
            }
        });
        Ok(())
    }

    /// Returns whether an earlier part of this review has the point.
    fn has(&self, planned: &PlannedPoint) -> bool {
        let wanted = without_rate(planned.load.describe());
        let same = |p: &Point| p.x == planned.x && without_rate(p.load.clone()) == wanted;
        self.with(|result| match planned.spec() {
            None => result.timeline.as_ref().is_some_and(|t| same(&t.point)),
            Some(spec) => result.sweep(spec.name).is_some_and(|sweep| sweep.points.iter().any(same)),
        })
    }

    fn has_it(&self, job: &Job) -> bool {
        match job {
            Job::Burst(_) => self.with(|result| result.burst.is_some()),
            Job::Group(group) => self.has_all(group),
        }
    }

    fn has_all(&self, group: &Group) -> bool {
        group.points.iter().all(|point| self.has(point))
    }

    fn with<R>(&self, f: impl FnOnce(&mut ReviewResult) -> R) -> R {
        f(&mut self.result.lock().expect("no worker panics with the lock"))
    }

    fn took(&self, phase: &str, clock: Instant) {
        let seconds = clock.elapsed().as_secs_f64();
        self.with(|result| {
            if let Some(report) = result.phases.iter_mut().find(|p| p.name == phase) {
                report.took_s += seconds;
            }
        });
    }

    fn saved(&self) {
        let mut result = self.with(|result| result.clone());
        result.partial = Some("not finished".into());
        result.wall_seconds = self.before_s + self.began.elapsed().as_secs_f64();
        finish(&mut result, self.plan);
        (self.save)(&result);
    }

    fn add_done(&self, seconds: f64) {
        let done = self.done_ms.fetch_add((seconds * 1e3) as u64, Ordering::Relaxed) + (seconds * 1e3) as u64;
        self.progress.at(done.min(self.total_ms));
    }
}

/// Progress of one step within the whole plan.
struct Within<'a> {
    work: &'a Work<'a>,
    expected_ms: f64,
    total: AtomicU64,
    /// The target was told to stop.
    stopped: AtomicBool,
}

impl<'a> Within<'a> {
    fn of(work: &'a Work<'a>, expected_s: f64) -> Within<'a> {
        Within { work, expected_ms: expected_s * 1e3, total: AtomicU64::new(0), stopped: AtomicBool::new(false) }
    }
}

impl Progress for Within<'_> {
    fn begin(&self, _: &str, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    fn at(&self, done: u64) {
        // Models measure several points at once: only whole points move the bar.
        let total = self.total.load(Ordering::Relaxed);
        if self.work.plan.purges && total > 0 {
            let share = (done as f64 / total as f64).min(1.0);
            self.work.progress.at(self.work.done_ms.load(Ordering::Relaxed) + (share * self.expected_ms) as u64);
        }
    }

    fn cancelled(&self) -> bool {
        let cancelled = self.work.progress.cancelled();
        if cancelled {
            self.stopped.store(true, Ordering::Relaxed);
        }
        cancelled
    }
}

fn words(planned: &PlannedPoint) -> String {
    match planned.spec() {
        None => Phase::Timeline.title().to_owned(),
        Some(spec) => {
            let count = spec.title.split([',', '(']).next().unwrap_or(spec.title);
            format!("{count}: {}", crate::words::axis_value(spec.axis, planned.x))
        }
    }
}

/// The load of a point whose rate is a share of what another one got.
fn paced(planned: &PlannedPoint, result: &ReviewResult) -> LoadConfig {
    let (Some(share), LoadConfig::Fileio(mut load)) = (planned.rate_share, planned.load) else { return planned.load };
    let name = planned.spec().map_or("", |spec| spec.name);
    let most = result.sweep(name).and_then(|sweep| sweep.points.last());
    load.rate_iops = most.map(|most| (most.iops() * share).max(1.0));
    LoadConfig::Fileio(load)
}

fn without_rate(mut load: serde_json::Value) -> serde_json::Value {
    if let Some(load) = load.as_object_mut() {
        load.remove("rate_iops");
    }
    load
}

/// One line for each state; models reach the same one for several sweeps.
fn remember(all: &mut Vec<Preconditioning>, new: Preconditioning) {
    if !all.iter().any(|old| old.fill == new.fill && old.pattern == new.pattern && old.took_s == new.took_s) {
        all.push(new);
    }
}

fn point(planned: &PlannedPoint, load: &LoadConfig, measured: RunResult) -> Point {
    let limit = measured.generator.as_ref().is_some_and(|generator| !generator.limit.is_empty());
    Point {
        x: planned.x,
        load: load.describe(),
        fill: planned.fill,
        seconds: measured.series.last().map_or(0.0, |row| row.t_s),
        read: measured.read,
        write: measured.write,
        sync: measured.sync,
        series: measured.series,
        steady: measured.steady_state,
        waf: measured.flash.map(|flash| flash.waf),
        generator: measured.generator,
        limited_by_host: limit,
        published_bw_bytes: None,
        thermal: measured.thermal,
    }
}

/// Derives the rest from the points: order, status of the phases, judgement, verdict.
fn finish(result: &mut ReviewResult, plan: &Plan) {
    let order = |name: &str| SWEEPS.iter().position(|spec| spec.name == name).unwrap_or(SWEEPS.len());
    result.sweeps.sort_by_key(|sweep| order(&sweep.name));
    // States of a real device keep their order; a model's are reached at the same time.
    let pattern = |p: &Preconditioning| if plan.purges { String::new() } else { p.pattern.clone() };
    result.preconditioning.sort_by(|a, b| a.fill.total_cmp(&b.fill).then_with(|| pattern(a).cmp(&pattern(b))));
    let points_of = |phase: Phase| -> u32 {
        let alone = match phase {
            Phase::Burst => u32::from(result.burst.is_some()),
            Phase::Timeline => u32::from(result.timeline.is_some()),
            _ => 0,
        };
        let in_sweeps = result.sweeps.iter().filter(|sweep| sweep.phase == phase.name());
        alone + in_sweeps.map(|sweep| sweep.points.len() as u32).sum::<u32>()
    };
    let measured: Vec<(&str, u32)> = Phase::ALL.iter().map(|&phase| (phase.name(), points_of(phase))).collect();
    let (purged, conditioned) = (result.purge.is_some(), !result.preconditioning.is_empty());
    for report in &mut result.phases {
        if report.status == PhaseStatus::Skipped {
            continue;
        }
        let (have, want) = match report.name.as_str() {
            "purge" => (u32::from(purged), 1),
            "precondition" => (u32::from(conditioned), 1),
            name => (measured.iter().find(|(n, _)| *n == name).map_or(0, |(_, n)| *n), report.points),
        };
        report.status = match have {
            n if n >= want => PhaseStatus::Done,
            0 => PhaseStatus::NotBegun,
            _ => PhaseStatus::Partial,
        };
    }
    debug_assert!(plan.points() > 0 || plan.groups.is_empty());
    result.sync = verdict::sync(result);
    result.verdict = verdict::claims(result);
    result.answer = verdict::answer(result);
}
