//! The quantities that may vary.

use crate::whatif::setup::Setup;
use load::FileioMode;
use profile::{ProfileError, parse_bytes};
use results::{WhatifAxis, WhatifUnit};
use serde_json::{Value, json};

/// An axis with its values, in the order in which they were asked.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Axis {
    /// Percent of the user capacity in use, above 0, at most 100.
    Fill(Vec<f64>),
    /// Percent of the capacity sold that is given up at format, at least 0, below 100: `ftl.reserve`.
    Reserve(Vec<f64>),
    /// Kinds of load, as fileio names them.
    Load(Vec<FileioMode>),
    /// Percent of the requests that read, in a mix.
    ReadPercent(Vec<f64>),
    /// Bytes of a request.
    Block(Vec<u32>),
    Threads(Vec<u32>),
    /// A number or a choice of the card's or the host's file.
    Setting {
        key: String,
        /// As they would follow the `=`.
        values: Vec<String>,
    },
}

impl Axis {
    /// Its key in results.
    pub fn key(&self) -> &str {
        match self {
            Axis::Fill(_) => "fill",
            Axis::Reserve(_) => "reserve",
            Axis::Load(_) => "load",
            Axis::ReadPercent(_) => "read_percent",
            Axis::Block(_) => "block",
            Axis::Threads(_) => "threads",
            Axis::Setting { key, .. } => key,
        }
    }

    /// Returns the label for people.
    pub fn label(&self) -> &str {
        match self {
            Axis::Fill(_) => "Space in use",
            Axis::Reserve(_) => "Reserve",
            Axis::Load(_) => "Load",
            Axis::ReadPercent(_) => "Share of reads",
            Axis::Block(_) => "Block size",
            Axis::Threads(_) => "Threads",
            Axis::Setting { key, .. } => key,
        }
    }

    /// Returns the number of its values.
    pub fn len(&self) -> usize {
        match self {
            Axis::Fill(v) | Axis::Reserve(v) | Axis::ReadPercent(v) => v.len(),
            Axis::Load(v) => v.len(),
            Axis::Block(v) | Axis::Threads(v) => v.len(),
            Axis::Setting { values, .. } => values.len(),
        }
    }

    /// Returns whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the unit of its values.
    pub fn unit(&self) -> WhatifUnit {
        match self {
            Axis::Fill(_) | Axis::Reserve(_) | Axis::ReadPercent(_) => WhatifUnit::Percent,
            Axis::Load(_) => WhatifUnit::Name,
            Axis::Block(_) => WhatifUnit::Bytes,
            Axis::Threads(_) => WhatifUnit::Count,
            Axis::Setting { values, .. } => {
                let all = |is: fn(&str) -> bool| values.iter().all(|value| is(value));
                if all(|v| number(v).is_some()) {
                    WhatifUnit::Count
                } else if all(|v| percent(v).is_some()) {
                    WhatifUnit::Percent
                } else if all(|v| v.starts_with(|c: char| c.is_ascii_digit()) && parse_bytes(v).is_ok()) {
                    WhatifUnit::Bytes
                } else {
                    WhatifUnit::Name
                }
            }
        }
    }

    /// A value, as results have it.
    pub fn value(&self, i: usize) -> Value {
        match self {
            Axis::Fill(v) | Axis::Reserve(v) | Axis::ReadPercent(v) => json!(v[i]),
            Axis::Load(v) => json!(v[i].name()),
            Axis::Block(v) | Axis::Threads(v) => json!(v[i]),
            Axis::Setting { values, .. } => {
                let text = &values[i];
                match self.unit() {
                    WhatifUnit::Count => json!(number(text)),
                    WhatifUnit::Percent => json!(percent(text)),
                    WhatifUnit::Bytes => json!(parse_bytes(text).ok()),
                    WhatifUnit::Name => json!(text),
                }
            }
        }
    }

    /// Describes the axis for results.
    pub fn describe(&self) -> WhatifAxis {
        WhatifAxis {
            key: self.key().to_owned(),
            label: self.label().to_owned(),
            unit: self.unit(),
            values: (0..self.len()).map(|i| self.value(i)).collect(),
        }
    }

    /// A value as it was typed, with its option.
    pub(crate) fn typed(&self, i: usize) -> String {
        match self {
            Axis::Fill(v) => format!("--fill {}", v[i]),
            Axis::Reserve(v) => format!("--reserve {}", v[i]),
            Axis::Load(v) => format!("--load {}", v[i]),
            Axis::ReadPercent(v) => format!("--read-percent {}", v[i]),
            Axis::Block(v) => format!("--block {}", v[i]),
            Axis::Threads(v) => format!("--threads {}", v[i]),
            Axis::Setting { key, values } => format!("--vary {key}={}", values[i]),
        }
    }

    /// Puts a value into a setup.
    pub(crate) fn apply(&self, i: usize, setup: &mut Setup) -> Result<(), ProfileError> {
        match self {
            Axis::Fill(v) => setup.fill = v[i] / 100.0,
            Axis::Reserve(v) => setup.profile.set(&format!("ftl.reserve={}%", v[i]))?,
            Axis::Load(v) => setup.load.mode = v[i],
            Axis::ReadPercent(v) => setup.load.rw_ratio = reads_for_each_write(v[i]),
            Axis::Block(v) => setup.load.block_bytes = v[i],
            Axis::Threads(v) => setup.load.threads = v[i],
            Axis::Setting { key, values } => {
                let setting = format!("{key}={}", values[i]);
                if key.trim_start().starts_with("host.") {
                    setup.host.set(&setting)?;
                } else {
                    setup.profile.set(&setting)?;
                }
            }
        }
        Ok(())
    }

    /// Returns whether its values change what the card is, and not only what it is asked.
    pub(crate) fn changes_device(&self) -> bool {
        matches!(self, Axis::Reserve(_)) || matches!(self, Axis::Setting { key, .. } if !key.starts_with("host."))
    }
}

/// The largest ratio that a load takes stands for reads alone.
fn reads_for_each_write(percent: f64) -> f64 {
    (percent / (100.0 - percent)).min(1e9)
}

fn number(text: &str) -> Option<f64> {
    text.replace('_', "").parse::<f64>().ok().filter(|value| value.is_finite())
}

fn percent(text: &str) -> Option<f64> {
    number(text.strip_suffix('%')?.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_setting_are_numbers_where_they_can_be() {
        let axis = |values: &[&str]| Axis::Setting {
            key: "a.b".into(),
            values: values.iter().map(ToString::to_string).collect(),
        };
        for (values, unit, first) in [
            (&["1_000", "2"][..], WhatifUnit::Count, json!(1000.0)),
            (&["10%", "20%"], WhatifUnit::Percent, json!(10.0)),
            (&["8MiB", "16MiB"], WhatifUnit::Bytes, json!(8 << 20)),
            (&["greedy", "fifo"], WhatifUnit::Name, json!("greedy")),
            (&["none", "4"], WhatifUnit::Name, json!("none")),
            (&["inf", "nan"], WhatifUnit::Name, json!("inf")),
        ] {
            assert_eq!((axis(values).unit(), axis(values).value(0)), (unit, first), "{values:?}");
        }
    }

    #[test]
    fn a_share_of_reads_is_a_ratio() {
        assert_eq!(reads_for_each_write(60.0), 1.5);
        assert_eq!(reads_for_each_write(0.0), 0.0);
        assert_eq!(reads_for_each_write(100.0), 1e9);
    }
}
