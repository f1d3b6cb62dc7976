//! May a review go on from an earlier, partial result?

use crate::plan::Plan;
use results::{HostInfo, ReviewOptions, ReviewResult, TargetInfo, TargetKind};
use std::fmt;
use std::path::Path;

/// An error that keeps a result from being continued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ResumeError {
    /// There is nothing to do.
    #[error("the review is complete: there is nothing to resume")]
    Complete,
    /// It is about something else.
    #[error("it is a review of {earlier}, not of {now}: points of two devices don't make one review")]
    OtherTarget { earlier: Reviewed, now: Reviewed },
    /// It was asked in another way.
    #[error("it was asked with {what}: resume with the same options, or begin a new review with --out")]
    OtherOptions { what: Asked },
}

/// A target of a review, as a message names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reviewed {
    name: Box<str>,
    capacity_bytes: u64,
}

impl Reviewed {
    fn of(info: &TargetInfo) -> Reviewed {
        Reviewed { name: info.name.as_str().into(), capacity_bytes: info.capacity_bytes }
    }
}

impl fmt::Display for Reviewed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.name, self.capacity_bytes)
    }
}

/// An option with which the earlier review was asked.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Asked {
    Seed(u64),
    Scale(f64),
    Fill(f64),
    Quick(bool),
    /// Names of phases; all when there are none.
    Only(Vec<Box<str>>),
    BudgetSeconds(Option<f64>),
    /// The file of the modelled card, or a setting of it.
    Card,
    /// The modelled host, or a setting of it.
    Host(Box<str>),
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Seed(seed) => write!(f, "--seed {seed}"),
            Asked::Scale(scale) => write!(f, "--scale {scale}"),
            Asked::Fill(fill) => write!(f, "--fill {fill}"),
            Asked::Quick(true) => write!(f, "--quick"),
            Asked::Quick(false) => write!(f, "no --quick"),
            Asked::Only(phases) if phases.is_empty() => write!(f, "no --only"),
            Asked::Only(phases) => write!(f, "--only {}", phases.join(",")),
            Asked::BudgetSeconds(None) => write!(f, "no --budget"),
            Asked::BudgetSeconds(Some(seconds)) => write!(f, "--budget {seconds}s"),
            Asked::Card => write!(f, "another card file, or other settings (--set)"),
            Asked::Host(name) => write!(f, "--host {name}, or other settings of it (--set)"),
        }
    }
}

/// Sizes are compared in these: a plan is made before it is known of how many bytes direct I/O takes multiples.
const GRAIN_BYTES: u64 = 64 << 10;

/// Returns the facts that make two targets one: name, serial number where there is one, size. A file is one by its own
/// name and its disk; the way to it may be spelt otherwise.
fn identity(info: &TargetInfo) -> (String, Option<&str>, u64) {
    let serial = info.facts.iter().find(|fact| fact.key == "serial").map(|fact| fact.value.as_str());
    let own = || Path::new(&info.name).file_name().map_or(info.name.clone().into(), |name| name.to_string_lossy());
    let name = match (info.kind, serial) {
        (TargetKind::File, _) => format!("{} {}", info.title, own()),
        (_, Some(_)) => info.title.clone(),
        (_, None) => info.name.clone(),
    };
    (name, serial, info.capacity_bytes / GRAIN_BYTES)
}

/// The order in which phases are named says nothing.
fn phases(options: &ReviewOptions) -> Vec<&str> {
    let mut phases: Vec<&str> = options.only.iter().map(String::as_str).collect();
    phases.sort_unstable();
    phases.dedup();
    phases
}

/// Checks that `prior` is a part of the review that `plan` describes. A machine that measures may have changed meanwhile
/// (another kernel); a modelled one is part of the question.
pub fn check_resumable(
    prior: &ReviewResult,
    info: &TargetInfo,
    host: &HostInfo,
    plan: &Plan,
) -> Result<(), ResumeError> {
    if prior.partial.is_none() {
        return Err(ResumeError::Complete);
    }
    if identity(&prior.target) != identity(info) {
        return Err(ResumeError::OtherTarget { earlier: Reviewed::of(&prior.target), now: Reviewed::of(info) });
    }
    let (earlier, now) = (&prior.options, plan.options_report());
    let differs = |what: Asked| Err(ResumeError::OtherOptions { what });
    if earlier.seed != now.seed {
        return differs(Asked::Seed(earlier.seed));
    }
    if earlier.scale != now.scale {
        return differs(Asked::Scale(earlier.scale));
    }
    if earlier.fill != now.fill {
        return differs(Asked::Fill(earlier.fill));
    }
    if earlier.quick != now.quick {
        return differs(Asked::Quick(earlier.quick));
    }
    if phases(earlier) != phases(&now) {
        return differs(Asked::Only(earlier.only.iter().map(|phase| phase.as_str().into()).collect()));
    }
    // Points of different lengths can't be held against each other.
    if earlier.budget_s != now.budget_s {
        return differs(Asked::BudgetSeconds(earlier.budget_s));
    }
    if info.kind == TargetKind::Model {
        if prior.target.profile != info.profile {
            return differs(Asked::Card);
        }
        if prior.host != *host {
            return differs(Asked::Host(prior.host.name.as_str().into()));
        }
    }
    Ok(())
}
