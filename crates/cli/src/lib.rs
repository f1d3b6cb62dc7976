//! What does a person type?
//!
//! Thin: parse, call, print. Every command makes its output as a text and hands it over whole; errors are one line on
//! standard error and exit code 2.

pub mod args;
mod attach_cmd;
mod call;
mod campaign_cmd;
mod campaign_part;
mod campaign_plan;
mod cancel;
pub mod card_dir;
mod cards_cmd;
mod compare_cmd;
mod create_cmd;
mod ctl_cmd;
mod database_card;
mod database_cmd;
mod database_model;
mod drive_array;
mod drive_watch;
mod error;
mod fit_cmd;
mod fsck_cmd;
mod fsck_volumes;
mod generate_cmd;
mod history_cmd;
mod junit;
mod lifetime_cmd;
mod lives;
mod message;
mod module_places;
mod nvme_secrets;
mod opening;
mod output;
mod program;
mod progress;
mod quoted;
mod real_target;
mod record_cmd;
mod replay_cmd;
mod review_cmd;
mod review_output;
mod review_run;
mod review_target;
mod run_cmd;
mod run_result;
mod serve_cmd;
mod server_log;
mod serving;
mod shards;
mod shared_card;
mod shared_cmd;
mod shelf_cmd;
mod shelf_modules;
mod show_cmd;
mod stage;
mod table;
mod takeovers_cmd;
mod top;
mod torture_cmd;
mod ublk_disks;
mod units;
mod validate_cmd;
mod view;
mod volume_cmd;
mod whatif_cmd;
mod whatif_output;
mod whatif_question;

pub use call::{Call, Exchange, Output, Position};
pub use program::is as program_is;

use args::{Cli, Command};
use clap::error::ErrorKind;
use error::Failure;
use message::{clap_message, one_line};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Exit code of errors. 1 is for commands whose answer is no.
const ERROR: u8 = 2;

/// Waits for the end of the process that has started this one as its guard, and undoes what that has left.
fn stand_guard(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let (kind, paths) = (words.next().unwrap_or_default(), words.map(PathBuf::from).collect::<Vec<_>>());
    database::wait_for_the_end();
    let errors: Vec<String> = match (kind.to_str(), &paths[..]) {
        (Some(database::mounted::GUARDED), [work]) if work.exists() => {
            database::mounted::undo(work).iter().map(ToString::to_string).collect()
        }
        (Some(database::GUARDED), [work, socket]) => {
            database::undo(work, socket).err().iter().map(ToString::to_string).collect()
        }
        _ => Vec::new(),
    };
    for error in errors {
        eprintln!("flashrig: {}", one_line(&error));
    }
    ExitCode::SUCCESS
}

/// The command, with the arguments and the streams of this process.
pub fn main() -> ExitCode {
    command(std::env::args_os().collect())
}

/// The command, with the streams of this process; the first word is the program's name.
pub fn command(words: Vec<OsString>) -> ExitCode {
    if words.get(1).is_some_and(|word| word == database::GUARD_WORD) {
        return stand_guard(words.into_iter().skip(2));
    }
    let cli = match args::parse(words) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    match execute(cli) {
        Ok(code) => code,
        Err(failure) if failure.is_cancelled() => {
            eprintln!("flashrig: {failure}");
            ExitCode::from(cancel::EXIT_CODE)
        }
        Err(failure) => {
            eprintln!("flashrig: error: {}", one_line(&failure.to_string()));
            ExitCode::from(ERROR)
        }
    }
}

/// The answer of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Exit code of the command.
    pub code: u8,
    /// Everything that the command would have printed.
    pub output: Output,
}

/// The reason why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The line that the command prints, without the words `flashrig: error:`.
    Wrong(String),
    /// The caller asked it to stop before there was anything to hand out.
    Stopped,
}

/// Carries out a command within this process; the first word is the program's name. Commands that serve, attach, record
/// or draw are refused: they are programs of their own.
pub fn call(words: Vec<OsString>, call: &Arc<Call>) -> Result<Answer, Refused> {
    let cli = args::parse(words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Refused::Wrong("a call has no help of its own".into()),
        _ => Refused::Wrong(one_line(&clap_message(&error))),
    })?;
    if !cli.command.answers() {
        return Err(Refused::Wrong("this command runs as a program, not within another one".into()));
    }
    match call.carry_out(|| execute(cli)) {
        Ok(code) => Ok(Answer { code: number(code), output: call.take_output() }),
        Err(failure) if failure.is_cancelled() => Err(Refused::Stopped),
        Err(failure) => Err(Refused::Wrong(one_line(&failure.to_string()))),
    }
}

/// Reads a result of any kind as `flashrig compare` does, and returns it as a review's JSON; or the line that says why it is
/// none.
pub fn read(word: &str) -> Result<String, String> {
    let result = compare_cmd::read(word).map_err(|failure| one_line(&failure.to_string()))?;
    Ok(output::pretty(&serde_json::to_value(result).expect("results have text keys")))
}

/// An exit code tells its number only by comparison.
pub fn number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(ERROR)
}

/// Help and version are asked for and go to standard output; the rest is an error.
fn refuse(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that has gone away has seen enough.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(ERROR)
        }
        _ => {
            eprintln!("flashrig: error: {}", one_line(&clap_message(error)));
            ExitCode::from(ERROR)
        }
    }
}

fn execute(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Cards(args) => cards_cmd::cards(&args),
        Command::Show(args) => show_cmd::show(&args),
        Command::Run(args) => run_cmd::run(&args),
        Command::Whatif(args) => whatif_cmd::whatif(&args),
        Command::Work(args) => campaign_cmd::work(&args),
        Command::Merge(args) => campaign_cmd::merge(&args),
        Command::Lifetime(args) => lifetime_cmd::lifetime(&args),
        Command::Record(args) => record_cmd::record(&args),
        Command::Review(args) => review_cmd::review(&args),
        Command::Compare(args) => compare_cmd::compare(&args),
        Command::History(args) => history_cmd::history(&args),
        Command::Fit(args) => fit_cmd::fit(&args),
        Command::Validate(args) => validate_cmd::validate(&args),
        Command::Create(args) => create_cmd::create(&args),
        Command::Serve(args) => serve_cmd::serve(&args),
        Command::Shelf(args) => shelf_cmd::shelf(&args),
        Command::Torture(args) => torture_cmd::torture(&args),
        Command::Fsck(args) => fsck_cmd::fsck(&args),
        Command::Ctl(args) => ctl_cmd::ctl(&args),
        Command::Volume(args) => volume_cmd::volume(&args),
        Command::Top(args) => top::top(&args),
        Command::Attach(args) => attach_cmd::attach(&args),
        Command::Detach(args) => attach_cmd::detach(&args),
        Command::Completions(args) => generate_cmd::completions(&args),
        Command::Man(args) => generate_cmd::man(&args),
    }
}
