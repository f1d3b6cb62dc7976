//! The table of exports that a server offers, checked once so that nothing it says contradicts the document.

use crate::wire::limits::{MAX_EXPORTS, MAX_REQUEST_BYTES, MAX_STRING_BYTES};
use crate::wire::numbers::{
    FLAG_CAN_MULTI_CONN, FLAG_HAS_FLAGS, FLAG_READ_ONLY, FLAG_SEND_CACHE, FLAG_SEND_DF, FLAG_SEND_FAST_ZERO,
    FLAG_SEND_FLUSH, FLAG_SEND_FUA, FLAG_SEND_TRIM, FLAG_SEND_WRITE_ZEROES,
};
use thiserror::Error;

/// What an export can do besides reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// `NBD_CMD_FLUSH`.
    pub flush: bool,
    /// `NBD_CMD_FLAG_FUA`: a write that is durable when it is answered.
    pub fua: bool,
    /// `NBD_CMD_TRIM`.
    pub trim: bool,
    /// `NBD_CMD_WRITE_ZEROES`.
    pub write_zeroes: bool,
    /// `NBD_CMD_FLAG_FAST_ZERO`: write-zeroes that fail with [`Errno::NotSupported`](crate::wire::Errno) rather than be slow.
    pub fast_zero: bool,
    /// `NBD_CMD_CACHE`.
    pub cache: bool,
    /// The `base:allocation` metadata context, and so `NBD_CMD_BLOCK_STATUS`.
    pub block_status: bool,
    /// Flushes and FUA cover what was written over other connections.
    pub multi_conn: bool,
}

impl Features {
    /// Everything.
    pub const ALL: Self = Self {
        flush: true,
        fua: true,
        trim: true,
        write_zeroes: true,
        fast_zero: true,
        cache: true,
        block_status: true,
        multi_conn: true,
    };
}

/// An export's block sizes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// What offsets and lengths must be multiples of: a power of 2, up to 65,536.
    pub minimum: u32,
    /// What is fast: a power of 2, at least 512 and the minimum.
    pub preferred: u32,
    /// The longest read or write: a multiple of the minimum, at most [`MAX_REQUEST_BYTES`].
    pub maximum: u32,
}

impl Default for BlockSizes {
    /// Any bytes, best by 4 KiB, 32 MiB at once.
    fn default() -> Self {
        Self { minimum: 1, preferred: 4096, maximum: MAX_REQUEST_BYTES }
    }
}

/// A range of bytes that clients can attach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// How clients ask for it. The first export of a table is also found by the empty name.
    pub name: String,
    /// For people; may be empty.
    pub description: String,
    /// Its size: a multiple of the minimum block size.
    pub size_bytes: u64,
    /// Whether writes are refused with `EPERM`.
    pub read_only: bool,
    /// Its block sizes.
    pub blocks: BlockSizes,
    /// What it can do.
    pub features: Features,
}

impl Export {
    /// `NBD_FLAG_…`. What only writes make use of is not offered where nothing can be written.
    pub(in crate::wire) fn transmission_flags(&self, structured: bool) -> u16 {
        let can = self.features;
        let writes = !self.read_only;
        let flags = [
            (FLAG_HAS_FLAGS, true),
            (FLAG_READ_ONLY, self.read_only),
            (FLAG_SEND_FLUSH, can.flush),
            (FLAG_SEND_FUA, can.fua && writes),
            (FLAG_SEND_TRIM, can.trim && writes),
            (FLAG_SEND_WRITE_ZEROES, can.write_zeroes && writes),
            (FLAG_SEND_DF, structured),
            (FLAG_CAN_MULTI_CONN, can.multi_conn),
            (FLAG_SEND_CACHE, can.cache),
            (FLAG_SEND_FAST_ZERO, can.fast_zero && writes),
        ];
        flags.into_iter().filter(|(_, set)| *set).fold(0, |all, (flag, _)| all | flag)
    }

    fn validate(&self) -> Result<(), ExportsError> {
        let name = || self.name.clone();
        for text in [&self.name, &self.description] {
            if text.len() > MAX_STRING_BYTES {
                return Err(ExportsError::TextTooLong { name: name(), bytes: text.len() });
            }
            if text.contains('\0') {
                return Err(ExportsError::TextWithNul(name()));
            }
        }
        let BlockSizes { minimum, preferred, maximum } = self.blocks;
        let sound = minimum.is_power_of_two()
            && minimum <= 1 << 16
            && preferred.is_power_of_two()
            && preferred >= minimum.max(512)
            && maximum.is_multiple_of(minimum)
            && (preferred..=MAX_REQUEST_BYTES).contains(&maximum);
        if !sound {
            return Err(ExportsError::BlockSizes { name: name(), blocks: self.blocks });
        }
        if !self.size_bytes.is_multiple_of(u64::from(minimum)) || i64::try_from(self.size_bytes).is_err() {
            return Err(ExportsError::Size { name: name(), size_bytes: self.size_bytes, minimum });
        }
        if self.features.fast_zero && !self.features.write_zeroes {
            return Err(ExportsError::FastZero(name()));
        }
        Ok(())
    }
}

/// The exports of a server, at least one; the first one is the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exports(Vec<Export>);

/// Why a table of exports can't be offered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExportsError {
    /// None, or more than [`MAX_EXPORTS`].
    #[error("{0} exports; from 1 to {MAX_EXPORTS} can be offered")]
    Count(usize),
    /// Two with one name.
    #[error("two exports have the name {0:?}; give each its own")]
    SameName(String),
    /// A name or description longer than the document allows.
    #[error("export {name:?} has a name or description of {bytes} bytes; at most {MAX_STRING_BYTES} are allowed")]
    TextTooLong {
        /// The export's name.
        name: String,
        /// The text's length in bytes.
        bytes: usize,
    },
    /// A name or description with a NUL.
    #[error("export {0:?} has a NUL in its name or description")]
    TextWithNul(String),
    /// Block sizes that the document does not allow.
    #[error(
        "export {name:?} has block sizes {}, {} and {}; powers of 2 up to 65536 and from 512, and a multiple of the first \
         up to {MAX_REQUEST_BYTES}, in ascending order, are allowed",
        blocks.minimum, blocks.preferred, blocks.maximum
    )]
    BlockSizes {
        /// The export's name.
        name: String,
        /// Its block sizes.
        blocks: BlockSizes,
    },
    /// A size that clients can't use to its end.
    #[error("export {name:?} has {size_bytes} bytes; a multiple of {minimum} below 2^63 is needed")]
    Size {
        /// The export's name.
        name: String,
        /// Its size in bytes.
        size_bytes: u64,
        /// Its minimum block size in bytes.
        minimum: u32,
    },
    /// Fast zeroes without zeroes.
    #[error("export {0:?} has fast zeroes but no write-zeroes; turn both on or the first off")]
    FastZero(String),
}

impl Exports {
    /// Checks a table of exports.
    ///
    /// # Errors
    ///
    /// What the document does not allow, or what is beyond a limit.
    pub fn new(exports: Vec<Export>) -> Result<Self, ExportsError> {
        if !(1..=MAX_EXPORTS).contains(&exports.len()) {
            return Err(ExportsError::Count(exports.len()));
        }
        for (index, export) in exports.iter().enumerate() {
            export.validate()?;
            if exports[..index].iter().any(|other| other.name == export.name) {
                return Err(ExportsError::SameName(export.name.clone()));
            }
        }
        Ok(Self(exports))
    }

    /// All of them, in the order in which they were given: [`Step::Ready`](crate::wire::Step) counts in it.
    #[must_use]
    pub fn all(&self) -> &[Export] {
        &self.0
    }

    /// The place of the export that a client means.
    pub(in crate::wire) fn find(&self, name: &str) -> Option<usize> {
        let found = self.0.iter().position(|export| export.name == name);
        if name.is_empty() { found.or(Some(0)) } else { found }
    }
}
