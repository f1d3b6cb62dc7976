//! Parts of a question that depend on no other: a state and the points that share it, or a combination of a search.

use crate::whatif::grid::{Grid, groups};
use crate::whatif::question::{Point, Question, Refusal};
use crate::whatif::search::{Search, hunts};
use results::{WhatifFound, WhatifPoint};
use target::Progress;

/// The points of each unit of a grid, in the order of their first.
pub fn units(question: &Question) -> Result<Vec<Vec<usize>>, Refusal> {
    Ok(groups(&question.points()?))
}

/// Answers units of a grid, and tells each when all of its points are answered, by its place among the units that are given.
/// Returns whether a person asked to stop before all were.
pub fn answer_units(
    question: &Question,
    units: &[&[usize]],
    threads: usize,
    progress: &dyn Progress,
    tell: &(dyn Fn(usize, Vec<WhatifPoint>) + Sync),
) -> Result<bool, Refusal> {
    let points: Vec<Point> = units
        .iter()
        .flat_map(|unit| unit.iter())
        .map(|&i| question.checked(&question.indices(i)))
        .collect::<Result<_, _>>()?;
    let ends: Vec<usize> = units
        .iter()
        .scan(0, |end, unit| {
            *end += unit.len();
            Some(*end)
        })
        .collect();
    progress.begin("what if", Grid::work(&points));
    let told = |members: &[usize], outcomes: Vec<WhatifPoint>| {
        let place = ends.partition_point(|&end| end <= members[0]);
        tell(place, outcomes);
    };
    let outcomes = Grid::answer(question, &points, threads, progress, 0, &told);
    Ok(outcomes.iter().any(Option::is_none))
}

/// The search for one combination of the question's axes; none where a person asked to stop before it was found.
pub fn search_unit(
    question: &Question,
    search: &Search,
    combination: usize,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Option<(Vec<WhatifPoint>, WhatifFound)>, Refusal> {
    let (mut found, stopped) = hunts(question, search, &[combination], threads, progress)?;
    Ok(found.pop().filter(|_| !stopped))
}
