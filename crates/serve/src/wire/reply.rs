//! The bytes of replies in the transmission phase.

use crate::wire::bytes::{put_u16, put_u32, put_u64, short};
use crate::wire::limits::MAX_STRING_BYTES;
use crate::wire::numbers::{REPLY_TYPE_ERROR, REPLY_TYPE_ERROR_OFFSET, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC};
use crate::wire::request::Errno;

/// Appends a simple reply of 16 bytes.
pub fn put_simple(cookie: u64, errno: u32, out: &mut Vec<u8>) {
    let mut head = [0; 16];
    head[..4].copy_from_slice(&SIMPLE_REPLY_MAGIC.to_be_bytes());
    head[4..8].copy_from_slice(&errno.to_be_bytes());
    head[8..].copy_from_slice(&cookie.to_be_bytes());
    out.extend_from_slice(&head);
}

/// Appends the head of a chunk, 20 bytes, before a payload of `payload_bytes`.
pub fn put_chunk(cookie: u64, flags: u16, kind: u16, payload_bytes: u32, out: &mut Vec<u8>) {
    let mut head = [0; 20];
    head[..4].copy_from_slice(&STRUCTURED_REPLY_MAGIC.to_be_bytes());
    head[4..6].copy_from_slice(&flags.to_be_bytes());
    head[6..8].copy_from_slice(&kind.to_be_bytes());
    head[8..16].copy_from_slice(&cookie.to_be_bytes());
    head[16..].copy_from_slice(&payload_bytes.to_be_bytes());
    out.extend_from_slice(&head);
}

/// Appends an error chunk. With an offset, the error concerns this place only.
pub fn put_error(cookie: u64, flags: u16, errno: Errno, message: &str, offset: Option<u64>, out: &mut Vec<u8>) {
    let message = cut(message);
    let length = u16::try_from(message.len()).expect("it was cut");
    let (kind, offset_bytes) = if offset.is_some() { (REPLY_TYPE_ERROR_OFFSET, 8) } else { (REPLY_TYPE_ERROR, 0) };
    put_chunk(cookie, flags, kind, short(6 + message.len() + offset_bytes), out);
    put_u32(out, errno as u32);
    put_u16(out, length);
    out.extend_from_slice(message.as_bytes());
    if let Some(offset) = offset {
        put_u64(out, offset);
    }
}

/// Cuts a message to a legal string: without NUL, and no longer than strings may be.
fn cut(message: &str) -> &str {
    let message = message.split('\0').next().unwrap_or_default();
    let end = (0..=message.len().min(MAX_STRING_BYTES)).rev().find(|end| message.is_char_boundary(*end));
    &message[..end.unwrap_or(0)]
}
