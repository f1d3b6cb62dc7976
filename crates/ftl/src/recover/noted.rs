//! What the headers say of what was durable when they were written.

use super::check::Opening;
use super::found::{FoundBand, FoundState, SEQUENCE_EPOCH_BITS};
use crate::layout::{BandId, StripeId};
use format::{BandSet, Durable, ModuleHeader};

/// What the newest header says of that. The default says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// Of the host's stream and that of relocation.
    durable: [Durable; 2],
    /// Bands of which something durable lies on the media.
    holds: BandSet,
    /// No band that held sectors was being erased, or was to be, and none was since.
    pub(super) no_erases: bool,
}

impl Noted {
    /// By the newest header.
    pub fn of(header: &ModuleHeader) -> Noted {
        Noted::new(header.durable, header.holds.clone(), header.no_erases)
    }

    /// The host's stream and that of relocation were durable so far, these bands hold something of it, and maybe nothing
    /// was erased since.
    pub fn new(durable: [Durable; 2], holds: BandSet, no_erases: bool) -> Noted {
        Noted { durable, holds, no_erases }
    }

    /// The stripe was durable when the header was written.
    pub(super) fn was_durable(&self, opening: &Opening, stripe: u32) -> bool {
        let epoch = |sequence: u64| sequence >> SEQUENCE_EPOCH_BITS;
        self.durable.get(usize::from(opening.stream)).is_some_and(|durable| {
            let known = durable.band_sequence != 0 && epoch(durable.band_sequence) == epoch(opening.sequence);
            known && (opening.sequence, stripe) < (durable.band_sequence, durable.stripe)
        })
    }

    /// The band held something durable when the header was written, and was not being erased.
    pub(super) fn holds(&self, band: BandId) -> bool {
        self.holds.contains(band.0)
    }

    /// By bands that were opened, the last stripe that was durable when the header was written.
    pub(super) fn last_stripes<'a>(&'a self, bands: &'a [FoundBand]) -> impl Iterator<Item = StripeId> + 'a {
        self.durable.iter().filter(|durable| durable.band_sequence != 0).filter_map(|durable| {
            let band = bands.iter().position(|band| band.sequence == durable.band_sequence)? as u32;
            Some(StripeId { band: BandId(band), index: durable.stripe.checked_sub(1)? })
        })
    }

    /// A band that holds something, and nothing was found.
    pub(super) fn missing(&self, bands: &[FoundBand]) -> Option<u32> {
        let found = (0..).zip(bands);
        found
            .filter(|(_, found)| found.state != FoundState::Closed)
            .map(|(band, _)| band)
            .find(|band| self.holds.contains(*band))
    }
}
