//! Errors of running cards and attached devices.

use crate::quoted::Quoted;
use thiserror::Error;

/// A running card, or a device of this machine, that does not do what it is told.
#[derive(Debug, Error)]
pub enum ControlFailure {
    /// The running card refuses, or does not answer.
    #[error(transparent)]
    Control(#[from] control::ClientError),
    /// The device can't be attached or detached.
    #[error(transparent)]
    Attach(#[from] attach::AttachError),
    /// The card that is to become a disk has no server.
    #[error("{card}: nobody serves it; flashrig serve {card} --ublk makes it a disk")]
    NotServed { card: Quoted },
    /// Its server offers nothing that a disk can be made of.
    #[error("{card}: no disk can be made of it ({why}; no mount of --fuse): serve it with --ublk, --nbd or --fuse")]
    NoWay { card: Quoted, why: Quoted },
    /// The card is divided.
    #[error("{card} has several volumes: name one with --volume ({names})")]
    WhichVolume { card: Quoted, names: Quoted },
    /// There is none of this name.
    #[error("{card} has no volume {volume}; it has {names}")]
    UnknownVolume { volume: Quoted, card: Quoted, names: Quoted },
    /// The card is divided, and holds nothing yet.
    #[error("{card} has no volumes yet: flashrig volume create {card} NAME --size SIZE makes one")]
    NoVolumes { card: Quoted },
}
