//! The limits for hosts, with the reasons for them.

/// Bytes of a logical block: the card's sector.
pub const BLOCK_BYTES: u32 = 4096;

/// The binary logarithm of [`BLOCK_BYTES`], as namespaces say it.
pub const BLOCK_SHIFT: u8 = 12;

/// The longest transfer of a command, in bytes. Linux divides longer requests; 1 MiB is a stripe of most hosts' software.
pub const MAX_TRANSFER_BYTES: u32 = 1 << 20;

/// [`MAX_TRANSFER_BYTES`] as a binary logarithm of pages of 4 KiB (`MDTS`).
pub const MDTS: u8 = 8;

/// The most data in a command capsule, in bytes. Data in the capsule save the round trip of an R2T.
pub const MAX_CAPSULE_DATA_BYTES: u32 = 64 << 10;

/// The most data in a capsule of the admin queue, of Connect and of all other commands that are no reads or writes: the
/// transport wants at least so much.
pub const MAX_ADMIN_DATA_BYTES: u32 = 8 << 10;

/// The most data in one H2CData PDU, in bytes (`MAXH2CDATA`). A whole PDU lies in the receive buffer before it is looked at.
pub const MAX_H2C_DATA_BYTES: u32 = 128 << 10;

/// The highest offset of data in a PDU. `PDO` is a byte.
pub const MAX_DATA_OFFSET: u32 = 255;

/// The longest PDU that is waited for, in bytes: data behind the highest offset, and their digest.
pub const MAX_PDU_BYTES: usize = (MAX_DATA_OFFSET + MAX_H2C_DATA_BYTES + 4) as usize;

/// The highest number of entries of a submission queue, so of commands of one connection in flight.
pub const MAX_QUEUE_ENTRIES: u16 = 128;

/// The highest number of I/O queues of a controller.
pub const MAX_IO_QUEUES: u16 = 128;

/// The highest number of asynchronous event requests of a controller that wait. `AERL` is one less.
pub const MAX_EVENT_REQUESTS: usize = 4;

/// The longest message of an authentication, in bytes: a Reply in the largest group has half as many.
pub const MAX_MESSAGE_BYTES: u32 = 4096;

/// The highest number of controllers of a server. A controller has one connection at least, so they are bounded by those
/// as well.
pub const MAX_CONTROLLERS: usize = 1024;

/// Entries of the error log that a controller keeps. `ELPE` is one less.
pub const ERROR_ENTRIES: usize = 64;

/// The unit of the keep alive timer, in milliseconds: `KAS` is 10, in units of 100 ms.
pub const KEEP_ALIVE_UNIT_MS: u32 = 1000;

/// The highest data length that a transport data block may claim for commands that are no reads or writes.
pub const MAX_LOG_BYTES: u32 = MAX_TRANSFER_BYTES;

/// The set of slots that are in flight is one word (`slots.rs`).
const _: () = assert!(MAX_QUEUE_ENTRIES as u32 == u128::BITS);
const _: () = assert!(MAX_TRANSFER_BYTES == 4096 << MDTS);
const _: () = assert!(BLOCK_BYTES == 1 << BLOCK_SHIFT);
const _: () = assert!(MAX_CAPSULE_DATA_BYTES <= MAX_H2C_DATA_BYTES);
