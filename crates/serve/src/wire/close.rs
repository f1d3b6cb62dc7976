//! Why a connection ends, in one line of plain words for a log.

use crate::wire::limits::{MAX_OPTIONS, MAX_SKIPPED_OPTION_BYTES, MAX_SKIPPED_PAYLOAD_BYTES, MAX_STRING_BYTES};
use thiserror::Error;

/// Why a connection ends.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Close {
    /// `NBD_CMD_DISC`, and all that was in flight is answered.
    #[error("the client disconnected")]
    Disconnected,
    /// `NBD_OPT_ABORT`.
    #[error("the client aborted the negotiation")]
    Aborted,
    /// The stream ended between two messages.
    #[error("the client closed the connection without saying so, with {in_flight} requests in flight")]
    Vanished {
        /// Requests that nobody waits for any more.
        in_flight: u32,
    },
    /// The stream ended within a message or a payload.
    #[error("the connection broke in the middle of a message, with {in_flight} requests in flight")]
    Truncated {
        /// Requests that nobody waits for any more.
        in_flight: u32,
    },
    /// Client flags that this server has not offered.
    #[error("client flags {0:#010x} were not offered: not an NBD client, or a newer one")]
    ClientFlags(u32),
    /// An option that does not begin with `IHAVEOPT`.
    #[error("an option begins with {0:#018x} instead of IHAVEOPT")]
    OptionMagic(u64),
    /// An option whose data is too long to be skipped.
    #[error("option {option} announces {bytes} bytes; at most {MAX_SKIPPED_OPTION_BYTES} are skipped")]
    OptionTooLong {
        /// The option's number.
        option: u32,
        /// Length of its data in bytes.
        bytes: u32,
    },
    /// More options than a client needs.
    #[error("more than {MAX_OPTIONS} options, and still no export chosen")]
    TooManyOptions,
    /// A client without fixed newstyle can't be told that it can't have an option.
    #[error("option {0} from a client that can't be told no (it lacks NBD_FLAG_C_FIXED_NEWSTYLE)")]
    NotFixedNewstyle(u32),
    /// `NBD_OPT_EXPORT_NAME`, which can't be refused otherwise, before TLS where TLS is required.
    #[error("the client chose an export without TLS, which this server requires")]
    TlsRequired,
    /// Plaintext behind `NBD_OPT_STARTTLS`: somebody wants it to be taken for what came through TLS.
    #[error("{0} bytes of plaintext behind NBD_OPT_STARTTLS: refused, they may have been injected")]
    PlaintextBehindStartTls(usize),
    /// `NBD_OPT_EXPORT_NAME` of an export that is not there.
    #[error("the client chose an export that is not there: {}", shown(.0))]
    UnknownExport(String),
    /// `NBD_OPT_EXPORT_NAME` with a name longer than the document allows.
    #[error("the client chose an export by a name of {0} bytes; at most {MAX_STRING_BYTES} are allowed")]
    ExportNameTooLong(u32),
    /// `NBD_OPT_EXPORT_NAME` with a name that is not UTF-8 or has a NUL.
    #[error("the client chose an export by a name that is not UTF-8 or has a NUL")]
    ExportNameNotText,
    /// `NBD_OPT_EXPORT_NAME`, which can't be refused otherwise, while the server ends.
    #[error("the client chose an export while the server shuts down")]
    ShuttingDown,
    /// A request that does not begin with its magic: the place in the stream is lost.
    #[error("a request begins with {0:#010x} instead of 0x25609513")]
    RequestMagic(u32),
    /// A refused write whose payload is too long to be skipped.
    #[error("a write of {0} bytes was refused; at most {MAX_SKIPPED_PAYLOAD_BYTES} are skipped")]
    WriteTooLong(u32),
}

impl Close {
    /// Whether the client ended the connection as the protocol wants it.
    #[must_use]
    pub fn is_orderly(&self) -> bool {
        matches!(self, Self::Disconnected | Self::Aborted)
    }
}

/// A name that a client sent, as a log may show it: escaped, and not much of it.
fn shown(name: &str) -> String {
    const SHOWN: usize = 80;
    let cut: String = name.chars().take(SHOWN).collect();
    let more = if cut.len() < name.len() { "…" } else { "" };
    format!("{cut:?}{more}")
}
