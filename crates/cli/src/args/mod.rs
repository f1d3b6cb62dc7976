//! The commands that a person types, and their options.
//!
//! Help, man pages and completions are all made from these definitions.

mod attach;
mod belonging;
mod cache;
mod control;
mod database;
mod examples;
mod fileio;
mod fit;
mod fsck;
mod history;
mod lifetime;
mod modelled;
mod oltp;
mod record;
mod redo;
mod replica;
mod review;
mod run;
mod serve;
mod shelf;
mod slob;
mod torture;
mod tpcc;
mod trace;
mod typed;
pub mod values;
mod volume;
mod whatif;
mod work;

pub use attach::{AttachArgs, DetachArgs};
pub use cache::CacheArgs;
pub use control::{CtlArgs, CtlCommand, ModuleCommand, PowerCommand, Setting, TopArgs};
pub use database::{DatabaseArgs, PartName};
pub use fileio::FileioArgs;
pub use fit::FitArgs;
pub use fsck::{FsckArgs, LbaRange, StripeName};
pub use history::HistoryArgs;
pub use lifetime::LifetimeArgs;
pub use modelled::ModelledArgs;
pub use oltp::OltpArgs;
pub use record::RecordArgs;
pub use redo::RedoArgs;
pub use replica::ReplicaArgs;
pub use review::{CompareArgs, ModelArgs, RealArgs, ReviewArgs};
pub use run::{DeviceArgs, LoadName, MeasureArgs, OutputArgs, RunArgs};
pub use serve::{CreateArgs, ServeArgs};
pub use shelf::ShelfArgs;
pub use slob::SlobArgs;
pub use torture::TortureArgs;
pub use tpcc::TpccArgs;
pub use trace::{FormatName, TraceArgs, TraceSpeed};
pub use volume::{VolumeArgs, VolumeCommand};
pub use whatif::{Values, WhatifArgs, WhatifOutputArgs};
pub use work::{MergeArgs, ShardName, WorkArgs};

use ::review::TABLES;
use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use std::ffi::OsString;
use std::path::PathBuf;
use study::datasheets::sheets;
use values::Scale;

/// Flash storage in software: review a device, model a card, hold the model against published measurements.
///
/// Models live in virtual time: the same command with the same seed gives the same figures.
#[derive(Debug, Parser)]
#[command(name = "flashrig", version = env!("FLASHRIG_VERSION"), max_term_width = 80, arg_required_else_help = true)]
#[command(disable_help_flag = true)]
#[command(after_help = examples::TOP)]
pub struct Cli {
    /// The command that is carried out.
    #[command(subcommand)]
    pub command: Command,
    // Both give the short form: it says all there is, on half the lines.
    /// Prints the help and ends
    #[arg(help = "Print help", long, short, global = true, action = ArgAction::HelpShort)]
    pub help: Option<bool>,
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the built-in cards
    #[command(after_help = examples::CARDS)]
    Cards(CardsArgs),
    /// Show what a card's profile says, and where each number comes from
    #[command(after_help = examples::SHOW)]
    Show(ShowArgs),
    /// Run one load on a card and print what it did
    #[command(after_help = examples::RUN, allow_negative_numbers = true)]
    Run(Box<RunArgs>),
    /// Ask what a modelled card would do: a grid of questions, or how far it holds a bound
    #[command(after_help = examples::WHATIF, allow_negative_numbers = true)]
    Whatif(Box<WhatifArgs>),
    /// Answer a share of a plan that flashrig whatif --plan has written, on this machine
    #[command(after_help = examples::WORK)]
    Work(WorkArgs),
    /// Put the shares of a plan together: the result that one machine would have had
    #[command(after_help = examples::MERGE)]
    Merge(MergeArgs),
    /// Wear a modelled card out: years, bytes and drive writes a day, and what its reserve buys
    #[command(after_help = examples::LIFETIME, allow_negative_numbers = true)]
    Lifetime(Box<LifetimeArgs>),
    /// Record what a device of this machine is asked, as a trace to replay
    #[command(after_help = examples::RECORD)]
    Record(RecordArgs),
    /// Review a device as a database engineer does: a modelled card, a real drive, a file
    #[command(after_help = examples::REVIEW, allow_negative_numbers = true)]
    Review(Box<ReviewArgs>),
    /// Put results side by side: reviews, other tools' results, published measurements
    #[command(after_help = examples::COMPARE)]
    Compare(CompareArgs),
    /// Show what became of devices over a folder of their reviews
    #[command(after_help = examples::HISTORY)]
    History(HistoryArgs),
    /// Find the card that would have measured like this, and write its file
    #[command(after_help = examples::FIT)]
    Fit(FitArgs),
    /// Hold the models against measurements that other people published
    #[command(after_help = examples::VALIDATE, allow_negative_numbers = true)]
    Validate(ValidateArgs),
    /// Make a card whose modules lie in files or on devices, one each
    #[command(after_help = examples::CREATE)]
    Create(CreateArgs),
    /// Divide a card into thin volumes: make, list, grow and delete them
    #[command(after_help = examples::VOLUME)]
    Volume(VolumeArgs),
    /// Serve cards as block devices, with real bytes
    #[command(after_help = examples::SERVE)]
    Serve(Box<ServeArgs>),
    /// Export files and drives as modules for cards of other machines, over NVMe/TCP
    #[command(after_help = examples::SHELF)]
    Shelf(ShelfArgs),
    /// Try simulated cards to destruction: power cuts, lost modules, wrong bytes; and check every sector
    #[command(after_help = examples::TORTURE)]
    Torture(TortureArgs),
    /// Explain what lies on a card's media, and why a sector reads as it does
    #[command(after_help = examples::FSCK)]
    Fsck(FsckArgs),
    /// Ask a running card how it stands; pull and insert modules, cut its power, change how it works
    #[command(after_help = examples::CTL)]
    Ctl(CtlArgs),
    /// Watch a running card in the terminal
    #[command(after_help = examples::TOP_COMMAND)]
    Top(TopArgs),
    /// Make a disk of this machine of a card that is served
    #[command(after_help = examples::ATTACH)]
    Attach(AttachArgs),
    /// Undo attach, also after a server has died
    #[command(after_help = examples::DETACH)]
    Detach(DetachArgs),
    /// Print the completions of a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the man page, or write the pages of all commands
    #[command(after_help = examples::MAN)]
    Man(ManArgs),
}

impl Command {
    /// Returns whether the command does its work, answers and ends without a terminal: another program may call it.
    pub fn answers(&self) -> bool {
        match self {
            Command::Cards(_)
            | Command::Show(_)
            | Command::Run(_)
            | Command::Whatif(_)
            | Command::Work(_)
            | Command::Merge(_)
            | Command::Lifetime(_)
            | Command::Review(_)
            | Command::Compare(_)
            | Command::History(_)
            | Command::Fit(_)
            | Command::Validate(_)
            | Command::Torture(_)
            | Command::Fsck(_)
            | Command::Volume(_)
            | Command::Ctl(_) => true,
            Command::Record(_)
            | Command::Create(_)
            | Command::Serve(_)
            | Command::Shelf(_)
            | Command::Top(_)
            | Command::Attach(_)
            | Command::Detach(_)
            | Command::Completions(_)
            | Command::Man(_) => false,
        }
    }
}

/// The options of `flashrig cards`.
#[derive(Debug, Args)]
pub struct CardsArgs {
    /// Print JSON in place of the table
    #[arg(long)]
    pub json: bool,
}

/// The options of `flashrig show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A built-in card, or the path of a TOML file (it ends in .toml or has a /)
    #[arg(value_hint = ValueHint::FilePath)]
    pub card: String,
    /// Say for each number how it is known and where it stands
    #[arg(long)]
    pub sources: bool,
    /// Override a number: table.key=value; may be given again
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub settings: Vec<String>,
    /// Print JSON in place of text
    #[arg(long, conflicts_with = "sources")]
    pub json: bool,
}

/// The options of `flashrig validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Only this table
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(TABLES.map(|table| table.name)))]
    pub table: Option<String>,
    /// Compare drives with their data sheets, in place of the published tables
    #[arg(long, conflicts_with = "table")]
    pub datasheets: bool,
    /// Only the data sheet of this card
    #[arg(long, value_name = "CARD", requires = "datasheets", value_parser = PossibleValuesParser::new(sheets().into_iter().map(|sheet| sheet.card)))]
    pub card: Option<String>,
    /// Model the cards at this part of their size
    #[arg(long, value_name = "PART", default_value_t = Scale(1.0 / 64.0))]
    pub scale: Scale,
    /// Root seed; the same seed gives the same figures
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the comparison as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
}

/// The options of `flashrig completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell that completes
    #[arg(help = "Which shell")]
    pub shell: Shell,
}

/// The options of `flashrig man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write one page for each command into this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
}

/// Parses a command line; the first word is the program's name.
pub fn parse<I, T>(words: I) -> Result<Cli, clap::Error>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(words)?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    match &mut cli.command {
        Command::Run(run) => belonging::check(&mut command, &matches, run.load)?,
        Command::Whatif(whatif) => whatif.words = typed::words(&command, &matches),
        _ => {}
    }
    Ok(cli)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
