//! The question of a campaign and its units.

use crate::campaign::json_error::JsonError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use thiserror::Error;

/// A question that is answered in parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Kind of the file: always [`Plan::KIND`].
    pub kind: String,
    /// Version of the format, [`Plan::SCHEMA`].
    pub schema: u32,
    /// The program that made it; another version may have other figures, so it refuses the plan.
    pub generator: String,
    /// The card in question.
    pub card: Named,
    /// The host that issues the requests.
    pub host: Named,
    /// Options of `flashrig whatif`, as they are typed.
    pub words: Vec<String>,
    /// Parts of the question that depend on no other.
    pub units: Vec<Unit>,
    /// Hash of all the above.
    pub id: Hash,
}

/// A card or a host, built in or from a file. The text of a file comes along: workers need no file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// The name of what is built in, or of the file.
    pub name: String,
    /// The text of the file; absent for what is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A part of the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// Points of the grid that share a state, or the combination of a search.
    pub points: Vec<usize>,
}

/// A SHA-256, in hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hash(String);

impl Hash {
    /// Hash of texts, with a line's end after each.
    pub(super) fn of(texts: &[&str]) -> Hash {
        let mut sha = Sha256::new();
        for text in texts {
            sha.update(text.as_bytes());
            sha.update(b"\n");
        }
        Hash(sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub(super) fn digits(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get(..12).unwrap_or(&self.0))
    }
}

/// The reason why a text is no plan of this program.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The text is no JSON, or has other keys.
    #[error("no plan: {0}")]
    Json(#[from] JsonError),
    /// The text is JSON of another kind.
    #[error("no plan, but JSON of another kind")]
    Kind,
    /// Another version of the program made it, whose figures may differ.
    #[error("another version of flashrig made the plan: make it again with this one")]
    Version,
    /// The text was changed after it was made.
    #[error("the plan is not as it was made: its content and its id differ")]
    Changed,
    /// The units are not a division of the question.
    #[error("the units of the plan are not each point once")]
    Units,
}

impl Plan {
    /// Kind that tells a plan from other files.
    pub const KIND: &'static str = "flashrig-plan";
    /// Version of the format.
    pub const SCHEMA: u32 = 1;

    /// The plan of a question, whose units are given.
    pub fn new(generator: &str, card: Named, host: Named, words: Vec<String>, units: Vec<Vec<usize>>) -> Plan {
        let units = units.into_iter().map(|points| Unit { points }).collect();
        let (kind, generator) = (Plan::KIND.to_owned(), generator.to_owned());
        let mut plan = Plan { kind, schema: Plan::SCHEMA, generator, card, host, words, units, id: Hash::default() };
        plan.id = plan.hash();
        plan
    }

    /// Reads a plan that this version of the program has made.
    pub fn parse(text: &str, generator: &str) -> Result<Plan, PlanError> {
        Plan::checked(serde_json::from_str(text).map_err(JsonError::from)?, generator)
    }

    pub(super) fn checked(plan: Plan, generator: &str) -> Result<Plan, PlanError> {
        if plan.kind != Plan::KIND {
            return Err(PlanError::Kind);
        }
        if plan.schema != Plan::SCHEMA || plan.generator != generator {
            return Err(PlanError::Version);
        }
        if plan.hash() != plan.id {
            return Err(PlanError::Changed);
        }
        let mut points: Vec<usize> = plan.units.iter().flat_map(|unit| unit.points.iter().copied()).collect();
        points.sort_unstable();
        let each_once = points.iter().enumerate().all(|(i, &point)| i == point);
        if !each_once || plan.units.iter().any(|unit| unit.points.is_empty()) {
            return Err(PlanError::Units);
        }
        Ok(plan)
    }

    /// The plan as its file has it.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("keys are text");
        text.push('\n');
        text
    }

    /// Returns the number of points, or of a search's combinations.
    pub fn count(&self) -> usize {
        self.units.iter().map(|unit| unit.points.len()).sum()
    }

    fn hash(&self) -> Hash {
        let bare = Plan { id: Hash::default(), ..self.clone() };
        Hash::of(&[&serde_json::to_string(&bare).expect("keys are text")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let named = |name: &str| Named { name: name.into(), text: None };
        Plan::new("flashrig 1", named("card"), named("host"), vec!["--fill=50".into()], vec![vec![0, 2], vec![1]])
    }

    #[test]
    fn a_plan_is_read_as_it_was_written_and_not_when_it_was_changed() {
        let text = plan().to_json();
        assert_eq!(Plan::parse(&text, "flashrig 1").unwrap(), plan());
        for (from, to, what) in [
            ("--fill=50", "--fill=60", "not as it was made"),
            ("flashrig-plan", "flashrig-part", "another kind"),
            ("flashrig 1", "flashrig 2", "another version"),
            ("\"units\"", "\"unit\"", "no plan"),
        ] {
            let error = Plan::parse(&text.replacen(from, to, 1), "flashrig 1").unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn units_are_each_point_once() {
        for units in [vec![vec![0, 1], vec![1]], vec![vec![0], vec![2]], vec![vec![0], vec![]]] {
            let made = Plan::new("v", plan().card, plan().host, Vec::new(), units);
            assert!(matches!(Plan::parse(&made.to_json(), "v"), Err(PlanError::Units)));
        }
    }
}
