//! The choice of a card's layout from what was measured. It is a function of figures alone.

use super::figures::Swept;

/// Share of the best write throughput that is enough. Passes of one size differ by some percent on a drive that nobody
/// else uses, and a smaller unit wastes less of a stripe that is flushed before it is full.
const ENOUGH_SHARE: f64 = 0.92;
/// Modules of a stripe at most: one parity unit in so many. A loss of two of them loses data.
const MAX_STRIPE_MODULES: u32 = 16;
/// The fewest modules of a stripe that are worth a parity unit.
const MIN_STRIPE_MODULES: u32 = 3;
/// A card syncs when a quarter of its buffer waits for it: a quarter is what the host writes during a slow sync.
const SYNCS_IN_BUFFER: f64 = 4.0;
const MIN_BUFFER_BYTES: u64 = 16 << 20;
const MAX_BUFFER_BYTES: u64 = 1 << 30;
/// Stripes that a buffer holds at least: one that is written, one that is filled, and as many again.
const MIN_BUFFER_STRIPES: u64 = 4;

/// The layout that suits the drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The size that was chosen, by its index among those that were measured.
    pub index: usize,
    /// Bytes of the host's data in a unit.
    pub unit_bytes: u32,
    /// Modules over which a stripe lies.
    pub stripe_width: u32,
    /// Bytes of the write buffer.
    pub buffer_bytes: u64,
}

/// The modules of a stripe: all, or where they are many the largest part that divides them.
pub fn stripe_width(modules: u32) -> u32 {
    let fits = |width: &u32| modules.is_multiple_of(*width);
    (MIN_STRIPE_MODULES..=MAX_STRIPE_MODULES.min(modules)).rev().find(fits).unwrap_or(modules)
}

/// Chooses the smallest unit that the drives take nearly as fast as any, a stripe over all modules, and a buffer that
/// holds what the host writes during syncs.
///
/// # Panics
/// If nothing was measured.
pub fn choose(swept: &[Swept], modules: u32) -> Choice {
    let best = swept.iter().map(|swept| swept.write_bw_bytes).fold(0.0, f64::max);
    let index = swept.iter().position(|swept| swept.write_bw_bytes >= ENOUGH_SHARE * best);
    let index = index.expect("the best size is among them");
    let Swept { unit, write_bw_bytes, sync, .. } = swept[index];
    let stripe_width = stripe_width(modules);
    let data_share = f64::from(stripe_width - 1) / f64::from(stripe_width);
    let wanted = SYNCS_IN_BUFFER * write_bw_bytes * data_share * sync.p99_ns as f64 / 1e9;
    let stripes_bytes = MIN_BUFFER_STRIPES * u64::from(unit.payload_bytes) * u64::from(stripe_width);
    let least = MIN_BUFFER_BYTES.max(stripes_bytes);
    let buffer_bytes = (wanted as u64).clamp(least, MAX_BUFFER_BYTES).next_multiple_of(1 << 20);
    Choice { index, unit_bytes: unit.payload_bytes, stripe_width, buffer_bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::figures::{Percentiles, UnitSize};

    /// Sizes from 16 KiB on, each with MB/s and the 99th percentile of its syncs in milliseconds.
    fn measured(figures: &[(f64, u64)]) -> Vec<Swept> {
        let swept = |(at, (mb_per_s, sync_ms)): (usize, &(f64, u64))| Swept {
            unit: UnitSize { payload_bytes: (16 << 10) << at, medium_bytes: ((16 << 10) << at) + 4096 },
            write_bw_bytes: mb_per_s * 1e6,
            read_iops: 1000.0,
            write: Percentiles::default(),
            read: Percentiles::default(),
            sync: Percentiles { p50_ns: sync_ms * 500_000, p99_ns: sync_ms * 1_000_000 },
        };
        figures.iter().enumerate().map(swept).collect()
    }

    #[test]
    fn the_smallest_unit_that_is_nearly_as_fast_as_any_is_chosen() {
        let unit = |figures: &[f64]| {
            let figures: Vec<(f64, u64)> = figures.iter().map(|mb_per_s| (*mb_per_s, 5)).collect();
            choose(&measured(&figures), 4).unit_bytes >> 10
        };
        assert_eq!(unit(&[400.0, 700.0, 950.0, 1000.0]), 64);
        assert_eq!(unit(&[930.0, 1000.0, 1000.0, 1000.0]), 16);
        assert_eq!(unit(&[910.0, 915.0, 919.0, 1000.0]), 128);
        // A larger one that is slower is no reference.
        assert_eq!(unit(&[400.0, 1000.0, 900.0, 800.0]), 32);
        assert_eq!(unit(&[0.0, 0.0, 0.0, 0.0]), 16, "drives that took nothing at all");
    }

    #[test]
    fn the_buffer_holds_what_is_written_during_slow_syncs_within_limits() {
        let buffer = |mb_per_s, sync_ms| choose(&measured(&[(mb_per_s, sync_ms)]), 4).buffer_bytes;
        // 4 × 1 GB/s × 3/4 × 20 ms are 60 MB.
        assert_eq!(buffer(1000.0, 20), 58 << 20);
        assert_eq!(buffer(1000.0, 0), MIN_BUFFER_BYTES);
        assert_eq!(buffer(20_000.0, 1000), MAX_BUFFER_BYTES);
    }

    #[test]
    fn a_buffer_has_room_for_some_stripes() {
        let mut swept = measured(&[(1.0, 0)]);
        swept[0].unit.payload_bytes = 1 << 20;
        assert_eq!(choose(&swept, 16).buffer_bytes, 64 << 20);
    }

    #[test]
    fn a_stripe_lies_over_all_modules_unless_they_are_many() {
        assert_eq!([3, 4, 5, 16].map(stripe_width), [3, 4, 5, 16]);
        assert_eq!([18, 24, 32, 64].map(stripe_width), [9, 12, 16, 16]);
        // A prime number of modules has no part, and a part of two would be a mirror.
        assert_eq!([17, 34, 62].map(stripe_width), [17, 34, 62]);
    }
}
