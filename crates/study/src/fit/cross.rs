//! Quality of the method's predictions for points that it was not shown.
//!
//! Points are left out in groups, every fourth in the same. The card without a group is found from the one with all:
//! one step of Gauss and Newton on the loss of the points that are left, with the slopes that are known (for a linear
//! model that step is the fit without the group). The points that were left out are then simulated on that card.

use crate::fit::error::FitError;
use crate::fit::observation::Observation;
use crate::fit::refine::{Problem, State, solve_step, weights};
use crate::fit::simulate::{Lab, Seen};

/// Number of groups in which points are left out.
pub(crate) const GROUPS: usize = 4;
/// Steps are damped a little: slopes are noisy.
const DAMPING: f64 = 0.02;
const LONGEST_STEP: f64 = 0.7;

/// Returns the predictions of cards that were fitted without each point.
pub(crate) fn predictions(
    problem: &Problem,
    best: &State,
    columns: &[Vec<f64>],
    lab: &mut Lab,
) -> Result<Vec<Seen>, FitError> {
    let (space, points) = (problem.space, &problem.points);
    let groups = GROUPS.min(points.len());
    let group_of_row: Vec<usize> =
        points.iter().enumerate().flat_map(|(i, p)| p.measured.iter().map(move |_| i % groups)).collect();
    let mut out: Vec<Option<Seen>> = vec![None; points.len()];
    for group in 0..groups {
        let kept = |row: &usize| group_of_row[*row] != group;
        let rows: Vec<usize> = (0..group_of_row.len()).filter(kept).collect();
        let residuals: Vec<f64> = rows.iter().map(|&row| best.residuals[row]).collect();
        let columns: Vec<Vec<f64>> =
            columns.iter().map(|column| rows.iter().map(|&row| column[row]).collect()).collect();
        let mut values = best.values.clone();
        let weights = weights(&residuals, problem.scatter);
        if let Some(step) = solve_step(&residuals, &weights, &columns, &values, &space.base_values(), DAMPING) {
            values.iter_mut().zip(step).for_each(|(v, s)| *v -= s.clamp(-LONGEST_STEP, LONGEST_STEP));
            space.clamp(&mut values);
        }
        let left_out: Vec<usize> = (0..points.len()).filter(|i| i % groups == group).collect();
        let those: Vec<&Observation> = left_out.iter().map(|&i| points[i]).collect();
        let problem = Problem::new(space, &those);
        let state = problem.states(lab, &[values])?.pop().flatten();
        // A step into what is no card: the card with all points has to do.
        let state = match state {
            Some(state) => state,
            None => match problem.states(lab, std::slice::from_ref(&best.values))?.pop().flatten() {
                Some(state) => state,
                None => continue,
            },
        };
        for (i, seen) in left_out.into_iter().zip(state.seen) {
            out[i] = Some(seen);
        }
    }
    Ok(out.into_iter().map(Option::unwrap_or_default).collect())
}
