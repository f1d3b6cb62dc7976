//! Trimmed sectors, so that they stay trimmed when the power goes.
//!
//! The media tell of holes by segments: one sector with a bit for each LBA, as of a version. Data of a later version
//! stand, whatever the bit says. A card with capacitors owes such a sector for each segment with trims that it has
//! acknowledged, and writes it when power fails at the latest; one without writes them when it is flushed. It may say
//! of an LBA that is written again that it is a hole no more only when what was written is durable: until then the bit
//! stays, because losing the new data must not bring back what the trim took away.

use ftl::Lba;
use std::collections::BTreeMap;

/// Segments with trims that a card with capacitors owes at most; beyond it writes the first of them.
const MAX_OWED_SEGMENTS: usize = 8;

/// Trims that the media have to be told of.
#[derive(Clone, Debug, Default)]
pub struct Holes {
    /// Segments with trims that no sector on the media tells of yet, with the version of the last of these trims.
    dirty: BTreeMap<u32, u64>,
    /// The highest version as of which a list of holes was written.
    as_of: u64,
    /// LBAs that were written over holes and are not known to be durable, with their versions.
    written_over: BTreeMap<u32, u64>,
    /// Trims that have to be durable before the sectors that they made stale are erased.
    trims: TrimsBeforeErase,
    /// Lists that have to be written before the card is ready.
    owed_since_start: Option<OwedSinceStart>,
}

/// How far the card is with making trims durable that bands wait for. Without capacitors an erase may take the newest
/// durable version of a trimmed sector only when the trim is durable too: an older one may lie elsewhere.
#[derive(Clone, Copy, Debug, Default)]
struct TrimsBeforeErase {
    stage: Stage,
    /// The number of bands that waited to be erased when stage [`Stage::Before`] began, less those erased since: they
    /// may be erased once the trims are durable.
    bands: usize,
    /// The number of waiting bands that may be erased already, as far as trims are concerned.
    cleared: usize,
    /// The holes that were written last are durable when this barrier is.
    written: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    #[default]
    None,
    /// Data written before has to be durable first: it is when this barrier is.
    Before { barrier: u64, as_of: u64 },
    /// The lists of holes that tell of the trims have to be durable: they are when this barrier is.
    Holes { barrier: u64 },
}

/// Holes that only a checkpoint tells of: should it be damaged, what was trimmed must not come back. Lists of them are
/// written at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwedSinceStart {
    /// The lists of these segments are still to be written, as of the start.
    ToWrite { segments: Vec<u32>, as_of: u64 },
    /// They are durable when this barrier is.
    Written { barrier: u64 },
}

impl Holes {
    /// The holes of a card that was found: all of it is durable up to a version, and `bands` bands wait to be erased.
    /// These hold nothing that counts: no trim made them stale.
    pub fn found(as_of: u64, bands: usize) -> Holes {
        Holes { as_of, trims: TrimsBeforeErase { cleared: bands, ..Default::default() }, ..Holes::default() }
    }

    /// A sector of a segment was trimmed.
    pub fn trimmed(&mut self, segment: u32, lba: Lba, version: u64) {
        self.dirty.insert(segment, version);
        self.written_over.remove(&lba.0);
    }

    /// A sector that was a hole was written, and is not durable.
    pub fn written_over(&mut self, lba: Lba, version: u64) {
        self.written_over.insert(lba.0, version);
    }

    /// The LBA was written over a hole, and the new data are not known to be durable: the list still calls it a hole.
    pub fn is_written_over(&self, lba: Lba) -> bool {
        self.written_over.contains_key(&lba.0)
    }

    /// All data up to a version are durable.
    pub fn durable_up_to(&mut self, version: u64) {
        self.written_over.retain(|_, written| *written > version);
    }

    /// The media are owed lists of holes.
    pub fn are_owed(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// The number of segments of which the media are owed a list.
    pub fn owed(&self) -> usize {
        self.dirty.len()
    }

    /// The segments of which the media are owed a list.
    pub fn owed_segments(&self) -> Vec<u32> {
        self.dirty.keys().copied().collect()
    }

    /// The first segment of which the media are owed a list.
    pub fn first_owed(&self) -> Option<u32> {
        self.dirty.keys().next().copied()
    }

    /// More lists are owed than may be.
    pub fn are_too_many_owed(&self) -> bool {
        self.dirty.len() > MAX_OWED_SEGMENTS
    }

    /// Forgets what the media are owed: a planted bug.
    pub fn forget_owed(&mut self) {
        self.dirty.clear();
    }

    /// The list of a segment is being written, as of a version: all up to it is durable.
    pub fn begin_list(&mut self, segment: u32, as_of: u64) {
        // The list of a segment that is written last counts. The caller may have waited since, and another list been
        // written as of a later version: up to that all was durable, and it still is.
        let as_of = as_of.max(self.as_of);
        self.as_of = as_of;
        // Trims that came later are still owed: the data that they took away may have a version after `as_of`.
        if self.dirty.get(&segment).is_some_and(|trimmed| *trimmed <= as_of) {
            self.dirty.remove(&segment);
        }
    }

    /// The version that lists of holes are written as of.
    pub fn as_of(&self) -> u64 {
        self.as_of
    }

    /// Holes of these segments are told of by nothing but a checkpoint.
    pub fn owe_since_start(&mut self, segments: Vec<u32>, as_of: u64) {
        self.dirty.extend(segments.iter().map(|segment| (*segment, as_of)));
        self.owed_since_start = Some(OwedSinceStart::ToWrite { segments, as_of });
    }

    /// The lists that the media are owed since the start.
    pub fn owed_since_start(&self) -> Option<&OwedSinceStart> {
        self.owed_since_start.as_ref()
    }

    /// The lists that were owed since the start are written, and durable with a barrier.
    pub fn start_lists_written(&mut self, barrier: u64) {
        self.owed_since_start = Some(OwedSinceStart::Written { barrier });
    }

    /// The lists that were owed since the start are durable.
    pub fn start_lists_durable(&mut self) {
        self.owed_since_start = None;
    }

    /// How far the card is with making trims durable that bands wait for.
    pub fn stage(&self) -> Stage {
        self.trims.stage
    }

    /// The number of waiting bands that may be erased, as far as trims are concerned.
    pub fn erasable(&self) -> usize {
        self.trims.cleared
    }

    /// A band that waited is erased.
    pub fn erase_begins(&mut self) {
        self.trims.cleared = self.trims.cleared.saturating_sub(1);
        self.trims.bands = self.trims.bands.saturating_sub(1);
    }

    /// The barrier with which the lists that were written last are durable.
    pub fn written_barrier(&self) -> u64 {
        self.trims.written
    }

    /// The lists that are owed were written: they are durable with a barrier.
    pub fn owed_lists_written(&mut self, barrier: u64) {
        self.trims.written = barrier;
    }

    /// No trim has to be made durable: so many waiting bands may be erased.
    pub fn clear_bands(&mut self, bands: usize) {
        self.trims.cleared = bands;
    }

    /// Data up to a version have to be durable before lists of holes are written, for which so many bands wait.
    pub fn wait_for_data(&mut self, bands: usize, barrier: u64, as_of: u64) {
        self.trims.bands = bands;
        self.trims.stage = Stage::Before { barrier, as_of };
    }

    /// The lists of holes that bands wait for are written, and have to be durable.
    pub fn wait_for_lists(&mut self, barrier: u64) {
        self.trims.stage = Stage::Holes { barrier };
    }

    /// The lists of holes are durable: the bands that waited may be erased.
    pub fn finish_lists(&mut self) {
        self.trims.cleared = self.trims.bands;
        self.trims.stage = Stage::None;
    }

    /// The lists that were to be written would look too old: all is done again.
    pub fn restart(&mut self) {
        self.trims.stage = Stage::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_pays_only_for_trims_up_to_the_version_that_it_is_written_as_of() {
        let mut holes = Holes::found(10, 0);
        holes.trimmed(3, Lba(300), 11);
        holes.trimmed(1, Lba(100), 14);
        holes.begin_list(3, 12);
        assert_eq!((holes.owed_segments(), holes.as_of()), (vec![1], 12));
        holes.begin_list(1, 13);
        assert_eq!((holes.first_owed(), holes.as_of()), (Some(1), 13));
        // A list as of an earlier version is written as of the latest one that was ever used.
        holes.begin_list(1, 20);
        holes.trimmed(1, Lba(100), 19);
        holes.begin_list(1, 5);
        assert!(!holes.are_owed() && holes.as_of() == 20);
    }

    #[test]
    fn an_lba_is_a_hole_to_the_media_until_what_was_written_over_it_is_durable_or_it_is_trimmed_again() {
        let mut holes = Holes::default();
        holes.written_over(Lba(1), 5);
        holes.written_over(Lba(2), 6);
        holes.durable_up_to(5);
        assert!(!holes.is_written_over(Lba(1)) && holes.is_written_over(Lba(2)));
        holes.trimmed(0, Lba(2), 7);
        assert!(!holes.is_written_over(Lba(2)));
    }

    #[test]
    fn bands_that_wait_for_trims_are_erasable_when_the_lists_are_durable_less_those_erased_meanwhile() {
        let mut holes = Holes::found(10, 2);
        holes.erase_begins();
        assert_eq!(holes.erasable(), 1);
        holes.clear_bands(0);
        holes.wait_for_data(3, 7, 12);
        holes.wait_for_lists(8);
        holes.erase_begins();
        assert_eq!((holes.erasable(), holes.stage()), (0, Stage::Holes { barrier: 8 }));
        holes.finish_lists();
        assert_eq!((holes.erasable(), holes.stage()), (2, Stage::None));
        holes.erase_begins();
        assert_eq!(holes.erasable(), 1);
    }

    #[test]
    fn too_many_segments_are_owed_beyond_the_bound() {
        let mut holes = Holes::default();
        holes.owe_since_start((0..MAX_OWED_SEGMENTS as u32).collect(), 4);
        assert!(!holes.are_too_many_owed() && holes.owed() == MAX_OWED_SEGMENTS);
        holes.trimmed(MAX_OWED_SEGMENTS as u32, Lba(0), 5);
        assert!(holes.are_too_many_owed());
    }
}
