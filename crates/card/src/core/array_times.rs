//! Times of the flash array that are not all the same: page types, and chance.
//!
//! Rows that share cells hold the bits of these cells, and the first of them is read and programmed sooner than the last
//! (L. M. Grupp et al., "Characterizing Flash Memory: Anomalies, Observations, and Applications", MICRO 2009). Their mean is
//! the time of the data sheet. Chance is a sum of four uniform draws: bounded, and nearly normal.

use device::Rng;

/// How times differ, in percent of the data sheet's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeSpread {
    /// Rows that share cells.
    pub cell_rows: u32,
    /// The first row of those that share cells is read in so many percent less than the mean, the last in so many more.
    pub read_percent: u32,
    /// The same for programs.
    pub program_percent: u32,
    /// Standard deviation by chance.
    pub chance_percent: u32,
}

/// Draws the time of each operation of the array.
#[derive(Clone, Debug)]
pub struct ArrayTimes {
    spread: TimeSpread,
    rng: Rng,
}

/// Variance of a sum of four uniform draws from 0 to 1: a third.
const DEVIATION_OF_SUM: f64 = 0.577_350_269_189_625_8;

impl ArrayTimes {
    pub fn new(spread: TimeSpread, seed: u64) -> ArrayTimes {
        ArrayTimes { spread, rng: Rng::stream(seed, "array times") }
    }

    /// The time to read a row whose mean is `ns`. Rows used with one bit a cell have no types.
    pub fn read_ns(&mut self, ns: u64, row: u32, is_slc: bool) -> u64 {
        let types = if is_slc { 0 } else { self.spread.read_percent };
        self.draw(ns, row, types)
    }

    /// The time to program a row whose mean is `ns`.
    pub fn program_ns(&mut self, ns: u64, row: u32, is_slc: bool) -> u64 {
        let types = if is_slc { 0 } else { self.spread.program_percent };
        self.draw(ns, row, types)
    }

    fn draw(&mut self, ns: u64, row: u32, types_percent: u32) -> u64 {
        let rows = self.spread.cell_rows;
        // From -1 for the first of the rows that share cells to 1 for the last.
        let place = if rows > 1 { 2.0 * f64::from(row % rows) / f64::from(rows - 1) - 1.0 } else { 0.0 };
        let mut factor = 1.0 + f64::from(types_percent) / 100.0 * place;
        if self.spread.chance_percent > 0 {
            let sum: f64 = (0..4).map(|_| self.rng.unit()).sum();
            factor *= 1.0 + f64::from(self.spread.chance_percent) / 100.0 * (sum - 2.0) / DEVIATION_OF_SUM;
        }
        (ns as f64 * factor.max(0.0)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPREAD: TimeSpread = TimeSpread { cell_rows: 3, read_percent: 50, program_percent: 20, chance_percent: 0 };

    #[test]
    fn rows_that_share_cells_differ_about_the_mean() {
        let mut times = ArrayTimes::new(SPREAD, 1);
        assert_eq!([3, 4, 5].map(|row| times.read_ns(60_000, row, false)), [30_000, 60_000, 90_000]);
        assert_eq!([0, 1, 2].map(|row| times.program_ns(1_000, row, false)), [800, 1_000, 1_200]);
        assert_eq!([0, 1, 2].map(|row| times.read_ns(60_000, row, true)), [60_000; 3]);
        let mut single = ArrayTimes::new(TimeSpread { cell_rows: 1, ..SPREAD }, 1);
        assert_eq!([0, 1].map(|row| single.read_ns(60_000, row, false)), [60_000; 2]);
    }

    #[test]
    fn chance_has_the_deviation_that_was_asked_for() {
        let spread = TimeSpread { read_percent: 0, chance_percent: 10, ..SPREAD };
        let mut times = ArrayTimes::new(spread, 7);
        let draws: Vec<f64> = (0..100_000).map(|row| times.read_ns(100_000, row, false) as f64).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean / 100_000.0 - 1.0).abs() < 0.001, "{mean}");
        assert!((variance.sqrt() / 10_000.0 - 1.0).abs() < 0.02, "{}", variance.sqrt());
    }
}
