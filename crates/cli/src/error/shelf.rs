//! Errors of `flashrig shelf`, and of cards on shelves.

use serve::remote::{RemoteError, ShelfAddress};
use std::path::PathBuf;
use thiserror::Error;

/// A file or drive that a shelf can't export.
#[derive(Debug, Error)]
pub enum ShelfFailure {
    /// It can't be opened, or has no room.
    #[error(transparent)]
    Disk(#[from] serve::RawDiskError),
    /// Its name or its reservations are not known.
    #[error(transparent)]
    State(#[from] serve::ShelfStateError),
    /// A drive without a serial number would get the state of another one that comes under its name.
    #[error("{}: has no lasting name in /dev/disk/by-id: say where its state is kept (--state DIR)", .path.display())]
    NoStableName { path: PathBuf },
    /// A shelf can't be asked for its modules.
    #[error("--shelf {shelf}: {source}")]
    Shelf { shelf: ShelfAddress, source: RemoteError },
    /// A shelf has nothing to make a card of.
    #[error("--shelf {shelf}: it exports no modules")]
    NoModules { shelf: ShelfAddress },
    /// A module on a shelf can't be used.
    #[error("{}: {source}", .path.display())]
    Module { path: PathBuf, source: RemoteError },
    /// A module on a shelf is another host's.
    #[error("{}: another host has reserved it (key {key:#x}): release it there first", .path.display())]
    Reserved { path: PathBuf, key: u64 },
    /// A module on a shelf holds a card's data.
    #[error("{}: is a module of a card: add --destroy-data if all it holds may be lost", .path.display())]
    HoldsModule { path: PathBuf },
    /// A module on a shelf is not empty.
    #[error("{}: holds data: add --destroy-data if they may be lost", .path.display())]
    HoldsData { path: PathBuf },
    /// A module on a shelf would be overwritten.
    #[error("{}: all that the module on the shelf holds will be lost: add --destroy-data if it may be", .path.display())]
    NotGivenAway { path: PathBuf },
    /// An address of a module has another form.
    #[error(transparent)]
    Address(#[from] serve::remote::ModuleAddressError),
    /// Two modules would have one state.
    #[error(
        "{} and {} would keep their states in one place, {}: give one of them another name",
        .first.display(), .second.display(), .state.display()
    )]
    SameState { first: PathBuf, second: PathBuf, state: PathBuf },
}
