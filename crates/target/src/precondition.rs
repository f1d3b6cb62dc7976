//! Bringing a card to the state that a load will keep it in, without time.
//!
//! The space in use is written front to back, then overwritten in the load's own pattern, round by round, until write
//! amplification is steady. Every write is done exactly once, so the work is linear in the card's size.
//!
//! Uniform writes bring a card into balance while they write its data over about once. Skewed ones take as long as the
//! coldest data do: until these were written over, they lie in the bands of the first fill, apart from hot data, and
//! write amplification is far too low and nearly constant. So the rounds of a skewed pattern are longer, five of them write
//! the coldest blocks over once, and the mean of five must agree with that of the five before.

use crate::error::RunError;
use crate::{Modelled, Progress, SteadyRule, steady_state};
use device::{Device, Rng, SECTOR_BYTES};
use ftl::{Ftl, Lba};
use load::{Access, BlockSampler};
use results::Overwriting;
use std::collections::VecDeque;

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

/// Largest change of the mean write amplification of a window over that of the window before, for skewed patterns.
const MAX_CHANGE: f64 = 0.01;
/// Shares of the data capacity after which a skewed pattern is given up: a cold part that is hardly ever written would
/// take for ever. The result says that balance was not attained.
const MAX_SHARE: f64 = 40.0;

/// Overwriting of a device, over all its cards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preconditioned {
    /// Write amplification of each round.
    pub rounds: Vec<f64>,
    /// Balance with a skewed pattern; of the card that took longest, where there are several.
    pub overwriting: Option<Overwriting>,
}

/// Fills and overwrites.
pub fn precondition(
    device: &mut Modelled,
    fill_bytes: u64,
    pattern: Pattern,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Preconditioned, RunError> {
    let mut done = Preconditioned::default();
    match device {
        Modelled::Disks(_) | Modelled::Volume(_) => {}
        Modelled::Cached(cached) => {
            // The load itself overwrites the flash when the cache is warmed; before, it is full.
            let used_bytes = cached.config().bytes();
            done = precondition(cached.front_mut(), used_bytes, Pattern::None, seed, progress)?;
            precondition(cached.back_mut(), fill_bytes, pattern, seed, progress)?;
        }
        Modelled::Zoned(zoned) => {
            if matches!(pattern, Pattern::Random { .. }) {
                return Err(RunError::ZonesInOrder);
            }
            // A zone that is written over is as one that was written once.
            zoned.fill_now(fill_bytes, progress)?;
        }
        Modelled::Card(card) => {
            let sectors = (fill_bytes / SECTOR_BYTES).min(card.capacity_bytes() / SECTOR_BYTES);
            done = precondition_ftl(card.ftl_mut(), sectors, pattern, seed, progress)?;
        }
        Modelled::Mirrored(mirrored) => {
            let sectors = fill_bytes.min(mirrored.capacity_bytes()) / SECTOR_BYTES;
            // Each card gets the same writes, in the same order.
            for card in mirrored.cards_mut() {
                let of_card = precondition_ftl(card.ftl_mut(), sectors, pattern, seed, progress)?;
                done.rounds = of_card.rounds;
                done.overwriting = slower(done.overwriting, of_card.overwriting);
            }
        }
        Modelled::Raid5(raid) => {
            let bytes = |raid: &crate::Raid5<card::ModelCard>, host_bytes| raid.card_bytes(host_bytes);
            let sectors = bytes(raid, fill_bytes.min(raid.capacity_bytes())) / SECTOR_BYTES;
            // Each card gets its share of data and parity, which goes where the data of its rows go.
            let pattern = match pattern {
                Pattern::Random { block_bytes, access, footprint_bytes } => {
                    Pattern::Random { block_bytes, access, footprint_bytes: bytes(raid, footprint_bytes) }
                }
                other => other,
            };
            let spare = raid.spare();
            for (i, card) in raid.cards_mut().iter_mut().enumerate() {
                if Some(i) == spare {
                    // Its data are not there yet.
                    continue;
                }
                let of_card =
                    precondition_ftl(card.ftl_mut(), sectors, pattern, seed.wrapping_add(i as u64), progress)?;
                done.rounds = of_card.rounds;
                done.overwriting = slower(done.overwriting, of_card.overwriting);
            }
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
                let of_card =
                    precondition_ftl(card.ftl_mut(), sectors, pattern, seed.wrapping_add(i as u64), progress)?;
                done.rounds = of_card.rounds;
                done.overwriting = slower(done.overwriting, of_card.overwriting);
            }
        }
    }
    Ok(done)
}

/// Returns the one that is not in balance, or changed by more.
fn slower(one: Option<Overwriting>, other: Option<Overwriting>) -> Option<Overwriting> {
    let rank = |o: &Overwriting| (!o.attained, o.change);
    one.into_iter().chain(other).max_by(|a, b| rank(a).partial_cmp(&rank(b)).expect("changes are numbers"))
}

fn precondition_ftl(
    ftl: &mut Ftl,
    fill_sectors: u64,
    pattern: Pattern,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Preconditioned, RunError> {
    let mut done = Preconditioned::default();
    progress.begin("fill", fill_sectors);
    for sector in 0..fill_sectors {
        ftl.write_now(Lba(sector as u32))?;
        note(progress, sector)?;
    }
    if fill_sectors > 0 && pattern != Pattern::None {
        let mut writer = Writer::new(pattern, fill_sectors, seed)?;
        // The sectors of the host that fill the card, however small they are stored.
        let data_sectors = ftl.usable_data_sectors() as f64 / ftl.mean_size();
        let plan = Plan::of(&writer, data_sectors);
        progress.begin("overwrite until steady", plan.least_sectors + plan.round_sectors);
        let mut written = 0;
        loop {
            let before = ftl.counters();
            let mut in_round = 0;
            while in_round < plan.round_sectors {
                in_round += writer.write_block(ftl)?;
                note(progress, written + in_round)?;
            }
            written += in_round;
            done.rounds.push(ftl.counters().since(&before).waf());
            let steady = steady_state(&done.rounds, &SteadyRule::SNIA).attained;
            done.overwriting = plan.balance(&done.rounds);
            let attained = steady && done.overwriting.is_none_or(|balance| balance.attained);
            if fill_sectors + written >= plan.least_sectors && (attained || done.rounds.len() >= plan.max_rounds) {
                break;
            }
        }
    }
    // Nothing stays half open: what the timed run begins with is on flash.
    ftl.settle_now();
    Ok(done)
}

/// Length of the rounds, and their number.
struct Plan {
    round_sectors: u64,
    /// Sectors that are written at least, the fill included.
    least_sectors: u64,
    max_rounds: usize,
    /// Sectors that a skewed pattern writes over, and how many times until its coldest blocks were written once.
    skew: Option<(u64, f64)>,
}

impl Plan {
    fn of(writer: &Writer, data_sectors: f64) -> Plan {
        let window = SteadyRule::SNIA.window;
        let plain = Plan {
            round_sectors: (data_sectors * ROUND_SHARE).ceil() as u64,
            least_sectors: (data_sectors * MIN_SHARE) as u64,
            max_rounds: SteadyRule::SNIA.max_rounds,
            skew: None,
        };
        let (footprint, turnover) = writer.footprint_and_turnover();
        if turnover <= 1.0 {
            return plain;
        }
        let most = data_sectors * MAX_SHARE;
        // However cold the coldest blocks are, two windows fit.
        let turnover_sectors = (footprint as f64 * turnover).min(most / 2.0);
        let round_sectors = ((turnover_sectors / window as f64).ceil() as u64).max(plain.round_sectors);
        Plan {
            round_sectors,
            least_sectors: plain.least_sectors.max(2 * window as u64 * round_sectors),
            max_rounds: (most / round_sectors as f64).ceil() as usize,
            skew: Some((footprint, turnover)),
        }
    }

    /// Compares the last window of a skewed pattern with the one before.
    fn balance(&self, rounds: &[f64]) -> Option<Overwriting> {
        let (footprint, turnover) = self.skew?;
        let window = SteadyRule::SNIA.window;
        let times = |rounds: usize| (rounds as u64 * self.round_sectors) as f64 / footprint as f64;
        let coldest_times = times(rounds.len().min(window)) / turnover;
        let mean = |rounds: &[f64]| rounds.iter().sum::<f64>() / rounds.len() as f64;
        let change = if rounds.len() < 2 * window {
            1.0
        } else {
            let (before, last) = rounds[rounds.len() - 2 * window..].split_at(window);
            (mean(last) - mean(before)).abs() / mean(last)
        };
        // A round is a whole number of sectors: the window may be one in a million short.
        let attained = coldest_times > 0.999 && change <= MAX_CHANGE;
        Some(Overwriting { times: times(rounds.len()), coldest_times, change, attained })
    }
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

/// Blocks that are drawn ahead of the one that is written. The memory that random writes touch is in no cache: it is fetched
/// while others are written, first the map's entries and then what these point to.
const AHEAD: usize = 16;

/// Writes blocks in a load's pattern.
enum Writer {
    Sequential { next: u64, sectors: u64 },
    Random { sampler: BlockSampler, turnover: f64, block_sectors: u64, rng: Rng, ahead: VecDeque<u64> },
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
                    turnover: access.turnover(blocks),
                    block_sectors: block_sectors.min(footprint.max(1)),
                    rng: Rng::stream(seed, "precondition"),
                    ahead: VecDeque::with_capacity(AHEAD + 1),
                }
            }
            _ => Writer::Sequential { next: 0, sectors: fill_sectors },
        })
    }

    /// Returns the sectors that are written over, and how many times until the coldest were written once.
    fn footprint_and_turnover(&self) -> (u64, f64) {
        match self {
            Writer::Sequential { sectors, .. } => (*sectors, 1.0),
            Writer::Random { sampler, turnover, block_sectors, .. } => (sampler.blocks() * block_sectors, *turnover),
        }
    }

    /// Writes one block; returns its sectors.
    fn write_block(&mut self, ftl: &mut Ftl) -> Result<u64, RunError> {
        match self {
            Writer::Sequential { next, sectors } => {
                ftl.write_now(Lba(*next as u32))?;
                *next = if *next + 1 == *sectors { 0 } else { *next + 1 };
                Ok(1)
            }
            Writer::Random { sampler, block_sectors, rng, ahead, .. } => {
                while ahead.len() <= AHEAD {
                    let first = sampler.draw(rng) * *block_sectors;
                    ftl.prefetch(Lba(first as u32));
                    ahead.push_back(first);
                }
                ftl.prefetch_overwrite(Lba(ahead[AHEAD / 2] as u32));
                let first = ahead.pop_front().expect("it was filled");
                ftl.write_block_now(first..first + *block_sectors)?;
                Ok(*block_sectors)
            }
        }
    }
}
