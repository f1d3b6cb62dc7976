//! Errors of `flashrig work` and `flashrig merge`.

use crate::quoted::Quoted;
use std::fmt;
use std::path::PathBuf;
use study::campaign::{PartError, PlanError};
use thiserror::Error;

/// A campaign that can't be worked on or merged.
#[derive(Debug, Error)]
pub enum CampaignFailure {
    /// The file is no plan of this program.
    #[error("{}: {source}", .path.display())]
    Plan { path: PathBuf, source: PlanError },
    /// The file is no part of a campaign.
    #[error("{}: {source}", .path.display())]
    Part { path: PathBuf, source: PartError },
    /// The words of the plan are not those of a question with its points.
    #[error("{}: the words of the plan: {message}", .path.display())]
    Words { path: PathBuf, message: Quoted },
    /// The plan has no such unit.
    #[error("the plan has no unit {unit}: it has {units}, from 0 on")]
    NoUnit { unit: usize, units: usize },
    /// The part belongs to another plan.
    #[error("{} is a part of another plan: name a new file", .path.display())]
    OtherPlan { path: PathBuf },
    /// Parts of two plans can't be merged.
    #[error("{} and {} are parts of two plans", .one.display(), .other.display())]
    Plans { one: PathBuf, other: PathBuf },
    /// One unit has two answers.
    #[error(
        "unit {unit} has two answers, in {} and in {}: one of their machines or builds is not like the other",
        .one.display(),
        .other.display()
    )]
    Answers { unit: usize, one: PathBuf, other: PathBuf },
    /// Units have no answer.
    #[error("{} of {units} units are missing: {}; flashrig work PLAN --unit does them", .missing.len(), Listed(.missing))]
    Missing { missing: Vec<usize>, units: usize },
}

/// Most units that are named.
const NAMED: usize = 20;

struct Listed<'a>(&'a [usize]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<String> = self.0.iter().take(NAMED).map(ToString::to_string).collect();
        f.write_str(&named.join(","))?;
        if self.0.len() > NAMED { f.write_str(" and more") } else { Ok(()) }
    }
}
