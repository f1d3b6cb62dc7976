//! The valid map: one bit for each physical address, set where the address holds the newest version of a sector.

/// A bitmap over physical addresses.
#[derive(Clone, Debug)]
pub struct ValidMap {
    words: Vec<u64>,
}

impl ValidMap {
    /// A map without valid addresses.
    pub fn new(addresses: u32) -> ValidMap {
        // One word more than needed, so that a mask may be read across the last boundary.
        ValidMap { words: vec![0; addresses as usize / 64 + 2] }
    }

    /// Makes an address valid.
    ///
    /// # Panics
    /// When it is valid already.
    #[inline]
    pub fn set(&mut self, address: u32) {
        let (word, bit) = (&mut self.words[address as usize / 64], 1u64 << (address % 64));
        assert_eq!(*word & bit, 0, "address {address} is valid already");
        *word |= bit;
    }

    /// Makes an address stale.
    ///
    /// # Panics
    /// When it is not valid.
    #[inline]
    pub fn clear(&mut self, address: u32) {
        let (word, bit) = (&mut self.words[address as usize / 64], 1u64 << (address % 64));
        assert_ne!(*word & bit, 0, "address {address} is not valid");
        *word &= !bit;
    }

    #[inline]
    pub fn is_valid(&self, address: u32) -> bool {
        self.words[address as usize / 64] >> (address % 64) & 1 == 1
    }

    /// Prefetches the bit of an address.
    #[inline]
    pub fn prefetch(&self, address: u32) {
        crate::prefetch::prefetch(&self.words, address as usize / 64);
    }

    /// The bits of `count` addresses from `start` on; `count` is at most 64.
    #[inline]
    pub fn mask(&self, start: u32, count: u32) -> u64 {
        let (word, shift) = (start as usize / 64, start % 64);
        let low = self.words[word] >> shift;
        let high = if shift == 0 { 0 } else { self.words[word + 1] << (64 - shift) };
        (low | high) & (u64::MAX >> (64 - count))
    }

    /// The first valid address in `start..end`.
    #[inline]
    pub fn first_in(&self, start: u32, end: u32) -> Option<u32> {
        let mut at = start;
        while at < end {
            let bits = self.words[at as usize / 64] >> (at % 64);
            if bits != 0 {
                let found = at + bits.trailing_zeros();
                return (found < end).then_some(found);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// The number of valid addresses in `start..end`.
    pub fn count_in(&self, start: u32, end: u32) -> u32 {
        let mut count = 0;
        let mut at = start;
        while at < end {
            let n = (end - at).min(64);
            count += self.mask(at, n).count_ones();
            at += n;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_searches_cross_words() {
        let mut map = ValidMap::new(200);
        [3u32, 63, 64, 130, 199].iter().for_each(|&a| map.set(a));
        assert_eq!(map.first_in(0, 200), Some(3));
        assert_eq!(map.first_in(4, 200), Some(63));
        assert_eq!(map.first_in(65, 130), None);
        assert_eq!(map.mask(60, 8), 0b0001_1000);
        assert_eq!(map.mask(136, 64), 1 << 63);
        assert_eq!(map.count_in(1, 131), 4);
        map.clear(63);
        assert!(!map.is_valid(63) && map.is_valid(64));
    }
}
