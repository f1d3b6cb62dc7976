//! Requests, and the checks that they have to pass.

use crate::wire::exports::Export;
use crate::wire::limits::MAX_IN_FLIGHT;
use crate::wire::numbers::{
    CMD_BLOCK_STATUS, CMD_CACHE, CMD_FLAG_DF, CMD_FLAG_FAST_ZERO, CMD_FLAG_FUA, CMD_FLAG_NO_HOLE, CMD_FLAG_REQ_ONE,
    CMD_FLUSH, CMD_READ, CMD_TRIM, CMD_WRITE, CMD_WRITE_ZEROES, FLAG_SEND_CACHE, FLAG_SEND_DF, FLAG_SEND_FAST_ZERO,
    FLAG_SEND_FLUSH, FLAG_SEND_FUA, FLAG_SEND_TRIM, FLAG_SEND_WRITE_ZEROES,
};

/// The error numbers of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// `NBD_EPERM`: the export is read-only.
    NotPermitted = 1,
    /// `NBD_EIO`: the data can't be read or written.
    Io = 5,
    /// `NBD_ENOMEM`: the document advises against it.
    NoMemory = 12,
    /// `NBD_EINVAL`: the request makes no sense here.
    Invalid = 22,
    /// `NBD_ENOSPC`: there is no space, or a write goes beyond the end.
    NoSpace = 28,
    /// `NBD_EOVERFLOW`: an unfragmented read is too long to be one; for nothing else.
    Overflow = 75,
    /// `NBD_ENOTSUP`: a fast zero would be slow; for nothing else.
    NotSupported = 95,
    /// `NBD_ESHUTDOWN`: the server shuts down.
    ShuttingDown = 108,
}

/// The command of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// The client wants data.
    Read,
    /// The client writes data.
    Write {
        /// The write has to be durable before it is answered.
        fua: bool,
    },
    /// Everything that was answered before has to be durable before the flush is answered.
    Flush,
    /// The client does not need the data any more.
    Trim {
        /// The trim has to be durable before it is answered.
        fua: bool,
    },
    /// The client will read the data soon.
    Cache,
    /// The client writes zeroes.
    WriteZeroes {
        /// The zeroes have to be durable before the request is answered.
        fua: bool,
        /// The space must stay provisioned.
        no_hole: bool,
        /// The request fails with [`Errno::NotSupported`] rather than be as slow as a write.
        fast: bool,
    },
    /// The client asks which bytes are allocated and which read as zeroes.
    BlockStatus,
}

impl Command {
    /// Whether data go over the wire.
    pub(in crate::wire) fn has_data(self) -> bool {
        matches!(self, Self::Read | Self::Write { .. })
    }
}

/// A request to carry out. It has to be answered exactly once: the methods of [`Connection`](crate::wire::Connection)
/// that answer consume it. It lies within the export, on multiples of the minimum block size, and is not empty unless
/// it is a flush.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "each request is to be answered"]
pub struct Request {
    pub(in crate::wire) slot: u8,
    pub(in crate::wire) command: Command,
    /// The reply may consist of several chunks or descriptors.
    pub(in crate::wire) parts: bool,
    /// The flag `DONE` was sent.
    pub(in crate::wire) done: bool,
    pub(in crate::wire) length: u32,
    pub(in crate::wire) cookie: u64,
    pub(in crate::wire) offset: u64,
    /// The number of bytes of a read that chunks have covered.
    pub(in crate::wire) covered: u32,
}

impl Request {
    /// The command of the request.
    #[must_use]
    pub fn command(&self) -> Command {
        self.command
    }

    /// The offset in the export, in bytes.
    #[must_use]
    pub fn offset_bytes(&self) -> u64 {
        self.offset
    }

    /// The length of the request, in bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u32 {
        self.length
    }

    /// The client's number for the request. A client may use a number several times.
    #[must_use]
    pub fn cookie(&self) -> u64 {
        self.cookie
    }

    /// The slot of the request, below [`MAX_IN_FLIGHT`]. No other request in flight on this connection has the same.
    #[must_use]
    pub fn slot(&self) -> usize {
        debug_assert!(usize::from(self.slot) < MAX_IN_FLIGHT);
        usize::from(self.slot)
    }

    /// Whether a read may be answered with several chunks and holes. Otherwise all its data have to be sent as one
    /// chunk.
    #[must_use]
    pub fn may_fragment(&self) -> bool {
        self.command == Command::Read && self.parts
    }
}

/// The refusal of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub errno: Errno,
    pub message: &'static str,
}

const fn refuse<T>(errno: Errno, message: &'static str) -> Result<T, Refusal> {
    Err(Refusal { errno, message })
}

/// A request as it stands in the stream.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub flags: u16,
    pub kind: u16,
    pub offset: u64,
    pub length: u32,
}

/// The terms of requests: the offers that the client got when it chose the export, and the present size and
/// `read_only`.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    offered: u16,
    block_status: bool,
    minimum: u32,
    maximum: u32,
    size_bytes: u64,
    read_only: bool,
}

impl Terms {
    pub fn new(export: &Export, structured: bool, block_status: bool) -> Self {
        Self {
            offered: export.transmission_flags(structured),
            block_status,
            minimum: export.blocks.minimum,
            maximum: export.blocks.maximum,
            size_bytes: export.size_bytes,
            read_only: export.read_only,
        }
    }

    pub fn renew(&mut self, export: &Export) {
        self.size_bytes = export.size_bytes;
        self.read_only = export.read_only;
    }

    /// Panics if the length of an extent is not a multiple of the minimum block size.
    pub fn assert_aligned(&self, bytes: u64) {
        assert_eq!(bytes & u64::from(self.minimum - 1), 0, "an extent of {bytes} bytes is not aligned");
    }

    fn offers(&self, flag: u16) -> bool {
        self.offered & flag != 0
    }

    /// The command to carry out, or the refusal. If a request is wrong in several ways, the order of the checks decides
    /// on its error: first the command, then the permission, then the place.
    pub fn check(&self, asked: Asked) -> Result<Command, Refusal> {
        let flag = |flag| asked.flags & flag != 0;
        let when = |offered, flags| if self.offers(offered) { flags } else { 0 };
        let fua = flag(CMD_FLAG_FUA);
        let (command, offered, flags) = match asked.kind {
            CMD_READ => (Command::Read, true, when(FLAG_SEND_DF, CMD_FLAG_DF)),
            CMD_WRITE => (Command::Write { fua }, true, 0),
            CMD_FLUSH => (Command::Flush, self.offers(FLAG_SEND_FLUSH), 0),
            CMD_TRIM => (Command::Trim { fua }, self.offers(FLAG_SEND_TRIM), 0),
            CMD_CACHE => (Command::Cache, self.offers(FLAG_SEND_CACHE), 0),
            CMD_WRITE_ZEROES => (
                Command::WriteZeroes { fua, no_hole: flag(CMD_FLAG_NO_HOLE), fast: flag(CMD_FLAG_FAST_ZERO) },
                self.offers(FLAG_SEND_WRITE_ZEROES),
                CMD_FLAG_NO_HOLE | when(FLAG_SEND_FAST_ZERO, CMD_FLAG_FAST_ZERO),
            ),
            CMD_BLOCK_STATUS => (Command::BlockStatus, self.block_status, CMD_FLAG_REQ_ONE),
            _ => return refuse(Errno::Invalid, "this command is not known"),
        };
        // If FUA was offered it must be accepted with every command; Linux is known to send it with reads.
        if asked.flags & !(flags | when(FLAG_SEND_FUA, CMD_FLAG_FUA)) != 0 {
            return refuse(Errno::Invalid, "a flag that was not offered for this command");
        }
        let writes = matches!(command, Command::Write { .. } | Command::Trim { .. } | Command::WriteZeroes { .. });
        if writes && self.read_only {
            return refuse(Errno::NotPermitted, "the export is read-only");
        }
        if !offered {
            return refuse(Errno::Invalid, "this command was not offered");
        }
        if command == Command::Flush {
            return match (asked.offset, asked.length) {
                (0, 0) => Ok(command),
                _ => refuse(Errno::Invalid, "a flush has neither offset nor length"),
            };
        }
        self.check_place(command, asked)?;
        Ok(command)
    }

    fn check_place(&self, command: Command, asked: Asked) -> Result<(), Refusal> {
        if asked.length == 0 {
            return refuse(Errno::Invalid, "the length is 0");
        }
        // The minimum is a power of 2.
        if (asked.offset | u64::from(asked.length)) & u64::from(self.minimum - 1) != 0 {
            return refuse(Errno::Invalid, "not aligned to the minimum block size");
        }
        let limited = command.has_data() || command == Command::Cache;
        if limited && asked.length > self.maximum {
            return refuse(Errno::Invalid, "longer than the maximum block size");
        }
        let end = asked.offset.checked_add(u64::from(asked.length));
        if end.is_none_or(|end| end > self.size_bytes) {
            let fills = matches!(command, Command::Write { .. } | Command::WriteZeroes { .. });
            let errno = if fills { Errno::NoSpace } else { Errno::Invalid };
            return refuse(errno, "beyond the end of the export");
        }
        Ok(())
    }
}
