//! The answer that somebody needs who has to decide by tomorrow: one sentence, one limit, one action, four figures.

use serde::{Deserialize, Serialize};

/// The answer of a review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Uses of the device, in figures that a database administrator plans with.
    pub sentence: String,
    /// The limit that is met first, as the verdict says it; empty: none was measured.
    pub limit: String,
    /// The first thing to do about it.
    pub action: Action,
    /// Figures to plan with, at most four.
    pub figures: Vec<KeyFigure>,
}

/// An action, and what is gained by it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// The action in words, its gain included.
    pub text: String,
    /// Throughput with it over throughput without it, or time without it over time with it; absent where nothing is
    /// measured against anything.
    pub gain: Option<f64>,
    /// The sweep that shows it, as in a claim.
    pub chart: String,
}

/// A figure to plan with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeyFigure {
    /// Key: `transactions_s`, `commits_s`, `full_write_bytes_s`, `read_p999_ns`, `reads_s`, `writes_s` …
    pub name: String,
    /// Name for people.
    pub label: String,
    /// The number itself, in the unit that ends its key.
    pub value: f64,
    /// The number as it is written everywhere, with its unit.
    pub text: String,
    /// Circumstances under which the number holds.
    pub detail: String,
    /// The sweep that shows it, as in a claim.
    pub chart: String,
}
