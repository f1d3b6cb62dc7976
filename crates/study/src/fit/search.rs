//! The whole way from figures to a card.

use crate::fit::base::Base;
use crate::fit::bounds::{Bound, WIDEST, bounds, meet_ceilings};
use crate::fit::cache::{FittedCache, first_guess, fit_cache};
use crate::fit::card_file::{self, Filed, Note, number};
use crate::fit::choose::{Chosen, Numbers, Told};
use crate::fit::chooser::Chooser;
use crate::fit::cross::predictions;
use crate::fit::error::FitError;
use crate::fit::exchange::Exchange;
use crate::fit::knob::Knob;
use crate::fit::observation::{Figure, Observation};
use crate::fit::observe::{MIN_POINTS, Observed};
use crate::fit::outcome::{Errors, Fit, FittedFigure, FittedPoint, Parameter, Status, distance};
use crate::fit::refine::{Problem, State, scatter};
use crate::fit::simulate::{Lab, Seen};
use crate::fit::space::Space;
use profile::Host;
use target::Progress;

/// More loss than this is worse: as three standard deviations of one figure.
const WORSE: f64 = 9.0;
/// Residuals that scatter by so many times the noise: no card of the model measures like this, and what its numbers are is
/// not told by figures that it does not explain.
const MISFIT: f64 = 2.0;
/// Fits are good when half of the points that were left out are predicted better than this.
pub(crate) const BOUND: f64 = 0.15;

/// Options of a fit.
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
    /// Root seed of the simulations.
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
    fit_with_others(observed, options, progress, None)
}

/// Finds it with other processes that do the same at the same time, if there are any; each finds the same.
pub fn fit_with_others(
    observed: &Observed,
    options: &Options,
    progress: &dyn Progress,
    exchange: Option<Exchange<'_>>,
) -> Result<Fit, FitError> {
    let every = options.hold_out.unwrap_or(usize::MAX).max(2);
    let is_held = |i: usize| i % every == every - 1;
    let count = observed.points.len();
    let held: Vec<&Observation> =
        observed.points.iter().enumerate().filter(|(i, _)| is_held(*i)).map(|(_, p)| p).collect();
    let kept: Vec<&Observation> =
        observed.points.iter().enumerate().filter(|(i, _)| !is_held(*i)).map(|(_, p)| p).collect();
    if kept.len() < MIN_POINTS {
        return Err(FitError::TooFewLeft { found: count, held: held.len(), least: MIN_POINTS });
    }
    let base = options.base.clone().unwrap_or_else(|| Base::neutral(observed.user_bytes));
    let owned: Vec<Observation> = kept.iter().map(|&p| p.clone()).collect();
    let mut lab = Lab::new(options.seed, progress, exchange);
    let chooser = Chooser { points: &kept, owned: &owned, fit_host: options.fit_host };
    let mut space = Space::new(&base, &options.host, options.fit_host, &owned)?;
    if let Some(bursts) = &observed.bursts {
        space.cache = first_guess(bursts);
    }
    progress.begin("fit", chooser.expected_points(&space));
    let Chosen { space, best, told, rivals } = chooser.best(&mut lab, space)?;
    progress.step("bounds");
    let misfit = scatter(&best);
    let problem = Problem::new(&space, &kept).scattered(misfit);
    let best = problem.polish(&mut lab, best)?;
    let found = bounds(&problem, &mut lab, &best)?;
    let best = with_base_values(&mut lab, &problem, best, &found.bounds)?;
    let ceilings = meet_ceilings(&kept, &found.columns);
    progress.step("predict what was left out");
    let predicted = if options.hold_out.is_some() {
        Problem::new(&space, &held)
            .states(&mut lab, std::slice::from_ref(&best.values))?
            .pop()
            .flatten()
            .map(|s| s.seen)
    } else {
        Some(predictions(&problem, &best, &found.columns, &mut lab)?)
    };
    let predicted = predicted.unwrap_or_default();
    progress.step("bursts");
    let cache = match &observed.bursts {
        Some(bursts) => Some(fit_cache(&space, &best.values, bursts, options.seed, progress)?),
        None => None,
    };
    let space = cache.as_ref().map_or(space.clone(), |cache| cache.space.clone());
    let parts = Parts {
        space: &space,
        cache: cache.as_ref(),
        ceilings: &ceilings,
        best: &best,
        bounds: &found.bounds,
        told: &told,
        rivals: &rivals,
        misfit,
    };
    let points = parts.points(observed, &is_held, &best.seen, &predicted, options.hold_out.is_some());
    hand_over(observed, options, &base, &parts, points, lab.points())
}

/// An undetermined parameter goes back to the base's value, as long as nothing gets worse by it.
fn with_base_values(lab: &mut Lab, problem: &Problem, best: State, bounds: &[Bound]) -> Result<State, FitError> {
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
    Ok(back.filter(|back| back.cost < best.cost + WORSE).unwrap_or(best))
}

struct Parts<'a> {
    space: &'a Space,
    cache: Option<&'a FittedCache>,
    /// True if throughput of busy loads depends on each parameter.
    ceilings: &'a [bool],
    best: &'a State,
    bounds: &'a [Bound],
    told: &'a Told,
    rivals: &'a [Numbers],
    /// By how many times the noise residuals scatter.
    misfit: f64,
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
        out.extend(self.cache.iter().flat_map(|cache| cache.points.iter().cloned()));
        out
    }

    fn parameters(&self) -> Vec<Filed> {
        let space = self.space;
        let base = space.base_values();
        let mut out = Vec::new();
        for (i, knob) in space.knobs.iter().enumerate() {
            let value = space.value(&self.best.values, *knob);
            let bound = self.bounds[i];
            let (low, high) = knob.limits();
            let spread = (2.0 * bound.deviation).exp();
            // The parameter stayed as it was where all that is undetermined went back to the base at once and that was
            // worse.
            let is_base = value == space.value(&base, *knob);
            let status = if bound.status == Status::Undetermined && !is_base { Status::Together } else { bound.status };
            let determined = status != Status::Undetermined;
            // The value under another choice is not ruled out.
            let of_rivals = || self.rivals.iter().flatten().filter(|(of, _)| of == knob).map(|(_, value)| *value);
            let least = of_rivals().fold(value / spread, f64::min);
            let most = of_rivals().fold(value * spread, f64::max);
            let shares_bus = space.counted && matches!(knob, Knob::Channels | Knob::Bus | Knob::Read);
            let wide = (value / least).max(most / value) > WIDEST
                || shares_bus && self.told.dies_per_channel != Status::Determined
                || self.is_of_a_sum(*knob);
            let parameter = Parameter {
                name: knob.key().into(),
                value: number(value),
                number: Some(value),
                low: determined.then_some(least.max(low)),
                high: determined.then_some(most.min(high)),
                status: if wide && determined { Status::Together } else { status },
            };
            out.push((knob.file_key(), parameter));
        }
        out.extend(self.cache.iter().flat_map(|cache| cache.parameters.iter().cloned()));
        let choice = |name: &str, value: &str, status: Status| Parameter {
            name: name.into(),
            value: value.into(),
            number: None,
            low: None,
            high: None,
            status,
        };
        let (now, told) = (space.choices, self.told);
        let yes = |yes: bool| if yes { "true" } else { "false" };
        let path = if now.through_host { "host" } else { "internal" };
        out.push((Some(("ftl", "victim")), choice("ftl.victim", now.victim, told.victim)));
        out.push((Some(("relocation", "path")), choice("relocation.path", path, told.path)));
        let gc = if now.stops_the_world { "stop-the-world" } else { "paced" };
        out.push((Some(("ftl", "gc")), choice("ftl.gc", gc, told.stops_the_world)));
        out.push((None, choice("suspends programs and erases", yes(now.suspends), told.suspends)));
        out.push((Some(("card", "reads_first")), choice("card.reads_first", yes(now.reads_first), told.reads_first)));
        for (table, key, name, whole, status) in [
            ("geometry", "pages_per_block", "geometry.pages_per_block", now.pages_per_block, told.pages_per_block),
            ("geometry", "dies_per_channel", "geometry.dies_per_channel", now.dies_per_channel, told.dies_per_channel),
            ("ftl", "parity_units", "ftl.parity_units", now.parity_units, told.parity_units),
        ] {
            let number = Some(f64::from(whole));
            out.push((Some((table, key)), Parameter { number, ..choice(name, &whole.to_string(), status) }));
        }
        if self.misfit > MISFIT {
            let told = out.iter_mut().filter(|(_, parameter)| parameter.status == Status::Determined);
            told.for_each(|(_, parameter)| parameter.status = Status::Together);
        }
        out
    }

    /// Returns whether only a sum is known that the parameter is a part of: a lone write is latency, command and
    /// transfer, and which is which shows where commands or transfers are as many as there can be. And how much is
    /// cleaned at once is known no better than models are like a whole card, of which it is a smaller part.
    fn is_of_a_sum(&self, knob: Knob) -> bool {
        let meets = |of: Knob| self.space.knobs.iter().zip(self.ceilings).any(|(knob, meets)| *knob == of && *meets);
        match knob {
            Knob::WriteLink | Knob::WriteCommand => !meets(knob),
            Knob::Latency => self.space.knobs.contains(&Knob::WriteCommand) && !meets(Knob::WriteCommand),
            Knob::CleanedAtOnce => true,
            _ => false,
        }
    }

    /// Returns the remarks beside those of the points.
    fn notes(&self, observed: &Observed) -> Vec<String> {
        let mut notes = observed.notes.clone();
        notes.extend(self.cache.and_then(|cache| cache.note.clone()));
        if self.misfit > MISFIT {
            notes.push(format!(
                "the best card is {:.1} times as far from the figures as their noise: no number is called determined",
                self.misfit
            ));
        }
        notes
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
        notes: parts.notes(observed),
        simulated_points,
        card_toml,
        host_toml,
    })
}
