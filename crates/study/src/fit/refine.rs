//! From a start to the card that measures most like the results: Levenberg's and Marquardt's steps.
//!
//! A model's figures are noisy in small steps and smooth in large ones, so slopes are taken over a fifth, and what counts
//! as an improvement is more than noise. Residuals that are far off count less (a pseudo-Huber loss): one point that the
//! model can't explain must not bend all parameters. A weak pull towards the base keeps what the results say nothing of.

use crate::fit::condition::Condition;
use crate::fit::error::FitError;
use crate::fit::knob::Knob;
use crate::fit::linear::{Matrix, normal_equations};
use crate::fit::observation::Observation;
use crate::fit::simulate::{Lab, Seen, residuals};
use crate::fit::space::Space;

/// Residuals beyond so many standard deviations count less.
const ROBUST: f64 = 3.0;
/// Expected distance of a parameter from the base: a factor of 4.5 is one standard deviation.
pub(crate) const PRIOR: f64 = 1.5;
/// Slopes are taken over so much of a logarithm.
const SLOPE: f64 = 0.2;
/// And, where there are many figures, with one request in so many: what a model lacks of its load's steady state is the same
/// on both sides. Few figures are cheap, and hardly more than the parameters.
const SLOPE_PART: u64 = 2;
const MANY_FIGURES: usize = 60;
/// Longest step of a parameter.
const LONGEST_STEP: f64 = 1.2;
/// Dampings that are tried at once, and those that are tried when none of them helped.
const DAMPINGS: [&[f64]; 3] = [&[0.01, 1.0], &[30.0], &[1000.0]];
/// Scatter that is worth it to look again, and steps then.
const MIN_SCATTER: f64 = 1.3;
const POLISH_STEPS: usize = 4;
/// An improvement by less than this share, or by less than this in all, is noise.
const MIN_SHARE: f64 = 0.01;
const MIN_GAIN: f64 = 0.3;

/// Values, what the card did with them, and how far that is from what was measured.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub values: Vec<f64>,
    pub seen: Vec<Seen>,
    pub residuals: Vec<f64>,
    pub cost: f64,
}

/// The part that all steps of a fit have in common.
pub(crate) struct Problem<'a> {
    pub space: &'a Space,
    pub points: Vec<&'a Observation>,
    /// Standard deviations in which residuals scatter about the best card, at least 1.
    pub scatter: f64,
    /// Parameters that are changed; empty: all.
    pub only: &'a [Knob],
}

impl<'a> Problem<'a> {
    pub fn new(space: &'a Space, points: &[&'a Observation]) -> Problem<'a> {
        Problem { space, points: points.to_vec(), scatter: 1.0, only: &[] }
    }

    /// The same with the scatter that was found.
    pub fn scattered(self, scatter: f64) -> Problem<'a> {
        Problem { scatter, ..self }
    }

    /// The same with only these parameters changed.
    pub fn only(self, only: &'a [Knob]) -> Problem<'a> {
        Problem { only, ..self }
    }

    /// Returns whether a parameter is changed.
    fn changes(&self, knob: Knob) -> bool {
        let counted = self.space.counted && knob == Knob::Channels;
        !counted && (self.only.is_empty() || self.only.contains(&knob))
    }

    fn conditions(&self) -> Vec<&'a Condition> {
        self.points.iter().map(|point| &point.condition).collect()
    }

    /// Returns the states of cards with these values; `None` for values that make no card.
    pub fn states(&self, lab: &mut Lab, all: &[Vec<f64>]) -> Result<Vec<Option<State>>, FitError> {
        let base = self.space.base_values();
        let cards: Vec<_> = all.iter().map(|values| self.space.candidate(values).ok()).collect();
        let candidates: Vec<_> = cards.iter().flatten().cloned().collect();
        if candidates.is_empty() {
            return Ok(vec![None; all.len()]);
        }
        let mut seen = lab.see(&candidates, &self.conditions())?.into_iter();
        let state = |(values, card): (&Vec<f64>, &Option<_>)| {
            card.as_ref()?;
            let seen = seen.next().expect("one for each candidate");
            let residuals = residuals(&self.points, &seen);
            let cost = loss(&residuals, self.scatter) + prior(values, &base);
            Some(State { values: values.clone(), seen, residuals, cost })
        };
        Ok(all.iter().zip(&cards).map(state).collect())
    }

    /// Goes downhill from a state, at most so many steps.
    pub fn refine(&self, lab: &mut Lab, start: State, steps: usize) -> Result<State, FitError> {
        let mut best = start;
        let mut idle = 0;
        // Slopes, and whether they were taken where the best is. A step's own outcome corrects them (Broyden, 1965), which
        // costs nothing; taking them anew costs a simulation for each parameter.
        let mut slopes: Option<(Vec<Vec<f64>>, bool)> = None;
        for _ in 0..steps {
            let (columns, fresh) = match slopes.take() {
                Some(known) => known,
                None => (self.slopes(lab, &best)?, true),
            };
            let next = self.downhill(lab, &best, &columns, fresh)?;
            let Some(next) = next else {
                if fresh {
                    break;
                }
                continue;
            };
            let gained = best.cost - next.cost;
            let corrected = self.corrected(&columns, &best, &next);
            best = next;
            let little = gained < MIN_GAIN.max(MIN_SHARE * best.cost);
            // Slopes that are not right may be why.
            idle = if little { idle + usize::from(fresh) } else { 0 };
            if idle == 2 {
                break;
            }
            slopes = (!little && fresh).then_some((corrected, false));
        }
        Ok(best)
    }

    /// Some steps more with the scatter that is known now, where it is more than noise.
    pub fn polish(&self, lab: &mut Lab, best: State) -> Result<State, FitError> {
        let cost = loss(&best.residuals, self.scatter) + prior(&best.values, &self.space.base_values());
        let best = State { cost, ..best };
        if self.scatter < MIN_SCATTER { Ok(best) } else { self.refine(lab, best, POLISH_STEPS) }
    }

    /// Goes downhill by slopes that are known from elsewhere, corrected by what each step did: cheap, and near enough to
    /// tell whether more is worth it.
    pub fn chord(&self, lab: &mut Lab, start: State, slopes: Vec<Vec<f64>>, steps: usize) -> Result<State, FitError> {
        let (mut best, mut slopes) = (start, slopes);
        for _ in 0..steps {
            let Some(next) = self.downhill(lab, &best, &slopes, false)? else { break };
            let little = best.cost - next.cost < MIN_GAIN.max(MIN_SHARE * next.cost);
            slopes = self.corrected(&slopes, &best, &next);
            best = next;
            if little {
                break;
            }
        }
        Ok(best)
    }

    /// The best of some steps, if one leads downhill. Long dampings are tried only with slopes that are right.
    fn downhill(
        &self,
        lab: &mut Lab,
        at: &State,
        columns: &[Vec<f64>],
        fresh: bool,
    ) -> Result<Option<State>, FitError> {
        for dampings in &DAMPINGS[..if fresh { DAMPINGS.len() } else { 1 }] {
            let tries: Vec<Vec<f64>> = dampings.iter().filter_map(|&damping| self.step(at, columns, damping)).collect();
            let found = self.states(lab, &tries)?.into_iter().flatten();
            let next = found.min_by(|a, b| a.cost.total_cmp(&b.cost));
            if let Some(next) = next.filter(|next| next.cost < at.cost) {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    /// Slopes that agree with what a step did.
    fn corrected(&self, columns: &[Vec<f64>], from: &State, to: &State) -> Vec<Vec<f64>> {
        let (a, b) = (self.space.realised(&from.values), self.space.realised(&to.values));
        let step: Vec<f64> = b.iter().zip(&a).map(|(b, a)| b - a).collect();
        let length: f64 = step.iter().map(|s| s * s).sum();
        let mut corrected = columns.to_vec();
        if length > 0.0 {
            for row in 0..from.residuals.len() {
                let expected: f64 = columns.iter().zip(&step).map(|(column, s)| column[row] * s).sum();
                let missed = to.residuals[row] - from.residuals[row] - expected;
                corrected.iter_mut().zip(&step).for_each(|(column, s)| column[row] += missed * s / length);
            }
        }
        corrected
    }

    /// Change of each residual with each parameter, a column for each parameter.
    pub fn slopes(&self, lab: &mut Lab, at: &State) -> Result<Vec<Vec<f64>>, FitError> {
        let here = self.space.realised(&at.values);
        let moved: Vec<Vec<f64>> = (0..here.len())
            .map(|i| {
                let (low, high) = self.space.knobs[i].limits();
                let mut values = here.clone();
                // Times up, rates down: there a change shows. And by one at least where there are only whole numbers.
                let up = values[i] < (low.ln() + high.ln()) / 2.0;
                values[i] = match (self.space.knobs[i], up) {
                    (Knob::Channels, up) => self.space.other_channels(values[i], up, SLOPE.exp()),
                    (Knob::CleanedAtOnce, _) => self.space.other_cleaned(&values, true, SLOPE.exp()),
                    (_, true) => values[i] + SLOPE,
                    (_, false) => values[i] - SLOPE,
                };
                values
            })
            .collect();
        let changed: Vec<usize> = (0..here.len()).filter(|&i| self.changes(self.space.knobs[i])).collect();
        let tries: Vec<Vec<f64>> = std::iter::once(&here).chain(changed.iter().map(|&i| &moved[i])).cloned().collect();
        let part = lab.part();
        lab.set_part(part.max(if at.residuals.len() >= MANY_FIGURES { SLOPE_PART } else { 1 }));
        let all = self.states(lab, &tries);
        lab.set_part(part);
        let mut all = all?.into_iter();
        let from = all.next().flatten().map_or_else(|| at.residuals.clone(), |state| state.residuals);
        let mut states: Vec<Option<State>> = vec![None; here.len()];
        for (i, state) in changed.into_iter().zip(all) {
            states[i] = state;
        }
        let column = |(i, state): (usize, Option<State>)| {
            let by = self.space.realised(&moved[i])[i] - here[i];
            match state {
                Some(state) if by.abs() > 1e-6 => {
                    state.residuals.iter().zip(&from).map(|(a, b)| (a - b) / by).collect()
                }
                _ => vec![0.0; from.len()],
            }
        };
        Ok(states.into_iter().enumerate().map(column).collect())
    }

    fn step(&self, at: &State, columns: &[Vec<f64>], damping: f64) -> Option<Vec<f64>> {
        let base = self.space.base_values();
        let weights = weights(&at.residuals, self.scatter);
        let delta = solve_step(&at.residuals, &weights, columns, &at.values, &base, damping)?;
        let step = |((value, delta), knob): ((&f64, f64), &Knob)| {
            let by = if self.changes(*knob) { delta.clamp(-LONGEST_STEP, LONGEST_STEP) } else { 0.0 };
            value - by
        };
        let mut values: Vec<f64> = at.values.iter().zip(delta).zip(&self.space.knobs).map(step).collect();
        self.space.clamp(&mut values);
        Some(values)
    }
}

/// The step to the least of the loss as slopes have it, damped; to be subtracted.
pub(crate) fn solve_step(
    residuals: &[f64],
    weights: &[f64],
    columns: &[Vec<f64>],
    values: &[f64],
    base: &[f64],
    damping: f64,
) -> Option<Vec<f64>> {
    let (mut matrix, mut right) = normal_equations(columns, weights, residuals);
    add_prior(&mut matrix, &mut right, values, base);
    for i in 0..values.len() {
        let more = damping * matrix.at(i, i);
        matrix.add(i, i, more);
    }
    matrix.solve(&right)
}

pub(crate) fn add_prior(matrix: &mut Matrix, right: &mut [f64], values: &[f64], base: &[f64]) {
    for i in 0..values.len() {
        matrix.add(i, i, PRIOR.powi(-2));
        right[i] += (values[i] - base[i]) / PRIOR.powi(2);
    }
}

/// Returns the weight of each residual.
pub(crate) fn weights(residuals: &[f64], scatter: f64) -> Vec<f64> {
    residuals.iter().map(|r| 1.0 / (1.0 + (r / (ROBUST * scatter)).powi(2)).sqrt()).collect()
}

fn loss(residuals: &[f64], scatter: f64) -> f64 {
    let far = ROBUST * scatter;
    let of = |r: &f64| 2.0 * far * far * ((1.0 + (r / far).powi(2)).sqrt() - 1.0);
    residuals.iter().map(of).sum()
}

/// Standard deviations in which residuals scatter: the loss for each degree of freedom, as far as it is more than
/// noise. None of the figures can be told to be the one that is off where there are hardly more figures than
/// parameters. So scale and parameters are estimated together, as in Proposal 2 of P. J. Huber, "Robust Statistics",
/// Wiley, 1981.
pub(crate) fn scatter(best: &State) -> f64 {
    let freedom = (best.residuals.len() as f64 - best.values.len() as f64).max(1.0);
    (best.cost / freedom).sqrt().max(1.0)
}

fn prior(values: &[f64], base: &[f64]) -> f64 {
    values.iter().zip(base).map(|(v, b)| ((v - b) / PRIOR).powi(2)).sum()
}
