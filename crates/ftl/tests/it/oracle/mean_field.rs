//! Greedy collection under hot and cold overwrites: the mean-field limit, many erase blocks of `b` pages each.
//!
//! A block is what it holds: `i` valid hot pages and `j` valid cold ones. The shares of blocks in each state (i, j) are
//! stepped forward in time until write amplification no longer changes; a step collects a small share of all blocks,
//! those with the fewest valid pages first (B. Van Houdt, "Performance of garbage collection algorithms for flash-based
//! solid state drives with hot/cold data", Performance Evaluation 70, 2013).
//!
//! Relocated pages and the host's next ones fill the same block. With a block for each of the two the limit has no such
//! simple state: a block of relocated pages holds those of a few victims, and which ones decides how cold it is.

use super::HotCold;

/// Share of all blocks that a step collects.
const STEP: f64 = 5e-4;

struct Blocks {
    pages: usize,
    /// Share of the blocks with `i` hot and `j` cold valid pages, at `i * (pages + 1) + j`.
    share: Vec<f64>,
    /// Binomial coefficients: `choose[n][k]`.
    choose: Vec<Vec<f64>>,
}

/// Write amplification of greedy collection; `u` is the used share of the blocks.
pub fn greedy_hot_cold(u: f64, pages: usize, traffic: HotCold) -> f64 {
    let mut blocks = Blocks::full_of_used_share(u, pages, traffic.hot_share);
    // In units of the capacity: until the cold pages were written over ten times.
    let end = 10.0 * u * (1.0 - traffic.hot_share) / (1.0 - traffic.hot_rate);
    let mut written = 0.0;
    let (mut host, mut programmed) = (0.0, 0.0);
    while written < end {
        let of_host = blocks.step(traffic);
        written += of_host / pages as f64;
        // The last tenth is what is asked for.
        if written > 0.9 * end {
            host += of_host;
            programmed += STEP * pages as f64;
        }
    }
    programmed / host
}

impl Blocks {
    /// Full blocks and empty ones, as sequential writes leave them; hot and cold pages are mixed.
    fn full_of_used_share(u: f64, pages: usize, hot_share: f64) -> Blocks {
        let mut choose = vec![vec![1.0]];
        for n in 1..=pages {
            let above = &choose[n - 1];
            let row = (0..=n).map(|k| above.get(k).unwrap_or(&0.0) + if k > 0 { above[k - 1] } else { 0.0 }).collect();
            choose.push(row);
        }
        let mut blocks = Blocks { pages, share: vec![0.0; (pages + 1) * (pages + 1)], choose };
        blocks.add(u, 0, 0, hot_share);
        blocks.share[0] += 1.0 - u;
        blocks
    }

    /// Adds blocks with `i` hot and `j` cold pages, whose other pages are hot by chance.
    fn add(&mut self, share: f64, i: usize, j: usize, hot: f64) {
        let rest = self.pages - i - j;
        for k in 0..=rest {
            let chance = self.choose[rest][k] * hot.powi(k as i32) * (1.0 - hot).powi((rest - k) as i32);
            self.share[(i + k) * (self.pages + 1) + j + rest - k] += share * chance;
        }
    }

    /// Collects a few blocks and writes as many; returns the host's pages for each block of the device.
    fn step(&mut self, traffic: HotCold) -> f64 {
        let width = self.pages + 1;
        let mut victims = Vec::new();
        let mut left = STEP;
        for level in 0..=self.pages {
            let at_level: f64 = (0..=level).map(|i| self.share[i * width + level - i]).sum();
            let part = if at_level > left { left / at_level } else { 1.0 };
            for i in 0..=level {
                let share = &mut self.share[i * width + level - i];
                if *share > 0.0 {
                    victims.push((*share * part, i, level - i));
                    *share -= *share * part;
                }
            }
            left -= at_level * part;
            if left <= 0.0 {
                break;
            }
        }
        let valid: f64 = victims.iter().map(|&(share, i, j)| share * (i + j) as f64).sum();
        let host = STEP * self.pages as f64 - valid;
        // A victim's valid pages stay together, and the host's fill up their block.
        victims.iter().for_each(|&(share, i, j)| self.add(share, i, j, traffic.hot_rate));
        self.overwrite(host, traffic);
        host
    }

    /// Takes as many valid pages away as the host has written.
    fn overwrite(&mut self, host: f64, traffic: HotCold) {
        let width = self.pages + 1;
        let (mut hot, mut cold) = (0.0, 0.0);
        for (at, share) in self.share.iter().enumerate() {
            hot += share * (at / width) as f64;
            cold += share * (at % width) as f64;
        }
        let (of_hot, of_cold) = (host * traffic.hot_rate / hot, host * (1.0 - traffic.hot_rate) / cold);
        // From few pages to many, so that nothing moves twice.
        for i in 0..width {
            for j in 0..width - i {
                let at = i * width + j;
                let (lost_hot, lost_cold) = (self.share[at] * i as f64 * of_hot, self.share[at] * j as f64 * of_cold);
                if i > 0 {
                    self.share[at - width] += lost_hot;
                }
                if j > 0 {
                    self.share[at - 1] += lost_cold;
                }
                self.share[at] -= lost_hot + lost_cold;
            }
        }
    }
}
