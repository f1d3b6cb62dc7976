//! The table of exports that a server offers. It is checked once, so that no offer contradicts the document.

use crate::wire::limits::{MAX_EXPORTS, MAX_REQUEST_BYTES, MAX_STRING_BYTES};
use crate::wire::numbers::{
    FLAG_CAN_MULTI_CONN, FLAG_HAS_FLAGS, FLAG_READ_ONLY, FLAG_SEND_CACHE, FLAG_SEND_DF, FLAG_SEND_FAST_ZERO,
    FLAG_SEND_FLUSH, FLAG_SEND_FUA, FLAG_SEND_TRIM, FLAG_SEND_WRITE_ZEROES,
};
use thiserror::Error;

/// The features of an export besides reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// The export has `NBD_CMD_FLUSH`.
    pub flush: bool,
    /// The export has `NBD_CMD_FLAG_FUA`, for writes that are durable when they are answered.
    pub fua: bool,
    /// The export has `NBD_CMD_TRIM`.
    pub trim: bool,
    /// The export has `NBD_CMD_WRITE_ZEROES`.
    pub write_zeroes: bool,
    /// The export has `NBD_CMD_FLAG_FAST_ZERO`, for write-zeroes that fail with
    /// [`Errno::NotSupported`](crate::wire::Errno) rather than be slow.
    pub fast_zero: bool,
    /// The export has `NBD_CMD_CACHE`.
    pub cache: bool,
    /// The `base:allocation` metadata context, and so `NBD_CMD_BLOCK_STATUS`.
    pub block_status: bool,
    /// Flushes and FUA cover writes over other connections.
    pub multi_conn: bool,
}

impl Features {
    /// An export with every feature.
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
    /// Offsets and lengths must be multiples of this: a power of 2, up to 65,536.
    pub minimum: u32,
    /// Requests of this size are fast: a power of 2, at least 512 and the minimum.
    pub preferred: u32,
    /// The longest read or write: a multiple of the minimum, at most [`MAX_REQUEST_BYTES`].
    pub maximum: u32,
}

impl Default for BlockSizes {
    /// Any multiple of a byte, 4 KiB preferred, 32 MiB at most.
    fn default() -> Self {
        Self { minimum: 1, preferred: 4096, maximum: MAX_REQUEST_BYTES }
    }
}

/// A range of bytes that clients can attach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The name of the export. The empty name also finds the first export of a table.
    pub name: String,
    /// A description for people, which may be empty.
    pub description: String,
    /// The size of the export, a multiple of the minimum block size.
    pub size_bytes: u64,
    /// Whether writes are refused with `EPERM`.
    pub read_only: bool,
    /// The block sizes of the export.
    pub blocks: BlockSizes,
    /// The features of the export besides reading and writing.
    pub features: Features,
    /// The reason why no client may choose the export now, if there is one.
    pub refusal: Option<&'static str>,
}

impl Export {
    /// The transmission flags (`NBD_FLAG_…`). A read-only export does not offer features that only writes use.
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
        let name = || ExportName::from(self.name.as_str());
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

/// The exports of a server; the first one is the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exports(Vec<Export>);

/// The name of an export, in an error.
#[derive(Clone, PartialEq, Eq)]
pub struct ExportName(Box<str>);

impl ExportName {
    pub(in crate::wire) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ExportName {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl std::fmt::Debug for ExportName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The reason why a table of exports can't be offered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ExportsError {
    /// There are more than [`MAX_EXPORTS`].
    #[error("{0} exports; {MAX_EXPORTS} can be offered")]
    Count(usize),
    /// Two exports have the same name.
    #[error("two exports have the name {0:?}; give each its own")]
    SameName(ExportName),
    /// A name or description is longer than the document allows.
    #[error("export {name:?} has a name or description of {bytes} bytes; at most {MAX_STRING_BYTES} are allowed")]
    TextTooLong { name: ExportName, bytes: usize },
    /// A name or description has a NUL.
    #[error("export {0:?} has a NUL in its name or description")]
    TextWithNul(ExportName),
    /// The document does not allow the block sizes.
    #[error(
        "export {name:?} has block sizes {}, {} and {}; powers of 2 up to 65536 and from 512, and a multiple of the first \
         up to {MAX_REQUEST_BYTES}, in ascending order, are allowed",
        blocks.minimum, blocks.preferred, blocks.maximum
    )]
    BlockSizes { name: ExportName, blocks: BlockSizes },
    /// Clients can't use an export of this size to its end.
    #[error("export {name:?} has {size_bytes} bytes; a multiple of {minimum} below 2^63 is needed")]
    Size { name: ExportName, size_bytes: u64, minimum: u32 },
    /// The export has fast zeroes but no write-zeroes.
    #[error("export {0:?} has fast zeroes but no write-zeroes; turn both on or the first off")]
    FastZero(ExportName),
}

impl Exports {
    /// Checks a table of exports.
    ///
    /// # Errors
    ///
    /// Fails if the document does not allow an export, or a limit is exceeded.
    pub fn new(exports: Vec<Export>) -> Result<Self, ExportsError> {
        if exports.len() > MAX_EXPORTS {
            return Err(ExportsError::Count(exports.len()));
        }
        for (index, export) in exports.iter().enumerate() {
            export.validate()?;
            if exports[..index].iter().any(|other| other.name == export.name) {
                return Err(ExportsError::SameName(export.name.as_str().into()));
            }
        }
        Ok(Self(exports))
    }

    /// All exports, in the order in which they were given, which [`Step::Ready`](crate::wire::Step) refers to.
    #[must_use]
    pub fn all(&self) -> &[Export] {
        &self.0
    }

    /// The place of the export with this name.
    pub(in crate::wire) fn find(&self, name: &str) -> Option<usize> {
        let found = self.0.iter().position(|export| export.name == name);
        if name.is_empty() { found.or((!self.0.is_empty()).then_some(0)) } else { found }
    }
}
