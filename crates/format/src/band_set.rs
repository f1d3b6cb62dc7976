//! Sets of bands, as bits of a module's header.

use zerocopy::little_endian::U64;

/// The number of bands that a header has bits for, from band 0 on.
pub const HEADER_BANDS: u32 = WORDS as u32 * 64;
/// The number of 64-bit words of a set.
pub(crate) const WORDS: usize = 223;

/// A set of bands. It never contains bands from [`HEADER_BANDS`] on.
#[derive(Clone, PartialEq, Eq)]
pub struct BandSet([u64; WORDS]);

impl BandSet {
    /// Adds a band, if there is a bit for it.
    pub fn insert(&mut self, band: u32) {
        if let Some(word) = self.0.get_mut(band as usize / 64) {
            *word |= 1 << (band % 64);
        }
    }

    /// Removes a band from the set.
    pub fn remove(&mut self, band: u32) {
        if let Some(word) = self.0.get_mut(band as usize / 64) {
            *word &= !(1 << (band % 64));
        }
    }

    /// Whether the set contains a band.
    pub fn contains(&self, band: u32) -> bool {
        self.0.get(band as usize / 64).is_some_and(|word| word >> (band % 64) & 1 != 0)
    }

    /// Adds all bands of another set.
    pub fn insert_all(&mut self, other: &BandSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, others)| *word |= others);
    }

    /// The bands of the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..)
            .zip(&self.0)
            .filter(|(_, word)| **word != 0)
            .flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| at * 64 + bit))
    }

    pub(crate) fn from_raw(raw: &[U64; WORDS]) -> BandSet {
        BandSet(raw.map(U64::get))
    }

    pub(crate) fn to_raw(&self) -> [U64; WORDS] {
        self.0.map(U64::new)
    }

    /// The highest band of the set.
    pub(crate) fn last(&self) -> Option<u32> {
        let word = self.0.iter().rposition(|word| *word != 0)?;
        Some(word as u32 * 64 + self.0[word].ilog2())
    }
}

impl Default for BandSet {
    fn default() -> BandSet {
        BandSet([0; WORDS])
    }
}

impl FromIterator<u32> for BandSet {
    fn from_iter<I: IntoIterator<Item = u32>>(bands: I) -> BandSet {
        let mut set = BandSet::default();
        bands.into_iter().for_each(|band| set.insert(band));
        set
    }
}

impl std::fmt::Debug for BandSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_set_of_bands_is_a_set(
            one in btree_set(0..HEADER_BANDS, 0..80),
            other in btree_set(0..HEADER_BANDS, 0..80),
            beyond in HEADER_BANDS..,
        ) {
            let mut set: BandSet = one.iter().copied().chain([beyond]).collect();
            prop_assert_eq!(set.iter().collect::<Vec<u32>>(), one.iter().copied().collect::<Vec<u32>>());
            prop_assert_eq!(set.last(), one.last().copied());
            prop_assert_eq!(&BandSet::from_raw(&set.to_raw()), &set);
            set.insert_all(&other.iter().copied().collect());
            let both: BTreeSet<u32> = one.union(&other).copied().collect();
            prop_assert_eq!(set.iter().collect::<BTreeSet<u32>>(), both);
            for band in &other {
                set.remove(*band);
                prop_assert!(!set.contains(*band));
            }
            set.remove(beyond);
            prop_assert!(!set.contains(beyond));
            prop_assert!(one.iter().all(|band| set.contains(*band) != other.contains(band)));
        }
    }
}
