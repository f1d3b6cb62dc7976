//! `flashrig review` and `flashrig compare`.

use super::DatabaseArgs;
use super::values::{Budget, Bytes, Price, Scale, Share};
use clap::{Args, ValueEnum, ValueHint};
use drive::PurgeBy;
use report::conditions::Condition;
use review::Phase;
use std::path::PathBuf;

/// The options of `flashrig review`.
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// A card, its TOML file, a block device, a file (new ones need --size); with --database a directory
    #[arg(value_hint = ValueHint::AnyPath)]
    pub target: String,
    /// Only these phases: burst, fill, timeline, threads, blocks, mix, rate, sync, redo
    #[arg(long, value_name = "PHASES", value_delimiter = ',')]
    pub only: Vec<Phase>,
    /// Fewer and shorter points
    #[arg(long)]
    pub quick: bool,
    /// Print what would be done and how long it would take, and do nothing
    #[arg(long)]
    pub plan: bool,
    /// Share of the device in use in all phases but the fill sweep
    #[arg(long, value_name = "SHARE", default_value_t = Share(1.0))]
    pub fill: Share,
    /// Root seed; the same seed asks the same requests
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The price of the device, in dollars
    #[arg(help = "What the device costs, in dollars", long, value_name = "USD")]
    pub price: Option<Price>,
    /// Write NAME.json and NAME.html [default: the target's name, here]
    #[arg(long, value_name = "NAME", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Go on with the partial result in NAME.json
    #[arg(long)]
    pub resume: bool,
    /// Replace NAME.json and NAME.html of an earlier review of a real device
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// Write job files of fio that repeat the measured points into this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["plan", "database"], value_hint = ValueHint::DirPath)]
    pub export_fio: Option<PathBuf>,
    /// Print all figures too, a table for each sweep; the page has them as well
    #[arg(long)]
    pub tables: bool,
    /// Print the result as JSON in place of words
    #[arg(long, conflicts_with = "tables")]
    pub json: bool,
    /// Options of real devices.
    #[command(flatten, next_help_heading = "Real devices")]
    pub real: RealArgs,
    /// Options of modelled cards.
    #[command(flatten, next_help_heading = "Modelled cards")]
    pub model: ModelArgs,
    /// Options of databases.
    #[command(flatten, next_help_heading = "Databases")]
    pub database: DatabaseArgs,
}

/// Options that only a file or a block device takes.
#[derive(Debug, Args)]
pub struct RealArgs {
    /// Size of a new file, which is removed afterwards
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Time that the review may take: 90s, 20m, 2h; fewer and shorter points fit into less [default: 15m, more for
    /// large drives]
    #[arg(long, value_name = "TIME")]
    pub budget: Option<Budget>,
    /// Yes: everything on this device or in this file may be destroyed
    #[arg(long)]
    pub destroy_data: bool,
    /// Serial number or model of the block device, in place of typing it
    #[arg(long, value_name = "SERIAL", requires = "destroy_data")]
    pub serial: Option<String>,
    /// The command that empties an NVMe drive: discard, format (Format NVM, with erasure of user data) or sanitize (of
    /// the whole drive); both can't be taken back [default: discard]
    #[arg(long, value_name = "COMMAND", requires = "destroy_data", value_enum)]
    pub purge: Option<PurgeWord>,
    /// Keep the new file for another review
    #[arg(long)]
    pub keep: bool,
}

/// The command that empties a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PurgeWord {
    Discard,
    Format,
    Sanitize,
}

impl From<PurgeWord> for PurgeBy {
    fn from(word: PurgeWord) -> PurgeBy {
        match word {
            PurgeWord::Discard => PurgeBy::Discard,
            PurgeWord::Format => PurgeBy::Format,
            PurgeWord::Sanitize => PurgeBy::Sanitize,
        }
    }
}

/// Options that only a modelled card takes.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// Model the card at this part of its size [default: 1/64]
    #[arg(long, value_name = "PART")]
    pub scale: Option<Scale>,
    /// Override a number of the card or the host: table.key=value; may be given again
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub settings: Vec<String>,
    /// The machine in front of the card: a built-in host or a TOML file [default: default]
    #[arg(long, value_name = "HOST", value_hint = ValueHint::FilePath)]
    pub host: Option<String>,
}

/// The options of `flashrig compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Reviews, fio's JSON, sysbench's output, pgbench's logs (joined by commas), published:NAME; or NAME=FILE. Files of
    /// one NAME, and the .json files of a folder, are repeats of one measurement
    #[arg(required_unless_present = "list_published", value_name = "RESULT", value_hint = ValueHint::FilePath)]
    pub results: Vec<String>,
    /// Write the page here [default: no page, only tables]
    #[arg(long, short = 'o', value_name = "PAGE.html", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// End with status 1 where this is so: p99>+10%, iops<-5%, read.p99>2ms; may be given again
    #[arg(long, value_name = "CONDITION", requires = "results")]
    pub fail_if: Vec<Condition>,
    /// Write what became of the conditions as JUnit's XML
    #[arg(long, value_name = "FILE", requires = "fail_if", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
    /// Print all figures, not only the most telling
    #[arg(long)]
    pub all: bool,
    /// Print the table as JSON, with all figures
    #[arg(long)]
    pub json: bool,
    /// List the published measurements that can be laid over
    #[arg(long, exclusive = true)]
    pub list_published: bool,
}
