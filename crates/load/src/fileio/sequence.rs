//! The positions of the sequential modes: one for all threads, or one for each.
//!
//! ```text
//!   shared    |0 ----------------------------------------> |
//!   own       |0 --------> |1 --------> |2 --------> | rest|      a remainder of less than a block for each thread
//! ```

/// Positions in a file of whole blocks, each going front to back and around in its region.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    region_blocks: u64,
    /// Next block of each region; a single one is shared by all threads.
    positions: Vec<u64>,
}

impl Sequence {
    /// `regions` equally large regions of a file; there are at least as many blocks.
    pub fn new(blocks: u64, regions: u32) -> Sequence {
        let region_blocks = blocks / u64::from(regions);
        assert!(region_blocks > 0, "a region without a block");
        Sequence { region_blocks, positions: (0..u64::from(regions)).map(|region| region * region_blocks).collect() }
    }

    /// The block that a thread asks for next.
    #[inline]
    pub fn next(&mut self, thread: u32) -> u64 {
        let region = if self.positions.len() == 1 { 0 } else { thread as usize };
        let begin = region as u64 * self.region_blocks;
        let position = &mut self.positions[region];
        let block = *position;
        *position = if block + 1 == begin + self.region_blocks { begin } else { block + 1 };
        block
    }
}
