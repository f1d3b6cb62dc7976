//! Errors of a fit.

use crate::fit::condition::Condition;
use crate::fit::observation::Observation;
use load::Given;
use profile::ProfileError;
use std::fmt;
use target::RunError;

/// An error that keeps a fit from being made.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum FitError {
    /// Nothing to fit to.
    #[error("{files}: {} that can be fitted, {least} are needed: {} more are missing; {missing}", points(*found), least - found)]
    TooFew {
        /// All of them.
        files: Given,
        /// Points that are there.
        found: usize,
        /// Points that are needed.
        least: usize,
        missing: Missing,
    },
    /// Points that are left after those that are held out.
    #[error("of {found} points {held} are held out: {} are left, {least} are needed; hold out fewer", found - held)]
    TooFewLeft {
        /// Points that are there.
        found: usize,
        held: usize,
        /// Points that are needed.
        least: usize,
    },
    /// Two figures of one condition.
    #[error(
        "contradiction at {}: {:.1} MB/s in {a}, {:.1} MB/s in {b}, further apart than noise; leave one out",
        condition.label(), first_bytes_per_s / 1e6, second_bytes_per_s / 1e6
    )]
    Contradiction {
        /// At which condition.
        condition: Condition,
        a: Given,
        first_bytes_per_s: f64,
        /// Another, or the same.
        b: Given,
        second_bytes_per_s: f64,
    },
    /// Results of two devices.
    #[error("{a} and {b} are of two devices ({first}; {second}): a fit is of one")]
    TwoDevices { a: Given, first: Given, b: Given, second: Given },
    /// A table of numbers that can't be read.
    #[error("{file}: {problem}")]
    Table { file: Given, problem: TableProblem },
    /// Disks have no flash to be fitted.
    #[error("{card} is no flash card: only these are fitted")]
    Disks { card: Given },
    /// The card to begin with, or one on the way.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A card could not be simulated.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl FitError {
    /// The person asked to stop.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, FitError::Run(RunError::Cancelled))
    }
}

fn points(n: usize) -> String {
    format!("{n} {}", if n == 1 { "point" } else { "points" })
}

/// A problem of a table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)]
pub enum TableProblem {
    /// Nothing in it.
    #[error("no rows below a header")]
    Empty,
    /// No column with a figure.
    #[error("no column with a figure; there must be one of mib_per_s, mb_per_s, iops (NAME_mib_per_s for a device)")]
    NoFigure,
    /// No column that says what was varied.
    #[error("no column that says what was asked; there must be one of {0}")]
    NoAxis(&'static str),
    #[error("figures of several devices: name one, FILE:NAME, of {0}")]
    SeveralDevices(Given),
    /// Not one of them.
    #[error("no device '{name}' in it; there are {known}")]
    NoSuchDevice { name: Given, known: Given },
    /// A cell that is no number.
    #[error("line {line}: '{cell}' is not a number above 0 in column {column}")]
    NotANumber {
        /// Line, from 1.
        line: usize,
        column: Given,
        cell: Given,
    },
    /// The load can't go to more than what is in use.
    #[error("line {line}: file_percent must be above 0 and at most percent_in_use")]
    FileBeyondFill {
        /// Line, from 1.
        line: usize,
    },
    /// Requests a second without their size.
    #[error("iops without block_bytes: add a column, or give mib_per_s")]
    NoBlock,
    /// It can't be read.
    #[error("{0}")]
    Unreadable(Given),
}

/// Results that would help a fit that has too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    fills: bool,
    threads: bool,
}

impl Missing {
    pub(crate) fn of(points: &[Observation]) -> Missing {
        Missing {
            fills: !points.iter().any(|p| p.condition.mode.writes()),
            threads: !points.iter().any(|p| p.condition.mode.reads()),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.fills, self.threads) {
            (true, false) => "random writes at several fills would tell most",
            (false, true) => "random reads at several numbers of threads would tell most",
            (true, true) => "random writes at several fills and random reads at several numbers of threads are needed",
            (false, false) => "other fills, threads or mixes would tell most",
        })
    }
}
