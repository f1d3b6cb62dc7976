//! May a review go on from an earlier, partial result?

use crate::plan::Plan;
use results::{ReviewResult, TargetInfo};
use target::Target;

/// Why a result can't be gone on from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ResumeError {
    /// There is nothing to do.
    #[error("the review is complete: there is nothing to resume")]
    Complete,
    /// It is about something else.
    #[error("it is a review of {earlier}, not of {now}: points of two devices don't make one review")]
    OtherTarget {
        /// What it is about.
        earlier: String,
        /// What was asked for.
        now: String,
    },
    /// It was asked in another way.
    #[error("it was asked with {what}: resume with the same options, or begin a new review with --out")]
    OtherOptions {
        /// What differs, and how it was.
        what: String,
    },
}

/// What makes two targets one: name, serial number where there is one, size.
fn identity(info: &TargetInfo) -> (String, Option<&str>, u64) {
    let serial = info.facts.iter().find(|fact| fact.key == "serial").map(|fact| fact.value.as_str());
    let name = if serial.is_some() { info.title.clone() } else { info.name.clone() };
    (name, serial, info.capacity_bytes)
}

/// Checks that `prior` is a part of the review that `plan` describes.
pub fn check_resumable(prior: &ReviewResult, target: &dyn Target, plan: &Plan) -> Result<(), ResumeError> {
    if prior.partial.is_none() {
        return Err(ResumeError::Complete);
    }
    let info = target.info();
    if identity(&prior.target) != identity(&info) {
        let words = |i: &TargetInfo| format!("{} ({} bytes)", i.name, i.capacity_bytes);
        return Err(ResumeError::OtherTarget { earlier: words(&prior.target), now: words(&info) });
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
    let changed = |info: &TargetInfo| info.profile.as_ref().map(|profile| profile["changed"].clone());
    if changed(&prior.target) != changed(&info) {
        return differs("other settings (--set)".into());
    }
    Ok(())
}
