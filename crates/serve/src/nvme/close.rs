//! The reasons why a connection ends, each in one line of plain words for a log, and what the host is told.

use thiserror::Error;

/// A field of a PDU whose value ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The type of the PDU.
    Type,
    /// The flags of the PDU.
    Flags,
    /// The length of the header.
    HeaderLength,
    /// The offset of the data.
    DataOffset,
    /// The length of the PDU.
    Length,
    /// The version of an ICReq.
    Version,
    /// The alignment that the host wants.
    Alignment,
    /// The command of an H2CData PDU.
    CommandId,
    /// The transfer tag of an H2CData PDU.
    Tag,
    /// The length of the data in an H2CData PDU.
    DataLength,
}

impl Field {
    /// The offset of the field from the beginning of the PDU.
    #[must_use]
    pub fn offset(self) -> u32 {
        match self {
            Field::Type => 0,
            Field::Flags => 1,
            Field::HeaderLength => 2,
            Field::DataOffset => 3,
            Field::Length => 4,
            Field::Version | Field::CommandId => 8,
            Field::Alignment | Field::Tag => 10,
            Field::DataLength => 16,
        }
    }
}

/// The reason why a connection ends.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum Close {
    /// The stream ended between two PDUs.
    #[error("the host closed the connection, with {in_flight} commands in flight")]
    Ended { in_flight: u32 },
    /// The stream ended within a PDU.
    #[error("the connection broke in the middle of a PDU, with {in_flight} commands in flight")]
    Truncated { in_flight: u32 },
    /// The host sent an H2CTermReq.
    #[error("the host terminated the connection: status {status:#06x}, information {information:#010x}")]
    HostTerminated { status: u16, information: u32 },
    /// A field of a PDU has a value that it can't have.
    #[error("a PDU of type {kind:#04x} has an invalid field: {field:?}")]
    InvalidField { kind: u8, field: Field },
    /// A PDU comes where it can't come.
    #[error("a PDU of type {kind:#04x} is out of sequence")]
    Sequence { kind: u8 },
    /// More commands than the queue has entries, all of which wait for data.
    #[error("the host sends more commands than its queue has entries")]
    Overrun,
    /// The digest of a header is wrong.
    #[error("the digest of a header is wrong")]
    HeaderDigest { received: u32 },
    /// Data lie outside of what was asked for.
    #[error("data at {offset} are not those that were asked for")]
    OutOfRange { offset: u32 },
    /// A PDU has more data than was allowed.
    #[error("a PDU has {bytes} bytes of data")]
    TooMuchData { bytes: u32 },
    /// The host asks for something that this side does not have.
    #[error("the host asks for what is not supported: {field:?}")]
    Unsupported { field: Field },
}

impl Close {
    /// The status and the information of the C2HTermReq that the host gets, if it gets one (section 3.6.2.5).
    #[must_use]
    pub fn termination(&self) -> Option<(u16, u32)> {
        Some(match self {
            Close::Ended { .. } | Close::Truncated { .. } | Close::HostTerminated { .. } => return None,
            Close::InvalidField { field, .. } => (1, field.offset()),
            Close::Sequence { .. } | Close::Overrun => (2, 0),
            Close::HeaderDigest { received } => (3, *received),
            Close::OutOfRange { .. } => (4, 0),
            Close::TooMuchData { .. } => (5, 0),
            Close::Unsupported { field } => (6, field.offset()),
        })
    }

    /// Whether the host ended the connection as the transport demands.
    #[must_use]
    pub fn is_orderly(&self) -> bool {
        matches!(self, Close::Ended { in_flight: 0 })
    }
}
