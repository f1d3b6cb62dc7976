//! Zipf's law over many blocks, at a constant cost for each draw.
//!
//! [`Zipf`] draws ranks by rejection-inversion (W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates
//! from monotone discrete distributions", ACM TOMACS 6(3), 1996): no table, no sum over the blocks, exact frequencies.
//! [`Scramble`] turns ranks into blocks, so that hot blocks lie all over the space as they do in a real table.
//!
//! Invariants:
//! - a rank lies in `0..n`, and rank r has probability proportional to `(r + 1)^-theta`;
//! - a scramble is a bijection of `0..n`.

use device::Rng;

/// Draws ranks `0..n` with probability proportional to `(rank + 1)^-theta`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zipf {
    n: f64,
    theta: f64,
    /// Draws are uniform over the area between these two; see `integral`.
    area_low: f64,
    area_high: f64,
    /// Left of the rank by at most this much: accepted without looking closer (the common case).
    squeeze: f64,
}

impl Zipf {
    /// Zipf's law over `n` ranks. `n` is at least 1, `theta` positive.
    pub fn new(n: u64, theta: f64) -> Zipf {
        assert!(n >= 1 && theta > 0.0, "Zipf over {n} ranks with theta {theta}");
        let n = n as f64;
        Zipf {
            n,
            theta,
            // The hat of the first rank is cut so that its area is exactly its weight, which is 1.
            area_low: integral(theta, 1.5) - 1.0,
            area_high: integral(theta, n + 0.5),
            squeeze: 2.0 - inverse_integral(theta, integral(theta, 2.5) - weight(theta, 2.0)),
        }
    }

    /// A rank; 0 is the hottest.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        // Each round succeeds with a probability above 0.9 whatever n and theta are, so the loop is short.
        loop {
            let area = self.area_high + rng.unit() * (self.area_low - self.area_high);
            let x = inverse_integral(self.theta, area);
            let rank = (x + 0.5).floor().clamp(1.0, self.n);
            if rank - x <= self.squeeze || area >= integral(self.theta, rank + 0.5) - weight(self.theta, rank) {
                return rank as u64 - 1;
            }
        }
    }

    /// Draws for each rank of the last tenth to be drawn once on average, over the number of ranks.
    pub fn turnover_of_last_tenth(&self) -> f64 {
        let from = 0.9 * self.n;
        let share =
            (integral(self.theta, self.n + 0.5) - integral(self.theta, from + 0.5)) / (self.area_high - self.area_low);
        0.1 / share
    }
}

/// The weight of a (real) rank.
fn weight(theta: f64, x: f64) -> f64 {
    (-theta * x.ln()).exp()
}

/// The integral of the weight from 1 to `x`. Written with `exp_m1` because theta close to 1 would cancel all digits.
fn integral(theta: f64, x: f64) -> f64 {
    let (q, log) = (1.0 - theta, x.ln());
    if q == 0.0 { log } else { (q * log).exp_m1() / q }
}

/// The inverse of [`integral`].
#[inline]
fn inverse_integral(theta: f64, area: f64) -> f64 {
    let q = 1.0 - theta;
    // For large theta rounding may push the argument of the logarithm to -1 or below: that is the last rank.
    if q == 0.0 { area.exp() } else { ((q * area).max(-1.0).ln_1p() / q).exp() }
}

/// A bijection of `0..n` that looks like chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scramble {
    n: u64,
    mask: u64,
    shift: u32,
    multipliers: [u64; 3],
}

impl Scramble {
    /// A bijection of `0..n` chosen by `rng`. `n` is at least 1 and at most 2^63.
    pub fn new(n: u64, rng: &mut Rng) -> Scramble {
        assert!((1..=1 << 63).contains(&n), "a scramble of {n} numbers");
        let bits = n.next_power_of_two().trailing_zeros();
        Scramble {
            n,
            mask: n.next_power_of_two() - 1,
            shift: bits.div_ceil(2).max(1),
            // Odd: multiplication modulo a power of two has an inverse.
            multipliers: [rng.bits() | 1, rng.bits() | 1, rng.bits() | 1],
        }
    }

    /// Maps `number` to its place in the permutation.
    #[inline]
    pub fn map(&self, number: u64) -> u64 {
        assert!(number < self.n, "{number} is beyond the {} numbers of the scramble", self.n);
        let mut x = number;
        // Each round is a bijection of the next power of two; walking its cycle until the number is below n makes
        // a bijection of 0..n. More than half of the power of two lies below n, so two rounds are the mean at most.
        loop {
            for multiplier in self.multipliers {
                x = x.wrapping_mul(multiplier) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.n {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-square of draws against theory over the first ranks and one bin for the rest, by degrees of freedom.
    fn chi_square(n: u64, theta: f64, draws: u64) -> f64 {
        let zipf = Zipf::new(n, theta);
        let mut rng = Rng::stream(17, "zipf");
        let bins = n.min(50) as usize;
        let mut seen = vec![0u64; bins + 1];
        for _ in 0..draws {
            let rank = zipf.draw(&mut rng);
            assert!(rank < n);
            seen[(rank as usize).min(bins)] += 1;
        }
        let sum: f64 = (1..=n).map(|k| (k as f64).powf(-theta)).sum();
        let mut expected: Vec<f64> = (1..=bins).map(|k| (k as f64).powf(-theta) / sum * draws as f64).collect();
        expected.push(draws as f64 - expected.iter().sum::<f64>());
        let bins = seen.iter().zip(&expected).filter(|(_, e)| **e > 5.0);
        let count = bins.clone().count();
        bins.map(|(&s, &e)| (s as f64 - e).powi(2) / e).sum::<f64>() / (count.max(2) - 1) as f64
    }

    #[test]
    fn frequencies_are_those_of_the_law() {
        for (n, theta) in [(2, 0.5), (10, 1.0), (1_000, 0.99), (1_000, 1.0), (100_000, 0.7), (100_000, 1.2), (50, 3.0)]
        {
            let chi = chi_square(n, theta, 400_000);
            // 50 degrees of freedom: 1.9 is beyond the 99.99th percentile; with 1 to 9 degrees the tail is longer.
            assert!(chi < if n <= 10 { 6.0 } else { 1.9 }, "n {n} theta {theta}: {chi}");
        }
    }

    #[test]
    fn a_thousand_million_blocks_keep_the_laws_head() {
        let (n, theta, draws) = (1_000_000_000u64, 0.99, 1_000_000u64);
        let zipf = Zipf::new(n, theta);
        let mut rng = Rng::stream(3, "zipf");
        let first = (0..draws).filter(|_| zipf.draw(&mut rng) == 0).count() as f64;
        // The sum of k^-theta by Euler-Maclaurin: exact to 1e-6 and no loop over n.
        let head: f64 = (1..=1_000).map(|k| f64::from(k).powf(-theta)).sum();
        let tail = ((n as f64).powf(1.0 - theta) - 1_000f64.powf(1.0 - theta)) / (1.0 - theta)
            + ((n as f64).powf(-theta) - 1_000f64.powf(-theta)) / 2.0;
        let expected = draws as f64 / (head + tail);
        assert!((first - expected).abs() < 5.0 * expected.sqrt(), "{first} of {expected}");
    }

    #[test]
    fn one_rank_is_always_drawn_and_extremes_stay_inside() {
        let mut rng = Rng::stream(1, "zipf");
        for (n, theta) in [(1, 0.01), (1, 5.0), (1 << 40, 5.0), (1 << 40, 0.001), (7, 1.0 + 1e-12)] {
            let zipf = Zipf::new(n, theta);
            assert!((0..10_000).all(|_| zipf.draw(&mut rng) < n), "n {n} theta {theta}");
        }
    }

    #[test]
    fn a_scramble_is_a_bijection() {
        for n in [1u64, 2, 3, 4, 5, 17, 1_000, 4_096, 5_000] {
            let scramble = Scramble::new(n, &mut Rng::stream(n, "scramble"));
            let mut seen = vec![false; n as usize];
            for number in 0..n {
                let place = &mut seen[scramble.map(number) as usize];
                assert!(!*place, "{n}: two numbers at one place");
                *place = true;
            }
        }
    }

    #[test]
    fn a_scramble_spreads_the_head_over_the_space() {
        let n = 1_000_000u64;
        for seed in 0..20 {
            let scramble = Scramble::new(n, &mut Rng::stream(seed, "scramble"));
            let mut tenths = [0u32; 10];
            (1..=1_000).for_each(|number| tenths[(scramble.map(number) * 10 / n) as usize] += 1);
            assert!(tenths.iter().all(|&t| (40..200).contains(&t)), "seed {seed}: {tenths:?}");
        }
    }
}
