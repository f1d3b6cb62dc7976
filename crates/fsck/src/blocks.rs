//! Blocks: their wear, and the bad ones.

use crate::examined::OnMedia;
use media::{BlockAt, Media};
use serde::Serialize;

/// The blocks of the modules that are there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Blocks {
    /// The number of blocks that could be asked.
    pub asked: u64,
    /// The number of blocks that are marked bad.
    pub bad: u64,
    /// The first [`Blocks::MAX_NAMED`] bad blocks: slot, die, block.
    pub bad_at: Vec<(u32, u32, u32)>,
    /// The erases of blocks that are not bad.
    pub cycles: Wear,
}

/// The numbers of erases of a set of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Wear {
    /// The erases of the least worn block.
    pub least: u32,
    /// The erases of the most worn block.
    pub most: u32,
    /// The average number of erases of a block.
    pub mean: f64,
}

impl Blocks {
    /// The highest number of bad blocks that are named.
    pub const MAX_NAMED: usize = 1_000;

    pub(crate) fn of<M: Media>(media: &M, on: &OnMedia) -> Blocks {
        let shape = on.header().shape;
        let mut blocks = Blocks { cycles: Wear { least: u32::MAX, ..Wear::default() }, ..Blocks::default() };
        let mut sum = 0u64;
        for module in on.assembly.members.iter().filter_map(|member| member.slot) {
            for die in 0..shape.dies_per_module {
                for block in 0..shape.blocks_per_die {
                    let at = BlockAt { module, die, block };
                    blocks.asked += 1;
                    if media.is_bad(at) {
                        blocks.bad += 1;
                        if blocks.bad_at.len() < Blocks::MAX_NAMED {
                            blocks.bad_at.push((module, die, block));
                        }
                        continue;
                    }
                    let cycles = media.cycles(at);
                    sum += u64::from(cycles);
                    let wear = &mut blocks.cycles;
                    (wear.least, wear.most) = (wear.least.min(cycles), wear.most.max(cycles));
                }
            }
        }
        match blocks.asked - blocks.bad {
            0 => blocks.cycles = Wear::default(),
            good => blocks.cycles.mean = sum as f64 / good as f64,
        }
        blocks
    }
}
