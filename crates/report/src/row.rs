//! A row of a comparison: one figure of all devices.

use crate::devices::positive;
use crate::unit::Unit;
use results::words::times;

/// The direction in which a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Better {
    Higher,
    /// Response times, prices.
    Lower,
}

/// Unit of a row's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowUnit {
    /// As charts show it.
    Known(Unit),
    /// An amount of money for something: `USD per GB`.
    Other(String),
}

/// A figure of all devices.
#[derive(Clone, Debug, PartialEq)]
pub struct AdvantageRow {
    /// Group of the row: `Random reads`, `Price`.
    pub group: String,
    /// Name of the figure: `16 threads, p99 of reads`.
    pub label: String,
    /// Unit of the values.
    pub unit: RowUnit,
    /// Direction in which the figure is better.
    pub better: Better,
    /// One of the handful that a summary shows.
    pub key: bool,
    /// Value of each device; none where it has no such figure.
    pub values: Vec<Option<f64>>,
    /// Devices whose value is that of the machine that asked: they can do more, so nothing is won or lost with it.
    pub limited: Vec<bool>,
}

impl AdvantageRow {
    /// Returns the percentage by which it is better than the first device: for throughput B / A - 1, for times and
    /// prices A / B - 1. So `+100` is always twice as good. None for the first device, or where either has no figure.
    pub fn advantage(&self, device: usize) -> Option<f64> {
        let (first, this) = (positive(self.values[0]?)?, positive(self.values[device]?)?);
        let ratio = match self.better {
            Better::Higher => this / first,
            Better::Lower => first / this,
        };
        (device > 0).then_some((ratio - 1.0) * 100.0)
    }

    /// A value with its unit; a dash where there is none.
    pub fn show(&self, device: usize) -> String {
        match (self.values[device], &self.unit) {
            (None, _) => "–".into(),
            (Some(value), RowUnit::Known(unit)) => unit.show(value),
            (Some(value), RowUnit::Other(unit)) => format!("{} {unit}", crate::unit::three_digits(value)),
        }
    }

    /// `1.4 times better`, `17 times worse`, `4 % better`; a dash where nothing can be said. A share of what is there, such
    /// as −94 %, tells nobody that the other is seventeen times as fast.
    pub fn show_times(&self, device: usize) -> String {
        let Some(percent) = self.advantage(device) else { return "–".into() };
        let ratio = percent / 100.0 + 1.0;
        let (ratio, word) = if ratio < 1.0 { (1.0 / ratio, "worse") } else { (ratio, "better") };
        match ratio {
            r if r < 1.005 => "the same".into(),
            r if r < 1.095 => format!("{:.0} % {word}", (r - 1.0) * 100.0),
            r => format!("{} {word}", times(r)),
        }
    }
}
