//! Sizes that several structures of a module's file share.

/// The size of a page. Superblocks, headers, records and the table are read and written in pages.
pub const PAGE_BYTES: u64 = 4096;
/// The number of bytes that a disk writes as a whole or not at all.
pub(crate) const SECTOR_BYTES: usize = 512;
/// The low bits of epochs and program numbers, which count within a session: enough for 34 years at a thousand a
/// second.
pub(crate) const SESSION_BITS: u32 = 40;
