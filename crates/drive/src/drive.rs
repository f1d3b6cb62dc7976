//! A file or a block device as a target.

use crate::common::{Medium, WINDOWS};
use crate::engine::{self, Job, Outcome, Span, Told};
use crate::error::DriveError;
use crate::file::{self, Kind, Opened};
use crate::nvme::{self, Erasure, PurgeBy};
use crate::sequence::{SEQUENTIAL_BYTES, Sequence};
use load::{BurstCurve, Bursts, Load, LoadConfig};
use results::{Fact, HostInfo, Preconditioning, Purge, RunResult, TargetInfo, TargetKind};
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};
use target::{BurstSeries, Clock, Measurement, Progress, State, SteadyRule, Target, TargetError, steady_state};

/// Version of the result's schema.
const SCHEMA: u32 = 1;
/// Share of the measured time that a load runs before it is measured, and the most, seconds: queues are full and timers
/// in step after far less.
const WARM_UP_SHARE: f64 = 0.1;
const WARM_UP_MAX_S: f64 = 2.0;
const MAX_SECONDS: f64 = 1e6;
/// Buffers of loads that ask for pieces of different sizes; larger pieces get theirs when they come.
const USUAL_BUFFER_BYTES: u32 = 64 << 10;
/// Bytes a second that a drive is assumed to write front to back before it has been seen to: a hard disk in the middle,
/// a SATA drive.
const ASSUMED_ROTATIONAL_BW_BYTES: f64 = 150e6;
const ASSUMED_BW_BYTES: f64 = 400e6;

/// Bytes a second that a drive is assumed to write front to back before anything was written to it, to say how long a
/// plan will take.
pub fn assumed_write_bw_bytes(rotational: bool) -> f64 {
    if rotational { ASSUMED_ROTATIONAL_BW_BYTES } else { ASSUMED_BW_BYTES }
}

/// Options with which a drive is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriveOptions {
    /// Threads of the operating system that ask; `None`: one for each 8 requests outstanding, at most as many as there
    /// are processors.
    pub threads: Option<u32>,
    /// Register buffers with the kernel, as long as it permits.
    pub register_buffers: bool,
    /// Read back what a fill has written, and check it.
    pub verify_fill: bool,
    /// It is a hard disk; for estimates of time.
    pub rotational: bool,
    /// Root seed of preconditioning; the blocks that a skewed pattern favours depend on it, so it is the measured load's.
    pub seed: u64,
    /// The command that empties a block device.
    pub purge: PurgeBy,
}

impl Default for DriveOptions {
    fn default() -> DriveOptions {
        DriveOptions {
            threads: None,
            register_buffers: true,
            verify_fill: false,
            rotational: false,
            seed: 1,
            purge: PurgeBy::Discard,
        }
    }
}

/// A file or a block device, open for direct I/O.
pub struct Drive {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) capacity_bytes: u64,
    pub(crate) align_bytes: u32,
    pub(crate) options: DriveOptions,
    /// Bytes from the start that hold data, as far as is known; what lies beyond was never written, or was discarded.
    pub(crate) in_use_bytes: u64,
    /// As seen by the last fill.
    pub(crate) write_bw_bytes: Option<f64>,
    /// Its first sector says that this program made it; there is no attribute.
    pub(crate) marked_by_sector: bool,
    info: TargetInfo,
    host: HostInfo,
    run: u64,
    versions: AtomicU64,
    /// The command of its own that empties it, if it has been asked for.
    pub(crate) erasure: Option<Erasure>,
    /// The limit on locked memory forbade to register buffers.
    buffers_refused: bool,
}

impl Drive {
    /// A file that exists. All of it may be overwritten.
    pub fn open_file(
        path: impl Into<PathBuf>,
        info: TargetInfo,
        host: HostInfo,
        options: DriveOptions,
    ) -> Result<Drive, DriveError> {
        let path = path.into();
        let opened = file::open(&path, Kind::File)?;
        let in_use_bytes = opened.size_bytes;
        Ok(Drive::new(path, opened, Kind::File, in_use_bytes, info, host, options))
    }

    /// Makes a file of this size, with its space reserved. Nothing that exists is overwritten.
    pub fn create_file(
        path: impl Into<PathBuf>,
        size_bytes: u64,
        info: TargetInfo,
        host: HostInfo,
        options: DriveOptions,
    ) -> Result<Drive, DriveError> {
        let path = path.into();
        let opened = file::create(&path, size_bytes)?;
        Ok(Drive::new(path, opened, Kind::File, 0, info, host, options))
    }

    /// Opens a file that [`Drive::create_file`] made before; makes it larger if it is smaller than `size_bytes`.
    pub fn adopt_file(
        path: impl Into<PathBuf>,
        size_bytes: u64,
        info: TargetInfo,
        host: HostInfo,
        options: DriveOptions,
    ) -> Result<Drive, DriveError> {
        let path = path.into();
        let before = std::fs::metadata(&path).map_or(0, |file| file.len());
        let opened = file::adopt(&path, size_bytes)?;
        let in_use_bytes = before.min(opened.size_bytes);
        Ok(Drive::new(path, opened, Kind::File, in_use_bytes, info, host, options))
    }

    /// A block device; fails while it is mounted or otherwise in use. All of it may be overwritten.
    pub fn open_block_device(
        path: impl Into<PathBuf>,
        info: TargetInfo,
        host: HostInfo,
        options: DriveOptions,
    ) -> Result<Drive, DriveError> {
        let path = path.into();
        let opened = file::open(&path, Kind::BlockDevice)?;
        let in_use_bytes = opened.size_bytes;
        Drive::new(path, opened, Kind::BlockDevice, in_use_bytes, info, host, options).with_erasure()
    }

    /// A block device that somebody has opened, exclusively, for reading and writing (`identify::Permit::into_file`).
    /// `path` is how it is called in messages.
    pub fn block_device(
        file: File,
        path: impl Into<PathBuf>,
        info: TargetInfo,
        host: HostInfo,
        options: DriveOptions,
    ) -> Result<Drive, DriveError> {
        let path = path.into();
        let opened = file::examine(file, &path, Kind::BlockDevice)?;
        let in_use_bytes = opened.size_bytes;
        Drive::new(path, opened, Kind::BlockDevice, in_use_bytes, info, host, options).with_erasure()
    }

    /// Finds out, before anything is written, whether the purge that was asked for may be.
    fn with_erasure(mut self) -> Result<Drive, DriveError> {
        let erasure = nvme::erasure(&self.file, self.options.purge);
        self.erasure = erasure.map_err(|source| DriveError::Purge { path: self.path.clone(), source })?;
        Ok(self)
    }

    /// Returns whether [`Drive::create_file`] made this file.
    pub fn is_ours(path: impl AsRef<Path>) -> bool {
        file::is_ours(path.as_ref())
    }

    /// Removes a file that [`Drive::create_file`] made; refuses any other.
    pub fn remove_file(path: impl AsRef<Path>) -> Result<(), DriveError> {
        file::remove(path.as_ref())
    }

    fn new(
        path: PathBuf,
        opened: Opened,
        kind: Kind,
        in_use_bytes: u64,
        info: TargetInfo,
        host: HostInfo,
        options: DriveOptions,
    ) -> Drive {
        let Opened { file, size_bytes, align_bytes } = opened;
        // Different for each run, so that no sector is ever written twice with the same content.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        Drive {
            marked_by_sector: kind == Kind::File && !file::has_attribute(&file) && file::is_ours(&path),
            file,
            path,
            kind,
            capacity_bytes: size_bytes,
            align_bytes,
            options,
            in_use_bytes,
            write_bw_bytes: None,
            info,
            host,
            run: now ^ u64::from(std::process::id()).rotate_left(40),
            versions: AtomicU64::new(0),
            erasure: None,
            buffers_refused: false,
        }
    }

    /// Returns the path of the tested file or device.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Offsets and lengths of requests are multiples of this.
    pub fn align_bytes(&self) -> u32 {
        self.align_bytes
    }

    /// Reads a range (multiples of [`Drive::align_bytes`]) and checks that each sector holds what this program wrote
    /// there; returns the bytes that were checked.
    pub fn verify(&mut self, range: Range<u64>, progress: &dyn Progress) -> Result<u64, TargetError> {
        progress.begin("verify", range.end.saturating_sub(range.start));
        Ok(self.read_back(range, 0, progress)?)
    }

    pub(crate) fn read_back(
        &mut self,
        range: Range<u64>,
        before: u64,
        progress: &dyn Progress,
    ) -> Result<u64, DriveError> {
        let load = Box::new(Sequence::read(range));
        let outcome = self.run_load(load, Span::UntilEnd, SEQUENTIAL_BYTES, Told::Bytes(before), true, progress)?;
        Ok(outcome.recorder.bytes())
    }

    /// Drives a load.
    pub(crate) fn run_load(
        &mut self,
        load: Box<dyn Load>,
        span: Span,
        buffer_bytes: u32,
        told: Told,
        verify: bool,
        progress: &dyn Progress,
    ) -> Result<Outcome, DriveError> {
        let (footprint_bytes, capacity_bytes) = (load.footprint_bytes(), self.capacity_bytes);
        if footprint_bytes > capacity_bytes {
            return Err(DriveError::Footprint { path: self.path.clone(), footprint_bytes, capacity_bytes });
        }
        let register = self.options.register_buffers && !self.buffers_refused;
        let job = Job {
            medium: Medium { file: self.file.as_fd(), path: &self.path, align_bytes: self.align_bytes },
            load,
            span,
            buffer_bytes,
            run: self.run,
            versions: &self.versions,
            verify,
            register,
            threads: self.options.threads,
            told,
        };
        let outcome = engine::run(job, progress)?;
        self.buffers_refused |= register && !outcome.buffers_registered;
        Ok(outcome)
    }

    fn burst(&mut self, series: &BurstSeries, progress: &dyn Progress) -> Result<Vec<BurstCurve>, DriveError> {
        let config = series.config(self.capacity_bytes, 1.0);
        progress.begin("bursts", config.bursts.iter().map(|burst| burst.bytes).sum());
        let load = Bursts::new(config)?;
        let curves = load.curves();
        self.run_load(Box::new(load), Span::UntilEnd, series.block_bytes, Told::Bytes(0), false, progress)?;
        Ok(curves.get())
    }

    fn measure_load(&mut self, measurement: &Measurement, progress: &dyn Progress) -> Result<RunResult, DriveError> {
        let seconds = measurement.seconds.filter(|s| *s > 0.0 && *s <= MAX_SECONDS).ok_or(DriveError::Seconds)?;
        let load = measurement.load.build(measurement.seed)?;
        let span = Span::Timed {
            warm_up: Duration::from_secs_f64((seconds * WARM_UP_SHARE).min(WARM_UP_MAX_S)),
            measured: Duration::from_secs_f64(seconds),
        };
        progress.begin("measure", (seconds * 1e3) as u64);
        let buffer_bytes = match &measurement.load {
            LoadConfig::Fileio(config) => config.block_bytes,
            _ => USUAL_BUFFER_BYTES,
        };
        let outcome = self.run_load(load, span, buffer_bytes, Told::Milliseconds, false, progress)?;
        let window_s = outcome.elapsed_s / WINDOWS as f64;
        let windows = outcome.windows.map(|bytes| bytes as f64 / window_s);
        let (read, write, sync) = outcome.recorder.classes(outcome.end, true);
        Ok(RunResult {
            schema: SCHEMA,
            target: serde_json::to_value(self.info()).expect("a plain structure"),
            load: measurement.load.describe(),
            seed: measurement.seed,
            host: serde_json::to_value(&self.host).expect("a plain structure"),
            read,
            write,
            sync,
            series: outcome.recorder.series(outcome.end),
            flash: None,
            steady_state: Some(steady_state(&windows, &SteadyRule::SNIA)),
            transactions_per: None,
            application: outcome.application,
            cache: None,
            tail: None,
            sim: None,
            generator: Some(outcome.generator),
            trace: None,
            thermal: None,
        })
    }
}

impl Target for Drive {
    fn info(&self) -> TargetInfo {
        let mut info = self.info.clone();
        info.kind = match self.kind {
            Kind::File => TargetKind::File,
            Kind::BlockDevice => TargetKind::BlockDevice,
        };
        info.capacity_bytes = self.capacity_bytes;
        let mut fact = |key: &str, label: &str, value: String| {
            info.facts.push(Fact { key: key.into(), label: label.into(), value });
        };
        let buffers = if self.buffers_refused {
            "buffers not registered: the limit on locked memory (ulimit -l) is too low"
        } else if self.options.register_buffers {
            "registered buffers"
        } else {
            "buffers not registered"
        };
        fact("io_engine", "Asked with", format!("io_uring, direct I/O, registered file, {buffers}"));
        fact("io_alignment_bytes", "Direct I/O in multiples of", format!("{} bytes", self.align_bytes));
        info
    }

    fn host(&self) -> HostInfo {
        self.host.clone()
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn clock(&self) -> Clock {
        Clock::Wall
    }

    fn purge(&mut self, progress: &dyn Progress) -> Result<Purge, TargetError> {
        Ok(self.empty(progress)?)
    }

    fn bring_to(&mut self, state: &State, progress: &dyn Progress) -> Result<Preconditioning, TargetError> {
        Ok(self.prepare(state, progress)?)
    }

    fn measure(&mut self, measurement: &Measurement, progress: &dyn Progress) -> Result<RunResult, TargetError> {
        Ok(self.measure_load(measurement, progress)?)
    }

    fn bursts(&mut self, series: &BurstSeries, progress: &dyn Progress) -> Result<Vec<BurstCurve>, TargetError> {
        Ok(self.burst(series, progress)?)
    }

    fn fork(&self) -> Option<Box<dyn Target>> {
        None
    }

    fn expected_write_bw_bytes(&self) -> f64 {
        self.write_bw_bytes.unwrap_or_else(|| assumed_write_bw_bytes(self.options.rotational))
    }
}
