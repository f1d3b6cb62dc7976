//! The options of `flashrig lifetime`.

use super::ModelledArgs;
use super::values::{BlockBytes, Bytes, Scale, Share};
use super::whatif::{Mode, Reserved, Values};
use clap::{Args, ValueHint};
use load::Access;
use std::path::PathBuf;
use std::str::FromStr;
use thiserror::Error;

/// The options of `flashrig lifetime`.
#[derive(Debug, Args)]
pub struct LifetimeArgs {
    /// A built-in card (see flashrig cards), or the path of a TOML file (it ends in .toml or has a /)
    #[arg(value_hint = ValueHint::FilePath)]
    pub card: String,
    /// The load that wears the card out.
    #[command(flatten, next_help_heading = "What is written")]
    pub writes: WritesArgs,
    /// The card and its lives.
    #[command(flatten, next_help_heading = "The card")]
    pub device: LifetimeDeviceArgs,
    /// Destination of the answers.
    #[command(flatten, next_help_heading = "Output")]
    pub output: LifetimeOutputArgs,
}

/// The load that wears the card out.
#[derive(Debug, Args)]
pub struct WritesArgs {
    /// Kind of writes: rndwr, rndrw, seqwr, seqrewr
    #[arg(long, short = 'l', value_name = "LOAD", default_value = "rndwr")]
    pub load: Mode,
    /// Bytes that the host writes a day [default: the capacity sold, once]
    #[arg(long, value_name = "SIZE")]
    pub per_day: Option<Bytes>,
    /// Share of the user capacity that is in use and written over
    #[arg(long, value_name = "SHARE", default_value_t = Share(1.0))]
    pub fill: Share,
    /// Size of a write
    #[arg(long, value_name = "SIZE", default_value_t = BlockBytes(16 << 10))]
    pub block: BlockBytes,
    /// The pattern of random loads
    #[arg(help = "Which blocks random loads write: uniform, zipf:THETA, hot-cold:SPACE/ACCESSES, jesd219", long, value_name = "PATTERN", default_value_t = Access::Uniform)]
    pub access: Access,
    /// Writes from one flush to the next, each of which pads for itself where no capacitors are; 0: no flush
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub fsync_freq: u32,
    /// Threads of the run that says how many requests a second there are
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: u32,
}

/// The card and its lives.
#[derive(Debug, Args)]
pub struct LifetimeDeviceArgs {
    /// Percent of the capacity sold that is given up at format, one life each: V1,V2,...
    #[arg(long, value_name = "PERCENT", default_value = "0,10,25")]
    pub reserve: Values<Reserved>,
    /// Years of the warranty, which drive writes a day are counted over
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = years)]
    pub years: f64,
    /// Cycles that the blocks of the small card bear that is worn out; more take longer and are closer to the card
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    pub cycles: u32,
    /// Size of the model in the run for requests a second [default: 1/64]
    #[arg(long, value_name = "PART")]
    pub scale: Option<Scale>,
    /// The host of the model, its settings and its seed.
    #[command(flatten)]
    pub model: ModelledArgs,
}

/// Destination of the answers.
#[derive(Debug, Args)]
pub struct LifetimeOutputArgs {
    /// Write the lives as CSV, a row for each moment; - prints it in place of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// Write the result as JSON; - prints it in place of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
}

/// A text that is no number of years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("must be a number of years from 0.1 to 100")]
struct NotYears;

fn years(text: &str) -> Result<f64, NotYears> {
    f64::from_str(text).ok().filter(|years| (0.1..=100.0).contains(years)).ok_or(NotYears)
}
