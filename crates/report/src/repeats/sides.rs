//! A comparison of sides, each of one result or of repeats.

use super::interval::{Estimate, middle, ratio};
use crate::advantage::{AdvantageTable, Better, table};
use crate::buffered::is_buffered;
use crate::devices::told_apart;
use results::ReviewResult;

/// Results of one device that are compared as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Name above its column.
    pub name: String,
    /// Its results, by their place in the list of all.
    pub runs: Vec<usize>,
}

/// The figures of all sides: each the geometric mean of the side's repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct SideTable {
    /// Figures, one of each side.
    pub table: AdvantageTable,
    /// For each row and side, how many times better than the first side it is, with its interval; none for the first.
    pub advantages: Vec<Vec<Option<Estimate>>>,
    /// Repeats of each side.
    pub repeats: Vec<usize>,
}

impl SideTable {
    /// Folds the figures of all results by side. Every result belongs to one side.
    pub fn new(results: &[&ReviewResult], sides: &[Side]) -> SideTable {
        let mut table = table(results);
        if sides.iter().any(|side| side.runs.len() > 1) {
            let buffered = |side: &Side| side.runs.iter().any(|&run| is_buffered(results[run]));
            table.buffered = sides.iter().map(buffered).collect();
            table.devices = told_apart(sides.iter().map(|side| (side.name.as_str(), buffered(side))));
        }
        let mut advantages = Vec::with_capacity(table.rows.len());
        for row in &mut table.rows {
            let of_side = |side: &Side| -> Vec<f64> { side.runs.iter().filter_map(|&run| row.values[run]).collect() };
            let values: Vec<Vec<f64>> = sides.iter().map(of_side).collect();
            let over_first = |other: &Vec<f64>| {
                let found = ratio(&values[0], other)?;
                Some(if row.better == Better::Higher { found } else { found.inverted() })
            };
            let others = values.iter().skip(1).map(over_first);
            advantages.push(std::iter::once(None).chain(others).collect());
            row.values = values.iter().map(|values| middle(values)).collect();
            let limited = |side: &Side| side.runs.iter().any(|&run| row.limited[run]);
            row.limited = sides.iter().map(limited).collect();
        }
        SideTable { table, advantages, repeats: sides.iter().map(|side| side.runs.len()).collect() }
    }

    /// Returns whether any side was measured more than once.
    pub fn is_repeated(&self) -> bool {
        self.repeats.iter().any(|&repeats| repeats > 1)
    }
}
