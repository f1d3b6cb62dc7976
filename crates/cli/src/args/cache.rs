//! The options of a card that is a cache.

use super::values::Bytes;
use clap::Args;
use clap::builder::PossibleValuesParser;

/// Options of a cache in front of another device; each stands for a key of `[cache]`.
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// The card is a cache of this device: disks, a volume or another card; its size is what the host sees
    #[arg(long, value_name = "CARD")]
    pub cache_of: Option<String>,
    /// The way of writes: to the flash first, to both, past the flash, or all past it [default: writeback]
    #[arg(long, value_name = "MODE", requires = "cache_of", value_parser = PossibleValuesParser::new(["writeback", "writethrough", "writearound", "passthrough"]))]
    pub cache_mode: Option<String>,
    /// The choice of the block that leaves [default: lru]
    #[arg(long, value_name = "POLICY", requires = "cache_of", value_parser = PossibleValuesParser::new(["lru", "fifo", "clock", "s3-fifo"]))]
    pub cache_policy: Option<String>,
    /// Bytes of the card that are used, at full size [default: all]
    #[arg(long, value_name = "SIZE", requires = "cache_of")]
    pub cache_size: Option<Bytes>,
}

impl CacheArgs {
    /// The settings that the options stand for, after those of `--set`.
    pub fn after(&self, settings: &[String]) -> Vec<String> {
        let size = self.cache_size.map(|size| size.0.to_string());
        let options = [
            ("of", self.cache_of.as_ref()),
            ("mode", self.cache_mode.as_ref()),
            ("policy", self.cache_policy.as_ref()),
            ("size", size.as_ref()),
        ];
        let given = options.into_iter().filter_map(|(key, value)| Some(format!("cache.{key}={}", value?)));
        settings.iter().cloned().chain(given).collect()
    }
}
