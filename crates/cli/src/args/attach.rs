//! `flashrig attach` and `flashrig detach`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// The options of `flashrig attach`.
#[derive(Debug, Args)]
pub struct AttachArgs {
    /// A served card (its folder or name), the directory where one is mounted, a file, nbd:unix:SOCKET or
    /// nbd://HOST[:PORT][/EXPORT]. A served card is taken the best way that its server and this machine offer: ublk, NBD,
    /// or FUSE with a loop device
    #[arg(value_hint = ValueHint::AnyPath, required_unless_present = "list")]
    pub source: Option<String>,
    /// The volume of a card that has several
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    pub volume: Option<String>,
    /// Make a device that can't be written
    #[arg(long)]
    pub read_only: bool,
    /// Show what is attached, and who uses it
    #[arg(long, conflicts_with_all = ["source", "read_only"])]
    pub list: bool,
    /// Print JSON in place of text
    #[arg(long)]
    pub json: bool,
}

/// The options of `flashrig detach`.
#[derive(Debug, Args)]
pub struct DetachArgs {
    /// A device, or the directory where its card is mounted
    #[arg(value_hint = ValueHint::AnyPath, required_unless_present = "all")]
    pub target: Option<PathBuf>,
    /// All that is not in use, and what servers that have died left behind
    #[arg(long, conflicts_with = "target")]
    pub all: bool,
    /// A ublk disk that waits for its server, also one in use: programs that use it get errors, and what was not flushed is
    /// lost
    #[arg(long, requires = "target", conflicts_with = "all")]
    pub give_up: bool,
    /// Print JSON in place of text
    #[arg(long)]
    pub json: bool,
}
