//! A device of fixed delay, and short ways to machines and runs.

use device::{Completion, Device, HostConfig, Parts, Request, RequestId, Time};
use load::{Fileio, FileioConfig, FileioMode, LoadConfig};
use profile::{DeviceConfig, Profile};
use results::RunResult;
use serde_json::Value;
use std::collections::VecDeque;
use target::{Machine, Measure, RunSpec, Silent, Stop};

pub const MICROSECOND: u64 = 1_000;
pub const SECOND: u64 = 1_000_000_000;

/// Every request takes the same time, however many there are.
pub struct FixedDelay {
    delay_ns: u64,
    pending: VecDeque<(Time, RequestId)>,
}

impl FixedDelay {
    pub fn new(delay_ns: u64) -> FixedDelay {
        FixedDelay { delay_ns, pending: VecDeque::new() }
    }
}

impl Device for FixedDelay {
    type Data = ();

    fn submit(&mut self, now: Time, id: RequestId, _: Request, _: &mut Vec<Completion>) {
        self.pending.push_back((now + self.delay_ns, id));
    }

    fn next_event(&self) -> Time {
        self.pending.front().map_or(Time::NEVER, |&(time, _)| time)
    }

    fn advance(&mut self, now: Time, done: &mut Vec<Completion>) {
        while self.pending.front().is_some_and(|&(time, _)| time <= now) {
            let (_, id) = self.pending.pop_front().unwrap();
            done.push(Completion { id, result: Ok(()), data: (), parts: Parts::default() });
        }
    }

    fn capacity_bytes(&self) -> u64 {
        1 << 40
    }

    fn in_flight(&self) -> u64 {
        self.pending.len() as u64
    }
}

/// Random reads of 4 KiB.
pub fn reads(threads: u32) -> FileioConfig {
    FileioConfig { mode: FileioMode::RndRd, threads, block_bytes: 4096, file_bytes: 1 << 30, ..FileioConfig::default() }
}

/// Observations of a closed system.
pub struct Seen {
    pub reads: results::IoClass,
    pub writes: results::IoClass,
    pub flushes: results::IoClass,
    pub series: Vec<results::SeriesRow>,
}

/// Runs a load on a device of fixed delay: a fifth of a second to warm up, then `measured_ns`.
pub fn closed(config: FileioConfig, host: HostConfig, delay_ns: u64, measured_ns: u64) -> Seen {
    let mut load = Fileio::new(config, 1).unwrap();
    let mut machine = Machine::new(FixedDelay::new(delay_ns), &mut load, host, false);
    machine.run_until(Stop::At(Time(SECOND / 5)));
    machine.start_measurement();
    machine.run_until(Stop::At(Time(SECOND / 5 + measured_ns)));
    let recorder = machine.recorder().unwrap();
    let (reads, writes, flushes) = recorder.classes(machine.now(), false);
    Seen { reads, writes, flushes, series: recorder.series(machine.now()) }
}

#[track_caller]
pub fn assert_near(measured: f64, expected: f64, share: f64) {
    assert!((measured / expected - 1.0).abs() <= share, "{measured} is not within {share} of {expected}");
}

/// A built-in device, scaled.
pub fn device(name: &str, scale: f64) -> DeviceConfig {
    changed_device(name, &[], scale)
}

/// A built-in device with other settings, scaled.
pub fn changed_device(name: &str, settings: &[&str], scale: f64) -> DeviceConfig {
    let mut profile = Profile::builtin(name).unwrap();
    settings.iter().for_each(|setting| profile.set(setting).unwrap());
    profile.lower(scale).unwrap()
}

/// A share of the device in whole MiB.
pub fn share_of(device: &DeviceConfig, share: f64) -> u64 {
    (device.user_bytes() as f64 * share) as u64 >> 20 << 20
}

/// A run in the making.
pub struct Setup {
    pub device: DeviceConfig,
    pub host: HostConfig,
    pub load: FileioConfig,
    pub fill: f64,
    pub seed: u64,
    pub measure: Measure,
    pub fresh: bool,
    pub explain: bool,
}

impl Setup {
    /// Random access to `fill` of the device in blocks of 4 KiB by 16 threads, on an unlimited host.
    pub fn new(device: DeviceConfig, mode: FileioMode, fill: f64) -> Setup {
        let file_bytes = share_of(&device, fill);
        let load = FileioConfig { mode, threads: 16, block_bytes: 4096, file_bytes, ..FileioConfig::default() };
        Setup {
            device,
            host: HostConfig::UNLIMITED,
            load,
            fill,
            seed: 1,
            measure: Measure::Requests(20_000),
            fresh: false,
            explain: false,
        }
    }

    pub fn run(&self) -> RunResult {
        let load = LoadConfig::Fileio(self.load);
        let spec = RunSpec {
            device: &self.device,
            device_json: Value::Null,
            host: &self.host,
            host_json: Value::Null,
            load: &load,
            fill: self.fill,
            seed: self.seed,
            measure: self.measure,
            fresh: self.fresh,
            explain_tail: self.explain,
            histograms: false,
        };
        target::run(&spec, &Silent).unwrap()
    }
}
