//! Distribution of the blocks that a load asks for: uniform, Zipf, or hot and cold.
//!
//! [`Access`] is the pattern as people write it; [`BlockSampler`] draws blocks of a space of a given size by it.
//! Processes share a sampler, so that what is hot for one is hot for all, and bring their own random streams.

use crate::error::real_in_range;
use crate::{LoadError, Scramble, Zipf};
use device::Rng;
use std::fmt;
use std::str::FromStr;

/// A pattern of random access.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Access {
    /// Every block is as likely as any other.
    #[default]
    Uniform,
    /// The block of rank k (from 1) is drawn with probability proportional to `k^-theta`; ranks are spread over
    /// the space.
    Zipf {
        /// Skew; YCSB's habit is 0.99.
        theta: f64,
    },
    /// A part of the space gets more than its share. The hot part is one range at the start of the space.
    HotCold {
        /// Share of the space that is hot.
        hot_share_of_space: f64,
        /// Share of the accesses that go there.
        share_of_accesses: f64,
    },
    /// The places of JEDEC's enterprise workload, by which drives' endurance is rated: half of the accesses go to the
    /// first twentieth of the space, 30 % to the next 15 %, the others to the rest.
    Jesd219,
}

/// The zones of [`Access::Jesd219`]: shares of the space and of the accesses.
const JESD219: [(f64, f64); 3] = [(0.05, 0.5), (0.15, 0.3), (0.8, 0.2)];

impl Access {
    /// The forms in which a pattern is written.
    pub const SYNTAX: &'static str = "`uniform`, `zipf:THETA` (as `zipf:0.99`), `hot-cold:SPACE/ACCESSES` in percent (as `hot-cold:20/80`) or `jesd219`";

    /// Returns how many times the space is written over until the blocks written least often were each written once, on
    /// average: the hot or the cold part, or the last tenth of Zipf's ranks. A part that is never written does not count.
    pub fn turnover(&self, blocks: u64) -> f64 {
        match *self {
            Access::Uniform => 1.0,
            Access::Zipf { theta } => Zipf::new(blocks, theta).turnover_of_last_tenth(),
            Access::HotCold { hot_share_of_space: hot, share_of_accesses: accesses } => {
                [(hot, accesses), (1.0 - hot, 1.0 - accesses)]
                    .iter()
                    .filter(|(space, accesses)| *space > 0.0 && *accesses > 0.0)
                    .map(|(space, accesses)| space / accesses)
                    .fold(1.0, f64::max)
            }
            Access::Jesd219 => JESD219.iter().map(|(space, accesses)| space / accesses).fold(1.0, f64::max),
        }
    }

    /// Checks that the numbers make sense.
    pub fn validate(&self) -> Result<(), LoadError> {
        match *self {
            Access::Uniform | Access::Jesd219 => Ok(()),
            Access::Zipf { theta } => real_in_range("access zipf theta", theta, 0.001, 5.0),
            Access::HotCold { hot_share_of_space, share_of_accesses } => {
                real_in_range("access hot_share_of_space", hot_share_of_space, 1e-9, 1.0)?;
                real_in_range("access share_of_accesses", share_of_accesses, 0.0, 1.0)
            }
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 0.07 * 100 is not 7: round to what anyone would write.
        let percent = |share: f64| (share * 1e9).round() / 1e7;
        match *self {
            Access::Uniform => write!(f, "uniform"),
            Access::Jesd219 => write!(f, "jesd219"),
            Access::Zipf { theta } => write!(f, "zipf:{theta}"),
            Access::HotCold { hot_share_of_space, share_of_accesses } => {
                write!(f, "hot-cold:{}/{}", percent(hot_share_of_space), percent(share_of_accesses))
            }
        }
    }
}

impl FromStr for Access {
    type Err = LoadError;

    fn from_str(text: &str) -> Result<Access, LoadError> {
        let unknown = || LoadError::UnknownAccess { given: text.into(), syntax: Access::SYNTAX };
        let number = |text: &str| text.parse::<f64>().map_err(|_| unknown());
        let access = match text.split_once(':') {
            None if text == "uniform" => Access::Uniform,
            None if text == "jesd219" => Access::Jesd219,
            Some(("zipf", theta)) => Access::Zipf { theta: number(theta)? },
            Some(("hot-cold", shares)) => {
                let (space, accesses) = shares.split_once('/').ok_or_else(unknown)?;
                Access::HotCold {
                    hot_share_of_space: number(space)? / 100.0,
                    share_of_accesses: number(accesses)? / 100.0,
                }
            }
            _ => return Err(unknown()),
        };
        access.validate()?;
        Ok(access)
    }
}

/// Draws blocks `0..blocks` by a pattern.
#[derive(Clone, Copy, Debug)]
pub struct BlockSampler {
    blocks: u64,
    pattern: Pattern,
}

#[derive(Clone, Copy, Debug)]
enum Pattern {
    Uniform,
    Zipf {
        zipf: Zipf,
        scramble: Scramble,
    },
    HotCold {
        hot_blocks: u64,
        hot_below: u64,
    },
    /// Ends of the first two zones, in blocks and in draws.
    Jesd219 {
        blocks: [u64; 2],
        below: [u64; 2],
    },
}

impl BlockSampler {
    /// A sampler over `blocks` blocks, at least 1. `seed` decides where hot blocks lie.
    pub fn new(access: Access, blocks: u64, seed: u64) -> Result<BlockSampler, LoadError> {
        access.validate()?;
        assert!(blocks >= 1, "a sampler over no blocks");
        let pattern = match access {
            Access::Uniform => Pattern::Uniform,
            Access::Zipf { theta } => Pattern::Zipf {
                zipf: Zipf::new(blocks, theta),
                scramble: Scramble::new(blocks, &mut Rng::stream(seed, "access scramble")),
            },
            Access::HotCold { hot_share_of_space, share_of_accesses } => Pattern::HotCold {
                hot_blocks: ((blocks as f64 * hot_share_of_space).round() as u64).clamp(1, blocks),
                // The cast saturates: a share of 1 leaves one draw in 2^64 to the cold part.
                hot_below: (share_of_accesses * 2f64.powi(64)) as u64,
            },
            // A zone of a block at least, and none past the space.
            Access::Jesd219 if blocks >= JESD219.len() as u64 => {
                let [(first, often), (second, less_often), _] = JESD219;
                let end = |share: f64| (blocks as f64 * share).round() as u64;
                let first_end = end(first).max(1);
                let below = [often, often + less_often].map(|share| (share * 2f64.powi(64)) as u64);
                let second_end = end(first + second).clamp(first_end + 1, blocks - 1);
                Pattern::Jesd219 { blocks: [first_end, second_end], below }
            }
            Access::Jesd219 => Pattern::Uniform,
        };
        Ok(BlockSampler { blocks, pattern })
    }

    /// Draws a block.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        match &self.pattern {
            Pattern::Uniform => rng.below(self.blocks),
            Pattern::Zipf { zipf, scramble } => scramble.map(zipf.draw(rng)),
            Pattern::HotCold { hot_blocks, hot_below } => {
                if rng.bits() < *hot_below || *hot_blocks == self.blocks {
                    rng.below(*hot_blocks)
                } else {
                    hot_blocks + rng.below(self.blocks - hot_blocks)
                }
            }
            Pattern::Jesd219 { blocks: [first, second], below: [often, less_often] } => {
                let drawn = rng.bits();
                if drawn < *often {
                    rng.below(*first)
                } else if drawn < *less_often {
                    first + rng.below(second - first)
                } else {
                    second + rng.below(self.blocks - second)
                }
            }
        }
    }

    /// The ends of the parts that are drawn more often and less often, all but the last; none where they are not ranges.
    pub fn ends(&self) -> Vec<u64> {
        match self.pattern {
            Pattern::Uniform | Pattern::Zipf { .. } => Vec::new(),
            Pattern::HotCold { hot_blocks, .. } => vec![hot_blocks],
            Pattern::Jesd219 { blocks, .. } => blocks.to_vec(),
        }
    }

    /// Blocks of the space.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_pattern_are_the_same_thing() {
        for text in
            ["uniform", "zipf:0.99", "zipf:1", "hot-cold:20/80", "hot-cold:7/93", "hot-cold:0.1/99.9", "jesd219"]
        {
            assert_eq!(text.parse::<Access>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn wrong_text_is_refused_with_what_is_allowed() {
        for text in
            ["", "zipf", "zipf:", "zipf:x", "hot-cold:20", "hot-cold:20/", "uniform:1", "zipfian:0.9", "jesd219:1"]
        {
            let error = text.parse::<Access>().unwrap_err();
            assert_eq!(error, LoadError::UnknownAccess { given: text.into(), syntax: Access::SYNTAX });
            assert!(error.to_string().contains("hot-cold:20/80"), "{error}");
        }
        for text in ["zipf:-1", "zipf:NaN", "zipf:6", "hot-cold:0/80", "hot-cold:20/101", "hot-cold:120/80"] {
            assert!(matches!(text.parse::<Access>(), Err(LoadError::RealOutOfRange { .. })), "{text}");
        }
    }

    #[test]
    fn the_coldest_part_turns_over_as_its_share_of_writes_says() {
        let turnover = |text: &str| text.parse::<Access>().unwrap().turnover(100_000);
        for (text, expected) in [("uniform", 1.0), ("hot-cold:20/80", 4.0), ("hot-cold:10/90", 9.0), ("jesd219", 4.0)] {
            assert!((turnover(text) - expected).abs() < 1e-9, "{text}: {}", turnover(text));
        }
        // A cold hot part, a part that is never written, and no skew at all.
        for (text, expected) in [("hot-cold:50/10", 5.0), ("hot-cold:20/100", 1.0), ("hot-cold:30/30", 1.0)] {
            assert!((turnover(text) - expected).abs() < 1e-9, "{text}: {}", turnover(text));
        }
    }

    #[test]
    fn the_last_tenth_of_ranks_turns_over_as_its_weights_say() {
        for theta in [0.5, 0.99, 1.0, 1.5] {
            let weight = |k: u64| (k as f64).powf(-theta);
            let sum = |from: u64, to: u64| (from..=to).map(weight).sum::<f64>();
            let expected = 0.1 / (sum(9_001, 10_000) / sum(1, 10_000));
            let got = Access::Zipf { theta }.turnover(10_000);
            assert!((got / expected - 1.0).abs() < 0.03, "theta {theta}: {got}, {expected}");
        }
    }

    #[test]
    fn the_hot_part_gets_its_share() {
        let sampler = BlockSampler::new("hot-cold:20/80".parse().unwrap(), 1_000, 1).unwrap();
        let mut rng = Rng::stream(1, "x");
        let draws = 200_000;
        let hot = (0..draws).filter(|_| sampler.draw(&mut rng) < 200).count() as f64 / f64::from(draws);
        assert!((hot - 0.8).abs() < 0.005, "{hot}");
    }

    #[test]
    fn each_zone_of_jesd219_gets_its_share() {
        let sampler = BlockSampler::new(Access::Jesd219, 1_000, 1).unwrap();
        let mut rng = Rng::stream(1, "x");
        let drawn: Vec<u64> = (0..200_000).map(|_| sampler.draw(&mut rng)).collect();
        for (zone, expected) in [(0..50, 0.5), (50..200, 0.3), (200..1_000, 0.2)] {
            let share = drawn.iter().filter(|&block| zone.contains(block)).count() as f64 / drawn.len() as f64;
            assert!((share - expected).abs() < 0.005, "{zone:?}: {share}");
        }
    }

    #[test]
    fn every_pattern_stays_in_its_space_and_covers_it() {
        for text in ["uniform", "zipf:0.5", "hot-cold:20/80", "hot-cold:100/50", "hot-cold:50/100", "jesd219"] {
            for blocks in [1u64, 2, 3, 100] {
                let sampler = BlockSampler::new(text.parse().unwrap(), blocks, 1).unwrap();
                let mut rng = Rng::stream(blocks, text);
                let mut seen = vec![false; blocks as usize];
                (0..20_000).for_each(|_| seen[sampler.draw(&mut rng) as usize] = true);
                let covered = seen.iter().filter(|&&s| s).count() as u64;
                let all = if text == "hot-cold:50/100" { blocks.div_ceil(2) } else { blocks };
                assert_eq!(covered, all, "{text} over {blocks}");
            }
        }
    }

    #[test]
    fn zipf_sends_the_theoretical_share_to_the_hottest_blocks() {
        let (blocks, theta) = (10_000u64, 0.99);
        let sampler = BlockSampler::new(Access::Zipf { theta }, blocks, 1).unwrap();
        let mut rng = Rng::stream(1, "x");
        let mut counts = vec![0u64; blocks as usize];
        let draws = 1_000_000u64;
        (0..draws).for_each(|_| counts[sampler.draw(&mut rng) as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let weight = |ranks: u64| (1..=ranks).map(|k| (k as f64).powf(-theta)).sum::<f64>();
        let measured = counts[..100].iter().sum::<u64>() as f64 / draws as f64;
        assert!((measured - weight(100) / weight(blocks)).abs() < 0.005, "{measured}");
    }
}
