//! The regions of a device that a load writes in ways of their own, so that a host can place them apart.

use crate::{BlockSampler, FileioConfig, LoadConfig, LoadError};

impl LoadConfig {
    /// The ends of the parts that a skewed load writes more often and less often, all but the last, in bytes from the start of the
    /// device; empty where all is written alike.
    pub fn ends_of_parts(&self, seed: u64) -> Result<Vec<u64>, LoadError> {
        let LoadConfig::Fileio(config) = self else { return Ok(Vec::new()) };
        if config.mode.is_sequential() {
            return Ok(Vec::new());
        }
        let ends = BlockSampler::new(config.access, config.blocks(), seed)?.ends();
        Ok(ends.into_iter().map(|block| block_bytes(config, block)).collect())
    }

    /// The ends of the regions of all threads but the last, where each has one; else empty.
    pub fn ends_of_threads(&self) -> Vec<u64> {
        let LoadConfig::Fileio(config) = self else { return Vec::new() };
        let region_blocks = config.blocks() / u64::from(config.regions());
        (1..u64::from(config.regions())).map(|region| block_bytes(config, region * region_blocks)).collect()
    }

    /// The end of the first of a database's two files, its data and its log; empty for loads without files.
    pub fn ends_of_files(&self) -> Vec<u64> {
        match self {
            LoadConfig::Fileio(_) => Vec::new(),
            // Its logs come first.
            LoadConfig::Redo(config) => vec![config.data_start_bytes()],
            LoadConfig::Slob(config) => vec![config.start_bytes + config.data_bytes()],
            LoadConfig::Oltp(config) => vec![config.start_bytes + config.db_bytes],
            LoadConfig::Tpcc(config) => vec![config.start_bytes + config.data_bytes()],
            LoadConfig::Replica(config) => vec![config.master.start_bytes + config.master.data_bytes()],
        }
    }
}

/// Where a block of a file begins on the device.
fn block_bytes(config: &FileioConfig, block: u64) -> u64 {
    config.start_bytes + u64::from(config.misalign_bytes) + block * u64::from(config.block_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, FileioMode, SlobConfig};

    #[test]
    fn a_skewed_load_has_an_end_for_each_part_but_the_last() {
        let with = |access| {
            let config = FileioConfig {
                mode: FileioMode::RndWr,
                block_bytes: 4096,
                file_bytes: 4096 * 1000,
                start_bytes: 8192,
                access,
                ..FileioConfig::default()
            };
            LoadConfig::Fileio(config).ends_of_parts(1).unwrap()
        };
        let hot = Access::HotCold { hot_share_of_space: 0.1, share_of_accesses: 0.9 };
        assert_eq!(with(hot), [8192 + 100 * 4096]);
        assert_eq!(with(Access::Jesd219), [8192 + 50 * 4096, 8192 + 200 * 4096]);
        assert_eq!(with(Access::Uniform), [0_u64; 0]);
        assert_eq!(with(Access::Zipf { theta: 0.9 }), [0_u64; 0]);
    }

    #[test]
    fn threads_have_ends_where_they_have_regions_and_databases_have_two_files() {
        let config = FileioConfig {
            mode: FileioMode::SeqRewr,
            threads: 4,
            block_bytes: 4096,
            file_bytes: 4096 * 1002,
            ..FileioConfig::default()
        };
        let own = FileioConfig { own_regions: true, ..config };
        assert_eq!(LoadConfig::Fileio(config).ends_of_threads(), [0_u64; 0]);
        assert_eq!(LoadConfig::Fileio(own).ends_of_threads(), [250, 500, 750].map(|block| block * 4096));
        assert_eq!(LoadConfig::Fileio(own).ends_of_files(), [0_u64; 0]);
        let slob = SlobConfig { start_bytes: 512, ..SlobConfig::default() };
        assert_eq!(LoadConfig::Slob(slob).ends_of_files(), [512 + slob.data_bytes()]);
    }
}
