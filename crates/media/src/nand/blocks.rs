//! Erase blocks: the legal operations on each, and its wear.
//!
//! A band is the same erase block on every die, so blocks are stored band by band: the blocks of a band, which are used
//! together, lie together. A block here is a die's share of a band: one erase block of each plane, which are programmed
//! and erased together or in turn and go bad together.

use crate::nand::config::NandConfig;
use device::Rng;

const BAD: u32 = u32::MAX;

/// The state of every erase block of a card.
#[derive(Clone, Debug)]
pub struct Blocks {
    dies: u32,
    units_per_band: u32,
    /// The number of program commands since the last erase; [`BAD`] for a bad block.
    written: Vec<u32>,
    cycles: Vec<u32>,
    rated_cycles: u32,
    erase_fail_ppm_at_rated: u32,
    rng: Rng,
    bad: u64,
    /// Dies that do not answer, or whose module is missing.
    dead: Vec<bool>,
}

impl Blocks {
    /// The blocks of `bands` bands, fresh from the factory, with bad blocks drawn from `seed`.
    pub fn new(config: &NandConfig, bands: u32, seed: u64) -> Blocks {
        let dies = config.geometry.dies();
        let count = dies as usize * bands as usize;
        let mut written = vec![0; count];
        let mut rng = Rng::stream(seed, "factory bad blocks");
        let mut bad = 0;
        for block in &mut written {
            if rng.below(1_000_000) < u64::from(config.endurance.factory_bad_ppm) {
                *block = BAD;
                bad += 1;
            }
        }
        Blocks {
            dies,
            units_per_band: config.geometry.units_per_band(),
            written,
            cycles: vec![0; count],
            rated_cycles: config.endurance.rated_cycles,
            erase_fail_ppm_at_rated: config.endurance.erase_fail_ppm_at_rated,
            rng: Rng::stream(seed, "erase failures"),
            bad,
            dead: vec![false; dies as usize],
        }
    }

    /// Puts the bad blocks of each die at its end, where blocks are all alike: as many bands as can be have none.
    pub fn gather_bad(&mut self) {
        let bands = self.written.len() as u32 / self.dies;
        for die in 0..self.dies {
            let (mut good, mut last) = (0, bands);
            while good < last {
                if !self.is_bad(good, die) {
                    good += 1;
                    continue;
                }
                last -= 1;
                self.exchange(good, last, die);
            }
        }
    }

    /// Exchanges two blocks of a die.
    pub fn exchange(&mut self, band: u32, other: u32, die: u32) {
        let (one, other) = (self.index(band, die), self.index(other, die));
        self.written.swap(one, other);
        self.cycles.swap(one, other);
    }

    #[inline]
    fn index(&self, band: u32, die: u32) -> usize {
        debug_assert!(die < self.dies);
        band as usize * self.dies as usize + die as usize
    }

    /// Whether the block is bad, so that it can't be used.
    #[inline]
    pub fn is_bad(&self, band: u32, die: u32) -> bool {
        self.written[self.index(band, die)] == BAD
    }

    /// Whether the block can be programmed and erased: it is not bad and its die answers.
    #[inline]
    pub fn is_usable(&self, band: u32, die: u32) -> bool {
        !self.dead[die as usize] && !self.is_bad(band, die)
    }

    /// Whether the block can be programmed from its first unit on.
    #[inline]
    pub fn is_erased(&self, band: u32, die: u32) -> bool {
        !self.dead[die as usize] && self.written[self.index(band, die)] == 0
    }

    /// Reports that a die does not answer any more, or answers again.
    pub fn set_dead(&mut self, die: u32, dead: bool) {
        self.dead[die as usize] = dead;
    }

    /// Whether the die does not answer.
    #[inline]
    pub fn is_dead(&self, die: u32) -> bool {
        self.dead[die as usize]
    }

    /// Makes a block bad for good, because its medium reports it as bad.
    pub fn retire(&mut self, band: u32, die: u32) {
        let i = self.index(band, die);
        if self.written[i] != BAD {
            self.written[i] = BAD;
            self.bad += 1;
        }
    }

    /// Sets the state of a block as its medium reports it: the programs since the last erase, and the number of erases.
    pub fn set(&mut self, band: u32, die: u32, written: u32, cycles: u32) {
        let i = self.index(band, die);
        assert!(written <= self.units_per_band, "{written} programs of {}", self.units_per_band);
        if self.written[i] == BAD {
            self.bad -= 1;
        }
        self.written[i] = written;
        self.cycles[i] = cycles;
    }

    /// Programs the next unit of a block.
    ///
    /// # Panics
    /// If the block is bad, or `unit` is not the next one of an erased block.
    #[inline]
    pub fn program(&mut self, band: u32, die: u32, unit: u32) {
        let i = self.index(band, die);
        assert!(
            self.written[i] == unit && unit < self.units_per_band,
            "illegal program: band {band} die {die} unit {unit}, next is {}",
            self.written[i]
        );
        self.written[i] = unit + 1;
    }

    /// Checks that a unit may be read.
    ///
    /// # Panics
    /// If the unit was not programmed since the block's last erase.
    #[inline]
    pub fn read(&self, band: u32, die: u32, unit: u32) {
        let written = self.written[self.index(band, die)];
        assert!(
            written != BAD && unit < written,
            "illegal read: band {band} die {die} unit {unit} of {written} written"
        );
    }

    /// Whether a unit was programmed since the block's last erase.
    #[inline]
    pub fn is_programmed(&self, band: u32, die: u32, unit: u32) -> bool {
        let written = self.written[self.index(band, die)];
        written != BAD && unit < written
    }

    /// Erases a block. `false` if the erase failed; the block is bad from then on.
    ///
    /// # Panics
    /// If the block is bad.
    #[must_use]
    pub fn erase(&mut self, band: u32, die: u32) -> bool {
        let i = self.index(band, die);
        assert!(self.written[i] != BAD, "illegal erase of a bad block: band {band} die {die}");
        self.cycles[i] += 1;
        let wear = f64::from(self.cycles[i]) / f64::from(self.rated_cycles);
        let fail_ppm = f64::from(self.erase_fail_ppm_at_rated) * wear.powi(4);
        // Below a chance of one in 10^9 there is no draw, so that a young card's run does not depend on its erases.
        if fail_ppm >= 1e-3 && self.rng.unit() * 1e6 < fail_ppm {
            self.written[i] = BAD;
            self.bad += 1;
            return false;
        }
        self.written[i] = 0;
        true
    }

    /// The number of program/erase cycles of a block.
    pub fn cycles(&self, band: u32, die: u32) -> u32 {
        self.cycles[self.index(band, die)]
    }

    /// The cycles of the least and the most worn usable block; (0, 0) if none is left.
    pub fn wear_range(&self) -> (u32, u32) {
        let good = || self.cycles.iter().zip(&self.written).filter(|&(_, &w)| w != BAD).map(|(&c, _)| c);
        (good().min().unwrap_or(0), good().max().unwrap_or(0))
    }

    /// The mean of the cycles of usable blocks.
    pub fn wear_mean(&self) -> f64 {
        let good = self.cycles.iter().zip(&self.written).filter(|&(_, &w)| w != BAD);
        let (sum, n) = good.fold((0u64, 0u64), |(s, n), (&c, _)| (s + u64::from(c), n + 1));
        if n == 0 { 0.0 } else { sum as f64 / n as f64 }
    }

    /// The number of bad blocks, from the factory and retired since.
    pub fn bad_count(&self) -> u64 {
        self.bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::{Endurance, Geometry, OpTiming, Timing};

    fn config() -> NandConfig {
        let times = OpTiming { read_ns: 25_000, program_ns: 250_000, erase_ns: 1_500_000 };
        NandConfig {
            geometry: Geometry {
                modules: 2,
                channels_per_module: 1,
                dies_per_channel: 2,
                planes_per_die: 2,
                blocks_per_plane: 1_000,
                pages_per_block: 8,
                page_bytes: 4096,
                spare_bytes: 128,
                multi_plane: false,
            },
            timing: Timing {
                native: times,
                slc: times,
                bus_bytes_per_s: 40_000_000,
                suspend_ns: None,
                max_suspends: 0,
            },
            endurance: Endurance { rated_cycles: 100, factory_bad_ppm: 0, erase_fail_ppm_at_rated: 0 },
        }
    }

    #[test]
    fn a_band_on_a_die_holds_the_pages_of_all_its_planes() {
        let mut config = config();
        assert_eq!(config.geometry.units_per_band(), 16);
        config.geometry.multi_plane = true;
        assert_eq!(config.geometry.units_per_band(), 8);
        assert_eq!(config.geometry.installed_bytes(), 4 * 2 * 1_000 * 8 * 4096);
    }

    #[test]
    #[should_panic(expected = "illegal program")]
    fn programming_out_of_order_panics() {
        Blocks::new(&config(), 4, 1).program(0, 0, 1);
    }

    #[test]
    #[should_panic(expected = "illegal program")]
    fn programming_twice_without_an_erase_panics() {
        let mut blocks = Blocks::new(&config(), 4, 1);
        blocks.program(0, 0, 0);
        blocks.program(0, 0, 0);
    }

    #[test]
    #[should_panic(expected = "illegal program")]
    fn programming_past_the_end_panics() {
        let mut blocks = Blocks::new(&config(), 4, 1);
        (0..17).for_each(|unit| blocks.program(0, 0, unit));
    }

    #[test]
    #[should_panic(expected = "illegal read")]
    fn reading_an_erased_page_panics() {
        Blocks::new(&config(), 4, 1).read(0, 0, 0);
    }

    #[test]
    fn factory_bad_blocks_come_in_the_asked_share_and_repeat_with_the_seed() {
        let mut config = config();
        config.endurance.factory_bad_ppm = 20_000;
        let blocks = Blocks::new(&config, 5_000, 3);
        let share = blocks.bad_count() as f64 / 20_000.0;
        assert!((0.015..0.025).contains(&share), "{share}");
        assert_eq!(Blocks::new(&config, 5_000, 3).written, blocks.written);
        assert_ne!(Blocks::new(&config, 5_000, 4).written, blocks.written);
    }

    #[test]
    fn erases_fail_more_often_with_wear_and_retire_the_block() {
        let mut config = config();
        config.endurance.erase_fail_ppm_at_rated = 10_000;
        let mut blocks = Blocks::new(&config, 500, 3);
        let mut failed_young = 0;
        let mut failed_old = 0;
        for cycle in 0..200 {
            for band in 0..500 {
                for die in 0..4 {
                    if !blocks.is_bad(band, die) && !blocks.erase(band, die) {
                        *if cycle < 100 { &mut failed_young } else { &mut failed_old } += 1;
                    }
                }
            }
        }
        // Integral of 0.01 (c/100)^4 over 100 cycles: 0.2 of 2,000 blocks; over the next 100 most of the rest.
        assert!((300..470).contains(&failed_young), "{failed_young}");
        assert!(failed_old > 1_400, "{failed_old}");
        assert_eq!(blocks.bad_count(), failed_young + failed_old);
    }
}
