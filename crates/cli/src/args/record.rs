//! The options of `flashrig record`.

use super::values::Budget;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// The options of `flashrig record`.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// A block device
    #[arg(value_hint = ValueHint::FilePath)]
    pub device: PathBuf,
    /// File for the trace; a file that is there is replaced
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// Length of the recording; without it, until Ctrl-C
    #[arg(long = "for", value_name = "TIME")]
    pub how_long: Option<Budget>,
    /// Print JSON in place of text
    #[arg(long)]
    pub json: bool,
}
