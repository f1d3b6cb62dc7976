//! The options of `flashrig whatif`.

use super::values::{BlockBytes, Nanoseconds, Scale, rate, seconds};
use super::{CacheArgs, LoadName, ModelledArgs};
use crate::quoted::Quoted;
use clap::{Args, ValueHint};
use load::Access;
use std::path::PathBuf;
use std::str::FromStr;
use thiserror::Error;

/// The options of `flashrig whatif`.
#[derive(Debug, Args)]
pub struct WhatifArgs {
    /// A built-in card (see flashrig cards), or the path of a TOML file (it ends in .toml or has a /)
    #[arg(value_hint = ValueHint::FilePath)]
    pub card: String,
    /// Axes that vary: lists joined by commas.
    #[command(flatten, next_help_heading = "What varies (V1,V2,...; the grid is the product of all)")]
    pub axes: AxisArgs,
    /// The bound to search for.
    #[command(flatten, next_help_heading = "Search: one of --fill, --reserve, --threads is a range LEAST..MOST")]
    pub bound: BoundArgs,
    /// Options that are the same for all points.
    #[command(flatten, next_help_heading = "The same for all")]
    pub common: CommonArgs,
    /// Destination of the answers.
    #[command(flatten, next_help_heading = "Output")]
    pub output: WhatifOutputArgs,
    /// Answer nothing: write the question and its units here, for flashrig work on several machines; - prints them
    #[arg(long, value_name = "PLAN.json", value_hint = ValueHint::FilePath, conflicts_with_all = ["out", "csv", "json"])]
    pub plan: Option<PathBuf>,
    /// The question as it was typed.
    #[arg(skip)]
    pub words: Vec<String>,
}

/// The axes of the grid.
#[derive(Debug, Args)]
pub struct AxisArgs {
    /// Percent of the user capacity in use
    #[arg(long, value_name = "PERCENT", default_value = "100")]
    pub fill: Values<Percent>,
    /// Percent of the capacity sold that is given up at format [default: as the card's file says]
    #[arg(long, value_name = "PERCENT")]
    pub reserve: Option<Values<Reserved>>,
    /// The numbers of threads
    #[arg(help = "Threads", long, value_name = "N", default_value = "8")]
    pub threads: Values<Threads>,
    /// The modes of sysbench's fileio
    #[arg(
        help = "What is asked: seqwr, seqrewr, seqrd, rndrd, rndwr, rndrw",
        long,
        short = 'l',
        value_name = "LOAD",
        default_value = "rndwr"
    )]
    pub load: Values<Mode>,
    /// Percent of the requests that read, in rndrw [default: 60]
    #[arg(long, value_name = "PERCENT")]
    pub read_percent: Option<Values<Share>>,
    /// Size of a request
    #[arg(long, value_name = "SIZE", default_value = "16k")]
    pub block: Values<BlockBytes>,
    /// Any number or choice of the card or the host: table.key=V1,V2,...; may be given again
    #[arg(long, value_name = "TABLE.KEY=V1,V2")]
    pub vary: Vec<Vary>,
}

/// The bound that is to hold.
#[derive(Debug, Args)]
pub struct BoundArgs {
    /// The value of the range up to which 99 of 100 requests take no longer than this
    #[arg(long, value_name = "TIME")]
    pub target_p99: Option<Nanoseconds>,
    /// The value of the range up to which all requests together move so many MB/s
    #[arg(long, value_name = "MB/S", value_parser = rate)]
    pub min_mb_s: Option<f64>,
}

/// Options that are the same for all points.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// Requests that each thread keeps outstanding
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub depth: u32,
    /// The pattern of the random loads
    #[arg(help = "Which blocks the random loads ask for: uniform, zipf:THETA, hot-cold:SPACE/ACCESSES, jesd219", long, value_name = "PATTERN", default_value_t = Access::Uniform)]
    pub access: Access,
    /// Think time of a thread between two requests
    #[arg(long, value_name = "TIME", default_value_t = Nanoseconds(0))]
    pub think: Nanoseconds,
    /// Requests a second of all threads together; without it, as fast as it goes
    #[arg(long, value_name = "IOPS", value_parser = rate)]
    pub rate: Option<f64>,
    /// Model the card at this part of its size; spare factor, dies and latencies are kept [default: 1/64]
    #[arg(long, value_name = "PART")]
    pub scale: Option<Scale>,
    /// The host of the model, its settings and its seed.
    #[command(flatten)]
    pub model: ModelledArgs,
    /// The card as a cache.
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Measure each point for so many virtual seconds [default: until its figures are stable]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
}

impl CommonArgs {
    /// All settings of the card and the host.
    pub fn settings(&self) -> Vec<String> {
        self.cache.after(&self.model.all_settings())
    }
}

/// Destination of the answers.
#[derive(Debug, Args)]
pub struct WhatifOutputArgs {
    /// Write a page with curves and heat maps
    #[arg(long, short = 'o', value_name = "PAGE.html", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Write a row for each point as CSV; - prints it in place of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// Write the result as JSON; - prints it in place of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
}

/// Most values of one axis.
const MAX_VALUES: usize = 1_000;

/// Values joined by commas, or a range of whole ones.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Values<T> {
    /// Each value for itself: `50,70,90`.
    List(Vec<T>),
    /// All whole numbers between two: `20..100`.
    Range(T, T),
}

/// The reason why they are none.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ValuesError<E> {
    /// One of them is none.
    #[error("{} {why}", .text.in_quotes())]
    Value { text: Quoted, why: E },
    /// Twice the same.
    #[error("{text} stands there twice")]
    Twice { text: Quoted },
    /// More than anybody waits for.
    #[error("has {count} values, at most {MAX_VALUES} are possible")]
    TooMany { count: usize },
    /// From much to little.
    #[error("a range goes from least to most")]
    Backward,
}

impl<T: FromStr + PartialEq + PartialOrd> FromStr for Values<T> {
    type Err = ValuesError<T::Err>;

    fn from_str(text: &str) -> Result<Values<T>, ValuesError<T::Err>> {
        let value = |text: &str| -> Result<T, ValuesError<T::Err>> {
            text.trim().parse().map_err(|why| ValuesError::Value { text: text.into(), why })
        };
        if let Some((least, most)) = text.split_once("..") {
            let (least, most) = (value(least)?, value(most)?);
            return if least <= most { Ok(Values::Range(least, most)) } else { Err(ValuesError::Backward) };
        }
        let count = text.split(',').count();
        if count > MAX_VALUES {
            return Err(ValuesError::TooMany { count });
        }
        let mut values: Vec<T> = Vec::new();
        for word in text.split(',') {
            let value = value(word)?;
            if values.contains(&value) {
                return Err(ValuesError::Twice { text: word.into() });
            }
            values.push(value);
        }
        Ok(Values::List(values))
    }
}

/// The reason why one value is none.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum AxisValueError {
    /// Nothing can be in nothing.
    #[error("is no percentage above 0 and at most 100")]
    Fill,
    /// Something must be left.
    #[error("is no percentage from 0 to below 100")]
    Reserve,
    /// A share of the requests is from nothing to all.
    #[error("is no percentage from 0 to 100")]
    Percentage,
    /// No number of threads.
    #[error("is no number of threads, a whole one from 1 to {}", load::MAX_PROCESSES)]
    Threads,
    /// No load, or none that can vary.
    #[error("is no load of a grid: {}", load::FileioMode::NAMES)]
    Load,
}

fn percent(text: &str) -> Option<f64> {
    text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok()
}

/// Percent in use.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

impl FromStr for Percent {
    type Err = AxisValueError;
    fn from_str(text: &str) -> Result<Percent, AxisValueError> {
        percent(text).filter(|&p| p > 0.0 && p <= 100.0).map(Percent).ok_or(AxisValueError::Fill)
    }
}

/// Percent given up at format.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Reserved(pub f64);

impl FromStr for Reserved {
    type Err = AxisValueError;
    fn from_str(text: &str) -> Result<Reserved, AxisValueError> {
        percent(text).filter(|p| (0.0..100.0).contains(p)).map(Reserved).ok_or(AxisValueError::Reserve)
    }
}

/// Percent of the requests.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = AxisValueError;
    fn from_str(text: &str) -> Result<Share, AxisValueError> {
        percent(text).filter(|p| (0.0..=100.0).contains(p)).map(Share).ok_or(AxisValueError::Percentage)
    }
}

/// A number of threads.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Threads(pub u32);

impl FromStr for Threads {
    type Err = AxisValueError;
    fn from_str(text: &str) -> Result<Threads, AxisValueError> {
        let possible = |n: &u32| (1..=load::MAX_PROCESSES).contains(&u64::from(*n));
        text.parse().ok().filter(possible).map(Threads).ok_or(AxisValueError::Threads)
    }
}

/// A load that a grid can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode(pub load::FileioMode);

impl PartialOrd for Mode {
    /// Loads have no order, so no range of them goes from least to most.
    fn partial_cmp(&self, other: &Mode) -> Option<std::cmp::Ordering> {
        (self == other).then_some(std::cmp::Ordering::Equal)
    }
}

impl FromStr for Mode {
    type Err = AxisValueError;
    fn from_str(text: &str) -> Result<Mode, AxisValueError> {
        let name = <LoadName as clap::ValueEnum>::from_str(text, false).ok();
        name.and_then(LoadName::fileio).map(Mode).ok_or(AxisValueError::Load)
    }
}

/// A key, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vary {
    /// The key with its table: `ftl.victim`.
    pub key: String,
    /// As they would follow the `=`.
    pub values: Vec<String>,
}

/// The reason why it is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VaryError {
    /// No key, or no value.
    #[error("write table.key=V1,V2,...")]
    NotVaried,
    /// Twice the same.
    #[error("{text} stands there twice")]
    Twice { text: Quoted },
}

impl FromStr for Vary {
    type Err = VaryError;

    fn from_str(text: &str) -> Result<Vary, VaryError> {
        let (key, values) = text.split_once('=').ok_or(VaryError::NotVaried)?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if key.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(VaryError::NotVaried);
        }
        if let Some(twice) = (1..values.len()).find(|&i| values[..i].contains(&values[i])) {
            return Err(VaryError::Twice { text: values[twice].as_str().into() });
        }
        Ok(Vary { key: key.trim().to_owned(), values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_read_as_they_are_typed() {
        assert_eq!("50,70%, 90".parse(), Ok(Values::List(vec![Percent(50.0), Percent(70.0), Percent(90.0)])));
        assert_eq!("20..100".parse(), Ok(Values::Range(Percent(20.0), Percent(100.0))));
        assert_eq!("100..20".parse::<Values<Percent>>(), Err(ValuesError::Backward));
        assert_eq!("rndrd..rndwr".parse::<Values<Mode>>(), Err(ValuesError::Backward));
        for text in ["", "50,", "0", "101", "50,50.0", "nan", "1..", "..", "1..2..3"] {
            assert!(text.parse::<Values<Percent>>().is_err(), "{text}");
        }
        assert!("slob".parse::<Values<Mode>>().is_err());
    }

    #[test]
    fn a_key_has_values() {
        let vary = Vary { key: "a.b".into(), values: vec!["1".into(), "2".into()] };
        assert_eq!("a.b=1, 2".parse(), Ok(vary));
        for text in ["a.b", "=1", "a.b=", "a.b=1,,2", "a.b=1,1"] {
            assert!(text.parse::<Vary>().is_err(), "{text}");
        }
    }
}
