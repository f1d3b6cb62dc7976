//! Wear: the number of wrong bits of a sector.
//!
//! Each sector has a fixed luck, a quantile hashed from its place and the number of its block's erases. Its raw bit
//! errors are that quantile of the Poisson distribution around the mean that wear, time and reads give. So a sector
//! never gets better by itself, the same read has the same result, and sectors still differ as they do on flash.

use crate::hash::{hash, purpose, unit};
use crate::physics::Physics;
use format::SPARE_BYTES;

/// The number of bits of a 4 KiB sector and its spare area. The fewer bytes of simulations stand for these.
pub(crate) const SECTOR_BITS: f64 = ((4096 + SPARE_BYTES) * 8) as f64;
/// Above this mean the draw is the mean: no code corrects so many bits, and the sum below would need smaller floats.
const MAX_MEAN: f64 = 600.0;
/// Luck is capped here, because nearer to 1 the sums of chances differ only by rounding errors.
const MAX_LUCK: f64 = 1.0 - 1e-9;
const MINUTES_PER_YEAR: f64 = 365.0 * 24.0 * 60.0;

/// The mean of the raw bit errors of a sector.
#[inline]
pub(crate) fn mean_errors(physics: &Physics, cycles: u32, minutes: u32, reads: u32) -> f64 {
    let (rates, w) = (&physics.errors, physics.wear(cycles));
    let retention = rates.retention_year * (f64::from(minutes) / MINUTES_PER_YEAR).sqrt() * (0.1 + 0.9 * w);
    let disturb = rates.disturb_read * f64::from(reads) * w * w.sqrt();
    (rates.fresh + rates.cycles * w * w + retention + disturb) * SECTOR_BITS
}

/// The smallest number that a Poisson draw with this mean exceeds with a chance of at most `1 - quantile`. It never
/// falls when the mean grows.
pub(crate) fn poisson(mean: f64, quantile: f64) -> u32 {
    let (capped, quantile) = (mean.min(MAX_MEAN), quantile.min(MAX_LUCK));
    let mut chance = (-capped).exp();
    let mut below = chance;
    let mut count = 0u32;
    // The loop ends where the chances no longer add to the sum, far above the mean.
    while quantile >= below && (f64::from(count) < capped || below + chance > below) {
        count += 1;
        chance *= capped / f64::from(count);
        below += chance;
    }
    if mean > MAX_MEAN { count.max(mean.min(1e9) as u32) } else { count }
}

/// The number of corrected bits of a sector, and of retries; `None` if the sector can't be corrected.
#[inline]
pub(crate) fn correct(physics: &Physics, mean: f64, flips: u32, luck: impl FnOnce() -> f64) -> Option<(u32, u32)> {
    if mean == 0.0 {
        return (flips <= physics.ecc_bits).then_some((flips, 0));
    }
    let luck = luck();
    let mut mean = mean;
    for retries in 0..=physics.read_retries {
        let bits = poisson(mean, luck).saturating_add(flips);
        if bits <= physics.ecc_bits {
            return Some((bits, retries));
        }
        mean *= physics.retry_factor;
    }
    None
}

/// Whether a sector of so many wrong bits on average is corrected at once: none of any card is ten standard deviations off.
fn always_corrects(physics: &Physics, mean: f64) -> bool {
    mean + 10.0 * mean.sqrt() + 10.0 < f64::from(physics.ecc_bits)
}

/// Whether flash that is no older than its rated cycles, and was just programmed, is ever read more than once.
pub fn may_retry(physics: &Physics) -> bool {
    !always_corrects(physics, mean_errors(physics, physics.rated_cycles, 0, 0))
}

/// The number of retries that reading a unit of so many sectors takes, just programmed to a block with so many cycles;
/// `None`: a sector can't be corrected. The luck of a unit follows from its place.
pub fn retries(physics: &Physics, cycles: u32, place: [u64; 3], sectors: u32) -> Option<u32> {
    let mean = mean_errors(physics, cycles, 0, 0);
    if always_corrects(physics, mean) {
        return Some(0);
    }
    let [band, die, row] = place;
    let luck = |sector: u32| {
        let words = [purpose::RAW_ERRORS, band, die, row, u64::from(cycles), u64::from(sector)];
        unit(hash(&words))
    };
    (0..sectors).try_fold(0, |most: u32, sector| Some(most.max(correct(physics, mean, 0, || luck(sector))?.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_mean_and_the_variance_of_the_distribution() {
        for mean in [0.2, 3.0, 40.0, 400.0] {
            let draws: Vec<f64> = (0..20_000).map(|i| f64::from(poisson(mean, unit(hash(&[5, i]))))).collect();
            let average = draws.iter().sum::<f64>() / 20_000.0;
            let variance = draws.iter().map(|d| (d - average) * (d - average)).sum::<f64>() / 20_000.0;
            assert!((average / mean - 1.0).abs() < 0.03, "mean {mean}: {average}");
            assert!((variance / mean - 1.0).abs() < 0.06, "mean {mean}: {variance}");
        }
    }

    #[test]
    fn draws_never_fall_when_the_mean_grows() {
        for i in 0..100 {
            let quantile = if i == 99 { 1.0 - f64::EPSILON / 2.0 } else { unit(hash(&[6, i])) };
            let mut last = 0;
            let mut mean = 0.0;
            while mean < 2_000.0 {
                let count = poisson(mean, quantile);
                assert!(count >= last, "quantile {quantile}, mean {mean}: {count} after {last}");
                last = count;
                mean = mean * 1.01 + 0.001;
            }
        }
    }

    #[test]
    fn a_year_at_the_rated_cycles_is_within_what_the_presets_correct() {
        for physics in [Physics::SLC, Physics::MLC, Physics::TLC] {
            let mean = mean_errors(&physics, physics.rated_cycles, 365 * 24 * 60, 10_000);
            assert!(mean < f64::from(physics.ecc_bits) * 0.6, "{mean}");
            let worn = mean_errors(&physics, physics.rated_cycles * 10, 5 * 365 * 24 * 60, 10_000_000);
            assert!(worn > f64::from(physics.ecc_bits) || physics == Physics::SLC, "{worn}");
        }
    }
}
