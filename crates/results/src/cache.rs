//! Figures of a cache in front of another device.

use crate::LatencySummary;
use serde::{Deserialize, Serialize};

/// Activity of a cache in the measured time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheReport {
    /// Way of writes: writeback, writethrough, writearound or passthrough.
    pub mode: String,
    /// Choice of the block that leaves: lru, fifo, clock or s3-fifo.
    pub policy: String,
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Blocks that fit, at the scale of the model.
    pub blocks: u64,
    /// Blocks that were in use at the end.
    pub used_blocks: u64,
    /// Reads and writes that found all of their blocks on the flash.
    pub hits: u64,
    /// Reads and writes that did not.
    pub misses: u64,
    /// Hits over both.
    pub hit_rate: f64,
    /// Blocks found over blocks asked for.
    pub block_hit_rate: f64,
    /// Requests of long sequential streams, which bring nothing in.
    pub passed_by: u64,
    /// Reads that waited for the fetch of another one.
    pub delayed: u64,
    /// Blocks that came in.
    pub promoted: u64,
    /// Blocks that left for others.
    pub evicted: u64,
    /// Dirty blocks over all, at the end.
    pub dirty_share: f64,
    /// Blocks that were written back.
    pub written_back: u64,
    /// Requests in which they were.
    pub write_backs: u64,
    /// Bytes written back a second.
    pub write_back_bw_bytes: f64,
    /// Bytes that the cache wrote to the flash: data and map.
    pub flash_bytes: u64,
    /// Bytes that the flash programmed, relocations and parity included.
    pub programmed_bytes: u64,
    /// Those over the bytes that the host wrote; null when it wrote none.
    pub programmed_per_host_byte: Option<f64>,
    /// Years until the flash at full size has its rated cycles, at this rate; null when nothing was programmed.
    pub years_at_rating: Option<f64>,
    /// Latencies of reads that hit; null when there were none.
    pub read_hit_lat_ns: Option<LatencySummary>,
    /// Latencies of reads that missed.
    pub read_miss_lat_ns: Option<LatencySummary>,
    /// Latencies of writes that hit.
    pub write_hit_lat_ns: Option<LatencySummary>,
    /// Latencies of writes that missed.
    pub write_miss_lat_ns: Option<LatencySummary>,
    /// The way to the state in which the load found the cache; null when it was empty.
    pub warm_up: Option<CacheWarmUp>,
}

/// Requests that filled a cache before anything was timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheWarmUp {
    /// Reads and writes.
    pub requests: u64,
    /// Hits of the last of them over their number.
    pub hit_rate: f64,
    /// The hit rate no longer changed, and the flash was written over twice.
    pub attained: bool,
}
