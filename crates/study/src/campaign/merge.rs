//! Parts of a plan become the answer of its units.

use crate::campaign::part::{Part, Record};
use thiserror::Error;

/// The reason why parts are no whole. Parts are named by their places in the list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MergeError {
    /// Parts of two plans can't be one result.
    #[error("two plans")]
    Plans {
        /// A part of the first plan.
        one: usize,
        /// A part of another.
        other: usize,
    },
    /// One unit has two answers that differ: one of the machines, or of the builds, is not like the other.
    #[error("two answers")]
    Answers {
        /// Place of the unit in the plan.
        unit: usize,
        /// The part with the first answer.
        one: usize,
        /// The part with another.
        other: usize,
    },
    /// Units have no answer.
    #[error("units are missing")]
    Missing {
        /// All of them, rising.
        units: Vec<usize>,
    },
}

/// The record of each unit, in the order of the plan. A record may be there any number of times.
pub fn merge(parts: &[Part]) -> Result<Vec<Record>, MergeError> {
    let (records, missing) = merge_some(parts)?;
    if parts.is_empty() || !missing.is_empty() {
        return Err(MergeError::Missing { units: missing });
    }
    Ok(records)
}

/// The records that there are, in the order of the plan, and the units that have none.
pub fn merge_some(parts: &[Part]) -> Result<(Vec<Record>, Vec<usize>), MergeError> {
    let Some(first) = parts.first() else { return Ok((Vec::new(), Vec::new())) };
    let mut found: Vec<Option<(usize, &Record)>> = vec![None; first.plan.units.len()];
    for (place, part) in parts.iter().enumerate() {
        if part.plan.id != first.plan.id {
            return Err(MergeError::Plans { one: 0, other: place });
        }
        for record in &part.records {
            match &found[record.unit] {
                None => found[record.unit] = Some((place, record)),
                Some((one, known)) if *known != record => {
                    return Err(MergeError::Answers { unit: record.unit, one: *one, other: place });
                }
                Some(_) => {}
            }
        }
    }
    let missing = (0..found.len()).filter(|&unit| found[unit].is_none()).collect();
    Ok((found.into_iter().flatten().map(|(_, record)| record.clone()).collect(), missing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::plan::{Named, Plan};
    use results::WhatifPoint;
    use serde_json::Map;

    fn plan(word: &str) -> Plan {
        let named = |name: &str| Named { name: name.into(), text: None };
        Plan::new("v", named("card"), named("host"), vec![word.into()], vec![vec![0], vec![1], vec![2]])
    }

    fn record(plan: &Plan, unit: usize, bytes: u64) -> Record {
        let point =
            WhatifPoint { at: Map::new(), user_bytes: bytes, used_bytes: 0, answer: None, failed: Some("no".into()) };
        Record::new(plan, unit, vec![point], None)
    }

    fn part(plan: &Plan, records: &[Record]) -> Part {
        let text = Part::head(plan) + &records.iter().map(Record::line).collect::<String>();
        Part::parse(&text, "v").unwrap()
    }

    #[test]
    fn merging_is_idempotent_and_does_not_depend_on_the_order() {
        let plan = plan("a");
        let records: Vec<Record> = (0..3).map(|unit| record(&plan, unit, 7)).collect();
        let (one, two) = (part(&plan, &records[..2]), part(&plan, &records[1..]));
        for parts in [vec![one.clone(), two.clone()], vec![two.clone(), one.clone(), two.clone(), one.clone()]] {
            assert_eq!(merge(&parts).unwrap(), records);
        }
        assert_eq!(merge(&[two]), Err(MergeError::Missing { units: vec![0] }));
        assert_eq!(merge(&[]), Err(MergeError::Missing { units: vec![] }));
    }

    #[test]
    fn what_does_not_belong_together_is_not_merged() {
        let (plan, other) = (plan("a"), plan("b"));
        let one = part(&plan, &[record(&plan, 0, 7)]);
        let foreign = part(&other, &[record(&other, 1, 7)]);
        assert_eq!(merge(&[one.clone(), foreign]), Err(MergeError::Plans { one: 0, other: 1 }));
        let differs = part(&plan, &[record(&plan, 0, 8)]);
        assert_eq!(merge(&[one, differs]), Err(MergeError::Answers { unit: 0, one: 0, other: 1 }));
    }

    #[test]
    fn damage_is_noticed_and_a_torn_line_does_not_count() {
        let plan = plan("a");
        let text = Part::head(&plan) + &record(&plan, 0, 7).line() + &record(&plan, 1, 7).line();
        let torn = Part::parse(&text[..text.len() - 1], "v").unwrap();
        assert_eq!((torn.records.len(), torn.plan), (1, plan));
        for (from, to, what) in [
            ("\"user_bytes\":7", "\"user_bytes\":8", "line 2: the record is damaged"),
            ("\"unit\":0", "\"unit\":9", "line 2: the record is damaged"),
            ("flashrig-part", "flashrig-plan", "line 1: no head"),
            ("\"words\":[\"a\"]", "\"words\":[\"b\"]", "line 1: the plan is not as it was made"),
        ] {
            let error = Part::parse(&text.replacen(from, to, 1), "v").unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        for text in ["", "\n", "{}", "{}\n", "[1]\nx"] {
            assert!(Part::parse(text, "v").is_err(), "{text:?}");
        }
    }
}
