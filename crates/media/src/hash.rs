//! Random draws without a state: the same words give the same number, on every machine and in every order.
//!
//! The fate of a sector must not depend on other reads before it. So its luck is hashed from the place and the time of
//! its program, and is not drawn from a stream.

/// The mixing step of SplitMix64: every bit of `x` changes about half of the bits of the result.
#[inline]
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Hashes several numbers to one.
#[inline]
pub(crate) fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0x9e37_79b9_7f4a_7c15, |h, &word| mix(h.rotate_left(25) ^ word).wrapping_add(word))
}

/// A number in `[0, 1)` from a hash.
#[inline]
pub(crate) fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Whether an event with a chance of `ppm` in a million happens.
#[inline]
pub(crate) fn happens(hash: u64, ppm: f64) -> bool {
    unit(hash) * 1e6 < ppm
}

/// The purposes of hashes: two draws for one place must not share their luck.
pub(crate) mod purpose {
    pub(crate) const SERIAL: u64 = 1;
    pub(crate) const FACTORY_BAD: u64 = 2;
    pub(crate) const RAW_ERRORS: u64 = 3;
    pub(crate) const PROGRAM_FAILS: u64 = 4;
    pub(crate) const ERASE_FAILS: u64 = 5;
    pub(crate) const WEAK: u64 = 6;
    pub(crate) const CACHE: u64 = 7;
    pub(crate) const WRONG_BYTES: u64 = 8;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_words_share_no_luck() {
        let mut below = 0;
        for a in 0..100 {
            for b in 0..100 {
                below += u32::from(happens(hash(&[7, a, b]), 250_000.0));
                assert_ne!(hash(&[a, b, 1]), hash(&[a, b, 2]));
            }
        }
        assert!((2_300..2_700).contains(&below), "{below}");
        assert_ne!(hash(&[0]), hash(&[0, 0]));
    }
}
