//! The messages of a client and its parser of replies, with its own numbers and none of the crate's.

use std::collections::BTreeMap;

pub const FIXED: u32 = 1;
pub const NO_ZEROES: u32 = 2;

pub const EXPORT_NAME: u32 = 1;
pub const ABORT: u32 = 2;
pub const LIST: u32 = 3;
pub const STARTTLS: u32 = 5;
pub const INFO: u32 = 6;
pub const GO: u32 = 7;
pub const STRUCTURED: u32 = 8;
pub const LIST_META: u32 = 9;
pub const SET_META: u32 = 10;
pub const EXTENDED: u32 = 11;

pub const ACK: u32 = 1;
pub const REP_SERVER: u32 = 2;
pub const REP_INFO: u32 = 3;
pub const REP_META: u32 = 4;
pub const UNSUP: u32 = 0x8000_0001;
pub const POLICY: u32 = 0x8000_0002;
pub const INVALID: u32 = 0x8000_0003;
pub const TLS_REQD: u32 = 0x8000_0005;
pub const UNKNOWN: u32 = 0x8000_0006;
pub const SHUTDOWN: u32 = 0x8000_0007;
pub const TOO_BIG: u32 = 0x8000_0009;

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const DISC: u16 = 2;
pub const FLUSH: u16 = 3;
pub const TRIM: u16 = 4;
pub const CACHE: u16 = 5;
pub const WRITE_ZEROES: u16 = 6;
pub const BLOCK_STATUS: u16 = 7;
pub const RESIZE: u16 = 8;

pub const FUA: u16 = 1;
pub const NO_HOLE: u16 = 2;
pub const DF: u16 = 4;
pub const REQ_ONE: u16 = 8;
pub const FAST_ZERO: u16 = 16;

pub const EPERM: u32 = 1;
pub const EIO: u32 = 5;
pub const EINVAL: u32 = 22;
pub const ENOSPC: u32 = 28;
pub const ESHUTDOWN: u32 = 108;

pub fn flags(flags: u32) -> Vec<u8> {
    flags.to_be_bytes().to_vec()
}

pub fn hello() -> Vec<u8> {
    flags(FIXED | NO_ZEROES)
}

/// The header of an option that announces `length` bytes.
pub fn option_header(option: u32, length: u32) -> Vec<u8> {
    [&b"IHAVEOPT"[..], &option.to_be_bytes(), &length.to_be_bytes()].concat()
}

pub fn option(option: u32, data: &[u8]) -> Vec<u8> {
    [option_header(option, u32::try_from(data.len()).unwrap()), data.to_vec()].concat()
}

pub fn string(text: &[u8]) -> Vec<u8> {
    [&u32::try_from(text.len()).unwrap().to_be_bytes()[..], text].concat()
}

/// The data of `INFO` and `GO`.
pub fn info(name: &[u8], kinds: &[u16]) -> Vec<u8> {
    let mut data = string(name);
    data.extend(u16::try_from(kinds.len()).unwrap().to_be_bytes());
    kinds.iter().for_each(|kind| data.extend(kind.to_be_bytes()));
    data
}

/// The data of `LIST_META_CONTEXT` and `SET_META_CONTEXT`.
pub fn queries(name: &[u8], queries: &[&[u8]]) -> Vec<u8> {
    let mut data = string(name);
    data.extend(u32::try_from(queries.len()).unwrap().to_be_bytes());
    queries.iter().for_each(|query| data.extend(string(query)));
    data
}

pub fn go(name: &str) -> Vec<u8> {
    option(GO, &info(name.as_bytes(), &[]))
}

/// Everything that leads to the transmission phase with structured replies and `base:allocation`.
pub fn structured(name: &str) -> Vec<u8> {
    let set = queries(name.as_bytes(), &[b"base:allocation"]);
    [hello(), option(STRUCTURED, &[]), option(SET_META, &set), go(name)].concat()
}

/// Everything that leads to the transmission phase with simple replies.
pub fn simple(name: &str) -> Vec<u8> {
    [hello(), go(name)].concat()
}

pub fn request(flags: u16, kind: u16, cookie: u64, offset: u64, length: u32) -> Vec<u8> {
    let parts = [
        &0x2560_9513_u32.to_be_bytes()[..],
        &flags.to_be_bytes(),
        &kind.to_be_bytes(),
        &cookie.to_be_bytes(),
        &offset.to_be_bytes(),
        &length.to_be_bytes(),
    ];
    parts.concat()
}

pub fn write(flags: u16, cookie: u64, offset: u64, payload: &[u8]) -> Vec<u8> {
    [request(flags, WRITE, cookie, offset, u32::try_from(payload.len()).unwrap()), payload.to_vec()].concat()
}

fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (front, rest) = bytes.split_first_chunk().expect("the reply is whole");
    *bytes = rest;
    *front
}

/// Option replies: option, kind, data.
pub fn option_replies(mut out: &[u8]) -> Vec<(u32, u32, Vec<u8>)> {
    let mut replies = Vec::new();
    while !out.is_empty() {
        assert_eq!(u64::from_be_bytes(take(&mut out)), 0x0003_e889_0455_65a9);
        let (option, kind) = (u32::from_be_bytes(take(&mut out)), u32::from_be_bytes(take(&mut out)));
        let length = u32::from_be_bytes(take(&mut out)) as usize;
        let (data, rest) = out.split_at(length);
        replies.push((option, kind, data.to_vec()));
        out = rest;
    }
    replies
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Simple { cookie: u64, errno: u32 },
    Chunk { cookie: u64, done: bool, kind: u16, payload: Vec<u8> },
}

impl Reply {
    pub fn cookie(&self) -> u64 {
        let (Self::Simple { cookie, .. } | Self::Chunk { cookie, .. }) = self;
        *cookie
    }

    /// Whether nothing more follows for this request.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Simple { .. } | Self::Chunk { done: true, .. })
    }

    /// The error that it tells of, or 0.
    pub fn errno(&self) -> u32 {
        match self {
            Self::Simple { errno, .. } => *errno,
            Self::Chunk { kind, payload, .. } if kind & 0x8000 != 0 => {
                u32::from_be_bytes(payload[..4].try_into().unwrap())
            }
            Self::Chunk { .. } => 0,
        }
    }
}

/// Replies of the transmission phase. `data` says where so many bytes of data would follow in a real stream.
pub fn replies(out: &[u8], base: usize, data: &[(usize, u32)]) -> Vec<Reply> {
    let mut replies = Vec::new();
    let mut rest = out;
    let mut data = data.iter().peekable();
    while !rest.is_empty() {
        let magic = u32::from_be_bytes(take(&mut rest));
        let reply = if magic == 0x6744_6698 {
            let errno = u32::from_be_bytes(take(&mut rest));
            Reply::Simple { cookie: u64::from_be_bytes(take(&mut rest)), errno }
        } else {
            assert_eq!(magic, 0x668e_33ef);
            let flags = u16::from_be_bytes(take(&mut rest));
            assert!(flags <= 1, "only DONE is known");
            let kind = u16::from_be_bytes(take(&mut rest));
            let cookie = u64::from_be_bytes(take(&mut rest));
            let announced = u32::from_be_bytes(take(&mut rest));
            let elsewhere = if kind == 1 { announced - 8 } else { 0 };
            let (payload, behind) = rest.split_at((announced - elsewhere) as usize);
            rest = behind;
            if kind == 1 {
                let place = base + out.len() - rest.len();
                assert_eq!(data.peek(), Some(&&(place, elsewhere)), "data as long as the chunk announces");
            }
            Reply::Chunk { cookie, done: flags & 1 != 0, kind, payload: payload.to_vec() }
        };
        data.next_if(|(place, _)| *place == base + out.len() - rest.len());
        replies.push(reply);
    }
    assert_eq!(data.next(), None, "data stand behind a reply");
    replies
}

/// Cookies of the requests in a stream that are to be answered, and how often each. It knows of the protocol only how
/// long messages are.
pub fn to_be_answered(mut stream: &[u8]) -> BTreeMap<u64, usize> {
    let mut cookies = BTreeMap::new();
    while stream.len() >= 28 && stream[..4] == [0x25, 0x60, 0x95, 0x13] {
        let kind = u16::from_be_bytes([stream[6], stream[7]]);
        let cookie = u64::from_be_bytes(stream[8..16].try_into().unwrap());
        let length = u32::from_be_bytes(stream[24..28].try_into().unwrap()) as usize;
        let payload = if kind == WRITE { length } else { 0 };
        if kind == DISC || stream.len() < 28 + payload {
            break;
        }
        *cookies.entry(cookie).or_default() += 1;
        stream = &stream[28 + payload..];
    }
    cookies
}

/// Cookies of the requests that were answered, and how often each.
pub fn answered_cookies(replies: &[Reply]) -> BTreeMap<u64, usize> {
    let mut cookies = BTreeMap::new();
    for reply in replies.iter().filter(|reply| reply.is_last()) {
        *cookies.entry(reply.cookie()).or_default() += 1;
    }
    cookies
}
