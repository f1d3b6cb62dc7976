//! The options of `flashrig volume`.

use super::values::Bytes;
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// The options of `flashrig volume`.
#[derive(Debug, Args)]
pub struct VolumeArgs {
    /// The request to the card
    #[command(subcommand)]
    pub what: VolumeCommand,
    /// Print JSON in place of text
    #[arg(long, global = true)]
    pub json: bool,
}

/// The requests about volumes.
#[derive(Debug, Subcommand)]
pub enum VolumeCommand {
    /// Print the volumes of a card, and the room that they have
    List {
        /// The directory of a card; the name or control socket of one that is served
        #[arg(value_hint = ValueHint::AnyPath)]
        card: PathBuf,
    },
    /// Make a volume; the first one divides a card that holds nothing
    Create {
        /// The directory of a card; the name or control socket of one that is served
        #[arg(value_hint = ValueHint::AnyPath)]
        card: PathBuf,
        /// Its name, under which hosts find it
        name: String,
        /// Bytes that a host sees; more than the card has is allowed, as room is taken with the first write
        #[arg(help = "What a host sees of it; room is taken only where it is written", long, value_name = "BYTES")]
        size: Bytes,
    },
    /// Give a volume more addresses
    Grow {
        /// The directory of a card; the name or control socket of one that is served
        #[arg(value_hint = ValueHint::AnyPath)]
        card: PathBuf,
        /// The name of the volume
        name: String,
        /// Bytes that a host sees from now on
        #[arg(help = "What a host sees of it from now on", long, value_name = "BYTES")]
        size: Bytes,
    },
    /// Delete a volume that nobody is connected to; its room is free for the others
    Delete {
        /// The directory of a card; the name or control socket of one that is served
        #[arg(value_hint = ValueHint::AnyPath)]
        card: PathBuf,
        /// The name of the volume
        name: String,
        /// Its contents may be destroyed
        #[arg(help = "What lies on it may be destroyed", long)]
        destroy_data: bool,
    },
}
