//! The whole way from figures to a card.

use crate::bounds::{Bound, bounds};
use crate::card_file::{self, Note, number};
use crate::cross::predictions;
use crate::error::FitError;
use crate::observe::{Figure, LEAST_POINTS, Observation, Observed};
use crate::outcome::{Errors, Fit, FittedFigure, FittedPoint, Parameter, Status, distance};
use crate::refine::{Problem, State};
use crate::simulate::{Lab, Seen};
use crate::space::{Base, Choices, Knob, Space, VICTIMS};
use crate::start::starts;
use profile::Host;
use target::Progress;

/// Steps from each of the best starts, steps to the end, and steps after another choice.
const FIRST_STEPS: usize = 4;
const STEPS: usize = 10;
const CHOICE_STEPS: usize = 4;
/// Starts that are followed.
const FOLLOWED: usize = 2;
/// A choice counts as told when the loss falls by so much: as three standard deviations of one figure.
const TOLD: f64 = 9.0;
/// Another choice is refined when its loss is not above so much of the best, unless that is no more than noise already:
/// this much for each figure.
const PROMISING: f64 = 1.5;
const NOISE_ONLY: f64 = 1.0;
/// Fits are good when half of the points that were left out are predicted better than this.
pub(crate) const BOUND: f64 = 0.15;

/// How to fit.
#[derive(Clone, Debug)]
pub struct Options {
    /// The card to begin with; `None`: a neutral one of the device's size.
    pub base: Option<Base>,
    /// The host in front of it.
    pub host: Host,
    /// Fit what an I/O costs the host too.
    pub fit_host: bool,
    /// Hold out every so-manieth point altogether, in place of cross-validation.
    pub hold_out: Option<usize>,
    /// Median error of predicted throughput above which a fit is none.
    pub bound: f64,
    /// Root seed.
    pub seed: u64,
}

impl Options {
    /// With everything else as it is by default.
    pub fn new(host: Host) -> Options {
        Options { base: None, host, fit_host: false, hold_out: None, bound: BOUND, seed: 1 }
    }
}

/// Finds the card that would have measured like this.
pub fn fit(observed: &Observed, options: &Options, progress: &dyn Progress) -> Result<Fit, FitError> {
    let every = options.hold_out.unwrap_or(usize::MAX).max(2);
    let is_held = |i: usize| i % every == every - 1;
    let count = observed.points.len();
    let held: Vec<&Observation> =
        observed.points.iter().enumerate().filter(|(i, _)| is_held(*i)).map(|(_, p)| p).collect();
    let kept: Vec<&Observation> =
        observed.points.iter().enumerate().filter(|(i, _)| !is_held(*i)).map(|(_, p)| p).collect();
    if kept.len() < LEAST_POINTS {
        return Err(FitError::TooFewLeft { found: count, held: held.len(), least: LEAST_POINTS });
    }
    let base = options.base.clone().unwrap_or_else(|| Base::neutral(observed.user_bytes));
    let owned: Vec<Observation> = kept.iter().map(|&p| p.clone()).collect();
    let mut lab = Lab::new(options.seed, progress);
    let search = Search { points: &kept, owned: &owned, fit_host: options.fit_host };
    let space = Space::new(&base, &options.host, options.fit_host, &owned)?;
    progress.begin("fit", search.expected_points(&space));
    let (space, best, told) = search.best(&mut lab, space)?;
    progress.step("bounds");
    let problem = Problem::new(&space, &kept);
    let found = bounds(&problem, &mut lab, &best)?;
    let best = search.with_base_values(&mut lab, &problem, best, &found.bounds)?;
    progress.step("predict what was left out");
    let predicted = if options.hold_out.is_some() {
        Problem::new(&space, &held)
            .states(&mut lab, std::slice::from_ref(&best.values))?
            .pop()
            .flatten()
            .map(|s| s.seen)
    } else {
        Some(predictions(&space, &kept, &best, &found.columns, &mut lab)?)
    };
    let predicted = predicted.unwrap_or_default();
    let parts = Parts { space: &space, best: &best, bounds: &found.bounds, told: &told };
    let points = parts.points(observed, &is_held, &best.seen, &predicted, options.hold_out.is_some());
    hand_over(observed, options, &base, &parts, points, lab.points())
}

struct Search<'a> {
    points: &'a [&'a Observation],
    owned: &'a [Observation],
    fit_host: bool,
}

/// Which choices the results tell apart from the others.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    victim: bool,
    path: bool,
    suspends: bool,
    reads_first: bool,
}

impl Search<'_> {
    /// Points that will be simulated if no step ends early.
    fn expected_points(&self, space: &Space) -> u64 {
        let each = space.knobs.len() + 3;
        // About every second step takes slopes anew.
        let steps = (FOLLOWED * FIRST_STEPS + STEPS + CHOICE_STEPS) / 2;
        ((steps * each + 2 * space.knobs.len() + 12) * self.points.len()) as u64
    }

    fn best(&self, lab: &mut Lab, space: Space) -> Result<(Space, State, Told), FitError> {
        lab.progress().step("first guesses");
        let (mut space, mut best) = self.after_starts(lab, space, FIRST_STEPS)?;
        // To the end first: another choice must not win because it was refined for longer.
        lab.progress().step("refine");
        best = Problem::new(&space, self.points).refine(lab, best, STEPS)?;
        let mut told = Told::default();
        for choices in self.alternatives(&space) {
            lab.progress().step("other flash management");
            let other = space.with(choices, self.owned, self.fit_host);
            let path_changed = choices.through_host != space.choices.through_host;
            if path_changed && only_noise(&best) {
                continue;
            }
            let (other, state) = if path_changed {
                self.after_starts(lab, other, CHOICE_STEPS)?
            } else {
                let values = carried(&space, &best.values, &other);
                let problem = Problem::new(&other, self.points);
                let Some(state) = problem.states(lab, &[values])?.pop().flatten() else { continue };
                let promising = state.cost < PROMISING * best.cost + TOLD && !only_noise(&best);
                let state = if promising { problem.refine(lab, state, CHOICE_STEPS)? } else { state };
                (other, state)
            };
            let difference = state.cost - best.cost;
            let of = |now: &Choices| {
                (now.victim != space.choices.victim, path_changed, now.suspends != space.choices.suspends)
            };
            let is_told = difference.abs() > TOLD;
            match of(&choices) {
                (true, ..) => told.victim |= is_told,
                (_, true, _) => told.path |= is_told,
                (_, _, true) => told.suspends |= is_told,
                _ => told.reads_first |= is_told,
            }
            if difference < -TOLD {
                (space, best) = (other, state);
            }
        }
        Ok((space, best, told))
    }

    /// The best of several starts, after some steps.
    fn after_starts(&self, lab: &mut Lab, space: Space, steps: usize) -> Result<(Space, State), FitError> {
        let problem = Problem::new(&space, self.points);
        let all = starts(&space, self.points);
        let mut states: Vec<State> = problem.states(lab, &all)?.into_iter().flatten().collect();
        states.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        if states.is_empty() {
            // The base itself is no card: its own error says why.
            space.candidate(&space.base_values())?;
        }
        let mut best: Option<State> = None;
        for state in states.into_iter().take(FOLLOWED) {
            let state = problem.refine(lab, state, steps)?;
            if best.as_ref().is_none_or(|best| state.cost < best.cost) {
                best = Some(state);
            }
        }
        let best = best.expect("the base is a card");
        Ok((space, best))
    }

    /// Other choices, one changed at a time, as far as the points can tell.
    fn alternatives(&self, space: &Space) -> Vec<Choices> {
        let now = space.choices;
        let random_writes = self.owned.iter().any(|p| p.condition.mode.writes() && !p.condition.mode.is_sequential());
        let mixed = self.owned.iter().any(|p| p.condition.mode.writes() && p.condition.mode.reads());
        let latencies = self.owned.iter().any(|p| p.measured.len() > 1);
        let mut out = Vec::new();
        if mixed && latencies {
            out.push(Choices { reads_first: !now.reads_first, ..now });
            out.push(Choices { suspends: !now.suspends, ..now });
        }
        if random_writes {
            out.push(Choices { through_host: !now.through_host, ..now });
            out.extend(VICTIMS.into_iter().filter(|v| *v != now.victim).map(|victim| Choices { victim, ..now }));
        }
        // What the base can't do is not tried: it has no times for it.
        out.retain(|choices| space.base_choices.suspends || !choices.suspends);
        out
    }

    /// What is undetermined goes back to what the base says, as long as nothing gets worse by it.
    fn with_base_values(
        &self,
        lab: &mut Lab,
        problem: &Problem,
        best: State,
        bounds: &[Bound],
    ) -> Result<State, FitError> {
        let base = problem.space.base_values();
        let mut values = best.values.clone();
        for (i, bound) in bounds.iter().enumerate() {
            if bound.status == Status::Undetermined {
                values[i] = base[i];
            }
        }
        if values == best.values {
            return Ok(best);
        }
        let back = problem.states(lab, &[values])?.pop().flatten();
        Ok(back.filter(|back| back.cost < best.cost + TOLD).unwrap_or(best))
    }
}

/// There is nothing left to explain.
fn only_noise(state: &State) -> bool {
    state.cost < NOISE_ONLY * state.residuals.len() as f64
}

/// Values of the parameters that both have; the base's for the others.
fn carried(from: &Space, values: &[f64], to: &Space) -> Vec<f64> {
    let base = to.base_values();
    let value = |(i, knob): (usize, &Knob)| from.knobs.iter().position(|k| k == knob).map_or(base[i], |at| values[at]);
    to.knobs.iter().enumerate().map(value).collect()
}

struct Parts<'a> {
    space: &'a Space,
    best: &'a State,
    bounds: &'a [Bound],
    told: &'a Told,
}

impl Parts<'_> {
    fn points(
        &self,
        observed: &Observed,
        is_held: &dyn Fn(usize) -> bool,
        fitted: &[Seen],
        predicted: &[Seen],
        held_out: bool,
    ) -> Vec<FittedPoint> {
        let (mut of_kept, mut of_held) = (0, 0);
        let mut out = Vec::new();
        for (i, point) in observed.points.iter().enumerate() {
            let held = is_held(i);
            let (now, then) = if held {
                of_held += 1;
                (predicted.get(of_held - 1), predicted.get(of_held - 1))
            } else {
                of_kept += 1;
                (fitted.get(of_kept - 1), if held_out { None } else { predicted.get(of_kept - 1) })
            };
            let figures = point.measured.iter().filter_map(|m| {
                let value = now?.value(m.figure)?;
                Some(FittedFigure {
                    figure: m.figure.name(),
                    measured: m.value,
                    fitted: value,
                    error: value / m.value - 1.0,
                    predicted: then.and_then(|seen| seen.value(m.figure)),
                    of: Some(m.figure),
                })
            });
            out.push(FittedPoint {
                file: point.file.clone(),
                sweep: point.sweep.clone(),
                condition: point.condition.label(),
                held_out: held,
                figures: figures.collect(),
            });
        }
        out
    }

    fn parameters(&self) -> Vec<(Option<(&'static str, &'static str)>, Parameter)> {
        let space = self.space;
        let mut out = Vec::new();
        for (i, knob) in space.knobs.iter().enumerate() {
            let value = space.value(&self.best.values, *knob);
            let bound = self.bounds[i];
            let (low, high) = knob.limits();
            let spread = (2.0 * bound.deviation).exp();
            let determined = bound.status != Status::Undetermined;
            let parameter = Parameter {
                name: knob.key().into(),
                value: number(value),
                number: Some(value),
                low: determined.then_some((value / spread).max(low)),
                high: determined.then_some((value * spread).min(high)),
                status: bound.status,
            };
            out.push((knob.file_key(), parameter));
        }
        let choice = |name: &str, value: &str, told: bool| Parameter {
            name: name.into(),
            value: value.into(),
            number: None,
            low: None,
            high: None,
            status: if told { Status::Determined } else { Status::Undetermined },
        };
        let (now, told) = (space.choices, self.told);
        let yes = |yes: bool| if yes { "true" } else { "false" };
        let path = if now.through_host { "host" } else { "internal" };
        out.push((Some(("ftl", "victim")), choice("ftl.victim", now.victim, told.victim)));
        out.push((Some(("relocation", "path")), choice("relocation.path", path, told.path)));
        out.push((None, choice("suspends programs and erases", yes(now.suspends), told.suspends)));
        out.push((Some(("card", "reads_first")), choice("card.reads_first", yes(now.reads_first), told.reads_first)));
        out
    }
}

fn hand_over(
    observed: &Observed,
    options: &Options,
    base: &Base,
    parts: &Parts,
    points: Vec<FittedPoint>,
    simulated_points: u64,
) -> Result<Fit, FitError> {
    let errors = |wanted: &dyn Fn(Figure) -> bool| {
        let figures = points.iter().flat_map(|p| &p.figures);
        let of = |f: &FittedFigure| {
            let predicted = f.predicted?;
            f.of.is_some_and(wanted).then(|| distance(predicted, f.measured))
        };
        Errors::of(figures.filter_map(of).collect())
    };
    let throughput = errors(&|figure| figure == Figure::Throughput);
    let latency = errors(&|figure| figure != Figure::Throughput);
    let good = throughput.figures > 0 && throughput.median <= options.bound;
    let mut files: Vec<String> = Vec::new();
    for point in &observed.points {
        if !files.contains(&point.file) {
            files.push(point.file.clone());
        }
    }
    let all = files.join(", ");
    let quality = format!(
        "Points that were left out are predicted to {:.1} % in the median, {:.1} % at the 95th percentile (throughput).",
        throughput.median * 100.0,
        throughput.p95 * 100.0
    );
    let note = Note { files: &all, base, seed: options.seed, quality: &quality };
    let parameters = parts.parameters();
    let card_toml = card_file::card(&note, parts.space, &parts.best.values, &parameters)?;
    let host_toml = if options.fit_host {
        Some(card_file::host(&note, &options.host, parts.space, &parts.best.values)?)
    } else {
        None
    };
    Ok(Fit {
        kind: "flashrig-fit",
        schema: 1,
        files,
        base: base.name.clone(),
        host: options.host.name().to_string(),
        seed: options.seed,
        parameters: parameters.into_iter().map(|(_, parameter)| parameter).collect(),
        points,
        left_out_throughput: throughput,
        left_out_latency: latency,
        bound: options.bound,
        good,
        notes: observed.notes.clone(),
        simulated_points,
        card_toml,
        host_toml,
    })
}
