//! The frames of the TCP transport (NVMe TCP Transport 1.0, section 3.6).
//!
//! ```text
//!  0      1      2      3      4..8
//! ┌──────┬──────┬──────┬──────┬─────────────┬───────────────┬─────────┬───────┬──────┬─────────┐
//! │ type │ flags│ HLEN │ PDO  │ PLEN        │ rest of header│ [HDGST] │ [pad] │ data │ [DDGST] │
//! └──────┴──────┴──────┴──────┴─────────────┴───────────────┴─────────┴───────┴──────┴─────────┘
//! ```

use crate::nvme::bytes::{put, put_u16, put_u32, short};

/// Bytes of the common header.
pub const HEADER_BYTES: usize = 8;
/// Bytes of an ICReq or ICResp.
pub const INITIALIZE_BYTES: usize = 128;
/// Bytes of the header of a command capsule.
pub const COMMAND_HEADER_BYTES: usize = 72;
/// Bytes of the headers of data PDUs, R2T, response capsules and terminations.
pub const SHORT_HEADER_BYTES: usize = 24;
/// Bytes of a digest.
pub const DIGEST_BYTES: usize = 4;

pub const FLAG_HEADER_DIGEST: u8 = 1;
pub const FLAG_DATA_DIGEST: u8 = 2;
pub const FLAG_LAST: u8 = 4;
pub const FLAG_SUCCESS: u8 = 8;

/// The types of PDUs.
pub mod kind {
    pub const INITIALIZE: u8 = 0x00;
    pub const INITIALIZED: u8 = 0x01;
    pub const HOST_TERMINATES: u8 = 0x02;
    pub const CONTROLLER_TERMINATES: u8 = 0x03;
    pub const COMMAND: u8 = 0x04;
    pub const RESPONSE: u8 = 0x05;
    pub const HOST_DATA: u8 = 0x06;
    pub const CONTROLLER_DATA: u8 = 0x07;
    pub const READY: u8 = 0x09;
}

/// The digests that were negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    pub header: bool,
    pub data: bool,
}

impl Digests {
    /// The bytes of a header with its digest.
    pub fn header_bytes(self, header: usize) -> usize {
        header + if self.header { DIGEST_BYTES } else { 0 }
    }

    fn flags(self, has_data: bool) -> u8 {
        u8::from(self.header) * FLAG_HEADER_DIGEST + u8::from(self.data && has_data) * FLAG_DATA_DIGEST
    }
}

/// The first 24 bytes of a frame that is sent, without its digest.
type Short = [u8; SHORT_HEADER_BYTES];

fn short_header(kind: u8, flags: u8, data_offset: u8, length: usize) -> Short {
    let mut header = [0; SHORT_HEADER_BYTES];
    header[0] = kind;
    header[1] = flags;
    header[2] = SHORT_HEADER_BYTES as u8;
    header[3] = data_offset;
    put_u32(&mut header, 4, short(length));
    header
}

fn put_header(header: &Short, digests: Digests, out: &mut Vec<u8>) {
    out.extend_from_slice(header);
    if digests.header {
        out.extend_from_slice(&crc32c::crc32c(header).to_le_bytes());
    }
}

/// Appends the answer to an ICReq.
pub fn put_initialized(digests: Digests, max_data_bytes: u32, out: &mut Vec<u8>) {
    let mut bytes = [0; INITIALIZE_BYTES];
    bytes[0] = kind::INITIALIZED;
    bytes[2] = INITIALIZE_BYTES as u8;
    put_u32(&mut bytes, 4, short(INITIALIZE_BYTES));
    bytes[11] = u8::from(digests.header) | u8::from(digests.data) << 1;
    put_u32(&mut bytes, 12, max_data_bytes);
    out.extend_from_slice(&bytes);
}

/// Appends an ICReq, which asks for digests.
pub fn put_initialize(digests: Digests, out: &mut Vec<u8>) {
    let mut bytes = [0; INITIALIZE_BYTES];
    bytes[0] = kind::INITIALIZE;
    bytes[2] = INITIALIZE_BYTES as u8;
    put_u32(&mut bytes, 4, short(INITIALIZE_BYTES));
    bytes[11] = u8::from(digests.header) | u8::from(digests.data) << 1;
    out.extend_from_slice(&bytes);
}

/// Appends data behind a header, at a multiple of `align` in the PDU, with their digest.
fn put_tail(header_bytes: usize, align: usize, data: &[u8], digests: Digests, out: &mut Vec<u8>) {
    let padding = header_bytes.next_multiple_of(align) - header_bytes;
    out.resize(out.len() + padding, 0);
    out.extend_from_slice(data);
    if digests.data {
        out.extend_from_slice(&crc32c::crc32c(data).to_le_bytes());
    }
}

/// Appends a command capsule, with data in it unless there are none.
pub fn put_command(entry: &[u8; 64], data: &[u8], align: usize, digests: Digests, out: &mut Vec<u8>) {
    let front = digests.header_bytes(COMMAND_HEADER_BYTES);
    let offset = front.next_multiple_of(align);
    let tail = if digests.data { DIGEST_BYTES } else { 0 };
    let whole = if data.is_empty() { front } else { offset + data.len() + tail };
    let mut header = [0; COMMAND_HEADER_BYTES];
    header[0] = kind::COMMAND;
    header[1] = digests.flags(!data.is_empty());
    header[2] = COMMAND_HEADER_BYTES as u8;
    header[3] = if data.is_empty() { 0 } else { offset as u8 };
    put_u32(&mut header, 4, short(whole));
    put(&mut header, HEADER_BYTES, entry);
    out.reserve(whole);
    out.extend_from_slice(&header);
    if digests.header {
        out.extend_from_slice(&crc32c::crc32c(&header).to_le_bytes());
    }
    if !data.is_empty() {
        put_tail(front, align, data, digests, out);
    }
}

/// The place of data that a controller has asked for.
#[derive(Clone, Copy, Debug)]
pub struct HostData {
    pub command_id: u16,
    pub tag: u16,
    pub offset: u32,
    pub is_last: bool,
}

/// Appends data that a controller has asked for.
pub fn put_host_data(of: HostData, data: &[u8], align: usize, digests: Digests, out: &mut Vec<u8>) {
    let front = digests.header_bytes(SHORT_HEADER_BYTES);
    let offset = front.next_multiple_of(align);
    let whole = offset + data.len() + if digests.data { DIGEST_BYTES } else { 0 };
    let flags = digests.flags(true) | if of.is_last { FLAG_LAST } else { 0 };
    let mut header = short_header(kind::HOST_DATA, flags, offset as u8, whole);
    put_u16(&mut header, 8, of.command_id);
    put_u16(&mut header, 10, of.tag);
    put_u32(&mut header, 12, of.offset);
    put_u32(&mut header, 16, short(data.len()));
    out.reserve(whole);
    put_header(&header, digests, out);
    put_tail(front, align, data, digests, out);
}

/// Appends a response capsule around a completion queue entry.
pub fn put_response(entry: &[u8; 16], digests: Digests, out: &mut Vec<u8>) {
    let flags = digests.flags(false);
    let mut header = short_header(kind::RESPONSE, flags, 0, digests.header_bytes(SHORT_HEADER_BYTES));
    put(&mut header, 8, entry);
    put_header(&header, digests, out);
}

/// Appends a request for data of a command.
pub fn put_ready(command_id: u16, tag: u16, offset: u32, length: u32, digests: Digests, out: &mut Vec<u8>) {
    let flags = digests.flags(false);
    let mut header = short_header(kind::READY, flags, 0, digests.header_bytes(SHORT_HEADER_BYTES));
    put_u16(&mut header, 8, command_id);
    put_u16(&mut header, 10, tag);
    put_u32(&mut header, 12, offset);
    put_u32(&mut header, 16, length);
    put_header(&header, digests, out);
}

/// How a data PDU is sent.
#[derive(Clone, Copy, Debug)]
pub struct DataFrame {
    pub digests: Digests,
    /// The alignment of data that the host wants, in bytes.
    pub align: usize,
    /// No response follows: the command has succeeded.
    pub success: bool,
}

/// Appends all data of a command in one PDU, whose pieces have `length` bytes together.
pub fn put_data<'a>(
    command_id: u16,
    pieces: impl Iterator<Item = &'a [u8]>,
    length: usize,
    frame: DataFrame,
    out: &mut Vec<u8>,
) {
    let digests = frame.digests;
    let header_bytes = digests.header_bytes(SHORT_HEADER_BYTES);
    let offset = header_bytes.next_multiple_of(frame.align);
    let whole = offset + length + if digests.data { DIGEST_BYTES } else { 0 };
    let flags = digests.flags(true) | FLAG_LAST | if frame.success { FLAG_SUCCESS } else { 0 };
    let mut header = short_header(kind::CONTROLLER_DATA, flags, offset as u8, whole);
    put_u16(&mut header, 8, command_id);
    put_u32(&mut header, 16, short(length));
    out.reserve(whole);
    put_header(&header, digests, out);
    out.resize(out.len() + offset - header_bytes, 0);
    let begin = out.len();
    pieces.for_each(|piece| out.extend_from_slice(piece));
    debug_assert_eq!(out.len() - begin, length, "the pieces are the data");
    if digests.data {
        let digest = crc32c::crc32c(&out[begin..]);
        out.extend_from_slice(&digest.to_le_bytes());
    }
}

/// Appends the end of a connection, with the header of the PDU that is its reason.
pub fn put_termination(status: u16, information: u32, of: &[u8], out: &mut Vec<u8>) {
    let of = &of[..of.len().min(128)];
    // A termination has no digest (section 3.6.2.5).
    let mut header = short_header(kind::CONTROLLER_TERMINATES, 0, 0, SHORT_HEADER_BYTES + of.len());
    put_u16(&mut header, 8, status);
    put_u32(&mut header, 10, information);
    out.extend_from_slice(&header);
    out.extend_from_slice(of);
}
