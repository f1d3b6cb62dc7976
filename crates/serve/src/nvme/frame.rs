//! One PDU of the other side, found in the received bytes and checked before anything in it is believed.

use crate::nvme::bytes::u32_at;
use crate::nvme::close::{Close, Field};
use crate::nvme::limits::{MAX_ADMIN_DATA_BYTES, MAX_CAPSULE_DATA_BYTES, MAX_H2C_DATA_BYTES, MAX_TRANSFER_BYTES};
use crate::nvme::pdu::{
    COMMAND_HEADER_BYTES, DIGEST_BYTES, Digests, FLAG_DATA_DIGEST, FLAG_HEADER_DIGEST, FLAG_LAST, FLAG_SUCCESS,
    HEADER_BYTES, INITIALIZE_BYTES, SHORT_HEADER_BYTES, kind,
};
use std::ops::Range;

/// The most data of the PDU behind a H2CTermReq or C2HTermReq.
const MAX_TERMINATION_BYTES: usize = 128;

/// A PDU that is whole, and consistent in itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub is_last: bool,
    /// The command of these data has succeeded, and no response follows.
    pub success: bool,
    /// The data in the input.
    pub data: Range<usize>,
    /// The digest of the data is right, or there is none.
    pub intact: bool,
    /// All bytes of the PDU.
    pub bytes: usize,
}

/// The side whose PDUs are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    Host,
    Controller,
}

/// The limits that the connection has now.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    pub sender: Sender,
    pub initialized: bool,
    /// I/O queues take more data in a capsule.
    pub is_io: bool,
    pub digests: Digests,
}

/// How far a PDU has come.
pub enum Found {
    /// At least this number of bytes is missing.
    Missing(usize),
    Whole(Frame),
}

struct Shape {
    header: usize,
    /// The most data that may follow.
    data: usize,
    /// It has data by its nature.
    wants_data: bool,
    flags: u8,
}

/// A controller answers no command with more data than [`MAX_TRANSFER_BYTES`].
fn shape_of_controller(kind: u8, allowed: Allowed) -> Result<Shape, Close> {
    let flags = if allowed.digests.header { FLAG_HEADER_DIGEST } else { 0 };
    let with_data = flags | if allowed.digests.data { FLAG_DATA_DIGEST } else { 0 };
    let short = |data: usize, flags| Shape { header: SHORT_HEADER_BYTES, data, wants_data: data > 0, flags };
    match kind {
        kind::INITIALIZED if !allowed.initialized => Ok(Shape { header: INITIALIZE_BYTES, ..short(0, 0) }),
        kind::CONTROLLER_TERMINATES => Ok(Shape { wants_data: false, ..short(MAX_TERMINATION_BYTES, 0) }),
        kind::RESPONSE | kind::READY if allowed.initialized => Ok(short(0, flags)),
        kind::CONTROLLER_DATA if allowed.initialized => Ok(short(MAX_TRANSFER_BYTES as usize, with_data)),
        kind::INITIALIZED | kind::RESPONSE | kind::READY | kind::CONTROLLER_DATA => Err(Close::Sequence { kind }),
        _ => Err(Close::InvalidField { kind, field: Field::Type }),
    }
}

fn shape(kind: u8, allowed: Allowed) -> Result<Shape, Close> {
    if allowed.sender == Sender::Controller {
        return shape_of_controller(kind, allowed);
    }
    let flags = if allowed.digests.header { FLAG_HEADER_DIGEST } else { 0 };
    let with_data = flags | if allowed.digests.data { FLAG_DATA_DIGEST } else { 0 };
    match kind {
        kind::INITIALIZE if !allowed.initialized => {
            Ok(Shape { header: INITIALIZE_BYTES, data: 0, wants_data: false, flags: 0 })
        }
        kind::HOST_TERMINATES => {
            Ok(Shape { header: SHORT_HEADER_BYTES, data: MAX_TERMINATION_BYTES, wants_data: false, flags: 0 })
        }
        kind::COMMAND if allowed.initialized => {
            let data = if allowed.is_io { MAX_CAPSULE_DATA_BYTES } else { MAX_ADMIN_DATA_BYTES } as usize;
            Ok(Shape { header: COMMAND_HEADER_BYTES, data, wants_data: false, flags: with_data })
        }
        kind::HOST_DATA if allowed.initialized => Ok(Shape {
            header: SHORT_HEADER_BYTES,
            data: MAX_H2C_DATA_BYTES as usize,
            wants_data: true,
            flags: with_data | FLAG_LAST,
        }),
        kind::INITIALIZE | kind::COMMAND | kind::HOST_DATA => Err(Close::Sequence { kind }),
        _ => Err(Close::InvalidField { kind, field: Field::Type }),
    }
}

/// Looks at the PDU at the beginning of the input. Each length is held against its limit before more bytes are waited for.
pub fn find(input: &[u8], allowed: Allowed) -> Result<Found, Close> {
    let Some(&[kind, flags, header_bytes, data_offset, ..]) = input.get(..HEADER_BYTES) else {
        return Ok(Found::Missing(HEADER_BYTES - input.len()));
    };
    let shape = shape(kind, allowed)?;
    let invalid = |field| Err(Close::InvalidField { kind, field });
    if usize::from(header_bytes) != shape.header {
        return invalid(Field::HeaderLength);
    }
    let of_controller = matches!(kind, kind::INITIALIZED | kind::CONTROLLER_TERMINATES);
    let is_control = of_controller || matches!(kind, kind::INITIALIZE | kind::HOST_TERMINATES);
    let digests = if is_control { Digests::default() } else { allowed.digests };
    let front = digests.header_bytes(shape.header);
    let whole = u32_at(input, 4) as usize;
    if whole < front {
        return invalid(Field::Length);
    }
    let has_data = whole > front;
    let offset = if is_control { front } else { usize::from(data_offset) };
    let tail = if digests.data && has_data { DIGEST_BYTES } else { 0 };
    if has_data && !is_control && (offset < front || offset % 4 != 0) {
        return invalid(Field::DataOffset);
    }
    if !has_data && shape.wants_data
        || has_data && whole <= offset + tail
        || whole > offset.max(front) + shape.data + tail
    {
        return invalid(Field::Length);
    }
    let digest_flags = FLAG_HEADER_DIGEST | FLAG_DATA_DIGEST;
    let wanted = if has_data { shape.flags } else { shape.flags & !FLAG_DATA_DIGEST };
    if !is_control && flags & digest_flags != wanted & digest_flags {
        return invalid(Field::Flags);
    }
    if input.len() < front {
        return Ok(Found::Missing(whole - input.len()));
    }
    if digests.header {
        let received = u32_at(input, shape.header);
        if crc32c::crc32c(&input[..shape.header]) != received {
            return Err(Close::HeaderDigest { received });
        }
    }
    if input.len() < whole {
        return Ok(Found::Missing(whole - input.len()));
    }
    let data = if has_data { offset..whole - tail } else { front..front };
    let intact = tail == 0 || crc32c::crc32c(&input[data.clone()]) == u32_at(input, data.end);
    let (is_last, success) = (flags & FLAG_LAST != 0, flags & FLAG_SUCCESS != 0);
    Ok(Found::Whole(Frame { kind, is_last, success, data, intact, bytes: whole }))
}
