//! What a request asks for, and whether it may.

use crate::wire::exports::Export;
use crate::wire::limits::MAX_IN_FLIGHT;
use crate::wire::numbers::{
    CMD_BLOCK_STATUS, CMD_CACHE, CMD_FLAG_DF, CMD_FLAG_FAST_ZERO, CMD_FLAG_FUA, CMD_FLAG_NO_HOLE, CMD_FLAG_REQ_ONE,
    CMD_FLUSH, CMD_READ, CMD_TRIM, CMD_WRITE, CMD_WRITE_ZEROES, FLAG_SEND_CACHE, FLAG_SEND_DF, FLAG_SEND_FAST_ZERO,
    FLAG_SEND_FLUSH, FLAG_SEND_FUA, FLAG_SEND_TRIM, FLAG_SEND_WRITE_ZEROES,
};

/// What went wrong, in the protocol's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// `NBD_EPERM`: read-only.
    NotPermitted = 1,
    /// `NBD_EIO`: can't be read or written.
    Io = 5,
    /// `NBD_ENOMEM`: to be avoided, says the document.
    NoMemory = 12,
    /// `NBD_EINVAL`: makes no sense here.
    Invalid = 22,
    /// `NBD_ENOSPC`: no space, or a write beyond the end.
    NoSpace = 28,
    /// `NBD_EOVERFLOW`: an unfragmented read that is too long to be one, and nothing else.
    Overflow = 75,
    /// `NBD_ENOTSUP`: a fast zero that would be slow, and nothing else.
    NotSupported = 95,
    /// `NBD_ESHUTDOWN`: the server ends.
    ShuttingDown = 108,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Data are to be sent.
    Read,
    /// Data are to be written.
    Write {
        /// Durable before it is answered.
        fua: bool,
    },
    /// Whatever was answered before is to be durable before this is answered.
    Flush,
    /// Data are not needed any more.
    Trim {
        /// Durable before it is answered.
        fua: bool,
    },
    /// Data will be read soon.
    Cache,
    /// Zeroes are to be written.
    WriteZeroes {
        /// Durable before it is answered.
        fua: bool,
        /// Space must stay provisioned.
        no_hole: bool,
        /// Fail with [`Errno::NotSupported`] rather than be as slow as a write.
        fast: bool,
    },
    /// What is allocated, and what reads as zeroes?
    BlockStatus,
}

impl Command {
    /// Whether data go over the wire.
    pub(in crate::wire) fn has_data(self) -> bool {
        matches!(self, Self::Read | Self::Write { .. })
    }
}

/// A request that is to be carried out, and answered exactly once: the methods of [`Connection`](crate::wire::Connection)
/// that answer take it back. It lies within the export, on multiples of the minimum block size, and is not empty unless
/// it is a flush.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "each request is to be answered"]
pub struct Request {
    pub(in crate::wire) slot: u8,
    pub(in crate::wire) command: Command,
    /// The answer may consist of several chunks or descriptors.
    pub(in crate::wire) parts: bool,
    /// `DONE` was sent.
    pub(in crate::wire) done: bool,
    pub(in crate::wire) length: u32,
    pub(in crate::wire) cookie: u64,
    pub(in crate::wire) offset: u64,
    /// Bytes of a read that chunks have told of.
    pub(in crate::wire) told: u32,
}

impl Request {
    /// What is asked for.
    #[must_use]
    pub fn command(&self) -> Command {
        self.command
    }

    /// Where in the export it begins, in bytes.
    #[must_use]
    pub fn offset_bytes(&self) -> u64 {
        self.offset
    }

    /// How long it is, in bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u32 {
        self.length
    }

    /// The client's name for it; clients may give several the same.
    #[must_use]
    pub fn cookie(&self) -> u64 {
        self.cookie
    }

    /// A number below [`MAX_IN_FLIGHT`] that no other request of this connection has until this one is answered.
    #[must_use]
    pub fn slot(&self) -> usize {
        debug_assert!(usize::from(self.slot) < MAX_IN_FLIGHT);
        usize::from(self.slot)
    }

    /// Whether a read may be answered with several chunks and holes. Otherwise all its data are to be sent as one.
    #[must_use]
    pub fn may_fragment(&self) -> bool {
        self.command == Command::Read && self.parts
    }
}

/// Why a request is refused.
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

/// What a request is held to: what the client was told when it chose the export, and the size and read-only as they are
/// now.
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

    /// What a client is told of must be in multiples of the minimum block size, as what it asks for must be.
    pub fn assert_aligned(&self, bytes: u64) {
        assert_eq!(bytes & u64::from(self.minimum - 1), 0, "an extent of {bytes} bytes is not aligned");
    }

    fn offers(&self, flag: u16) -> bool {
        self.offered & flag != 0
    }

    /// What is to be carried out, or why not. The order of the checks decides which error a request gets that is wrong
    /// in several ways: what it is, whether it may be, then where.
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
        // Where FUA was offered it must be accepted with every command; Linux is known to send it with reads.
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
