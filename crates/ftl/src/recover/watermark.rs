//! The durable watermark in the module headers: what was durable when they were written.

use super::found::{FoundBand, FoundState, SEQUENCE_EPOCH_BITS};
use crate::layout::{BandId, StripeId};
use crate::opening::Opening;
use format::{BandSet, Durable, ModuleHeader};

/// The durable watermark of the newest header. The default one covers nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurableWatermark {
    /// How far the host's stream and the relocation stream were durable.
    durable: [Durable; 2],
    /// Bands that hold something durable.
    holds: BandSet,
    /// No band that held sectors was being erased, or waited for its erase, and none was erased since.
    pub(super) no_erases: bool,
}

impl DurableWatermark {
    /// The watermark in the newest header.
    pub fn of(header: &ModuleHeader) -> DurableWatermark {
        DurableWatermark::new(header.durable, header.holds.clone(), header.no_erases)
    }

    /// A watermark: how far the host's stream and the relocation stream were durable, the bands that hold something
    /// durable, and whether nothing was erased since.
    pub fn new(durable: [Durable; 2], holds: BandSet, no_erases: bool) -> DurableWatermark {
        DurableWatermark { durable, holds, no_erases }
    }

    /// Whether the stripe was durable when the header was written.
    pub(super) fn was_durable(&self, opening: &Opening, stripe: u32) -> bool {
        let epoch = |sequence: u64| sequence >> SEQUENCE_EPOCH_BITS;
        self.durable.get(usize::from(opening.stream)).is_some_and(|durable| {
            let known = durable.band_sequence != 0 && epoch(durable.band_sequence) == epoch(opening.sequence);
            known && (opening.sequence, stripe) < (durable.band_sequence, durable.stripe)
        })
    }

    /// Whether the band held something durable when the header was written, and was not being erased.
    pub(super) fn holds(&self, band: BandId) -> bool {
        self.holds.contains(band.0)
    }

    /// The last stripe of each stream that was durable when the header was written, in bands that were found.
    pub(super) fn last_stripes<'a>(&'a self, bands: &'a [FoundBand]) -> impl Iterator<Item = StripeId> + 'a {
        self.durable.iter().filter(|durable| durable.band_sequence != 0).filter_map(|durable| {
            let band = bands.iter().position(|band| band.sequence == durable.band_sequence)? as u32;
            Some(StripeId { band: BandId(band), index: durable.stripe.checked_sub(1)? })
        })
    }

    /// A band that held something durable, and in which nothing was found.
    pub(super) fn missing(&self, bands: &[FoundBand]) -> Option<u32> {
        let found = (0..).zip(bands);
        found
            .filter(|(_, found)| found.state != FoundState::Closed)
            .map(|(band, _)| band)
            .find(|band| self.holds.contains(*band))
    }
}
