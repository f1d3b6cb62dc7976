//! Model against published measurements, point by point.

use serde::{Deserialize, Serialize};

/// Model against a published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Key, the published file's name without its ending, with the device where a file has several.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// The card's name.
    pub card: String,
    /// Point by point.
    pub points: Vec<ComparisonPoint>,
    /// Mean of the absolute errors of the points that have one.
    pub mean_error: Option<f64>,
    /// Bound on that mean.
    pub mean_error_bound: Option<f64>,
    /// Every bound holds.
    pub holds: bool,
    /// A note for the reader of the table.
    pub note: String,
}

/// The model and a published figure at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonPoint {
    /// Label of the point: `20 % in use`, `random read, 16 threads`.
    pub label: String,
    /// Unit of both figures.
    pub unit: String,
    /// The published figure or statement.
    pub published: Published,
    /// By the model.
    pub model: f64,
    /// model / published - 1, where a figure was published.
    pub error: Option<f64>,
    /// The bound on the point holds.
    pub holds: bool,
}

/// Published figure or statement about a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Published {
    /// A figure; the model must come within `bound` of it.
    Figure {
        value: f64,
        bound: f64,
    },
    /// At least this.
    AtLeast {
        value: f64,
    },
    /// At most this.
    AtMost {
        value: f64,
    },
    Between {
        low: f64,
        high: f64,
    },
}

impl Published {
    /// Returns whether the model's figure satisfies it, and the error where there is one.
    pub fn judge(&self, model: f64) -> (bool, Option<f64>) {
        match *self {
            Published::Figure { value, bound } => {
                let error = model / value - 1.0;
                (error.abs() <= bound, Some(error))
            }
            Published::AtLeast { value } => (model >= value, None),
            Published::AtMost { value } => (model <= value, None),
            Published::Between { low, high } => ((low..=high).contains(&model), None),
        }
    }
}

impl ComparisonPoint {
    /// Compares a modelled value with a published one.
    pub fn new(label: impl Into<String>, unit: &str, published: Published, model: f64) -> ComparisonPoint {
        let (holds, error) = published.judge(model);
        ComparisonPoint { label: label.into(), unit: unit.into(), published, model, error, holds }
    }
}

impl Comparison {
    /// Judges all points, and their mean error where that is bounded too.
    pub fn new(
        name: &str,
        title: &str,
        card: &str,
        points: Vec<ComparisonPoint>,
        mean_error_bound: Option<f64>,
        note: &str,
    ) -> Comparison {
        let errors: Vec<f64> = points.iter().filter_map(|p| p.error).map(f64::abs).collect();
        let mean_error = (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
        let mean_holds = match (mean_error, mean_error_bound) {
            (Some(mean), Some(bound)) => mean <= bound,
            _ => true,
        };
        Comparison {
            name: name.into(),
            title: title.into(),
            card: card.into(),
            holds: mean_holds && points.iter().all(|p| p.holds),
            points,
            mean_error,
            mean_error_bound,
            note: note.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_holds_when_every_point_and_the_mean_do() {
        let figure = |model| ComparisonPoint::new("p", "MB/s", Published::Figure { value: 100.0, bound: 0.12 }, model);
        let compare = |points| Comparison::new("t", "t", "c", points, Some(0.07), "");
        assert!(compare(vec![figure(111.0), figure(98.0)]).holds);
        assert!(!compare(vec![figure(113.0), figure(100.0)]).holds, "a point is out");
        assert!(!compare(vec![figure(111.0), figure(91.0)]).holds, "the mean is out");
        assert!(!compare(vec![figure(f64::NAN)]).holds, "no figure is no success");
        let bound = ComparisonPoint::new("p", "ms", Published::AtMost { value: 3.1 }, 3.2);
        assert!(!bound.holds && bound.error.is_none());
    }
}
