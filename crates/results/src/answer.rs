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
    /// Ground of the gain.
    #[serde(default)]
    pub ground: Ground,
    /// The card that computed it; absent where the gain is one measured point over another.
    #[serde(default)]
    pub twin: Option<Twin>,
}

/// Ground of an action's gain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// Measured points, and nothing between them.
    #[default]
    Points,
    /// Points that a modelled card did, between those that were measured.
    Twin,
}

/// A modelled card that stands for the device, held against the sweep that it was asked to fill.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Twin {
    /// Measured points of the sweep that it was fitted to; absent where the device is a model, which is its own twin.
    pub fitted_points: Option<u32>,
    /// Points that it did in their place.
    pub computed_points: u32,
    /// Median distance of its throughput from that of the sweep's other measured points, as a share.
    pub error: f64,
    /// Seconds that fit and points took by the clock; absent for models, whose results don't depend on the clock.
    pub took_s: Option<f64>,
}

impl Action {
    /// The ground in words; none where the gain is measured, or where there is none.
    pub fn ground_words(&self) -> Option<String> {
        let twin = self.twin.as_ref().filter(|_| self.ground == Ground::Twin)?;
        let (points, off) = (twin.computed_points, twin.error * 100.0);
        Some(match twin.fitted_points {
            None => format!("{points} points of the model itself, {off:.1} % off the review's in the median"),
            Some(fitted) => format!(
                "{points} points of a card fitted to {fitted} measured ones{}, {off:.1} % off the others in the median",
                twin.took_s.map_or(String::new(), |s| format!(" in {s:.1} s")),
            ),
        })
    }
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
