//! Errors of a load's configuration, and the checks that find them.
//!
//! Each message names the parameter as it is called in the configuration, its value, and what is allowed.

use std::fmt;
use thiserror::Error;

/// An error of a load's configuration.
#[derive(Clone, Debug, PartialEq, Error)]
#[allow(missing_docs)]
pub enum LoadError {
    /// A whole number is out of its range.
    #[error("{parameter} is {value}: must be {min} to {max}")]
    OutOfRange {
        /// Name in the configuration.
        parameter: &'static str,
        value: u64,
        min: u64,
        max: u64,
    },
    /// A real number is out of its range, or not a number.
    #[error("{parameter} is {value}: must be {min} to {max}")]
    RealOutOfRange {
        /// Name in the configuration.
        parameter: &'static str,
        value: f64,
        min: f64,
        max: f64,
    },
    /// A size or an offset does not fall on a boundary.
    #[error("{parameter} is {value}: must be a multiple of {multiple}")]
    NotMultiple {
        /// Name in the configuration.
        parameter: &'static str,
        value: u64,
        multiple: u64,
    },
    /// The file does not hold one block.
    #[error(
        "file_bytes is {file_bytes}: must be at least block_bytes + misalign_bytes, {block_bytes} + {misalign_bytes}"
    )]
    FileTooSmall {
        /// Size of the file.
        file_bytes: u64,
        /// Size of a block.
        block_bytes: u32,
        /// Shift of the blocks in the file.
        misalign_bytes: u32,
    },
    /// The load's end lies beyond what 64 bits of offset can address.
    #[error("footprint: start_bytes is {start_bytes} and {needed_bytes} more are needed: must end below 2^63")]
    FootprintOverflow {
        start_bytes: u64,
        /// Bytes that the load needs from there; `u64::MAX` when their sum overflows.
        needed_bytes: u64,
    },
    /// No such mode of fileio.
    #[error("mode is `{given}`: must be one of {known}")]
    UnknownMode {
        given: Given,
        /// The names of all modes.
        known: &'static str,
    },
    /// Not the text of an access pattern.
    #[error("access is `{given}`: must be {syntax}")]
    UnknownAccess {
        given: Given,
        /// The forms in which a pattern is written.
        syntax: &'static str,
    },
}

/// Text from outside that an error quotes, as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given(Box<str>);

impl Given {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Box<str>>> From<T> for Given {
    fn from(text: T) -> Given {
        Given(text.into())
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks `min <= value <= max`.
pub(crate) fn in_range(parameter: &'static str, value: u64, min: u64, max: u64) -> Result<(), LoadError> {
    if (min..=max).contains(&value) { Ok(()) } else { Err(LoadError::OutOfRange { parameter, value, min, max }) }
}

/// Checks `min <= value <= max`; NaN is out of every range.
pub(crate) fn real_in_range(parameter: &'static str, value: f64, min: f64, max: f64) -> Result<(), LoadError> {
    if (min..=max).contains(&value) { Ok(()) } else { Err(LoadError::RealOutOfRange { parameter, value, min, max }) }
}

/// Checks that `value` is a multiple of `multiple`.
pub(crate) fn multiple_of(parameter: &'static str, value: u64, multiple: u64) -> Result<(), LoadError> {
    if value.is_multiple_of(multiple) { Ok(()) } else { Err(LoadError::NotMultiple { parameter, value, multiple }) }
}

/// Checks that a footprint can be addressed. Its parts are summed here, so that no caller can overflow.
pub(crate) fn footprint_fits(start_bytes: u64, parts_bytes: &[u64]) -> Result<(), LoadError> {
    let needed_bytes = parts_bytes.iter().try_fold(0u64, |sum, &part| sum.checked_add(part)).unwrap_or(u64::MAX);
    match start_bytes.checked_add(needed_bytes) {
        Some(end) if end < 1 << 63 => Ok(()),
        _ => Err(LoadError::FootprintOverflow { start_bytes, needed_bytes }),
    }
}
