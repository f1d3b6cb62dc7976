//! The reasons why a connection to a controller is of no use any more.

use crate::nvme::close::Close;
use thiserror::Error;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum Broken {
    /// A PDU is not possible.
    #[error("the controller sends what is no PDU: {0}")]
    Pdu(#[from] Close),
    /// The controller has ended the connection.
    #[error("the controller terminated the connection: status {status:#06x}, information {information:#010x}")]
    Terminated { status: u16, information: u32 },
    /// The controller speaks another version, or wants an impossible alignment or length.
    #[error("the controller offers a connection that is not possible: byte {offset} of its ICResp is {value}")]
    Offer { offset: usize, value: u32 },
    /// Without digests a module could get wrong bytes from the network.
    #[error("the controller refuses header and data digests, without which no module is used")]
    NoDigests,
    /// No such command is in flight.
    #[error("the controller answers command {id:#06x}, which is not in flight")]
    Unknown { id: u16 },
    /// Data that the command does not have room for, or not now.
    #[error("the controller sends {length} bytes at {offset} of a command that has {expected} and got {received}")]
    Data { offset: u32, length: u32, expected: u32, received: u32 },
    /// Data that the command does not have, or that were asked for before.
    #[error("the controller asks for {length} bytes at {offset} of a command that has {bytes} and gave {sent}")]
    Wants { offset: u32, length: u32, bytes: u32, sent: u32 },
    /// A command succeeded without all of its data.
    #[error("the controller says that a command has succeeded after {moved} of {bytes} bytes")]
    Short { moved: u32, bytes: u32 },
    /// A structure that a command brought is not possible.
    #[error("the controller's {what} is not possible")]
    Structure { what: &'static str },
}
