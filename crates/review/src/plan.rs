//! The phases of a review, and the time that they will take, before anything is done.

use crate::burst::{self, burst_series};
use crate::fitting::{self, Fitted};
use crate::options::{Options, PlanError};
use crate::phase::{Phase, SWEEPS, SweepLoad, SweepSpec, TIMELINE_THREADS, file_bytes};
use load::{Access, FileioConfig, FileioMode, LoadConfig};
use results::{PhaseReport, PhaseStatus, ReviewOptions};
use target::{BurstSeries, Clock, Effort, Pattern, State, SteadyRule, Target};

/// One point to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlannedPoint {
    /// Index into [`SWEEPS`]; `None`: the timeline.
    pub sweep: Option<usize>,
    pub x: f64,
    pub fill: f64,
    pub load: LoadConfig,
    /// The rate is this share of what the point at 100 % got.
    pub rate_share: Option<f64>,
    /// Seconds by the target's clock; `None`: until steady.
    pub seconds: Option<f64>,
    /// Clock that counts the seconds.
    pub clock: Clock,
}

impl PlannedPoint {
    pub fn spec(&self) -> Option<&'static SweepSpec> {
        self.sweep.map(|i| &SWEEPS[i])
    }

    pub fn phase(&self) -> Phase {
        self.spec().map_or(Phase::Timeline, |spec| spec.phase)
    }

    /// Wall-clock seconds, warm-up included.
    pub(crate) fn expected_s(&self) -> f64 {
        match (self.seconds, self.clock) {
            // A tenth of the time warms up, at most two seconds; the rest is opening and closing.
            (Some(s), Clock::Wall) => s + (s * 0.1).min(2.0) + 0.1,
            (Some(_), Clock::Virtual) => MODEL_TIMELINE_WALL_S,
            (None, _) => MODEL_POINT_S,
        }
    }
}

/// Points that are measured one after the other, from one state of the device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub state: State,
    pub points: Vec<PlannedPoint>,
    /// Wall-clock seconds to reach the state.
    pub expected_s: f64,
}

/// Writes into the emptied device before anything else; afterwards it is emptied again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedBurst {
    pub series: BurstSeries,
    /// Expected duration in wall-clock seconds.
    pub expected_s: f64,
}

/// The plan of a review.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub(crate) burst: Option<PlannedBurst>,
    pub(crate) groups: Vec<Group>,
    pub(crate) options: Options,
    pub(crate) purges: bool,
    pub(crate) point_s: Option<f64>,
    /// The part of the method that there is time for; none for a model, whose time is its own.
    pub(crate) fitted: Option<Fitted>,
}

/// The timeline is as long as so many points.
const TIMELINE_POINTS: f64 = 10.0;
/// Virtual seconds of a model's timeline.
const MODEL_TIMELINE_S: f64 = 30.0;
/// Wall-clock seconds that a modelled point takes, about, and a modelled timeline: for the progress bar.
const MODEL_POINT_S: f64 = 0.15;
const MODEL_TIMELINE_WALL_S: f64 = 1.0;
/// A round of preconditioning is a third of a point long: SNIA's rounds are a minute, its points too.
const ROUND_POINTS: f64 = 1.0 / 3.0;
/// Rounds that are expected before a device is steady; what the rule's five need and some to settle.
const EXPECTED_ROUNDS: f64 = 8.0;
/// Least bytes that a review can be done on.
const MIN_BYTES: u64 = 16 << 20;

/// Facts that a plan needs of its target: so that there can be a plan of a file that is not there yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subject {
    /// Bytes that may be used.
    pub capacity_bytes: u64,
    /// Clock that counts its seconds.
    pub clock: Clock,
    /// Bytes a second that it can be expected to write front to back.
    pub write_bw_bytes: f64,
}

impl Subject {
    /// Reads the facts of a target that is there.
    pub fn of(target: &dyn Target) -> Subject {
        Subject {
            capacity_bytes: target.capacity_bytes(),
            clock: target.clock(),
            write_bw_bytes: target.expected_write_bw_bytes(),
        }
    }
}

/// Makes the plan.
pub fn plan(subject: &Subject, options: &Options) -> Result<Plan, PlanError> {
    let capacity_bytes = subject.capacity_bytes;
    if !(options.fill > 0.0 && options.fill <= 1.0) {
        return Err(PlanError::Fill { fill: options.fill });
    }
    if capacity_bytes < MIN_BYTES {
        return Err(PlanError::TooSmall { capacity_bytes, min_bytes: MIN_BYTES });
    }
    match subject.clock {
        Clock::Virtual => Ok(Plan {
            burst: planned_burst(subject.clock, options, 0.0),
            groups: model_groups(capacity_bytes, options),
            options: options.clone(),
            purges: false,
            point_s: None,
            fitted: None,
        }),
        Clock::Wall => {
            let made = |options: &Options, point_s| {
                let groups = real_groups(capacity_bytes, subject.write_bw_bytes, options, point_s);
                (groups, planned_burst(subject.clock, options, point_s))
            };
            let fitted = fitting::fit(options, &|options, point_s| {
                let (groups, burst) = made(options, point_s);
                groups.iter().map(Group::total_s).sum::<f64>() + burst.map_or(0.0, |burst| burst.expected_s)
            })?;
            let (groups, burst) = made(&fitted.options, fitted.point_s);
            let point_s = groups.iter().flat_map(|g| &g.points).find_map(|p| p.sweep.and(p.seconds));
            let options = Options { budget_s: fitted.budget_s, ..options.clone() };
            Ok(Plan { burst, groups, options, purges: true, point_s, fitted: Some(fitted) })
        }
    }
}

impl Group {
    pub(crate) fn total_s(&self) -> f64 {
        self.expected_s + self.points.iter().map(PlannedPoint::expected_s).sum::<f64>()
    }
}

fn planned_burst(clock: Clock, options: &Options, point_s: f64) -> Option<PlannedBurst> {
    let expected_s = match clock {
        Clock::Virtual => MODEL_TIMELINE_WALL_S,
        Clock::Wall => burst::expected_s(point_s),
    };
    let series = burst_series(clock, options.fill, point_s);
    options.includes(Phase::Burst).then_some(PlannedBurst { series, expected_s })
}

fn random(file_bytes: u64) -> Pattern {
    Pattern::Random { block_bytes: 16 << 10, access: Access::Uniform, footprint_bytes: file_bytes }
}

fn points_of(index: usize, capacity_bytes: u64, options: &Options, seconds: Option<f64>) -> Vec<PlannedPoint> {
    // Only models measure until they are steady.
    let clock = if seconds.is_some() { Clock::Wall } else { Clock::Virtual };
    let spec = &SWEEPS[index];
    let fill = options.fill;
    let mut points: Vec<PlannedPoint> = spec
        .xs(options.quick)
        .iter()
        .map(|&x| {
            let fill = if spec.phase == Phase::Fill { x / 100.0 } else { fill };
            let rate_share = (matches!(spec.load, SweepLoad::Rate { .. }) && x < 100.0).then_some(x / 100.0);
            let load = spec.load(x, file_bytes(capacity_bytes, fill));
            PlannedPoint { sweep: Some(index), x, fill, load, rate_share, seconds, clock }
        })
        .collect();
    if matches!(spec.load, SweepLoad::Rate { .. }) {
        // The shares are of what it gets without a limit: that comes first.
        points.reverse();
    }
    points
}

fn timeline_point(capacity_bytes: u64, options: &Options, clock: Clock, seconds: f64) -> PlannedPoint {
    let load = LoadConfig::Fileio(FileioConfig {
        mode: FileioMode::RndWr,
        threads: TIMELINE_THREADS,
        file_bytes: file_bytes(capacity_bytes, options.fill),
        ..FileioConfig::default()
    });
    let x = TIMELINE_THREADS.into();
    PlannedPoint { sweep: None, x, fill: options.fill, load, rate_share: None, seconds: Some(seconds), clock }
}

/// Sweeps that were asked for, by index, without the fill sweep.
fn sweeps(options: &Options, sequential: bool) -> impl Iterator<Item = usize> + use<'_> {
    (0..SWEEPS.len()).filter(move |&i| {
        let spec = &SWEEPS[i];
        spec.phase != Phase::Fill && spec.sequential == sequential && options.includes(spec.phase)
    })
}

/// A model is exact and can be copied: every point of the fill sweep and every other sweep is a group of its own, the
/// longest first, so that cores finish together.
fn model_groups(capacity_bytes: u64, options: &Options) -> Vec<Group> {
    let effort = Effort { sequential_passes: 1, round_s: 0.0, max_rounds: SteadyRule::SNIA.max_rounds as u32 };
    let group = |fill: f64, pattern, points| Group {
        state: State { fill, pattern, effort },
        points,
        expected_s: MODEL_POINT_S,
    };
    let full_bytes = file_bytes(capacity_bytes, options.fill);
    let mut groups = Vec::new();
    if options.includes(Phase::Timeline) {
        let point = timeline_point(capacity_bytes, options, Clock::Virtual, MODEL_TIMELINE_S);
        groups.push(group(options.fill, random(full_bytes), vec![point]));
    }
    for i in sweeps(options, false) {
        groups.push(group(options.fill, random(full_bytes), points_of(i, capacity_bytes, options, None)));
    }
    for i in sweeps(options, true) {
        groups.push(group(options.fill, Pattern::Sequential, points_of(i, capacity_bytes, options, None)));
    }
    if options.includes(Phase::Fill) {
        for point in points_of(0, capacity_bytes, options, None).into_iter().rev() {
            groups.push(group(point.fill, random(file_bytes(capacity_bytes, point.fill)), vec![point]));
        }
    }
    groups
}

/// A real device goes through its states once, and never back: emptied, filled step by step; full, written over twice
/// and at random until steady, for everything that is measured full; what changes the pattern last.
fn real_groups(capacity_bytes: u64, write_bw_bytes: f64, options: &Options, point_s: f64) -> Vec<Group> {
    let round_s = point_s * ROUND_POINTS;
    let max_rounds = SteadyRule::SNIA.max_rounds as u32;
    let expected_rounds_s = EXPECTED_ROUNDS * round_s;
    let bytes = |fill: f64| file_bytes(capacity_bytes, fill) as f64;
    let mut groups = Vec::new();
    let mut in_use = 0.0;
    if options.includes(Phase::Fill) {
        for point in points_of(0, capacity_bytes, options, Some(point_s)) {
            let effort = Effort { sequential_passes: 0, round_s, max_rounds };
            let pattern = random(file_bytes(capacity_bytes, point.fill));
            let new_bytes = bytes(point.fill) - bytes(in_use);
            in_use = point.fill;
            let state = State { fill: point.fill, pattern, effort };
            let expected_s = new_bytes / write_bw_bytes + expected_rounds_s;
            groups.push(Group { state, points: vec![point], expected_s });
        }
    }
    let full_bytes = file_bytes(capacity_bytes, options.fill);
    let mut points = Vec::new();
    if options.includes(Phase::Timeline) {
        points.push(timeline_point(capacity_bytes, options, Clock::Wall, TIMELINE_POINTS * point_s));
    }
    points.extend(sweeps(options, false).flat_map(|i| points_of(i, capacity_bytes, options, Some(point_s))));
    if !points.is_empty() {
        let effort = Effort { sequential_passes: 2, round_s, max_rounds };
        let state = State { fill: options.fill, pattern: random(full_bytes), effort };
        let expected_s = 2.0 * full_bytes as f64 / write_bw_bytes + expected_rounds_s;
        groups.push(Group { state, points, expected_s });
    }
    let points: Vec<_> =
        sweeps(options, true).flat_map(|i| points_of(i, capacity_bytes, options, Some(point_s))).collect();
    if !points.is_empty() {
        let effort = Effort { sequential_passes: 1, round_s, max_rounds: 0 };
        let state = State { fill: options.fill, pattern: Pattern::None, effort };
        groups.push(Group { state, points, expected_s: full_bytes as f64 / write_bw_bytes });
    }
    groups
}

impl Plan {
    /// Points to be measured.
    pub fn points(&self) -> usize {
        self.groups.iter().map(|group| group.points.len()).sum::<usize>() + usize::from(self.burst.is_some())
    }

    /// Wall-clock seconds that it is expected to take.
    pub fn expected_s(&self) -> f64 {
        self.groups.iter().map(Group::total_s).sum::<f64>() + self.burst.as_ref().map_or(0.0, |burst| burst.expected_s)
    }

    /// Says in a sentence how it was fitted to its time; none where there is no budget.
    pub fn fitting(&self) -> Option<String> {
        let fitted = self.fitted.as_ref()?;
        let budget_s = fitted.budget_s?;
        let minutes = |s: f64| if s < 120.0 { format!("{s:.0} s") } else { format!("{:.0} minutes", s / 60.0) };
        let mut said = vec![format!("points of {:.1} s", self.point_s.unwrap_or(fitted.point_s))];
        if fitted.options.quick && !self.options.quick {
            said.push("fewer of them".to_owned());
        }
        if !fitted.left_out.is_empty() {
            said.push(format!("without {}", fitted.left_out.iter().map(|p| p.name()).collect::<Vec<_>>().join(", ")));
        }
        let said = said.join(", ");
        Some(match fitted.is_over {
            true => format!("{said}; {} are too short for a device of this size", minutes(budget_s)),
            false => format!("fitted to {}: {said}", minutes(budget_s)),
        })
    }

    /// Lists the phases, for people and for the result: those that were not asked for too.
    pub fn phases(&self) -> Vec<PhaseReport> {
        let report = |name: &str, title: &str, status, points, expected_s, note: &str| PhaseReport {
            name: name.into(),
            title: title.into(),
            status,
            points,
            expected_s,
            took_s: 0.0,
            note: note.into(),
        };
        let mut phases = Vec::new();
        if self.purges {
            phases.push(report("purge", "Empty the device", PhaseStatus::NotBegun, 0, 0.0, ""));
        }
        let expected_s = self.groups.iter().map(|group| group.expected_s).sum();
        let (status, note) = if self.groups.is_empty() {
            (PhaseStatus::Skipped, "nothing that was asked for needs it")
        } else {
            (PhaseStatus::NotBegun, "")
        };
        phases.push(report("precondition", "Bring it to steady state", status, 0, expected_s, note));
        for phase in Phase::ALL {
            let points = self.groups.iter().flat_map(|g| &g.points).filter(|point| point.phase() == phase);
            let before = match &self.burst {
                Some(burst) if phase == Phase::Burst => (1, burst.expected_s),
                _ => (0, 0.0),
            };
            let (count, expected_s) = points.fold(before, |(n, s), point| (n + 1, s + point.expected_s()));
            let is_left_out = self.fitted.as_ref().is_some_and(|fitted| fitted.left_out.contains(&phase));
            let (status, note) = match count {
                0 if is_left_out => (PhaseStatus::Skipped, "no time for it"),
                0 => (PhaseStatus::Skipped, "not asked for"),
                _ => (PhaseStatus::NotBegun, ""),
            };
            phases.push(report(phase.name(), phase.title(), status, count, expected_s, note));
        }
        phases
    }

    /// The options, for the result.
    pub(crate) fn options_report(&self) -> ReviewOptions {
        let o = &self.options;
        ReviewOptions {
            seed: o.seed,
            scale: o.scale,
            fill: o.fill,
            quick: o.quick,
            budget_s: o.budget_s,
            only: o.only.iter().map(|phase| phase.name().to_owned()).collect(),
            point_s: self.point_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            seed: 1,
            scale: 1.0,
            fill: 1.0,
            quick: false,
            budget_s: None,
            only: Vec::new(),
            shown_over_budget: false,
        }
    }

    fn disk(capacity_bytes: u64) -> Subject {
        Subject { capacity_bytes, clock: Clock::Wall, write_bw_bytes: 1e9 }
    }

    fn names(plan: &Plan) -> Vec<&'static str> {
        plan.groups.iter().flat_map(|g| &g.points).map(|p| p.spec().map_or("timeline", |spec| spec.name)).collect()
    }

    #[test]
    fn model_and_disk_have_the_same_points() {
        let model = Subject { clock: Clock::Virtual, ..disk(8 << 30) };
        for quick in [false, true] {
            let options = Options { quick, budget_s: Some(3_600.0), ..options() };
            let points = |subject| {
                let plan = plan(&subject, &options).unwrap();
                let mut points: Vec<String> = plan
                    .groups
                    .iter()
                    .flat_map(|g| &g.points)
                    .map(|p| format!("{:?} {} {} {:?}", p.sweep, p.x, p.fill, p.load))
                    .collect();
                points.sort();
                points
            };
            assert_eq!(points(model), points(disk(8 << 30)));
        }
    }

    #[test]
    fn a_real_device_fills_up_and_is_written_sequentially_last() {
        let plan = plan(&disk(8 << 30), &options()).unwrap();
        let fills: Vec<f64> = plan.groups.iter().map(|g| g.state.fill).collect();
        assert!(fills.is_sorted(), "{fills:?}");
        let names = names(&plan);
        assert_eq!(names.first(), Some(&"fill"));
        assert_eq!(names.last(), Some(&"threads-seqrd"));
        let first_sequential = names.iter().position(|n| n.contains("seq")).unwrap();
        assert!(names[first_sequential..].iter().all(|n| n.contains("seq")));
    }

    #[test]
    fn a_budget_is_used_and_not_passed() {
        for budget_s in [300.0, 600.0, 1200.0, 7200.0] {
            let options = Options { budget_s: Some(budget_s), ..options() };
            let plan = plan(&disk(8 << 30), &options).unwrap();
            let share = plan.expected_s() / budget_s;
            assert!(share <= 1.0 + 1e-9, "{budget_s}: {share}");
            assert!(share > 0.95 || plan.point_s >= Some(fitting::MAX_POINT_S - 1.0), "{budget_s}: {share}");
        }
    }

    #[test]
    fn a_budget_that_cannot_be_kept_says_what_would_do() {
        let least = |options: &Options| match plan(&disk(1 << 40), options).unwrap_err() {
            PlanError::Budget { min_s, .. } => min_s,
            other => panic!("{other}"),
        };
        let short = Options { budget_s: Some(60.0), ..options() };
        let min_s = least(&short);
        assert!(min_s > 1000.0, "a terabyte takes its time: {min_s}");
        assert!(plan(&disk(1 << 40), &Options { budget_s: Some(min_s), ..options() }).is_ok());
    }

    #[test]
    fn where_time_is_short_points_become_shorter_then_fewer_then_phases_are_left_out() {
        let planned = |budget_s: Option<f64>| {
            let plan = plan(&disk(8 << 30), &Options { budget_s, ..options() }).unwrap();
            assert!(plan.expected_s() <= budget_s.unwrap_or(900.0) + 1e-6);
            (plan.points(), plan.point_s.unwrap(), plan.fitting().unwrap(), plan.phases())
        };
        let (all, long_s, said, _) = planned(Some(7_200.0));
        assert!(long_s > 30.0 && said.starts_with("fitted to 120 minutes: points of "), "{said}");
        let (points, point_s, ..) = planned(None);
        assert!(points == all && (5.0..long_s).contains(&point_s), "a quarter of an hour: {points} of {point_s}");
        let (fewer, point_s, said, _) = planned(Some(400.0));
        assert!(fewer < all && point_s >= 1.0 && said.contains("fewer of them"), "{said}");
        let (fewest, point_s, said, phases) = planned(Some(100.0));
        assert!(fewest < fewer && point_s >= 1.0 && said.contains("without redo"), "{said}");
        let redo = phases.iter().find(|phase| phase.name == "redo").unwrap();
        assert_eq!((redo.status, redo.note.as_str()), (PhaseStatus::Skipped, "no time for it"));
        for kept in ["fill", "timeline", "threads", "sync"] {
            assert!(phases.iter().any(|phase| phase.name == kept && phase.points > 0), "{kept}");
        }
        // Phases that are named are planned or refused, and a plan to look at is made in any case.
        let only = Options { only: vec![Phase::Redo, Phase::Fill], budget_s: Some(20.0), ..options() };
        assert!(matches!(plan(&disk(8 << 30), &only), Err(PlanError::Budget { .. })));
        let shown = plan(&disk(8 << 30), &Options { shown_over_budget: true, ..only }).unwrap();
        assert!(shown.expected_s() > 20.0 && shown.fitting().unwrap().contains("20 s are too short"));
    }

    #[test]
    fn a_large_drive_without_a_budget_takes_what_its_size_takes() {
        let plan = plan(&disk(4 << 40), &options()).unwrap();
        assert!(plan.expected_s() > 10_000.0);
        assert!(plan.fitting().unwrap().contains("15 minutes are too short for a device of this size"));
    }

    #[test]
    fn only_what_was_asked_for_is_planned_and_the_rest_is_said() {
        let options = Options { only: vec![Phase::Fill, Phase::Sync], ..options() };
        let plan = plan(&disk(8 << 30), &options).unwrap();
        assert!(names(&plan).iter().all(|n| ["fill", "sync"].contains(n)));
        for report in plan.phases() {
            let wanted = ["purge", "precondition", "fill", "sync"].contains(&report.name.as_str());
            assert_eq!(report.status == PhaseStatus::Skipped, !wanted, "{}", report.name);
        }
        let bursts = super::plan(&disk(8 << 30), &Options { only: vec![Phase::Burst], ..options }).unwrap();
        let skipped = |report: &PhaseReport| report.status == PhaseStatus::Skipped;
        let left: Vec<_> = bursts.phases().into_iter().filter(|report| !skipped(report)).map(|r| r.name).collect();
        assert_eq!(left, ["purge", "burst"], "an emptied device is in no steady state");
    }

    #[test]
    fn a_target_without_room_is_refused() {
        assert!(matches!(plan(&disk(1 << 20), &options()), Err(PlanError::TooSmall { .. })));
        let none = Options { fill: 0.0, ..options() };
        assert!(matches!(plan(&disk(1 << 30), &none), Err(PlanError::Fill { .. })));
    }
}
