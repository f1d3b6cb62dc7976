//! Files of Flashrig itself: reviews (`flashrig review --json`) and single runs (`flashrig run --json`).

mod check;
mod run;

use crate::document::Document;
use crate::{ImportError, Problem};
use results::{ReviewResult, RunResult};

/// Version of the schema of runs; see `docs/run-result.schema.json`.
const RUN_SCHEMA: u32 = 1;

/// A review. A program wrote the file, but perhaps not ours: nothing behind this doubts a histogram.
pub(crate) fn review(document: Document, schema: u64) -> Result<ReviewResult, ImportError> {
    if schema > u64::from(ReviewResult::SCHEMA) {
        return Err(document.error(Problem::NewerSchema { schema, reads: ReviewResult::SCHEMA }));
    }
    if schema < u64::from(ReviewResult::SCHEMA) {
        return Err(document.error(Problem::OlderReview { schema }));
    }
    let review: ReviewResult = document.only_value()?;
    check::review(&review).map_err(|problem| document.error(problem))?;
    Ok(review)
}

/// A run, as a sweep of one point.
pub(crate) fn run(document: Document, schema: u64) -> Result<ReviewResult, ImportError> {
    if schema > u64::from(RUN_SCHEMA) {
        return Err(document.error(Problem::NewerSchema { schema, reads: RUN_SCHEMA }));
    }
    let partial: run::Partial = document.first_value()?.0;
    let result: RunResult = document.only_value()?;
    let review = run::review(document.file, result, partial).map_err(|problem| document.error(problem))?;
    check::review(&review).map_err(|problem| document.error(problem))?;
    Ok(review)
}
