//! The options of `flashrig shelf`.

use super::values::{Bytes, client_memory};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};
use serve::Address;
use std::path::PathBuf;

/// The options of `flashrig shelf`.
#[derive(Debug, Args)]
pub struct ShelfArgs {
    /// Files or drives to export, each as an NVMe subsystem with one namespace; drives best by /dev/disk/by-id, whose
    /// names stay
    #[arg(value_name = "FILE-OR-DRIVE", required = true, value_hint = ValueHint::AnyPath)]
    pub disks: Vec<PathBuf>,
    /// Serve NVMe hosts over TCP here; may be given again
    #[arg(long, value_name = "HOST:PORT", required = true)]
    pub listen: Vec<Address>,
    /// Keep the names and reservations of the modules here, in NAME.shelf each [default: beside a file; for a drive
    /// /var/lib/flashrig/shelves]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub state: Option<PathBuf>,
    /// Take only hosts that prove by DH-HMAC-CHAP that they know this secret, DHHC-1:HASH:BASE64: as nvme
    /// gen-dhchap-key makes one, or @FILE with it
    #[arg(long, value_name = "SECRET")]
    pub nvme_secret: Option<String>,
    /// The secret by which hosts that want to know prove this shelf, written the same way
    #[arg(long, value_name = "SECRET", requires = "nvme_secret")]
    pub nvme_controller_secret: Option<String>,
    /// Let others than this machine come without authentication: whoever reaches the port may read and write the modules.
    /// Without it, a shelf without --nvme-secret listens on loopback only
    #[arg(long)]
    pub insecure: bool,
    /// Form in which hosts that come and go are logged on standard error
    #[arg(long, value_name = "HOW", default_value = "text", value_parser = PossibleValuesParser::new(["text", "json", "none"]))]
    pub log: String,
    /// Most connections at once; more are turned away
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_clients: u32,
    /// Memory for the requests and answers of all hosts together, at least 128m: a host that needs more waits
    /// [default: an eighth of the machine's]
    #[arg(long, value_name = "BYTES", value_parser = client_memory)]
    pub client_memory: Option<Bytes>,
}
