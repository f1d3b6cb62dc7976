//! Answers of some units of a plan: a head, and a line for each unit.
//!
//! A worker that was killed leaves a last line without an end: it does not count, and the unit is done again.

use crate::campaign::json_error::JsonError;
use crate::campaign::plan::{Hash, Plan, PlanError};
use results::{WhatifFound, WhatifPoint};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// First line of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Kind of the file: always [`Part::KIND`].
    pub kind: String,
    /// Version of the format, [`Part::SCHEMA`].
    pub schema: u32,
    /// The whole plan: parts are merged without its file.
    pub plan: Plan,
}

/// The answer of a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Place of the unit in the plan.
    pub unit: usize,
    /// Answers of its points, in their order; of a search, all that were tried.
    pub points: Vec<WhatifPoint>,
    /// Outcome of a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<WhatifFound>,
    /// Hash of the plan's id and all the above.
    pub sha256: Hash,
}

/// Answers of some units.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The plan that they belong to.
    pub plan: Plan,
    /// As they were written.
    pub records: Vec<Record>,
    /// Bytes of whole lines: what follows is the beginning of one.
    pub whole_bytes: usize,
}

/// The line of a part that is not what it should be.
#[derive(Debug, Error)]
#[error("line {line}: {problem}")]
pub struct PartError {
    /// Counts from 1.
    pub line: usize,
    /// The problem of the line.
    pub problem: PartProblem,
}

/// The reason why a line is no part of a part.
#[derive(Debug, Error)]
pub enum PartProblem {
    /// The text is no JSON, or has other keys.
    #[error("no part of a campaign: {0}")]
    Json(#[from] JsonError),
    /// The head is of another kind or version.
    #[error("no head of a part")]
    Head,
    /// The plan in the head is none.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The hash of a record is not that of its content.
    #[error("the record is damaged: its content and its hash differ")]
    Damaged,
    /// The plan has no such unit, or one of other points.
    #[error("the record is not of a unit of this plan")]
    Unit,
}

impl Record {
    /// The answer of a unit of a plan.
    pub fn new(plan: &Plan, unit: usize, points: Vec<WhatifPoint>, found: Option<WhatifFound>) -> Record {
        let mut record = Record { unit, points, found, sha256: Hash::default() };
        record.sha256 = record.hash(plan);
        record
    }

    /// The record as a line, with its end.
    pub fn line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("keys are text");
        line.push('\n');
        line
    }

    fn hash(&self, plan: &Plan) -> Hash {
        let bare = Record { sha256: Hash::default(), ..self.clone() };
        Hash::of(&[plan.id.digits(), &serde_json::to_string(&bare).expect("keys are text")])
    }

    fn check(&self, plan: &Plan) -> Result<(), PartProblem> {
        if self.hash(plan) != self.sha256 {
            return Err(PartProblem::Damaged);
        }
        match plan.units.get(self.unit) {
            Some(unit) if self.found.is_some() || unit.points.len() == self.points.len() => Ok(()),
            _ => Err(PartProblem::Unit),
        }
    }
}

impl Part {
    /// Kind that tells a part from other files.
    pub const KIND: &'static str = "flashrig-part";
    /// Version of the format.
    pub const SCHEMA: u32 = 1;

    /// The first line of a part, with its end.
    pub fn head(plan: &Plan) -> String {
        let header = Header { kind: Part::KIND.into(), schema: Part::SCHEMA, plan: plan.clone() };
        let mut line = serde_json::to_string(&header).expect("keys are text");
        line.push('\n');
        line
    }

    /// Reads a part that this version of the program has written; a last line without an end is left out.
    pub fn parse(text: &str, generator: &str) -> Result<Part, PartError> {
        let whole_bytes = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole_bytes].lines();
        let at = |line: usize| move |problem: PartProblem| PartError { line, problem };
        let head: Header =
            serde_json::from_str(lines.next().unwrap_or(text)).map_err(|e| at(1)(JsonError::from(e).into()))?;
        if head.kind != Part::KIND || head.schema != Part::SCHEMA || whole_bytes == 0 {
            return Err(at(1)(PartProblem::Head));
        }
        let plan = Plan::checked(head.plan, generator).map_err(|e| at(1)(e.into()))?;
        let mut records = Vec::new();
        for (i, line) in lines.enumerate() {
            let record: Record = serde_json::from_str(line).map_err(|e| at(i + 2)(JsonError::from(e).into()))?;
            record.check(&plan).map_err(at(i + 2))?;
            records.push(record);
        }
        Ok(Part { plan, records, whole_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key with line feeds in it is quoted by the error; libFuzzer found it.
    #[test]
    fn an_error_is_one_line_whatever_the_text_has_for_keys() {
        let text = r#"{"\n\n\\\n\n7777\\\n\n77772""#;
        let errors = [Plan::parse(text, "v").unwrap_err().to_string(), Part::parse(text, "v").unwrap_err().to_string()];
        for error in errors {
            assert_eq!(error.lines().count(), 1, "{error}");
            assert!(error.contains(r"\n7777\\n"), "{error}");
        }
    }
}
