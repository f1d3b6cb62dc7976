//! The superblock of a module's file: its division, its last claim, and the syncs of earlier sessions.
//!
//! A *session* is the time from one opening of the file to the next. Epochs of blocks and numbers of programs begin
//! with the number of their session, so no number is ever given out twice, even if earlier ones were lost.
//!
//! ```text
//!        0       1       2       3       4       5       6       7
//!      +---------------------------------------------------------------+
//!    0 | "FLRMODUL"                                                    |
//!      +---------------+---------------+-------------------------------+
//!    8 | version       | 0             | crc32c of all but these bytes |
//!      +---------------+---------------+-------------------------------+
//!   16 | file: a random number                                         |
//!      +---------------------------------------------------------------+
//!   24 | writes of the superblock                                      |
//!      +---------------------------------------------------------------+
//!   32 | bytes of the file or device; version 3: of the shard's region |
//!      +---------------------------------------------------------------+
//!   40 | generation of the last claim                                  |
//!      +-------------------------------+-------------------------------+
//!   48 | session                       | alignment of units in bytes   |
//!      +-------------------------------+-------------------------------+
//!   56 | modules                       | dies per module               |
//!      +-------------------------------+-------------------------------+
//!   64 | blocks per die                | rows per block                |
//!      +-------------------------------+-------------------------------+
//!   72 | unit sectors                  | payload bytes                 |
//!      +-------------------------------+-------------------------------+
//!   80 | rows sharing cells            | sessions that follow          |
//!      +-------------------------------+-------------------------------+
//!   88 | of an earlier session: the last program known to be synced    |
//!      +---------------------------------------------------------------+
//!   96 | and so on, up to 256 sessions; where there are fewer: 0       |
//!      +---------------------------------------------------------------+
//! 2136 | version 3: shards             | version 3: shard              |
//!      +-------------------------------+-------------------------------+
//! 2144 | 0                                                             |
//!      +---------------------------------------------------------------+
//! 2200 | version 2: bytes of the log                                   |
//!      +---------------------------------------------------------------+
//! 2208 | 0                                                             |
//!      +---------------------------------------------------------------+
//! ```

use crate::layout::Layout;
use crate::sizes::{PAGE_BYTES, SESSION_BITS};
use media::Shape;
use std::mem::offset_of;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: [u8; 8] = *b"FLRMODUL";
/// The version of modules without a log.
const WITHOUT_LOG: u16 = 1;
/// The version of modules with a log.
const WITH_LOG: u16 = 2;
/// The newest version that is read, and that of modules of cards that are divided over shards.
const VERSION: u16 = 3;
/// The number of earlier sessions that are remembered. Units that were torn in older sessions were erased long ago.
const SESSIONS: usize = 256;
/// The highest number of sessions of a file.
const MAX_SESSIONS: u32 = 1 << (64 - SESSION_BITS - 1);

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Raw {
    magic: [u8; 8],
    version: U16,
    reserved: U16,
    crc: U32,
    file: U64,
    writes: U64,
    total_bytes: U64,
    claim: U64,
    session: U32,
    align_bytes: U32,
    modules: U32,
    dies_per_module: U32,
    blocks_per_die: U32,
    rows_per_block: U32,
    unit_sectors: U32,
    payload_bytes: U32,
    rows_sharing_cells: U32,
    session_count: U32,
    sessions: [U64; SESSIONS],
    shards: U32,
    shard: U32,
    reserved_middle: [u8; 56],
    log_bytes: U64,
    reserved_end: [u8; 1888],
}

const _: () = assert!(size_of::<Raw>() == PAGE_BYTES as usize);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Superblock {
    /// The file's own number.
    pub file: u64,
    /// The number of writes; among two copies, the one with more writes counts.
    pub writes: u64,
    /// The generation of the last claim.
    pub claim: u64,
    /// The present session, from 1; 0 if the file was never opened.
    pub session: u32,
    pub layout: Layout,
    /// The last program of each earlier session that is known to be synced, ascending.
    pub synced: Vec<u64>,
}

/// The reason why a page is no superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says more than its name")]
pub enum NoSuperblock {
    #[error("it begins with nothing of ours")]
    Magic,
    #[error("its superblock is damaged")]
    Checksum,
    #[error("it has version {0}, and this program reads versions up to {VERSION}")]
    Version(u16),
    #[error("its superblock makes no sense")]
    Field,
}

impl Superblock {
    pub fn encode(&self, out: &mut [u8]) {
        let (shape, layout) = (self.layout.shape(), &self.layout);
        let (shard, shards) = layout.shard();
        let mut raw = Raw {
            magic: MAGIC,
            version: match shards {
                2.. => VERSION,
                _ if layout.log_bytes() > 0 => WITH_LOG,
                _ => WITHOUT_LOG,
            }
            .into(),
            reserved: 0.into(),
            crc: 0.into(),
            file: self.file.into(),
            writes: self.writes.into(),
            total_bytes: layout.total_bytes().into(),
            claim: self.claim.into(),
            session: self.session.into(),
            align_bytes: layout.align_bytes().into(),
            modules: shape.modules.into(),
            dies_per_module: shape.dies_per_module.into(),
            blocks_per_die: shape.blocks_per_die.into(),
            rows_per_block: shape.rows_per_block.into(),
            unit_sectors: shape.unit_sectors.into(),
            payload_bytes: shape.payload_bytes.into(),
            rows_sharing_cells: shape.rows_sharing_cells.into(),
            session_count: (self.synced.len() as u32).into(),
            sessions: [0.into(); SESSIONS],
            shards: if shards > 1 { shards } else { 0 }.into(),
            shard: shard.into(),
            reserved_middle: [0; 56],
            log_bytes: layout.log_bytes().into(),
            reserved_end: [0; 1888],
        };
        for (out, synced) in raw.sessions.iter_mut().zip(&self.synced) {
            *out = (*synced).into();
        }
        raw.crc = checksum(raw.as_bytes()).into();
        out.copy_from_slice(raw.as_bytes());
    }

    pub fn decode(bytes: &[u8]) -> Result<Superblock, NoSuperblock> {
        let raw = Raw::ref_from_bytes(bytes).map_err(|_| NoSuperblock::Magic)?;
        if raw.magic != MAGIC {
            return Err(NoSuperblock::Magic);
        }
        if raw.crc.get() != checksum(bytes) {
            return Err(NoSuperblock::Checksum);
        }
        if !(WITHOUT_LOG..=VERSION).contains(&raw.version.get()) {
            return Err(NoSuperblock::Version(raw.version.get()));
        }
        let shape = Shape {
            modules: raw.modules.get(),
            dies_per_module: raw.dies_per_module.get(),
            blocks_per_die: raw.blocks_per_die.get(),
            rows_per_block: raw.rows_per_block.get(),
            unit_sectors: raw.unit_sectors.get(),
            payload_bytes: raw.payload_bytes.get(),
            rows_sharing_cells: raw.rows_sharing_cells.get(),
        };
        let total_bytes = raw.total_bytes.get();
        let log_bytes = raw.log_bytes.get();
        let (shard, shards) = (raw.shard.get(), raw.shards.get());
        let (has_log, is_divided) = (log_bytes > 0, shards > 1);
        let fits = match raw.version.get() {
            WITHOUT_LOG => !has_log && !is_divided,
            WITH_LOG => has_log && !is_divided,
            _ => is_divided,
        };
        if !fits {
            return Err(NoSuperblock::Field);
        }
        let layout = Layout::with_log(&shape, raw.align_bytes.get(), total_bytes, log_bytes)
            .filter(|layout| layout.total_bytes() == total_bytes)
            .and_then(|layout| layout.of_shard(shard, shards.max(1)))
            .ok_or(NoSuperblock::Field)?;
        let synced = raw.sessions.get(..raw.session_count.get() as usize).ok_or(NoSuperblock::Field)?;
        let (session, writes) = (raw.session.get(), raw.writes.get());
        if session >= MAX_SESSIONS || writes >= u64::MAX / 2 {
            return Err(NoSuperblock::Field);
        }
        Ok(Superblock {
            file: raw.file.get(),
            writes,
            claim: raw.claim.get(),
            session,
            layout,
            synced: synced.iter().map(|synced| synced.get()).collect(),
        })
    }

    /// The first epoch, and the number below the first program, of the present session.
    pub fn base(&self) -> u64 {
        u64::from(self.session) << SESSION_BITS
    }

    /// Begins the next session. `synced` is the last program that is known to be synced, of any session.
    pub fn begin_session(&mut self, synced: u64) {
        if self.session > 0 {
            // A session without any sync is remembered too.
            self.synced.push(synced.max(self.base()));
            let too_many = self.synced.len().saturating_sub(SESSIONS);
            self.synced.drain(..too_many);
        }
        self.session += 1;
    }

    /// Whether there can be no more sessions.
    pub fn is_used_up(&self) -> bool {
        self.session + 1 >= MAX_SESSIONS
    }

    /// Whether a program counts as synced: a sync is known to have ended after it, or it is of the present session, in
    /// which no program was cut, or it is of a session so long ago that its torn units are gone.
    pub fn was_synced(&self, program: u64) -> bool {
        let session = program >> SESSION_BITS;
        let of_session = self.synced.iter().find(|synced| **synced >> SESSION_BITS == session);
        of_session.is_none_or(|synced| program <= *synced)
    }
}

/// The checksum of a page, without the bytes where superblocks have their checksum.
fn checksum(bytes: &[u8]) -> u32 {
    let crc = crc32c::crc32c(&bytes[..offset_of!(Raw, crc)]);
    crc32c::crc32c_append(crc, &bytes[offset_of!(Raw, file)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn superblock() -> Superblock {
        let shape = Shape {
            modules: 3,
            dies_per_module: 2,
            blocks_per_die: 10,
            rows_per_block: 4,
            unit_sectors: 8,
            payload_bytes: 4096,
            rows_sharing_cells: 1,
        };
        let layout = Layout::new(&shape, 512, 0).unwrap();
        Superblock { file: 7, writes: 3, claim: 9, session: 0, layout, synced: Vec::new() }
    }

    #[test]
    fn a_superblock_is_read_as_it_was_written_and_damage_is_noticed() {
        let mut written = superblock();
        written.begin_session(0);
        written.begin_session(written.base() + 5);
        let mut bytes = vec![0; PAGE_BYTES as usize];
        for (shard, shards) in [(0, 1), (0, 2), (63, 64)] {
            written.layout = written.layout.of_shard(shard, shards).unwrap();
            written.encode(&mut bytes);
            assert_eq!(Superblock::decode(&bytes).as_ref(), Ok(&written));
        }
        for at in 0..bytes.len() {
            bytes[at] ^= 0x10;
            assert!(Superblock::decode(&bytes).is_err(), "byte {at}");
            bytes[at] ^= 0x10;
        }
    }

    #[test]
    fn a_program_is_known_to_be_synced_up_to_where_its_session_was() {
        let mut superblock = superblock();
        superblock.begin_session(0);
        let first = superblock.base();
        superblock.begin_session(first + 5);
        let second = superblock.base();
        superblock.begin_session(first + 5);
        assert!(superblock.was_synced(first + 5) && !superblock.was_synced(first + 6));
        assert!(!superblock.was_synced(second + 1), "nothing of the second was synced");
        assert!(superblock.was_synced(superblock.base() + 1), "the present session");
        for _ in 0..300 {
            superblock.begin_session(superblock.base() + 1);
        }
        assert_eq!(superblock.synced.len(), SESSIONS);
        assert!(superblock.was_synced(first + 6), "long ago");
        let mut bytes = vec![0; PAGE_BYTES as usize];
        superblock.encode(&mut bytes);
        assert_eq!(Superblock::decode(&bytes), Ok(superblock));
    }
}
