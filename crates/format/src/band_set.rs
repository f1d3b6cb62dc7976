//! Bands, as bits of a module's header.

use zerocopy::little_endian::U64;

/// Bands that a header has bits for, from band 0 on.
pub const HEADER_BANDS: u32 = WORDS as u32 * 64;
/// Words of 64 bits.
pub(crate) const WORDS: usize = 223;

/// A set of bands, those from [`HEADER_BANDS`] on never among them.
#[derive(Clone, PartialEq, Eq)]
pub struct BandSet([u64; WORDS]);

impl BandSet {
    /// Adds a band, if there is a bit for it.
    pub fn insert(&mut self, band: u32) {
        if let Some(word) = self.0.get_mut(band as usize / 64) {
            *word |= 1 << (band % 64);
        }
    }

    /// Takes a band out.
    pub fn remove(&mut self, band: u32) {
        if let Some(word) = self.0.get_mut(band as usize / 64) {
            *word &= !(1 << (band % 64));
        }
    }

    /// It is among them.
    pub fn contains(&self, band: u32) -> bool {
        self.0.get(band as usize / 64).is_some_and(|word| word >> (band % 64) & 1 != 0)
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..HEADER_BANDS).filter(|band| self.contains(*band))
    }

    pub(crate) fn from_raw(raw: &[U64; WORDS]) -> BandSet {
        BandSet(raw.map(U64::get))
    }

    pub(crate) fn to_raw(&self) -> [U64; WORDS] {
        self.0.map(U64::new)
    }

    /// The highest band.
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
