//! Bounds within which the results determine each parameter.
//!
//! Each is made half as large again and two thirds as large. A parameter that moves no figure beyond its noise is
//! undetermined, and goes back to the base's value. For the rest the curvature of the loss at the optimum gives bounds
//! (the inverse of Jᵀ W J, all parameters free; Press et al., Numerical Recipes, section 15.6), two standard
//! deviations, wider where the fit is worse than the noise. Slopes are taken over the same wide changes.

use crate::fit::error::FitError;
use crate::fit::knob::Knob;
use crate::fit::linear::normal_equations;
use crate::fit::observation::{Figure, Measured, Observation};
use crate::fit::outcome::Status;
use crate::fit::refine::{PRIOR, Problem, State, weights};
use crate::fit::simulate::Lab;

/// The change that has to show.
const FACTOR: f64 = 1.5;
/// It shows when a figure moves by more than its noise.
const SHOWS: f64 = 1.0;
/// A parameter whose bounds are further apart than this factor either way is only determined together with others.
pub(crate) const WIDEST: f64 = 2.0;

/// Percentiles of one load go up and down together: of all figures of a point so many tell something of their own.
pub(crate) const FIGURES_APART: f64 = 2.0;

/// A ceiling is met where throughput of so many requests at once moves by so many times its noise.
const BUSY: u32 = 8;
const MEETS: f64 = 3.0;

/// The bounds of one parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    /// Standard deviation of its logarithm.
    pub deviation: f64,
    pub status: Status,
}

/// Bounds, and slopes at the optimum: a column for each parameter.
pub(crate) struct Bounds {
    pub bounds: Vec<Bound>,
    pub columns: Vec<Vec<f64>>,
}

/// For each parameter whether the throughput of a busy load depends on it. A parameter that shows in the latency of
/// lone requests alone is a part of a sum, whose other parts make up for it.
pub(crate) fn meet_ceilings(points: &[&Observation], columns: &[Vec<f64>]) -> Vec<bool> {
    let rows = points.iter().flat_map(|point| point.measured.iter().map(move |measured| (point, measured)));
    let busy = |(point, measured): (&&Observation, &Measured)| {
        measured.figure == Figure::Throughput && point.condition.outstanding() >= BUSY
    };
    let busy: Vec<bool> = rows.map(busy).collect();
    let meets = |column: &Vec<f64>| {
        let moved = column.iter().zip(&busy).filter(|(_, busy)| **busy).map(|(slope, _)| slope.abs() * FACTOR.ln());
        moved.fold(0.0, f64::max) > MEETS
    };
    columns.iter().map(meets).collect()
}

pub(crate) fn bounds(problem: &Problem, lab: &mut Lab, at: &State) -> Result<Bounds, FitError> {
    let space = problem.space;
    let here = space.realised(&at.values);
    let n = here.len();
    let tries: Vec<Vec<f64>> = (0..2 * n)
        .map(|k| {
            let (i, up) = (k / 2, k % 2 == 0);
            let mut values = here.clone();
            values[i] += if up { FACTOR.ln() } else { -FACTOR.ln() };
            if space.knobs[i] == Knob::Channels {
                values[i] = space.other_channels(here[i], up, FACTOR);
            }
            if space.knobs[i] == Knob::CleanedAtOnce {
                values[i] = space.other_cleaned(&here, up, FACTOR);
            }
            space.clamp(&mut values);
            values
        })
        .collect();
    let states = problem.states(lab, &tries)?;
    let moved = |k: usize| -> Option<(f64, Vec<f64>)> {
        let by = space.realised(&tries[k])[k / 2] - here[k / 2];
        let state = states[k].as_ref().filter(|_| by.abs() > 1e-6)?;
        Some((by, state.residuals.iter().zip(&at.residuals).map(|(a, b)| a - b).collect()))
    };
    let mut shows = Vec::new();
    let mut columns = Vec::new();
    for i in 0..n {
        let (up, down) = (moved(2 * i), moved(2 * i + 1));
        let most = |side: &Option<(f64, Vec<f64>)>| {
            side.as_ref().map_or(0.0, |(_, by)| by.iter().fold(0.0_f64, |most, r| most.max(r.abs())))
        };
        shows.push((most(&up) > SHOWS, most(&down) > SHOWS));
        let rows = at.residuals.len();
        columns.push(match (up, down) {
            (Some((a, up)), Some((b, down))) => up.iter().zip(down).map(|(u, d)| (u - d) / (a - b)).collect(),
            (Some((by, side)), None) | (None, Some((by, side))) => side.iter().map(|r| r / by).collect(),
            (None, None) => vec![0.0; rows],
        });
    }
    let weights = weights(&at.residuals, problem.scatter);
    let (mut matrix, _) = normal_equations(&columns, &weights, &at.residuals);
    for i in 0..n {
        matrix.add(i, i, PRIOR.powi(-2));
    }
    let freedom = (at.residuals.len() as f64 - n as f64).max(1.0);
    let misfit = at.residuals.iter().zip(&weights).map(|(r, w)| r * r * w).sum::<f64>() / freedom;
    let together = (at.residuals.len() as f64 / (FIGURES_APART * problem.points.len() as f64)).max(1.0);
    let variances = matrix.inverse_diagonal().unwrap_or_else(|| vec![PRIOR * PRIOR; n]);
    let bounds = variances
        .iter()
        .zip(&shows)
        .map(|(variance, shows)| {
            let deviation = (variance * misfit.max(1.0) * together).sqrt();
            let wide = 2.0 * deviation > WIDEST.ln();
            let status = match shows {
                (false, false) => Status::Undetermined,
                _ if wide => Status::Together,
                (true, true) => Status::Determined,
                // A rate that may be higher, or a time that may be longer, and nothing shows.
                (false, true) => Status::AtLeast,
                (true, false) => Status::AtMost,
            };
            Bound { deviation, status }
        })
        .collect();
    Ok(Bounds { bounds, columns })
}
