//! The options of `flashrig torture`.

use super::values::Budget;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use torture::Kind;

/// The options of `flashrig torture`.
#[derive(Debug, Args)]
pub struct TortureArgs {
    /// Root seed; the same seed gives the same lives
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The number of lives
    #[arg(help = "So many lives [default: 2000, or as many as --for has time for]", long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub lives: Option<u64>,
    /// Number of the first life: the same lives, in several shares
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 48))]
    pub first: u64,
    /// Begin no life after this time: 10m, 2h, 90s
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<Budget>,
    /// Only this card [default: all in turn]
    #[arg(long, value_name = "CARD", value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::name)))]
    pub card: Option<String>,
    /// Requests of the host in each life [default: 5000, with --beyond 300]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub operations: Option<u32>,
    /// Let faults pile up beyond the redundancy: then errors and refusals are right, wrong data never is
    #[arg(long)]
    pub beyond: bool,
    /// Fail as well when a fault struck fewer times than this, or never during something that the card does
    #[arg(long, value_name = "N")]
    pub require_coverage: Option<u64>,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Live the life again that FILE holds
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = [
        "seed", "lives", "first", "time", "card", "operations", "beyond", "require_coverage", "threads",
    ])]
    pub replay: Option<PathBuf>,
    /// Save the media of the life that failed, or else of the last one, as they were at its end, in a new folder, for
    /// flashrig fsck
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub image: Option<PathBuf>,
    /// Lives of another kind: two or three controllers that share an array, and the hosts that it changes its owner under
    #[arg(long, conflicts_with_all = ["card", "operations", "beyond", "replay", "image"])]
    pub takeovers: bool,
    /// Print the result as JSON in place of tables
    #[arg(long)]
    pub json: bool,
}
