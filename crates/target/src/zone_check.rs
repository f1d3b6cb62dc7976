//! Whether a load may be asked of zones: they are written in order, in whole sectors, and few of them at once.

use crate::error::RunError;
use device::SECTOR_BYTES;
use load::{FileioConfig, FileioMode, LoadConfig};
use profile::DeviceConfig;

/// Fails if the device has zones, and the load does not write as they are written.
pub(crate) fn check(device: &DeviceConfig, load: &LoadConfig) -> Result<(), RunError> {
    let Some(card) = device.cards().first() else { return Ok(()) };
    let Some(limits) = card.zone_limits() else { return Ok(()) };
    let LoadConfig::Fileio(config) = load else { return Err(RunError::ZonesInOrder) };
    let FileioConfig { mode, block_bytes, start_bytes, misalign_bytes, .. } = *config;
    if mode.writes() && !mode.is_sequential() {
        return Err(RunError::ZonesInOrder);
    }
    let zone_bytes = u64::from(card.model.zone_host.written_sectors(limits.capacity)) * SECTOR_BYTES;
    let is_whole = |bytes: u64| bytes.is_multiple_of(SECTOR_BYTES);
    if !is_whole(block_bytes.into()) || !is_whole(misalign_bytes.into()) && mode != FileioMode::RndRd {
        return Err(RunError::ZoneBlocks);
    }
    if !mode.writes() {
        return Ok(());
    }
    if u64::from(block_bytes) > zone_bytes {
        return Err(RunError::ZoneBelowBlock { block_bytes, zone_bytes });
    }
    let first = start_bytes + u64::from(misalign_bytes);
    let ends = load.ends_of_threads();
    let streams = ends.len() as u32 + 1;
    if let Some(&at) = [first].iter().chain(&ends).find(|&&at| !at.is_multiple_of(zone_bytes)) {
        return Err(RunError::ZoneRegions { at, zone_bytes });
    }
    if streams > limits.max_active {
        return Err(RunError::ZoneStreams { streams, max_active: limits.max_active });
    }
    Ok(())
}

/// The largest file whose regions, one for each of `streams`, are whole zones and whole blocks; `bytes` where there is none, or the
/// device has no zones.
pub fn whole_zones(device: &DeviceConfig, bytes: u64, streams: u32, block_bytes: u32) -> u64 {
    let limits = device.cards().first().and_then(|card| Some((card.zone_limits()?, card.model.zone_host)));
    let Some((limits, host)) = limits else { return bytes };
    let zone_bytes = u64::from(host.written_sectors(limits.capacity)) * SECTOR_BYTES;
    let block = u64::from(block_bytes.max(1));
    let (mut a, mut b) = (zone_bytes, block);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    let unit = (zone_bytes / a).saturating_mul(block).saturating_mul(u64::from(streams));
    match bytes / unit {
        0 => bytes,
        units => units * unit,
    }
}
