//! Named random streams from one root seed.
//!
//! Every consumer asks for its own stream by name, so that a new consumer does not change what others draw.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A deterministic random stream (xoshiro256++), the same on every platform and in every build.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The child stream `name` of root seed `seed`.
    pub fn stream(seed: u64, name: &str) -> Rng {
        // FNV-1a keeps the name's hash in our hands: std's hasher may change between releases.
        let hash =
            name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Rng(Xoshiro256PlusPlus::seed_from_u64(seed ^ hash))
    }

    /// A uniform 64-bit number.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number in `0..bound`; 0 when `bound` is 0. The bias is below `bound / 2^64` (multiply-shift).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A uniform number in `[0, 1)`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An exponentially distributed number with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let a: Vec<u64> = (0..4).map(|_| 0).scan(Rng::stream(1, "a"), |r, _: i32| Some(r.bits())).collect();
        let b: Vec<u64> = (0..4).map(|_| 0).scan(Rng::stream(1, "b"), |r, _: i32| Some(r.bits())).collect();
        let again: Vec<u64> = (0..4).map(|_| 0).scan(Rng::stream(1, "a"), |r, _: i32| Some(r.bits())).collect();
        assert_ne!(a, b);
        assert_eq!(a, again);
    }

    #[test]
    fn bounded_draws_stay_below_and_cover() {
        let mut rng = Rng::stream(7, "bounds");
        let mut seen = [0u32; 5];
        for _ in 0..10_000 {
            seen[rng.below(5) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (1_800..2_200).contains(&n)), "{seen:?}");
    }
}
