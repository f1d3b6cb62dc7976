//! Errors of running cards and attached devices.

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
}
