//! Spread of the blocks' wear.

use ftl::Ftl;
use results::LifetimeSpread;

/// Cycles of all blocks that can still be used, times `factor`.
pub fn spread(ftl: &Ftl, bands: u32, factor: f64) -> LifetimeSpread {
    let blocks = ftl.blocks();
    let dies = ftl.layout().dies;
    let all = (0..bands).flat_map(|band| (0..dies).map(move |die| (band, die)));
    let mut cycles: Vec<u32> = all.filter(|&(b, d)| !blocks.is_bad(b, d)).map(|(b, d)| blocks.cycles(b, d)).collect();
    cycles.sort_unstable();
    let at = |share: f64| -> f64 {
        let place = (cycles.len().saturating_sub(1) as f64 * share).round() as usize;
        cycles.get(place).map_or(0.0, |&cycles| f64::from(cycles) * factor)
    };
    LifetimeSpread { min: at(0.0), p1: at(0.01), mean: blocks.wear_mean() * factor, p99: at(0.99), max: at(1.0) }
}
