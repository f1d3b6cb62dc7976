//! The options of `flashrig fit`.

use super::values::Share;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// The options of `flashrig fit`.
#[derive(Debug, Args)]
pub struct FitArgs {
    /// Reviews, fio's JSON, sysbench's output, tables (CSV; FILE.csv:NAME where there are several devices),
    /// published:NAME
    #[arg(required = true, value_name = "RESULT", value_hint = ValueHint::FilePath)]
    pub results: Vec<String>,
    /// Write the card here [default: no file, only tables]
    #[arg(long, short = 'o', value_name = "CARD.toml", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Begin with this card, and change only what the results determine [default: a neutral card]
    #[arg(long, value_name = "CARD", value_hint = ValueHint::FilePath)]
    pub base: Option<String>,
    /// The machine in front of the device [default: the result's, else default]
    #[arg(long, value_name = "HOST", value_hint = ValueHint::FilePath)]
    pub host: Option<String>,
    /// Fit what an I/O costs the host too, and write it here
    #[arg(long, value_name = "HOST.toml", value_hint = ValueHint::FilePath)]
    pub host_out: Option<PathBuf>,
    /// Share of the device in use, where a result doesn't say
    #[arg(long, value_name = "SHARE", default_value_t = Share(1.0))]
    pub fill: Share,
    /// Hold out every Nth point altogether, and say how well it is predicted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub hold_out: Option<u32>,
    /// A fit is good when half of the points that were left out are predicted better than this
    #[arg(long, value_name = "SHARE", default_value_t = Share(0.15))]
    pub bound: Share,
    /// Write the card even if the fit is not good
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Replace cards and hosts that an earlier fit has written
    #[arg(long)]
    pub overwrite: bool,
    /// Root seed; the same seed gives the same card
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print JSON in place of tables
    #[arg(long)]
    pub json: bool,
}
