//! The reasons why a connection ends, each in one line of plain words for a log.

use crate::wire::exports::ExportName;
use crate::wire::limits::{MAX_OPTIONS, MAX_SKIPPED_OPTION_BYTES, MAX_SKIPPED_PAYLOAD_BYTES, MAX_STRING_BYTES};
use thiserror::Error;

/// The reason why a connection ends.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum Close {
    /// The client sent `NBD_CMD_DISC`, and all its requests in flight are answered.
    #[error("the client disconnected")]
    Disconnected,
    /// The client sent `NBD_OPT_ABORT`.
    #[error("the client aborted the negotiation")]
    Aborted,
    /// The stream ended between two messages.
    #[error("the client closed the connection without saying so, with {in_flight} requests in flight")]
    Vanished { in_flight: u32 },
    /// The stream ended within a message or a payload.
    #[error("the connection broke in the middle of a message, with {in_flight} requests in flight")]
    Truncated { in_flight: u32 },
    /// The client set flags that this server has not offered.
    #[error("client flags {0:#010x} were not offered: not an NBD client, or a newer one")]
    ClientFlags(u32),
    /// An option does not begin with `IHAVEOPT`.
    #[error("an option begins with {0:#018x} instead of IHAVEOPT")]
    OptionMagic(u64),
    /// The data of an option are too long to be skipped.
    #[error("option {option} announces {bytes} bytes; at most {MAX_SKIPPED_OPTION_BYTES} are skipped")]
    OptionTooLong { option: u32, bytes: u32 },
    /// The client sent more options than any client needs.
    #[error("more than {MAX_OPTIONS} options, and still no export chosen")]
    TooManyOptions,
    /// A client without fixed newstyle can't be told that it can't have an option.
    #[error("option {0} from a client that can't be told no (it lacks NBD_FLAG_C_FIXED_NEWSTYLE)")]
    NotFixedNewstyle(u32),
    /// The client sent `NBD_OPT_EXPORT_NAME`, which can't be refused otherwise, before the TLS that is required.
    #[error("the client chose an export without TLS, which this server requires")]
    TlsRequired,
    /// Plaintext follows `NBD_OPT_STARTTLS`; an attacker may have injected it, to be taken for bytes that came through
    /// TLS.
    #[error("{0} bytes of plaintext behind NBD_OPT_STARTTLS: refused, they may have been injected")]
    PlaintextBehindStartTls(usize),
    /// `NBD_OPT_EXPORT_NAME` names no export of the table.
    #[error("the client chose an export that is not there: {}", shown(.0.as_str()))]
    UnknownExport(ExportName),
    /// `NBD_OPT_EXPORT_NAME`, which can't be refused otherwise, names an export that may not be chosen now.
    #[error("the client chose an export that it can't have: {}: {reason}", shown(.name.as_str()))]
    Refused { name: ExportName, reason: &'static str },
    /// The name in `NBD_OPT_EXPORT_NAME` is longer than the document allows.
    #[error("the client chose an export by a name of {0} bytes; at most {MAX_STRING_BYTES} are allowed")]
    ExportNameTooLong(u32),
    /// The name in `NBD_OPT_EXPORT_NAME` is not UTF-8 or has a NUL.
    #[error("the client chose an export by a name that is not UTF-8 or has a NUL")]
    ExportNameNotText,
    /// The client sent `NBD_OPT_EXPORT_NAME`, which can't be refused otherwise, while the server shuts down.
    #[error("the client chose an export while the server shuts down")]
    ShuttingDown,
    /// A request does not begin with its magic, so the place in the stream is lost.
    #[error("a request begins with {0:#010x} instead of 0x25609513")]
    RequestMagic(u32),
    /// The payload of a refused write is too long to be skipped.
    #[error("a write of {0} bytes was refused; at most {MAX_SKIPPED_PAYLOAD_BYTES} are skipped")]
    WriteTooLong(u32),
}

impl Close {
    /// Whether the client ended the connection as the protocol demands.
    #[must_use]
    pub fn is_orderly(&self) -> bool {
        matches!(self, Self::Disconnected | Self::Aborted)
    }
}

/// A name that a client sent, escaped and shortened for a log.
fn shown(name: &str) -> String {
    const SHOWN: usize = 80;
    let cut: String = name.chars().take(SHOWN).collect();
    let more = if cut.len() < name.len() { "…" } else { "" };
    format!("{cut:?}{more}")
}
