//! The privilege that making and removing devices needs.

use crate::error::AttachError;

pub(crate) fn as_root(verb: &'static str) -> Result<(), AttachError> {
    if rustix::process::geteuid().is_root() { Ok(()) } else { Err(AttachError::NotRoot { verb }) }
}
