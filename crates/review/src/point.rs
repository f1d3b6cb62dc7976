//! One point of a sweep: one load on one device.

use device::HostConfig;
use load::{FileioConfig, FileioMode, LoadConfig};
use profile::{DeviceConfig, Host, Profile, ProfileError};
use results::RunResult;
use serde_json::Value;
use target::{Measure, Progress, RunError, RunSpec, run};

/// An error that keeps a point from being measured.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum PointError {
    /// The card's or the host's file.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Run(#[from] RunError),
}

/// A device and a host, ready for many loads.
pub struct Bench {
    /// The device's model.
    pub device: DeviceConfig,
    /// Host to which it is connected.
    pub host: HostConfig,
    /// Root seed of the points.
    pub seed: u64,
}

impl Bench {
    /// Makes a bench from profiles.
    pub fn new(profile: &Profile, host: &Host, scale: f64, seed: u64) -> Result<Bench, ProfileError> {
        Ok(Bench { device: profile.lower(scale)?, host: host.config(), seed })
    }

    /// Built-in ones by name.
    pub fn builtin(card: &str, host: &str, scale: f64, seed: u64) -> Result<Bench, ProfileError> {
        Bench::new(&Profile::builtin(card)?, &Host::builtin(host)?, scale, seed)
    }

    /// Bytes of a file that takes `fill` of the device, whole blocks of 64 KiB.
    pub fn file_bytes(&self, fill: f64) -> u64 {
        ((self.device.user_bytes() as f64 * fill) as u64 / 65_536 * 65_536).max(65_536)
    }

    /// sysbench fileio over a file of `fill` of the device; nothing else is on it.
    pub fn fileio(&self, mode: FileioMode, block_bytes: u32, threads: u32, fill: f64) -> LoadConfig {
        LoadConfig::Fileio(FileioConfig {
            mode,
            block_bytes,
            threads,
            file_bytes: self.file_bytes(fill),
            ..FileioConfig::default()
        })
    }

    /// Runs a load.
    pub fn run(
        &self,
        load: &LoadConfig,
        fill: f64,
        measure: Measure,
        progress: &dyn Progress,
    ) -> Result<RunResult, RunError> {
        let spec = RunSpec {
            device: &self.device,
            device_json: Value::Null,
            host: &self.host,
            host_json: Value::Null,
            load,
            fill,
            seed: self.seed,
            measure,
            fresh: false,
            explain_tail: false,
            histograms: false,
        };
        run(&spec, progress)
    }
}
