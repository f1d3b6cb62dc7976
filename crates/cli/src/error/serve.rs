//! Errors of `flashrig serve`.

use crate::quoted::Quoted;
use crate::units::capacity;
use live::CHUNK_BYTES;
use serve::remote::Claim;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A card that can't be served.
#[derive(Debug, Error)]
pub enum ServeFailure {
    /// The contents of the card have no place.
    #[error("say where the contents of {card} are: --memory keeps them while the server runs")]
    NoBacking { card: Quoted },
    /// No card lies in the folder, or there is no such folder.
    #[error("{}: {}; flashrig create {} --card NAME makes a card there", .dir.display(), match .is_there {
        true => "no card lies in this folder",
        false => "there is no such folder",
    }, .dir.display())]
    NoCardIn { dir: PathBuf, is_there: bool },
    /// The disks would be as fast as memory.
    #[error("{name} is disks: without their times they would be plain memory; add --timing model")]
    DisksWithoutTiming { name: Quoted },
    /// A shard would hold nothing.
    #[error("--shards {shards}: the card has room for {most}, of {} each at least", capacity(CHUNK_BYTES))]
    TooManyShards { shards: u32, most: u64 },
    /// The contents would not fit into memory.
    #[error(
        "--memory: what is written comes to take {} of memory, and {} are free: choose a smaller --size, or keep the card \
         in files (flashrig create)",
        capacity(*.needed_bytes), capacity(*.free_bytes)
    )]
    Memory { needed_bytes: u64, free_bytes: u64 },
    /// Other hosts can't reach the place.
    #[error("{} is no module on a shelf: only a card whose modules all lie on shelves can have several controllers", .place.display())]
    NotOnShelf { place: PathBuf },
    /// Another controller has it.
    #[error("{}: controller {} owns the card and may write to it: end all its controllers first", .dir.display(), .owner.controller)]
    OwnedElsewhere { dir: PathBuf, owner: Claim },
    /// Too few of its modules can be asked.
    #[error("{}: {reached} of its {modules} modules can be reached: too few to look at the card", .dir.display())]
    OutOfReach { dir: PathBuf, modules: u32, reached: usize },
    /// The machine has no threads or random numbers.
    #[error("--controller: the system refuses what a controller needs: {source}")]
    Contend { source: io::Error },
    /// The server does not start.
    #[error(transparent)]
    Serve(#[from] serve::ServeError),
    /// The control socket or the address for metrics can't be had.
    #[error(transparent)]
    ServeControl(#[from] control::ServeError),
    /// The group of the control socket does not exist.
    #[error("--control-group {group}: {source}")]
    Group { group: Quoted, source: io::Error },
    /// The card can't be mounted.
    #[error(transparent)]
    Fuse(#[from] attach::fuse::FuseError),
    /// The card does not become a disk.
    #[error(transparent)]
    Ublk(#[from] attach::ublk::DiskError),
    /// A disk believes writes done that only this option repeats.
    #[error(
        "{} waits for {card}: add --ublk, or give it up with flashrig detach {}", .device.display(), .device.display()
    )]
    DiskWaits { card: Quoted, device: PathBuf },
    /// A text is no secret; it is not repeated.
    #[error("{option}: {source}")]
    Secret { option: &'static str, source: serve::nvme::SecretError },
    /// The file of a secret can't be read.
    #[error("{option}: {}: {source}", .path.display())]
    SecretFile { option: &'static str, path: PathBuf, source: io::Error },
    /// Keys and certificates can't be used.
    #[error(transparent)]
    Tls(#[from] serve::TlsError),
}
