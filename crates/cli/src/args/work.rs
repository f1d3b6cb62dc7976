//! The options of `flashrig work` and `flashrig merge`.

use super::whatif::WhatifOutputArgs;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::str::FromStr;
use thiserror::Error;

/// The options of `flashrig work`.
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// A plan that flashrig whatif --plan has written
    #[arg(value_hint = ValueHint::FilePath)]
    pub plan: PathBuf,
    /// Answer the Ith of N shares of its units [default: all of them]
    #[arg(long, value_name = "I/N")]
    pub shard: Option<ShardName>,
    /// Answer these units, which flashrig merge has named: N,N,...
    #[arg(long, value_name = "UNITS", value_delimiter = ',', conflicts_with = "shard")]
    pub unit: Vec<usize>,
    /// Write the part here, a line for each unit as it is answered; one that is there goes on; - for standard output
    #[arg(long, short = 'o', value_name = "PART.jsonl", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// The options of `flashrig merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// All parts of a plan, in any order, once or more often
    #[arg(required = true, value_name = "PART.jsonl", value_hint = ValueHint::FilePath)]
    pub parts: Vec<PathBuf>,
    /// Leave out units that are missing, say so in the result, and end with status 1
    #[arg(long)]
    pub partial: bool,
    /// Destination of the answers.
    #[command(flatten, next_help_heading = "Output")]
    pub output: WhatifOutputArgs,
}

/// Most shares of a plan.
const MAX_SHARES: usize = 100_000;

/// A share of a plan: every Nth unit, from the Ith on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardName {
    number: usize,
    of: usize,
}

/// A text that is no share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("must be a share like 2/4: the second of four")]
pub struct NotAShard;

impl FromStr for ShardName {
    type Err = NotAShard;

    fn from_str(text: &str) -> Result<ShardName, NotAShard> {
        let (number, of) = text.split_once('/').ok_or(NotAShard)?;
        let (number, of) = (number.parse().map_err(|_| NotAShard)?, of.parse().map_err(|_| NotAShard)?);
        if (1..=of).contains(&number) && of <= MAX_SHARES { Ok(ShardName { number, of }) } else { Err(NotAShard) }
    }
}

impl ShardName {
    /// The units of the share, of so many.
    pub fn units(self, count: usize) -> impl Iterator<Item = usize> {
        (self.number - 1..count).step_by(self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_units_once() {
        for of in 1..7 {
            let shares = (1..=of).map(|number| format!("{number}/{of}").parse::<ShardName>().unwrap());
            let mut units: Vec<usize> = shares.flat_map(|share| share.units(5)).collect();
            units.sort_unstable();
            assert_eq!(units, [0, 1, 2, 3, 4], "{of}");
        }
        for text in ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1/100001"] {
            assert_eq!(text.parse::<ShardName>(), Err(NotAShard), "{text}");
        }
    }
}
