//! Conditions on figures, for a benchmark that is to fail when its figures get worse: `p99>+10%`, `iops<-5%`.
//!
//! `[SWEEP[@X]:][CLASS.]FIGURE(<|>)LIMIT`. A limit with a sign and a percent sign is held against the first side's figure
//! at the same point, any other limit against the figure itself. A condition is met where the whole interval of confidence
//! lies beyond its limit; where the figure does and its interval does not, more repeats would tell.

mod condition;
mod figure;
mod judge;

pub use condition::{Condition, ConditionError};
pub use judge::{Finding, Outcome, Unmatched, judge};
