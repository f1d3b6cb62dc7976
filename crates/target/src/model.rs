//! A modelled card as a target of a review.

use crate::precondition::{Preconditioned, precondition};
use crate::{BurstDevice, SteadyRule, measure, steady_state};
use crate::{
    BurstSeries, Clock, Measure, Measurement, Modelled, Pattern, Progress, RunError, RunSpec, State, Target,
    TargetError,
};
use device::{Device, SECTOR_BYTES};
use load::BurstCurve;
use profile::{DeviceConfig, Host, Profile, ProfileError};
use results::{Fact, HostInfo, Preconditioning, Purge, RunResult, SteadyState, TargetInfo, TargetKind};
use std::sync::Arc;

/// Most requests that a load of a review has outstanding.
const MAX_REQUESTS: u32 = 1024;

/// A card's or an array's model, in virtual time. Measuring is done on a copy of the prepared device, so that the points
/// of a sweep do not depend on each other.
#[derive(Clone)]
pub struct ModelTarget {
    common: Arc<Common>,
    prepared: Option<Modelled>,
}

/// Parts that all copies have in common.
struct Common {
    info: TargetInfo,
    host: Host,
    device: DeviceConfig,
    burst_device: BurstDevice,
    seed: u64,
    write_bw_bytes: f64,
}

impl ModelTarget {
    /// A card behind a host, at a share of its size.
    pub fn new(profile: &Profile, host: &Host, scale: f64, seed: u64) -> Result<ModelTarget, ProfileError> {
        let device = profile.lower(scale)?;
        let common = Common {
            info: info(profile, &device, scale)?,
            host: host.clone(),
            seed,
            burst_device: BurstDevice::new(profile, scale)?,
            write_bw_bytes: profile.figures()?.map_or(1e8, |figures| figures.data_program_bytes_per_s),
            device,
        };
        Ok(ModelTarget { common: Arc::new(common), prepared: None })
    }
}

fn info(profile: &Profile, device: &DeviceConfig, scale: f64) -> Result<TargetInfo, ProfileError> {
    let json = profile.to_json()?;
    let mut facts = Vec::new();
    let mut fact = |key: &str, label: &str, value: String| {
        facts.push(Fact { key: key.into(), label: label.into(), value });
    };
    let gb = |bytes: u64| format!("{:.2} GB", bytes as f64 / 1e9);
    let sold_bytes = profile.summary()?.user_bytes;
    fact("capacity", "Capacity", gb(sold_bytes));
    let modelled = device.user_bytes();
    if modelled < sold_bytes {
        fact("modelled", "Modelled", format!("{} (scale 1/{:.0})", gb(modelled), 1.0 / scale));
    }
    if let Some(figures) = profile.figures()? {
        let c = &figures.capacities;
        let all = u64::from(figures.cards);
        fact("installed", "Flash installed", gb(c.installed_bytes * all));
        fact("spare_factor", "Spare factor", format!("{:.1} % of the data capacity", c.spare_factor * 100.0));
    }
    if !profile.changed().is_empty() {
        fact("changed", "Changed", profile.changed().join(", "));
    }
    let protected = match device {
        DeviceConfig::Card(card) => Some(card.power_loss_protection),
        DeviceConfig::Striped { cards, .. } | DeviceConfig::Mirrored { cards } | DeviceConfig::Raid5 { cards, .. } => {
            Some(cards.iter().all(|card| card.power_loss_protection))
        }
        // A controller's cache has a battery; that of the disks themselves has none.
        DeviceConfig::Disks(array) => (array.controller_cache_bytes > 0).then_some(true),
        DeviceConfig::Volume(_) => None,
        // Acknowledged data may lie on either of them.
        DeviceConfig::Cached(cached) => Some(cached.front.cards().iter().all(|card| card.power_loss_protection)),
    };
    let volatile = match device {
        // A cloud says that it acknowledges when its replicas have it.
        DeviceConfig::Volume(_) => Some(false),
        _ => protected.map(|protected| !protected),
    };
    Ok(TargetInfo {
        kind: TargetKind::Model,
        name: profile.name().to_owned(),
        title: profile.title().to_owned(),
        capacity_bytes: modelled,
        sold_bytes: Some(sold_bytes),
        facts,
        power_loss_protection: protected,
        volatile_write_cache: volatile,
        profile: Some(json),
    })
}

impl Target for ModelTarget {
    fn info(&self) -> TargetInfo {
        self.common.info.clone()
    }

    fn host(&self) -> HostInfo {
        let host = &self.common.host;
        let config = host.config();
        let fact =
            |key: &str, label: &str, ns: u64| Fact { key: key.into(), label: label.into(), value: format!("{ns} ns") };
        let mut facts = vec![
            fact("session_ns", "CPU between requests", config.session_ns),
            fact("submit_ns", "CPU to submit", config.submit_ns),
            fact("complete_ns", "CPU to complete", config.complete_ns),
        ];
        if config.count > 1 {
            let value = format!("{} of {} cores", config.count, config.cores);
            facts.push(Fact { key: "hosts".into(), label: "Hosts".into(), value });
        }
        if config.link_bytes_per_s < u64::MAX {
            let value = format!("{} MB/s each way", config.link_bytes_per_s / 1_000_000);
            facts.push(Fact { key: "link".into(), label: "Link of a host".into(), value });
        }
        HostInfo { name: host.name().to_owned(), cores: config.cores.saturating_mul(config.count), facts }
    }

    fn capacity_bytes(&self) -> u64 {
        self.common.device.user_bytes()
    }

    fn clock(&self) -> Clock {
        Clock::Virtual
    }

    fn purge(&mut self, _: &dyn Progress) -> Result<Purge, TargetError> {
        self.prepared = None;
        Ok(Purge { what: "a new card".into(), discarded_bytes: 0, took_s: 0.0 })
    }

    fn bring_to(&mut self, state: &State, progress: &dyn Progress) -> Result<Preconditioning, TargetError> {
        if !(0.0..=1.0).contains(&state.fill) {
            return Err(RunError::Fill { fill: state.fill }.into());
        }
        let common = &self.common;
        let mut device = Modelled::new(&common.device, MAX_REQUESTS, false, common.seed)?;
        device.compress(common.host.config().compressible);
        let fill_bytes = ((device.capacity_bytes() as f64 * state.fill) as u64).div_ceil(SECTOR_BYTES) * SECTOR_BYTES;
        let fill_bytes = fill_bytes.min(device.capacity_bytes());
        let Preconditioned { rounds, overwriting } =
            precondition(&mut device, fill_bytes, state.pattern, common.seed, progress)?;
        let written_bytes = device.counters().host_sectors * SECTOR_BYTES;
        let is_disks = device.cards().is_empty();
        self.prepared = Some(device);
        Ok(Preconditioning {
            fill: state.fill,
            pattern: state.pattern.to_string(),
            sequential_bytes: fill_bytes.min(written_bytes),
            overwritten_bytes: written_bytes.saturating_sub(fill_bytes),
            metric: "write amplification".into(),
            steady: if is_disks || state.pattern == Pattern::None {
                // A disk has no state to wear in, and a fill no rounds.
                SteadyState { rounds, range: 0.0, slope: 0.0, attained: true, overwriting: None }
            } else {
                let mut steady = steady_state(&rounds, &SteadyRule::SNIA);
                steady.attained &= overwriting.is_none_or(|balance| balance.attained);
                SteadyState { overwriting, ..steady }
            },
            took_s: 0.0,
        })
    }

    /// # Panics
    /// When the target was not brought to a state: a bug of the method.
    fn measure(&mut self, measurement: &Measurement, progress: &dyn Progress) -> Result<RunResult, TargetError> {
        let device = self.prepared.clone().expect("a model is brought to a state before it is measured");
        let common = &self.common;
        let footprint_bytes = measurement.load.build(measurement.seed).map_err(RunError::from)?.footprint_bytes();
        let capacity_bytes = device.capacity_bytes();
        if footprint_bytes > capacity_bytes {
            return Err(RunError::Footprint { footprint_bytes, capacity_bytes }.into());
        }
        let spec = RunSpec {
            device: &common.device,
            device_json: serde_json::Value::Null,
            host: &common.host.config(),
            host_json: serde_json::Value::Null,
            load: &measurement.load,
            fill: measurement.fill,
            seed: measurement.seed,
            measure: measurement.seconds.map_or(Measure::Auto, Measure::Seconds),
            fresh: false,
            explain_tail: false,
            histograms: true,
        };
        Ok(measure(&spec, device.into(), progress)?)
    }

    fn bursts(&mut self, series: &BurstSeries, progress: &dyn Progress) -> Result<Vec<BurstCurve>, TargetError> {
        let common = &self.common;
        Ok(common.burst_device.bursts(series, common.host.config(), common.seed, progress)?)
    }

    fn fork(&self) -> Option<Box<dyn Target>> {
        Some(Box::new(self.clone()))
    }

    fn expected_write_bw_bytes(&self) -> f64 {
        self.common.write_bw_bytes
    }
}
