//! A flash card as the cache of a larger device: the settings of its table, and what must hold between the numbers.

use crate::disks;
use crate::error::{Problem, ProfileError};
use crate::settings::Settings;

/// The table of a card's file that says so.
pub(crate) const TABLE: &str = "cache";

/// Dirty share above which writing back begins: bcache's `writeback_percent`.
const DIRTY_SHARE: f64 = 0.10;
/// Dirty share from which writes go to the backing device as well: bcache's `CUTOFF_WRITEBACK_SYNC`.
const DIRTY_LIMIT: f64 = 0.70;
/// Bytes of a stream after which the rest of it passes the cache by: bcache's `sequential_cutoff`.
const SEQUENTIAL_CUTOFF_BYTES: u64 = 4 << 20;
/// Bytes of a block: FlashCache's default, and flash management's unit.
const BLOCK_BYTES: u64 = 4096;
/// Fewest blocks of a cache: policies divide them into queues.
const MIN_BLOCKS: u64 = 16;

/// The way of a write through the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMode {
    /// To the flash, and to the backing device later.
    Writeback,
    /// To both, and complete when both have it.
    Writethrough,
    /// To the backing device, past the flash.
    Writearound,
    /// Everything goes to the backing device.
    Passthrough,
}

/// The choice of the block that leaves a full cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePolicy {
    /// The one whose last use is longest ago.
    Lru,
    /// The one that came first.
    Fifo,
    /// The one that came first and was not used since the hand passed it.
    Clock,
    /// S3-FIFO (Yang and others, SOSP 2023): new blocks stay in a small queue until they are used again.
    S3Fifo,
}

/// The miss that brings a block into the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promotion {
    /// Each miss, also of a block that nobody asks for again.
    First,
    /// The second one while the first is remembered, which is as many blocks as the cache holds.
    Second,
}

/// Settings of a cache, at the scale at which it is modelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheConfig {
    /// The way of writes.
    pub mode: CacheMode,
    /// The choice of the block that leaves.
    pub policy: CachePolicy,
    /// The miss that brings a block in.
    pub promotion: Promotion,
    /// Blocks that fit.
    pub blocks: u32,
    /// Bytes of a block, a multiple of 4 KiB.
    pub block_bytes: u32,
    /// Bytes of a sequential stream after which it passes the cache by; 0: never.
    pub sequential_cutoff_bytes: u64,
    /// Share of dirty blocks above which writing back begins.
    pub dirty_share: f64,
    /// Share of dirty blocks from which writes wait for the backing device.
    pub dirty_limit: f64,
}

/// Settings of a cache at full size, as a file says them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cache {
    /// Name or path of the backing device's profile.
    pub of: String,
    /// Bytes of the card that are used; `None`: all.
    pub size_bytes: Option<u64>,
    /// The rest; `blocks` is 0.
    pub config: CacheConfig,
}

/// Reads the table; `None` where there is none.
pub(crate) fn read(settings: &Settings) -> Result<Option<Cache>, ProfileError> {
    if !settings.has_table(TABLE) {
        return Ok(None);
    }
    let Some(of) = settings.text_if_any(TABLE, "of") else {
        let problem = Problem::MissingBecause { table: TABLE, key: "of", because: "a cache" };
        return Err(settings.wrong_table(TABLE, problem));
    };
    let block_bytes = settings.count_if_any(TABLE, "block").unwrap_or(BLOCK_BYTES);
    if !block_bytes.is_multiple_of(BLOCK_BYTES) {
        let problem = Problem::NotAMultiple { what: "block", bytes: block_bytes, multiple: BLOCK_BYTES };
        return Err(settings.wrong(TABLE, "block", problem));
    }
    let dirty_share = settings.real_if_any(TABLE, "dirty_share").unwrap_or(DIRTY_SHARE);
    let dirty_limit = settings.real_if_any(TABLE, "dirty_limit").unwrap_or(DIRTY_LIMIT.max(dirty_share));
    if dirty_share > dirty_limit {
        let problem = Problem::OutOfOrder { low: "dirty_share", high: "dirty_limit" };
        return Err(settings.wrong(TABLE, "dirty_share", problem));
    }
    let config = CacheConfig {
        mode: match settings.text_if_any(TABLE, "mode") {
            None | Some("writeback") => CacheMode::Writeback,
            Some("writethrough") => CacheMode::Writethrough,
            Some("writearound") => CacheMode::Writearound,
            Some(_) => CacheMode::Passthrough,
        },
        policy: match settings.text_if_any(TABLE, "policy") {
            None | Some("lru") => CachePolicy::Lru,
            Some("fifo") => CachePolicy::Fifo,
            Some("clock") => CachePolicy::Clock,
            Some(_) => CachePolicy::S3Fifo,
        },
        promotion: match settings.text_if_any(TABLE, "promote") {
            Some("second-miss") => Promotion::Second,
            _ => Promotion::First,
        },
        blocks: 0,
        block_bytes: block_bytes as u32,
        sequential_cutoff_bytes: settings.count_if_any(TABLE, "sequential_cutoff").unwrap_or(SEQUENTIAL_CUTOFF_BYTES),
        dirty_share,
        dirty_limit,
    };
    Ok(Some(Cache { of: of.to_owned(), size_bytes: settings.count_if_any(TABLE, "size"), config }))
}

impl Cache {
    /// The cache on a card of which a host sees `card_bytes`, where the whole card has `full_bytes`.
    pub(crate) fn at_scale(
        &self,
        settings: &Settings,
        card_bytes: u64,
        full_bytes: u64,
    ) -> Result<CacheConfig, ProfileError> {
        let block_bytes = u64::from(self.config.block_bytes);
        let asked = self.size_bytes.unwrap_or(full_bytes);
        if asked > full_bytes {
            let problem = Problem::CacheBeyondCard { bytes: asked, card_bytes: full_bytes };
            return Err(settings.wrong(TABLE, "size", problem));
        }
        let bytes = (asked as f64 * (card_bytes as f64 / full_bytes as f64)).round() as u64;
        // A map entry of each block lies on the card too.
        let most = card_bytes.saturating_sub(block_bytes) / (block_bytes + CacheConfig::ENTRY_BYTES);
        let blocks = (bytes / block_bytes).min(most);
        if blocks < MIN_BLOCKS || blocks > u64::from(u32::MAX) / 2 {
            let problem = Problem::CacheBlocks { blocks, least: MIN_BLOCKS };
            return Err(settings.wrong(TABLE, "size", problem));
        }
        Ok(CacheConfig { blocks: blocks as u32, ..self.config })
    }
}

impl CacheConfig {
    /// Bytes that the map needs on the card for each block, as FlashCache's does.
    pub const ENTRY_BYTES: u64 = 16;

    /// Bytes of the blocks.
    pub fn bytes(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.block_bytes)
    }
}

/// Disks at `ratio` of their size, with the caches in front of them: what they hold of the data stays the same share.
pub(crate) fn scaled_disks(full: &disk::ArrayConfig, ratio: f64) -> disk::ArrayConfig {
    let full_bytes = disks::user_bytes(full);
    let wanted = (full_bytes as f64 * ratio).round() as u64;
    let mut array = crate::scale::array_sized(full, wanted.max(1), full_bytes / full.disk.capacity_bytes);
    let share = |bytes: u64| (bytes as f64 * ratio).round() as u64 / device::SECTOR_BYTES * device::SECTOR_BYTES;
    array.controller_cache_bytes = share(full.controller_cache_bytes);
    array.disk.write_cache_bytes = share(full.disk.write_cache_bytes);
    array
}
