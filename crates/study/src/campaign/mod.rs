//! How is a large grid divided over machines?
//!
//! A plan has the question and its units. A unit is a prepared state and the points that share it, or a combination of a
//! search; it depends on no other. Each worker writes the answers of its units as records, a line each, into a part, and the
//! parts of a plan are merged into the result that one machine would have had, to the bit.
//!
//! Invariants:
//! - a plan and a record have a hash of their content, so damage is noticed and another plan's answers never count;
//! - merging is idempotent and does not depend on the order of parts;
//! - a unit without an answer is named.
//!
//! No file is opened here: texts come in, texts go out.

mod json_error;
mod merge;
mod part;
mod plan;

pub use json_error::JsonError;
pub use merge::{MergeError, merge, merge_some};
pub use part::{Header, Part, PartError, PartProblem, Record};
pub use plan::{Hash, Named, Plan, PlanError, Unit};
