//! Bursts of sequential writes into a modelled device that is new.

use crate::{BurstSeries, Machine, Modelled, Progress, RunError, Stop, StopReason};
use device::HostConfig;
use load::{BurstCurve, Bursts};
use profile::{DeviceConfig, Profile, ProfileError};

/// Bands that a cache of faster cells has in the model, at least: with fewer, the band that happens to be open weighs as
/// much as the cache.
const CACHE_BANDS: f64 = 64.0;

/// A device for bursts: a part of the whole, and larger than asked for where its cache would be a few bands.
#[derive(Clone, Debug)]
pub struct BurstDevice {
    device: DeviceConfig,
    /// Its size over that of the whole.
    ratio: f64,
}

impl BurstDevice {
    /// At this scale or a larger one.
    pub fn new(profile: &Profile, scale: f64) -> Result<BurstDevice, ProfileError> {
        let whole = profile.lower(1.0)?;
        let caches = whole.cards().iter().filter_map(|card| card.ftl.slc_cache);
        let least = caches.map(|cache| CACHE_BANDS / f64::from(cache.bands)).fold(0.0, f64::max);
        let device = profile.lower(scale.max(least).min(1.0))?;
        let ratio = (device.user_bytes() as f64 / whole.user_bytes() as f64).min(1.0);
        Ok(BurstDevice { device, ratio })
    }

    /// Writes them, from an empty device on. On a device that is a part of the whole the same goes by in the same part of
    /// the time: amounts are smaller, and what is done to them is as fast. Amounts and times of the answer are the whole's.
    pub fn bursts(
        &self,
        series: &BurstSeries,
        host: HostConfig,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Vec<BurstCurve>, RunError> {
        let mut config = series.config(self.device.user_bytes(), self.ratio);
        for burst in config.bursts.iter_mut().filter(|burst| burst.idle_ns > 0) {
            // Before a card takes a pause for one, the same time goes by on a card of any size.
            burst.idle_ns += (card::IDLE_NS as f64 * (1.0 - self.ratio)) as u64;
        }
        let mut load = Bursts::new(config)?;
        let curves = load.curves();
        let mut device = Modelled::new(&self.device, series.threads, false, seed)?;
        device.compress(host.compressible);
        let mut machine = Machine::new(device, &mut load, host, false);
        if machine.run_until_or(Stop::Finished(u64::MAX), &|| progress.cancelled()) == StopReason::Cancelled {
            return Err(RunError::Cancelled);
        }
        if machine.device().cards().iter().any(card::ModelCard::is_read_only) {
            return Err(ftl::ReadOnly.into());
        }
        let whole = |n: u64| (n as f64 / self.ratio).round() as u64;
        let mut curves = curves.get();
        for (bytes, ns) in curves.iter_mut().flat_map(|curve| &mut curve.rows) {
            (*bytes, *ns) = (whole(*bytes), whole(*ns));
        }
        Ok(curves)
    }
}
