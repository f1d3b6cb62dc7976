//! The outcome of a fit: the card, how well each number is determined, and how well it predicts.

use crate::fit::observation::Figure;
use serde::Serialize;

/// Determination of a parameter by the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Between its bounds.
    Determined,
    /// No less than its value, about: more would not show.
    AtLeast,
    /// No more than its value, about: less would not show.
    AtMost,
    /// Only together with others: a change shows, and others can make up for it.
    Together,
    /// Half as much again or two thirds of it would move no figure beyond its noise. It stays what the base says.
    Undetermined,
}

impl Status {
    /// Returns the words for people.
    pub fn words(self) -> &'static str {
        match self {
            Status::Determined => "determined",
            Status::AtLeast => "at least",
            Status::AtMost => "at most",
            Status::Together => "with others",
            Status::Undetermined => "undetermined",
        }
    }
}

/// A parameter of the fitted card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Key in the card's file, or what it is called where it is none.
    pub name: String,
    /// In the unit that the name ends in; names for choices.
    pub value: String,
    /// The same as a number, where it is one.
    pub number: Option<f64>,
    /// Two standard deviations below, in the same unit.
    pub low: Option<f64>,
    /// Two standard deviations above.
    pub high: Option<f64>,
    /// Determination by the results.
    pub status: Status,
}

/// A figure at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedFigure {
    /// Name of the figure: `bytes_per_s`, `read_p99_ns` …
    pub figure: &'static str,
    /// Value of the figure as it was measured.
    pub measured: f64,
    /// As the fitted card has it.
    pub fitted: f64,
    /// fitted / measured - 1.
    pub error: f64,
    /// As a card predicts it that was fitted without this point; absent where every fit had it.
    pub predicted: Option<f64>,
    #[serde(skip)]
    pub(crate) of: Option<Figure>,
}

/// A point, measured against fitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedPoint {
    /// Name of the file that it is from.
    pub file: String,
    /// Name of the sweep.
    pub sweep: String,
    /// Short description of the load.
    pub condition: String,
    /// No fit but those of the cross-validation saw it.
    pub held_out: bool,
    /// Figures of the point.
    pub figures: Vec<FittedFigure>,
}

/// Errors of predictions: shares of what was measured, without sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Errors {
    /// Figures that were predicted.
    pub figures: usize,
    /// Half of them are better.
    pub median: f64,
    /// Nineteen of twenty are better.
    pub p95: f64,
    /// The worst of the errors.
    pub most: f64,
}

impl Errors {
    /// Summarises errors in any order.
    pub fn of(mut errors: Vec<f64>) -> Errors {
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let i = (share * errors.len() as f64).ceil() as usize;
            errors.get(i.saturating_sub(1)).copied().unwrap_or(0.0)
        };
        Errors { figures: errors.len(), median: at(0.5), p95: at(0.95), most: at(1.0) }
    }
}

/// Returns the distance of a figure from another, as a share, the same for too much as for too little.
pub fn distance(a: f64, b: f64) -> f64 {
    (a / b).ln().abs().exp_m1()
}

/// A fitted card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// `flashrig-fit`: what tells this from other JSON.
    pub kind: &'static str,
    /// Version of this structure.
    pub schema: u32,
    /// Files that it was fitted to.
    pub files: Vec<String>,
    /// The card that it began with.
    pub base: String,
    /// The host in front of it.
    pub host: String,
    /// Root seed of the simulations.
    pub seed: u64,
    /// Parameters, numbers first.
    pub parameters: Vec<Parameter>,
    /// Measured against fitted.
    pub points: Vec<FittedPoint>,
    /// Errors of throughput at points that were left out.
    pub left_out_throughput: Errors,
    /// Errors of latencies there.
    pub left_out_latency: Errors,
    /// Median error of throughput above which a fit is none.
    pub bound: f64,
    /// The predictions keep to it.
    pub good: bool,
    /// Remarks on points that were left out or assumed.
    pub notes: Vec<String>,
    /// Points that were simulated.
    pub simulated_points: u64,
    /// The card's file.
    #[serde(skip)]
    pub card_toml: String,
    /// The host's file, where what it costs was fitted.
    #[serde(skip)]
    pub host_toml: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_errors_are_errors_that_occurred() {
        let errors = Errors::of((1..=20).rev().map(f64::from).collect());
        assert_eq!((errors.median, errors.p95, errors.most, errors.figures), (10.0, 19.0, 20.0, 20));
        assert_eq!(Errors::of(Vec::new()), Errors::default());
    }

    #[test]
    fn half_is_as_far_as_double() {
        assert!((distance(2.0, 1.0) - distance(1.0, 2.0)).abs() < 1e-12);
        assert!((distance(1.1, 1.0) - 0.1).abs() < 1e-12);
    }
}
