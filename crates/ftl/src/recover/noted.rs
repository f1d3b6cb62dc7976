//! What the headers say of what was durable when they were written.

use super::check::Opening;
use super::found::SEQUENCE_EPOCH_BITS;
use format::{Durable, ModuleHeader};

/// What the newest header says of that. The default says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// Of the host's stream and that of relocation.
    durable: [Durable; 2],
    /// No band that held sectors was being erased, or was to be, and none was since.
    pub(super) no_erases: bool,
}

impl Noted {
    /// By the newest header.
    pub fn of(header: &ModuleHeader) -> Noted {
        Noted::new(header.durable, header.no_erases)
    }

    /// The host's stream and that of relocation were durable so far, and maybe nothing was erased since.
    pub fn new(durable: [Durable; 2], no_erases: bool) -> Noted {
        Noted { durable, no_erases }
    }

    /// The stripe was durable when the header was written.
    pub(super) fn was_durable(&self, opening: &Opening, stripe: u32) -> bool {
        let epoch = |sequence: u64| sequence >> SEQUENCE_EPOCH_BITS;
        self.durable.get(usize::from(opening.stream)).is_some_and(|durable| {
            let known = durable.band_sequence != 0 && epoch(durable.band_sequence) == epoch(opening.sequence);
            known && (opening.sequence, stripe) < (durable.band_sequence, durable.stripe)
        })
    }
}
