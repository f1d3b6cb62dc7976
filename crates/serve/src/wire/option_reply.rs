//! Replies to options, and the parts that options have in common.

use crate::wire::bytes::{Fields, put_u32, put_u64, short};
use crate::wire::exports::Exports;
use crate::wire::limits::MAX_STRING_BYTES;
use crate::wire::numbers::{OPTION_REPLY_MAGIC, REP_ERR_INVALID, REP_ERR_TOO_BIG, REP_ERR_UNKNOWN};

/// The refusal of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    pub reply: u32,
    pub message: &'static str,
}

impl Refused {
    pub const MALFORMED: Self = Self { reply: REP_ERR_INVALID, message: "the option's data end too early or too late" };
    pub const NOT_TEXT: Self = Self { reply: REP_ERR_INVALID, message: "a name is not UTF-8 or has a NUL" };
    pub const TOO_LONG: Self = Self { reply: REP_ERR_TOO_BIG, message: "a name is longer than 4096 bytes" };
    pub const UNKNOWN: Self = Self { reply: REP_ERR_UNKNOWN, message: "there is no such export" };

    pub fn put(self, option: u32, out: &mut Vec<u8>) {
        put_reply(option, self.reply, &[self.message.as_bytes()], out);
    }
}

/// Appends one reply to an option. Its data are `parts`, one behind the other.
pub fn put_reply(option: u32, reply: u32, parts: &[&[u8]], out: &mut Vec<u8>) {
    put_u64(out, OPTION_REPLY_MAGIC);
    put_u32(out, option);
    put_u32(out, reply);
    put_u32(out, short(parts.iter().map(|part| part.len()).sum()));
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// Takes a string with its length before it, within the limits of all strings.
pub fn string<'a>(fields: &mut Fields<'a>) -> Result<&'a str, Refused> {
    let length = fields.u32().ok_or(Refused::MALFORMED)?;
    let length = usize::try_from(length).map_err(|_| Refused::MALFORMED)?;
    let bytes = fields.bytes(length).ok_or(Refused::MALFORMED)?;
    if length > MAX_STRING_BYTES {
        return Err(Refused::TOO_LONG);
    }
    text(bytes).ok_or(Refused::NOT_TEXT)
}

/// A text without NUL in UTF-8.
pub fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// The place of an export that an option names, and that may be chosen.
pub fn find(exports: &Exports, name: &str) -> Result<usize, Refused> {
    let place = exports.find(name).ok_or(Refused::UNKNOWN)?;
    match exports.all()[place].refusal {
        Some(message) => Err(Refused { reply: REP_ERR_UNKNOWN, message }),
        None => Ok(place),
    }
}
