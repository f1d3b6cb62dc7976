//! May a review go on from an earlier, partial result?

use crate::plan::Plan;
use results::{HostInfo, ReviewOptions, ReviewResult, TargetInfo, TargetKind};
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
    OtherTarget { earlier: String, now: String },
    /// It was asked in another way.
    #[error("it was asked with {what}: resume with the same options, or begin a new review with --out")]
    OtherOptions { what: String },
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
        let words = |i: &TargetInfo| format!("{} ({} bytes)", i.name, i.capacity_bytes);
        return Err(ResumeError::OtherTarget { earlier: words(&prior.target), now: words(info) });
    }
    let (earlier, now) = (&prior.options, plan.options_report());
    let differs = |what: String| Err(ResumeError::OtherOptions { what });
    if earlier.seed != now.seed {
        return differs(format!("--seed {}", earlier.seed));
    }
    if earlier.scale != now.scale {
        return differs(format!("--scale {}", earlier.scale));
    }
    if earlier.fill != now.fill {
        return differs(format!("--fill {}", earlier.fill));
    }
    if earlier.quick != now.quick {
        return differs(if earlier.quick { "--quick".into() } else { "no --quick".into() });
    }
    if phases(earlier) != phases(&now) {
        let only = earlier.only.join(",");
        return differs(if only.is_empty() { "no --only".into() } else { format!("--only {only}") });
    }
    // Points of different lengths can't be held against each other.
    if earlier.budget_s != now.budget_s {
        return differs(earlier.budget_s.map_or("no --budget".into(), |seconds| format!("--budget {seconds}s")));
    }
    if info.kind == TargetKind::Model {
        if prior.target.profile != info.profile {
            return differs("another card file, or other settings (--set)".into());
        }
        if prior.host != *host {
            return differs(format!("--host {}, or other settings of it (--set)", prior.host.name));
        }
    }
    Ok(())
}
