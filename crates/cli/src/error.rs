//! Errors of commands, each as one line.

use crate::units::{self, capacity};
use load::LoadError;
use profile::ProfileError;
use review::{PlanError, PointError, ResumeError, ValidateError};
use std::io;
use std::path::PathBuf;
use target::{RunError, TargetError};
use thiserror::Error;

/// An error that keeps a command from doing what was asked.
#[derive(Debug, Error)]
pub enum Failure {
    /// The card or the host.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Run(#[from] RunError),
    /// The model is too small for the load, the card is not.
    #[error(
        "the load needs {}, the card has {} at scale {}: use --scale {} or a smaller load",
        capacity(*.needed_bytes), capacity(*.scaled_bytes), units::scale(*.scale), units::scale(*.try_scale)
    )]
    TooLargeForScale {
        needed_bytes: u64,
        scaled_bytes: u64,
        scale: f64,
        /// A scale at which the load fits.
        try_scale: f64,
    },
    /// The card is too small for the load.
    #[error("the load needs {}, the card has {} at full size", capacity(*.needed_bytes), capacity(*.user_bytes))]
    TooLarge { needed_bytes: u64, user_bytes: u64 },
    #[error("{source}{}", if .source.is_of_a_line() { "; --skip-bad skips and counts such lines" } else { "" })]
    Trace {
        #[from]
        source: load::trace::TraceError,
    },
    #[error(transparent)]
    Record(#[from] drive::record::RecordError),
    /// A point of a comparison.
    #[error(transparent)]
    Point(#[from] PointError),
    /// Neither a card nor a file.
    #[error("{source}; a file is named with a slash (./{name}), a new one with --size")]
    NoTarget { name: String, source: Box<Failure> },
    /// An option that this kind of target has no use for.
    #[error("{option} has no effect on {what}")]
    OptionWithout { option: &'static str, what: &'static str },
    /// A card whose contents have no place.
    #[error("say where the contents of {card} are: --memory keeps them while the server runs")]
    NoBacking { card: String },
    /// No card lies in a folder, or there is no such folder.
    #[error("{}: {}; flashrig create {} --card NAME makes a card there", .dir.display(), match .is_there {
        true => "no card lies in this folder",
        false => "there is no such folder",
    }, .dir.display())]
    NoCardIn {
        dir: PathBuf,
        /// True if there is such a folder.
        is_there: bool,
    },
    /// Disks that would be as fast as memory.
    #[error("{name} is disks: without their times they would be plain memory; add --timing model")]
    DisksWithoutTiming { name: String },
    /// A new card where there is one.
    #[error("{} holds a card already: serve it, or name another folder", .dir.display())]
    CardExists { dir: PathBuf },
    /// A description that can't be used.
    #[error("{}: {why}", .path.display())]
    BadCard { path: PathBuf, why: String },
    /// More or fewer files than modules.
    #[error("the card has {modules} modules, and {found} files or devices are named for them")]
    ModuleCount { found: usize, modules: u32 },
    /// A module's file.
    #[error(transparent)]
    File(#[from] files::FilesError),
    /// A card that does not start.
    #[error("{card}: {source}")]
    Live { card: String, source: live::LiveError },
    /// A server that does not start.
    #[error(transparent)]
    Serve(#[from] serve::ServeError),
    /// A control socket, or an address for metrics.
    #[error(transparent)]
    ServeControl(#[from] control::ServeError),
    /// No such group.
    #[error("--control-group {group}: {source}")]
    Group { group: String, source: io::Error },
    /// A card that can't be mounted.
    #[error(transparent)]
    Fuse(#[from] attach::fuse::FuseError),
    /// Keys and certificates.
    #[error(transparent)]
    Tls(#[from] serve::TlsError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A result of a real device would be lost.
    #[error("{} is there already: name another with --out, go on with --resume, or replace it with --overwrite", .path.display())]
    ResultExists { path: PathBuf },
    /// Something else would be lost.
    #[error("{} is there and is no review: name another with --out", .path.display())]
    NoResult { path: PathBuf },
    /// A result that can't be gone on from.
    #[error("can't resume {}: {source}", .path.display())]
    Resume { path: PathBuf, source: ResumeError },
    /// The contents of a path can't be found out.
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
    NotAllowed { path: PathBuf, title: String, what: String, value: String },
    /// It is another device than was meant.
    #[error("{}: '{typed}' is not its {what}: nothing was written", .path.display())]
    NotConfirmed { path: PathBuf, what: String, typed: String },
    /// No terminal to type at.
    #[error("{}: nobody is there to type its {what}: give it with --serial", .path.display())]
    NobodyToAsk { path: PathBuf, what: String },
    #[error("can't read from standard input: {0}")]
    Stdin(io::Error),
    /// A file that is not there.
    #[error("{}: there is no such file or device; --size makes a new file", .path.display())]
    NoSize { path: PathBuf },
    /// A file of another size.
    #[error("{} is there and holds {}: leave out --size, or name a new file", .path.display(), capacity(*.size_bytes))]
    OtherSize { path: PathBuf, size_bytes: u64 },
    /// Somebody else's file.
    #[error(
        "{} is there and was not made by flashrig: name a new file with --size, or give this one away with \
         --destroy-data", .path.display()
    )]
    ForeignFile { path: PathBuf },
    /// No card that fits.
    #[error(transparent)]
    Fit(#[from] study::fit::FitError),
    /// A card's file that is not called like one.
    #[error("{}: a card's name ends in .toml, and a host's is another", .path.display())]
    NoCardFile { path: PathBuf },
    /// A card's file that is there.
    #[error(
        "{} is there already{}", .path.display(),
        if *.ours { ": name another, or replace it with --overwrite" } else { " and no fit has written it: name another" }
    )]
    CardFileExists {
        path: PathBuf,
        /// A fit has written it.
        ours: bool,
    },
    /// A result of another tool.
    #[error(transparent)]
    Import(#[from] import::ImportError),
    /// More devices than a page can show.
    #[error("{given} results are too many to compare: at most {most}")]
    TooMany { given: usize, most: usize },
    /// A page would take the place of something else.
    #[error("{}: a page's name ends in .html, and it is none of the results", .path.display())]
    NoPage { path: PathBuf },
    /// A page that would not be one.
    #[error("{}: a page's name ends in .html", .path.display())]
    NotAPage { path: PathBuf },
    /// A point that can't exist.
    #[error(transparent)]
    Whatif(#[from] study::whatif::Refusal),
    #[error(transparent)]
    Lifetime(#[from] study::lifetime::LifetimeError),
    /// A card that nothing is written to.
    #[error("{load} writes nothing, so nothing wears out")]
    NothingIsWritten { load: &'static str },
    /// More reserves than columns.
    #[error("{given} reserves are too many: at most {most}")]
    TooManyReserves { given: usize, most: usize },
    /// More points than anybody waits for.
    #[error("the grid has {given} points, at most {most} are possible: use fewer values")]
    TooManyPoints { given: usize, most: usize },
    /// One key on two axes.
    #[error("{key} is varied twice")]
    VariedTwice { key: String },
    /// A search along none or several axes.
    #[error("--target-p99 and --min-mb-s search along one range, {given} are given: --fill 20..100, for instance")]
    NotOneRange { given: usize },
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
        source: TargetError,
    },
    /// A card's media.
    #[error(transparent)]
    Source(#[from] fsck::SourceError),
    /// The media can't be examined.
    #[error("{}: {source}", .card.display())]
    Fsck { card: PathBuf, source: fsck::FsckError },
    /// A database on the device.
    #[error(transparent)]
    Database(#[from] database::DatabaseError),
    /// A card that a database runs on can't be had.
    #[error(transparent)]
    Mounted(#[from] database::mounted::MountedError),
    /// A card that no file system fits on.
    #[error("--size is too small for a file system: at least {needed}")]
    CardTooSmall { needed: String },
    /// A database ended before everything was measured.
    #[error("{source}; what was measured until then is in {}", .partial.display())]
    DatabaseEnded {
        /// The partial result.
        partial: PathBuf,
        source: database::DatabaseError,
    },
    /// A directory, and no database to run in it.
    #[error("{} is a directory: --database postgres runs a database in it", .path.display())]
    DirectoryAlone { path: PathBuf },
    /// A device that is attached, or is to be.
    #[error(transparent)]
    Attach(#[from] attach::AttachError),
    #[error(transparent)]
    Validate(#[from] ValidateError),
    /// A file that was to be written.
    #[error("can't write {}: {source}", .path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    /// A file that was to be read.
    #[error("can't read {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// A file that holds no life.
    #[error("{} holds no life that can be lived again: {source}", .path.display())]
    NoLife { path: PathBuf, source: Box<torture::campaign::NotAReproducer> },
    /// A running card.
    #[error(transparent)]
    Control(#[from] control::ClientError),
    /// Nothing to draw on.
    #[error("a running card is watched in a terminal; --once prints one frame")]
    NoTerminal,
    /// The terminal does not do what it should.
    #[error("the terminal: {0}")]
    Terminal(io::Error),
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
