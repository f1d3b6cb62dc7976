//! Errors of real devices of this machine.

use crate::quoted::Quoted;
use crate::units::capacity;
use identify::{ConfirmationKind, Reason};
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// A device or a file that is not written to.
#[derive(Debug, Error)]
pub enum DeviceFailure {
    /// The kernel does not say what is there.
    #[error(transparent)]
    Identify(#[from] identify::IdentifyError),
    /// The device is in use, or holds something.
    #[error(transparent)]
    Refused(#[from] identify::Refusal),
    /// The file or the device can't be opened.
    #[error(transparent)]
    Drive(#[from] drive::DriveError),
    /// Nobody said that its contents may be destroyed.
    #[error(
        "{} ({title}): a review destroys everything on it; if that is meant, add --destroy-data and type its {what}, \
         or give it: --serial '{value}'", .path.display()
    )]
    NotAllowed { path: PathBuf, title: Quoted, what: ConfirmationKind, value: Quoted },
    /// Nobody said that a device may become a module.
    #[error(
        "{} ({title}): a module takes all of it, and what lies on it is lost; if that is meant, add --destroy-data",
        .path.display()
    )]
    NotGivenAway { path: PathBuf, title: Quoted },
    /// The device of a module is used for something else.
    #[error("{} is in use: {reasons}", .path.display())]
    InUse { path: PathBuf, reasons: Reasons },
    /// Another device was meant.
    #[error("{}: '{typed}' is not its {what}: nothing was written", .path.display())]
    NotConfirmed { path: PathBuf, what: ConfirmationKind, typed: Quoted },
    /// There is no terminal to confirm at.
    #[error("{}: nobody is there to type its {what}: give it with --serial", .path.display())]
    NobodyToAsk { path: PathBuf, what: ConfirmationKind },
    /// The file is not there, and no size is given.
    #[error("{}: there is no such file or device; --size makes a new file", .path.display())]
    NoSize { path: PathBuf },
    /// The file has another size than was asked for.
    #[error("{} is there and holds {}: leave out --size, or name a new file", .path.display(), capacity(*.size_bytes))]
    OtherSize { path: PathBuf, size_bytes: u64 },
    /// The file was not made by Flashrig.
    #[error(
        "{} is there and was not made by flashrig: name a new file with --size, or give this one away with \
         --destroy-data", .path.display()
    )]
    ForeignFile { path: PathBuf },
}

/// Reasons why a device can't be had, in the order in which they can be undone.
#[derive(Debug)]
pub struct Reasons(Box<[Reason]>);

impl From<Vec<Reason>> for Reasons {
    fn from(reasons: Vec<Reason>) -> Reasons {
        Reasons(reasons.into())
    }
}

impl fmt::Display for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, reason) in self.0.iter().enumerate() {
            write!(f, "{}{reason}", if number == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}
