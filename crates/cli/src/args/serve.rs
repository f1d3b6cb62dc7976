//! The options of `flashrig serve`.

use super::values::{Bytes, card_size, client_memory};
use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, ValueHint};
use serve::Address;
use serve::remote::ShelfAddress;
use std::path::PathBuf;

/// The options of `flashrig create`.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("places").args(["modules", "shelf"]).multiple(true))]
pub struct CreateArgs {
    /// The folder of the card; it is made
    #[arg(value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// A built-in card, or the path of a TOML file (it ends in .toml or has a /) [default: tachion-400; with --modules
    /// an array whose layout is chosen by measuring them]
    #[arg(long, value_name = "CARD")]
    pub card: Option<String>,
    /// Bytes that a host sees
    #[arg(help = "What a host sees of it [default: as much as the card or the smallest drive has]", long, value_name = "BYTES", value_parser = card_size)]
    pub size: Option<Bytes>,
    /// Places of the modules: as many block devices (best by /dev/disk/by-id, whose names stay), files or modules on
    /// shelves (nvme://HOST:PORT/NQN) as the card has modules [default: files in the folder]
    #[arg(long, value_name = "PATH", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub modules: Vec<PathBuf>,
    /// Shelves (flashrig shelf) all of whose modules become the card's: neighbours lie on different ones, and where all
    /// have equally many, each stripe has one unit on each, so that the card survives the loss of a shelf
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',', conflicts_with = "modules")]
    pub shelf: Vec<ShelfAddress>,
    /// The file of the secret by which this host proves itself to shelves; the card remembers its place
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub shelf_secret: Option<PathBuf>,
    /// The file of the secret by which shelves prove themselves
    #[arg(long, value_name = "FILE", requires = "shelf_secret", value_hint = ValueHint::FilePath)]
    pub shelf_controller_secret: Option<PathBuf>,
    /// Divide the card over N shards by address, each with flash management, a thread and a region of each module of its
    /// own [default: by its size and the processors of this machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(live::MAX_SHARDS)))]
    pub shards: Option<u32>,
    /// Do not measure the modules: an array of them has units of 64 KiB and a buffer of 64 MiB
    #[arg(long, requires = "places", conflicts_with = "card")]
    pub quick: bool,
    /// The contents of these devices may be destroyed
    #[arg(help = "What lies on these devices may be destroyed", long, requires = "places")]
    pub destroy_data: bool,
    /// Override a number of the card: table.key=value; may be given again
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub settings: Vec<String>,
    /// Print JSON in place of text
    #[arg(long)]
    pub json: bool,
}

/// The options of `flashrig serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Folders of cards that flashrig create made; with --memory built-in cards, or paths of TOML files. Each is an
    /// export
    #[arg(value_name = "CARD", required = true, value_hint = ValueHint::AnyPath)]
    pub cards: Vec<String>,
    /// Hold the contents in memory: they are gone when the server ends
    #[arg(long)]
    pub memory: bool,
    /// Bytes that a host sees of a card in memory
    #[arg(
        help = "What a host sees of a card in memory [default: as much as the card has]",
        long,
        value_name = "BYTES",
        value_parser = card_size,
        requires = "memory"
    )]
    pub size: Option<Bytes>,
    /// Divide a card in memory over N shards by address, each with flash management of its own, so that several clients
    /// wait less for each other
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "memory",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(live::MAX_SHARDS))
    )]
    pub shards: u32,
    /// Time that requests take: as long as the medium takes, or as on the card
    #[arg(long, value_name = "HOW", default_value = "none", value_parser = PossibleValuesParser::new(["none", "model"]))]
    pub timing: String,
    /// Mount the card here, as a folder with one file of its size that can be attached; for one card
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub fuse: Option<PathBuf>,
    /// Show this volume of the card as the file; needed where it has several
    #[arg(long, value_name = "NAME", requires = "fuse", conflicts_with = "memory")]
    pub fuse_volume: Option<String>,
    /// Make each card, or each of its volumes, a disk of this machine with the kernel's ublk driver, /dev/ublkbN: faster than
    /// NBD, and one in a folder goes on where it was when the server is killed and started again. Needs root
    #[arg(long, conflicts_with = "controller")]
    pub ublk: bool,
    /// Take an operator's commands (ctl, top) at this socket [default: control.sock in the card's folder, or a socket
    /// of the card's name in $XDG_RUNTIME_DIR/flashrig or /run/flashrig]; for one card
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub control: Option<PathBuf>,
    /// A group that may do so as well
    #[arg(long, value_name = "GROUP")]
    pub control_group: Option<String>,
    /// Serve metrics for Prometheus here, at /metrics
    #[arg(long, value_name = "HOST:PORT")]
    pub metrics: Option<String>,
    /// Show the cards to browsers here: what they do, second by second, for the last 15 minutes; nothing can be changed
    #[arg(long, value_name = "HOST:PORT")]
    pub web: Option<String>,
    /// Let others than this machine reach --web: whoever does may look
    #[arg(long, requires = "web")]
    pub web_insecure: bool,
    /// Serve NBD clients here: unix:PATH or HOST:PORT; may be given again
    #[arg(long, value_name = "ADDRESS", required_unless_present_any = ["fuse", "nvme", "ublk"])]
    pub nbd: Vec<Address>,
    /// Serve NVMe hosts over TCP here, each card as a subsystem of its own; may be given again
    #[arg(long, value_name = "HOST:PORT")]
    pub nvme: Vec<Address>,
    /// Take only NVMe hosts that prove by DH-HMAC-CHAP that they know this secret, DHHC-1:HASH:BASE64: as nvme
    /// gen-dhchap-key makes one, or @FILE with it
    #[arg(long, value_name = "SECRET", requires = "nvme")]
    pub nvme_secret: Option<String>,
    /// The secret by which hosts that want to know prove this server, written the same way
    #[arg(long, value_name = "SECRET", requires = "nvme_secret")]
    pub nvme_controller_secret: Option<String>,
    /// Let others than this machine come over TCP without authentication: whoever reaches the port may read and write the
    /// cards. Without it, --nvme without --nvme-secret listens on loopback only, and so does --nbd without TLS
    #[arg(long)]
    pub insecure: bool,
    /// Take only clients with TLS; the server's certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath)]
    pub tls_certificate: Option<PathBuf>,
    /// The certificate's private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate", value_hint = ValueHint::FilePath)]
    pub tls_key: Option<PathBuf>,
    /// Take only clients with a certificate that this authority has signed, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate", value_hint = ValueHint::FilePath)]
    pub tls_client_authority: Option<PathBuf>,
    /// Form in which clients that come and go, modules that are pulled and inserted, and power cuts are logged on
    /// standard error
    #[arg(long, value_name = "HOW", default_value = "text", value_parser = PossibleValuesParser::new(["text", "json", "none"]))]
    pub log: String,
    /// Do not tell drives which of their blocks were erased (those with logical blocks that can be discarded are told)
    #[arg(long, conflicts_with = "memory")]
    pub no_discard: bool,
    /// Share the card with other servers on other hosts, as its controller N, which no other one is: one of them owns it at
    /// a time, and when it goes, another one takes over (docs/two-controllers.md). All modules lie on shelves
    #[arg(
        long,
        value_name = "N",
        conflicts_with_all = ["memory", "fuse", "ublk", "without_slot"],
        value_parser = clap::value_parser!(u8).range(1..)
    )]
    pub controller: Option<u8>,
    /// The address at which NVMe hosts reach another controller of the shared card, which discovery tells them as well; may
    /// be given again
    #[arg(long, value_name = "HOST:PORT", requires = "controller", requires = "nvme")]
    pub peer: Vec<Address>,
    /// Start without the module of slot N, which is not touched: it is of another card, or a copy. It counts as missing;
    /// for one card
    #[arg(long, value_name = "N", conflicts_with = "memory")]
    pub without_slot: Vec<u32>,
    /// Refuse what would change a card
    #[arg(long)]
    pub read_only: bool,
    /// Most clients at once; more are turned away. Each has 10 s to choose an export, 60 s for a silence within a request,
    /// and 60 s and a second more for every 256 KiB to send a request whole, or to take its answers
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_clients: u32,
    /// Memory for the requests and answers of all clients together, at least 128m: a client that needs more waits
    /// [default: an eighth of the machine's]
    #[arg(long, value_name = "BYTES", value_parser = client_memory)]
    pub client_memory: Option<Bytes>,
    /// Override a number of the cards: table.key=value; may be given again
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE", requires = "memory")]
    pub settings: Vec<String>,
    /// Root seed of what the cards draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}
