//! Bringing a card to the state that a load will keep it in, without time.
//!
//! The space in use is written front to back, then overwritten in the load's own pattern, round by round, until write
//! amplification is steady. Every write is done exactly once, so the work is linear in the card's size.

use crate::error::RunError;
use crate::{Modelled, Progress, SteadyRule, steady_state};
use device::{Device, Rng, SECTOR_BYTES};
use ftl::{Ftl, Lba};
use load::{Access, BlockSampler};

/// Pattern of a load's writes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Pattern {
    /// It doesn't: filling is enough.
    None,
    /// Front to back, again and again.
    Sequential,
    /// Blocks at random.
    Random {
        /// Bytes of a block.
        block_bytes: u64,
        access: Access,
        /// Bytes from the start of the device that are written over.
        footprint_bytes: u64,
    },
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Pattern::None => f.write_str("not overwritten"),
            Pattern::Sequential => f.write_str("sequential"),
            Pattern::Random { block_bytes, access, .. } if *access == Access::Uniform => {
                write!(f, "random {} KiB", block_bytes / 1024)
            }
            Pattern::Random { block_bytes, access, .. } => write!(f, "random {} KiB, {access}", block_bytes / 1024),
        }
    }
}

/// Share of the card's data capacity that one round writes.
const ROUND_SHARE: f64 = 0.25;
/// Shares of the data capacity that are written at least before steady state may be declared: free space must be used
/// up, and bands of the first, sequential fill must have been cleaned.
const MIN_SHARE: f64 = 2.0;

/// Fills and overwrites; returns the write amplification of each round of overwriting, over all cards.
pub fn precondition(
    device: &mut Modelled,
    fill_bytes: u64,
    pattern: Pattern,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<f64>, RunError> {
    let mut rounds = Vec::new();
    match device {
        Modelled::Disks(_) => {}
        Modelled::Card(card) => {
            let sectors = (fill_bytes / SECTOR_BYTES).min(card.capacity_bytes() / SECTOR_BYTES);
            rounds = precondition_ftl(card.ftl_mut(), sectors, pattern, seed, progress)?;
        }
        Modelled::Striped(striped) => {
            for i in 0..striped.cards().len() {
                let sectors = striped.card_offset(i as u64, fill_bytes) / SECTOR_BYTES;
                // A piece of a striped footprint is its share on this card; blocks larger than the stripe are split.
                let pattern = match pattern {
                    Pattern::Random { block_bytes, access, footprint_bytes } => Pattern::Random {
                        block_bytes,
                        access,
                        footprint_bytes: striped.card_offset(i as u64, footprint_bytes),
                    },
                    other => other,
                };
                let card = &mut striped.cards_mut()[i];
                rounds = precondition_ftl(card.ftl_mut(), sectors, pattern, seed.wrapping_add(i as u64), progress)?;
            }
        }
    }
    Ok(rounds)
}

fn precondition_ftl(
    ftl: &mut Ftl,
    fill_sectors: u64,
    pattern: Pattern,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<f64>, RunError> {
    let mut rounds = Vec::new();
    progress.begin("fill", fill_sectors);
    for sector in 0..fill_sectors {
        ftl.write_now(Lba(sector as u32))?;
        note(progress, sector)?;
    }
    if fill_sectors > 0 && pattern != Pattern::None {
        let mut writer = Writer::new(pattern, fill_sectors, seed)?;
        let data_sectors = ftl.user_sectors() as f64 / (1.0 - ftl.effective_spare_factor());
        let round_sectors = (data_sectors * ROUND_SHARE).ceil() as u64;
        let least = (data_sectors * MIN_SHARE) as u64;
        progress.begin("overwrite until steady", least + round_sectors);
        let mut written = 0;
        loop {
            let before = ftl.counters();
            let mut in_round = 0;
            while in_round < round_sectors {
                in_round += writer.write_block(ftl)?;
                note(progress, written + in_round)?;
            }
            written += in_round;
            rounds.push(ftl.counters().since(&before).waf());
            let steady = steady_state(&rounds, &SteadyRule::SNIA);
            if fill_sectors + written >= least && (steady.attained || rounds.len() >= SteadyRule::SNIA.max_rounds) {
                break;
            }
        }
    }
    // Nothing stays half open: what the timed run begins with is on flash.
    ftl.settle_now();
    Ok(rounds)
}

fn note(progress: &dyn Progress, done: u64) -> Result<(), RunError> {
    if done.is_multiple_of(65_536) {
        progress.at(done);
        if progress.cancelled() {
            return Err(RunError::Cancelled);
        }
    }
    Ok(())
}

/// Writes blocks in a load's pattern.
enum Writer {
    Sequential { next: u64, sectors: u64 },
    Random { sampler: BlockSampler, block_sectors: u64, rng: Rng },
}

impl Writer {
    fn new(pattern: Pattern, fill_sectors: u64, seed: u64) -> Result<Writer, RunError> {
        Ok(match pattern {
            Pattern::Random { block_bytes, access, footprint_bytes } => {
                let block_sectors = block_bytes.div_ceil(SECTOR_BYTES);
                let footprint = (footprint_bytes / SECTOR_BYTES).min(fill_sectors);
                let blocks = (footprint / block_sectors).max(1);
                // Not the load's own stream of draws: the timed run must not repeat these writes.
                Writer::Random {
                    sampler: BlockSampler::new(access, blocks, seed)?,
                    block_sectors: block_sectors.min(footprint.max(1)),
                    rng: Rng::stream(seed, "precondition"),
                }
            }
            _ => Writer::Sequential { next: 0, sectors: fill_sectors },
        })
    }

    /// Writes one block; returns its sectors.
    fn write_block(&mut self, ftl: &mut Ftl) -> Result<u64, RunError> {
        match self {
            Writer::Sequential { next, sectors } => {
                ftl.write_now(Lba(*next as u32))?;
                *next = if *next + 1 == *sectors { 0 } else { *next + 1 };
                Ok(1)
            }
            Writer::Random { sampler, block_sectors, rng } => {
                let first = sampler.draw(rng) * *block_sectors;
                for sector in first..first + *block_sectors {
                    ftl.write_now(Lba(sector as u32))?;
                }
                Ok(*block_sectors)
            }
        }
    }
}
