//! What can go wrong, as one line.

use crate::units::{self, capacity};
use load::LoadError;
use profile::ProfileError;
use review::{PlanError, PointError, ResumeError, ValidateError};
use std::io;
use std::path::PathBuf;
use target::{RunError, TargetError};
use thiserror::Error;

/// Why a command did not do what was asked.
#[derive(Debug, Error)]
pub enum Failure {
    /// The card or the host.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The model is too small for the load, the card is not.
    #[error(
        "the load needs {}, the card has {} at scale {}: use --scale {} or a smaller load",
        capacity(*.needed_bytes), capacity(*.scaled_bytes), units::scale(*.scale), units::scale(*.try_scale)
    )]
    TooLargeForScale {
        /// What the load touches.
        needed_bytes: u64,
        /// What the model has.
        scaled_bytes: u64,
        /// Its scale.
        scale: f64,
        /// A scale at which the load fits.
        try_scale: f64,
    },
    /// The card is too small for the load.
    #[error("the load needs {}, the card has {} at full size", capacity(*.needed_bytes), capacity(*.user_bytes))]
    TooLarge {
        /// What the load touches.
        needed_bytes: u64,
        /// What the card has.
        user_bytes: u64,
    },
    /// The trace.
    #[error("{source}{}", if .source.is_of_a_line() { "; --skip-bad skips and counts such lines" } else { "" })]
    Trace {
        /// Where, and what.
        #[from]
        source: load::trace::TraceError,
    },
    /// A recording.
    #[error(transparent)]
    Record(#[from] drive::record::RecordError),
    /// A point of a comparison.
    #[error(transparent)]
    Point(#[from] PointError),
    /// Neither a card nor a file.
    #[error("{source}; a file is named with a slash (./{name}), a new one with --size")]
    NoTarget {
        /// As typed.
        name: String,
        /// What the cards say.
        source: Box<Failure>,
    },
    /// An option that this kind of target has no use for.
    #[error("{option} has no effect on {what}")]
    OptionWithout {
        /// Which.
        option: &'static str,
        /// On what.
        what: &'static str,
    },
    /// A card whose contents have no place.
    #[error("say where the contents of {card} are: --memory keeps them while the server runs")]
    NoBacking {
        /// As typed.
        card: String,
    },
    /// No card lies in a folder, or there is no such folder.
    #[error("{}: {}; flashrig create {} --card NAME makes a card there", .dir.display(), match .is_there {
        true => "no card lies in this folder",
        false => "there is no such folder",
    }, .dir.display())]
    NoCardIn {
        /// As typed.
        dir: PathBuf,
        /// Whether there is such a folder.
        is_there: bool,
    },
    /// Disks that would be as fast as memory.
    #[error("{name} is disks: without their times they would be plain memory; add --timing model")]
    DisksWithoutTiming {
        /// As typed.
        name: String,
    },
    /// A new card where there is one.
    #[error("{} holds a card already: serve it, or name another folder", .dir.display())]
    CardExists {
        /// Which.
        dir: PathBuf,
    },
    /// A description that can't be used.
    #[error("{}: {why}", .path.display())]
    BadCard {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// More or fewer files than modules.
    #[error("the card has {modules} modules, and {found} files or devices are named for them")]
    ModuleCount {
        /// Named.
        found: usize,
        /// Of the card.
        modules: u32,
    },
    /// A module's file.
    #[error(transparent)]
    File(#[from] files::FilesError),
    /// A card that does not start.
    #[error("{card}: {source}")]
    Live {
        /// As typed.
        card: String,
        /// Why.
        source: live::LiveError,
    },
    /// A server that does not start.
    #[error(transparent)]
    Serve(#[from] serve::ServeError),
    /// A control socket, or an address for metrics.
    #[error(transparent)]
    ServeControl(#[from] control::ServeError),
    /// No such group.
    #[error("--control-group {group}: {source}")]
    Group {
        /// As typed.
        group: String,
        /// Why.
        source: io::Error,
    },
    /// A card that can't be mounted.
    #[error(transparent)]
    Fuse(#[from] attach::fuse::FuseError),
    /// Keys and certificates.
    #[error(transparent)]
    Tls(#[from] serve::TlsError),
    /// No plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A result of a real device would be lost.
    #[error("{} is there already: name another with --out, go on with --resume, or replace it with --overwrite", .path.display())]
    ResultExists {
        /// Which.
        path: PathBuf,
    },
    /// Something else would be lost.
    #[error("{} is there and is no review: name another with --out", .path.display())]
    NoResult {
        /// Which.
        path: PathBuf,
    },
    /// A result that can't be gone on from.
    #[error("can't resume {}: {source}", .path.display())]
    Resume {
        /// Which.
        path: PathBuf,
        /// Why.
        source: ResumeError,
    },
    /// What is there can't be found out.
    #[error(transparent)]
    Identify(#[from] identify::IdentifyError),
    /// It is in use, or holds something.
    #[error(transparent)]
    Refused(#[from] identify::Refusal),
    /// A file or a device can't be opened.
    #[error(transparent)]
    Drive(#[from] drive::DriveError),
    /// Nobody said that it may be destroyed.
    #[error(
        "{} ({title}): a review destroys everything on it; if that is meant, add --destroy-data and type its {what}, \
         or give it: --serial '{value}'", .path.display()
    )]
    NotAllowed {
        /// Which.
        path: PathBuf,
        /// What it is.
        title: String,
        /// What is to be typed.
        what: String,
        /// Its value.
        value: String,
    },
    /// It is another device than was meant.
    #[error("{}: '{typed}' is not its {what}: nothing was written", .path.display())]
    NotConfirmed {
        /// Which.
        path: PathBuf,
        /// What was to be typed.
        what: String,
        /// What was.
        typed: String,
    },
    /// No terminal to type at.
    #[error("{}: nobody is there to type its {what}: give it with --serial", .path.display())]
    NobodyToAsk {
        /// Which.
        path: PathBuf,
        /// What is to be typed.
        what: String,
    },
    /// Standard input.
    #[error("can't read from standard input: {0}")]
    Stdin(io::Error),
    /// A file that is not there.
    #[error("{}: there is no such file or device; --size makes a new file", .path.display())]
    NoSize {
        /// Which.
        path: PathBuf,
    },
    /// A file of another size.
    #[error("{} is there and holds {}: leave out --size, or name a new file", .path.display(), capacity(*.size_bytes))]
    OtherSize {
        /// Which.
        path: PathBuf,
        /// Its size.
        size_bytes: u64,
    },
    /// Somebody else's file.
    #[error(
        "{} is there and was not made by flashrig: name a new file with --size, or give this one away with \
         --destroy-data", .path.display()
    )]
    ForeignFile {
        /// Which.
        path: PathBuf,
    },
    /// No card that fits.
    #[error(transparent)]
    Fit(#[from] study::fit::FitError),
    /// A card's file that is not called like one.
    #[error("{}: a card's name ends in .toml, and a host's is another", .path.display())]
    NoCardFile {
        /// As asked.
        path: PathBuf,
    },
    /// A card's file that is there.
    #[error(
        "{} is there already{}", .path.display(),
        if *.ours { ": name another, or replace it with --overwrite" } else { " and no fit has written it: name another" }
    )]
    CardFileExists {
        /// Which.
        path: PathBuf,
        /// A fit has written it.
        ours: bool,
    },
    /// A result of another tool.
    #[error(transparent)]
    Import(#[from] import::ImportError),
    /// More devices than a page can show.
    #[error("{given} results are too many to compare: at most {most}")]
    TooMany {
        /// As given.
        given: usize,
        /// Most.
        most: usize,
    },
    /// A page would take the place of something else.
    #[error("{}: a page's name ends in .html, and it is none of the results", .path.display())]
    NoPage {
        /// As asked.
        path: PathBuf,
    },
    /// A page that would not be one.
    #[error("{}: a page's name ends in .html", .path.display())]
    NotAPage {
        /// As asked.
        path: PathBuf,
    },
    /// A point that can't exist.
    #[error(transparent)]
    Whatif(#[from] study::whatif::Refusal),
    /// A life.
    #[error(transparent)]
    Lifetime(#[from] study::lifetime::LifetimeError),
    /// A card that nothing is written to.
    #[error("{load} writes nothing, so nothing wears out")]
    NothingIsWritten {
        /// What was asked.
        load: &'static str,
    },
    /// More reserves than columns.
    #[error("{given} reserves are too many: at most {most}")]
    TooManyReserves {
        /// As given.
        given: usize,
        /// Most.
        most: usize,
    },
    /// More points than anybody waits for.
    #[error("the grid has {given} points, at most {most} are possible: use fewer values")]
    TooManyPoints {
        /// As given.
        given: usize,
        /// Most.
        most: usize,
    },
    /// One key on two axes.
    #[error("{key} is varied twice")]
    VariedTwice {
        /// Which.
        key: String,
    },
    /// A search along none or several axes.
    #[error("--target-p99 and --min-mb-s search along one range, {given} are given: --fill 20..100, for instance")]
    NotOneRange {
        /// How many.
        given: usize,
    },
    /// A range and nothing to search for.
    #[error("a range is searched for a bound: add --target-p99 or --min-mb-s, or give a list")]
    RangeWithoutBound,
    /// A range of fractions.
    #[error("a range has whole numbers at its ends")]
    RangeNotWhole,
    /// The device ended the review.
    #[error("{source}; what was measured until then is in {}, --resume goes on", .partial.display())]
    Target {
        /// The partial result.
        partial: PathBuf,
        /// What happened.
        source: TargetError,
    },
    /// A card's media.
    #[error(transparent)]
    Source(#[from] fsck::SourceError),
    /// What lies on them.
    #[error("{}: {source}", .card.display())]
    Fsck {
        /// As typed.
        card: PathBuf,
        /// Why.
        source: fsck::FsckError,
    },
    /// A database on the device.
    #[error(transparent)]
    Database(#[from] database::DatabaseError),
    /// A card that a database runs on can't be had.
    #[error(transparent)]
    Mounted(#[from] database::mounted::MountedError),
    /// A card that no file system fits on.
    #[error("--size is too small for a file system: at least {needed}")]
    CardTooSmall {
        /// How much is.
        needed: String,
    },
    /// A database ended before everything was measured.
    #[error("{source}; what was measured until then is in {}", .partial.display())]
    DatabaseEnded {
        /// The partial result.
        partial: PathBuf,
        /// What happened.
        source: database::DatabaseError,
    },
    /// A directory, and no database to run in it.
    #[error("{} is a directory: --database postgres runs a database in it", .path.display())]
    DirectoryAlone {
        /// Which.
        path: PathBuf,
    },
    /// A device that is attached, or is to be.
    #[error(transparent)]
    Attach(#[from] attach::AttachError),
    /// A comparison.
    #[error(transparent)]
    Validate(#[from] ValidateError),
    /// A file that was to be written.
    #[error("can't write {}: {source}", .path.display())]
    Unwritable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that was to be read.
    #[error("can't read {}: {source}", .path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that holds no life.
    #[error("{} holds no life that can be lived again: {source}", .path.display())]
    NoLife {
        /// Which.
        path: PathBuf,
        /// Why.
        source: Box<torture::campaign::NotAReproducer>,
    },
    /// A running card.
    #[error(transparent)]
    Control(#[from] control::ClientError),
    /// Nothing to draw on.
    #[error("a running card is watched in a terminal; --once prints one frame")]
    NoTerminal,
    /// The terminal does not do what it should.
    #[error("the terminal: {0}")]
    Terminal(io::Error),
    /// Standard output.
    #[error("can't write to standard output: {0}")]
    Stdout(io::Error),
    /// Ctrl-C can't be heard.
    #[error("can't listen to Ctrl-C: {0}")]
    Signal(#[from] ctrlc::Error),
}

impl Failure {
    /// It is no failure: the person asked to stop before there was anything to print.
    pub fn is_cancelled(&self) -> bool {
        if let Failure::Fit(error) = self {
            return error.is_cancelled();
        }
        matches!(
            self,
            Failure::Run(RunError::Cancelled)
                | Failure::Database(database::DatabaseError::Cancelled)
                | Failure::Point(PointError::Run(RunError::Cancelled))
                | Failure::Validate(ValidateError::Point(PointError::Run(RunError::Cancelled)))
        )
    }
}

/// A message on one line, whatever is in it: control characters are escaped, so that nothing that was typed or read can
/// move the cursor.
pub fn one_line(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    for c in message.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// clap's message on one line: what is wrong, what is possible, what is near; usage and hints at --help are left out.
pub fn clap_message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut out = String::new();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    for line in lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information")) {
        if let Some(tip) = line.strip_prefix("tip: ") {
            out.push_str("; ");
            out.push_str(tip);
            continue;
        }
        if !out.is_empty() {
            out.push_str(if out.ends_with(':') || line.starts_with('[') { " " } else { ", " });
        }
        out.push_str(line.strip_prefix("error: ").unwrap_or(line));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(words: &str) -> String {
        clap_message(&crate::args::parse(words.split(' ')).unwrap_err())
    }

    #[test]
    fn messages_of_the_parser_are_one_line_with_the_nearest_name() {
        assert_eq!(message("flashrig shwo x"), "unrecognized subcommand 'shwo'; a similar subcommand exists: 'show'");
        let thread = message("flashrig run x --load rndwr --thread 8");
        assert!(
            thread.starts_with("unexpected argument '--thread' found; a similar argument exists: '--threads'"),
            "{thread}"
        );
        let load = message("flashrig run x --load rndwrr");
        assert!(
            load.contains("[possible values: seqwr,") && load.ends_with("a similar value exists: 'rndwr'"),
            "{load}"
        );
        assert_eq!(
            message("flashrig run"),
            "the following required arguments were not provided: --load <LOAD>, <CARD>"
        );
        let block = message("flashrig run x --load rndwr --block 1000");
        assert_eq!(block, "invalid value '1000' for '--block <SIZE>': must be a multiple of 512 bytes");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(one_line("a\nb\u{1b}[2Jc µ"), "a\\nb\\u{1b}[2Jc µ");
    }
}
