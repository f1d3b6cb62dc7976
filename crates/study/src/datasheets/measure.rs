//! Models held against data sheets.

use super::sheet::{Figure, Role, Sheet, State, What};
use crate::lifetime::{LifetimeError, Wearing, lifetime, miniature::Size};
use device::Compressible;
use load::{Access, FileioConfig, FileioMode, LoadConfig};
use profile::{Host, Profile, ProfileError};
use results::{Comparison, ComparisonPoint, Published, RunResult};
use review::Bench;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use target::{Measure, OnlyCancel, Pattern, Prepared, Progress, RunError, RunSpec, measure, pattern_of, prepare};

/// A figure of speed must come within this share.
const SPEED: f64 = 0.15;
/// A figure of endurance must: it is rated, not measured.
const ENDURANCE: f64 = 0.30;
/// Bytes of a sequential request.
const SEQUENTIAL_BYTES: u32 = 128 << 10;
const RANDOM_BYTES: u32 = 4 << 10;
/// Reads for each write where seven of ten requests read.
const MIX: f64 = 7.0 / 3.0;
/// The machine in front of the drives: makers use one that is not the limit, and its requests take time too.
const HOST: &str = "default";

/// An error that keeps a model from being held against its data sheet.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum DatasheetError {
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Lifetime(#[from] LifetimeError),
}

impl DatasheetError {
    /// A person asked to stop.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, DatasheetError::Run(RunError::Cancelled) | DatasheetError::Lifetime(LifetimeError::Cancelled))
    }
}

/// The models of these drives against their data sheets, at this part of their sizes.
pub fn compare(
    sheets: &[Sheet],
    scale: f64,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Comparison>, DatasheetError> {
    let cancel = OnlyCancel(progress);
    let done = AtomicU64::new(0);
    progress.begin("compare with data sheets", sheets.iter().map(|sheet| sheet.figures.len() as u64).sum());
    let figure_done = || progress.at(done.fetch_add(1, Ordering::Relaxed) + 1);
    review::on_all_cores(sheets, |sheet| of_sheet(sheet, scale, seed, &cancel, &figure_done))
}

fn of_sheet(
    sheet: &Sheet,
    scale: f64,
    seed: u64,
    progress: &dyn Progress,
    figure_done: &(dyn Fn() + Sync),
) -> Result<Comparison, DatasheetError> {
    let profile = Profile::builtin(sheet.card)?;
    let most_threads = sheet.figures.iter().map(|figure| figure.threads).max().unwrap_or(1);
    let bench = Bench::new(&profile, &Host::builtin(HOST)?, scale, seed)?;
    let full_bytes = profile.figures()?.map_or(0, |figures| figures.user_bytes) as f64;
    let mut drive = Drive { bench, most_threads, prepared: None, full_bytes };
    // Figures of one state follow each other: it is made once.
    let mut order: Vec<usize> = (0..sheet.figures.len()).collect();
    order.sort_by_key(|&i| (sheet.figures[i].state == State::Fresh, rank(sheet.figures[i].what)));
    let mut points: Vec<Option<ComparisonPoint>> = vec![None; sheet.figures.len()];
    for i in order {
        let figure = &sheet.figures[i];
        let (value, bound) = match figure.what.mode() {
            Some(mode) => (speed(figure.what, &drive.run(figure, mode, progress)?), SPEED),
            None => (endurance_tb(figure.what, &profile, seed, progress)?, ENDURANCE),
        };
        let published = Published::Figure { value: figure.value, bound };
        points[i] = Some(ComparisonPoint::new(label(figure), figure.what.unit(), published, value));
        figure_done();
    }
    let given = sheet.figures.iter().filter(|figure| figure.role == Role::Given).count();
    let note = format!(
        "Numbers of the card's file are derived from the {given} given figures; {} are predicted.",
        sheet.figures.len() - given
    );
    let points = points.into_iter().flatten().collect();
    Ok(Comparison::new(&format!("datasheet-{}", sheet.card), profile.title(), sheet.card, points, None, &note))
}

/// Figures of one state have one rank.
fn rank(what: What) -> u32 {
    match what {
        What::SequentialRead | What::RandomRead | What::ReadLatency => 0,
        What::RandomWrite | What::RandomMix | What::WriteLatency => 1,
        What::SequentialWrite => 2,
        What::Endurance | What::EnduranceRandom | What::EnduranceSequential => 3,
    }
}

fn label(figure: &Figure) -> String {
    let what = match figure.what {
        What::RandomRead => "random read",
        What::RandomWrite => "random write",
        What::RandomMix => "random 70/30",
        What::SequentialRead => "sequential read",
        What::SequentialWrite => "sequential write",
        What::ReadLatency => "random read, mean latency",
        What::WriteLatency => "random write, mean latency",
        What::Endurance => "endurance, JESD219",
        What::EnduranceRandom => "endurance, random writes",
        What::EnduranceSequential => "endurance, sequential writes",
    };
    let depth = match figure.what.mode() {
        Some(_) => format!(", depth {}", figure.threads),
        None => String::new(),
    };
    let state = if figure.state == State::Fresh { ", fresh" } else { "" };
    let range = figure.range_bytes.map_or(String::new(), |bytes| format!(", {} GB", bytes / 1e9));
    let role = if figure.role == Role::Given { " (given)" } else { "" };
    format!("{what}{depth}{range}{state}{role}")
}

fn speed(what: What, result: &RunResult) -> f64 {
    match what {
        What::RandomRead | What::RandomWrite | What::RandomMix => result.read.iops + result.write.iops,
        What::SequentialRead | What::SequentialWrite => (result.read.bw_bytes + result.write.bw_bytes) / 1e6,
        What::ReadLatency => result.read.lat_ns.mean / 1e3,
        What::WriteLatency => result.write.lat_ns.mean / 1e3,
        What::Endurance | What::EnduranceRandom | What::EnduranceSequential => unreachable!("figures of a life"),
    }
}

/// A drive, and the last state that it was brought to.
struct Drive {
    bench: Bench,
    /// Most requests that are outstanding at a time: a device is made with room for them.
    most_threads: u32,
    prepared: Option<(Pattern, bool, Prepared)>,
    /// Size of the whole drive.
    full_bytes: f64,
}

impl Drive {
    fn run(&mut self, figure: &Figure, mode: FileioMode, progress: &dyn Progress) -> Result<RunResult, RunError> {
        let share = figure.range_bytes.map_or(1.0, |bytes| bytes / self.full_bytes);
        let file_bytes = self.bench.file_bytes(share);
        let block_bytes = if mode.is_sequential() { SEQUENTIAL_BYTES } else { RANDOM_BYTES };
        let of_depth =
            |threads| FileioConfig { mode, block_bytes, threads, file_bytes, rw_ratio: MIX, ..FileioConfig::default() };
        let load = LoadConfig::Fileio(of_depth(figure.threads));
        let roomy = LoadConfig::Fileio(of_depth(self.most_threads));
        let fresh = figure.state == State::Fresh;
        let spec = RunSpec {
            device: &self.bench.device,
            device_json: Value::Null,
            host: &self.bench.host,
            host_json: Value::Null,
            load: &load,
            fill: 1.0,
            seed: self.bench.seed,
            measure: if fresh { fresh_requests(self.bench.file_bytes(1.0), block_bytes) } else { Measure::Auto },
            fresh,
            explain_tail: false,
            histograms: false,
        };
        let pattern = pattern_of(&load, file_bytes);
        let prepared = match self.prepared.take() {
            Some((found, was_fresh, prepared)) if (found, was_fresh) == (pattern, fresh) => prepared,
            _ => {
                prepare(&RunSpec { load: &roomy, device_json: Value::Null, host_json: Value::Null, ..spec }, progress)?
            }
        };
        let result = measure(&spec, prepared.clone(), progress);
        self.prepared = Some((pattern, fresh, prepared));
        result
    }
}

/// A hundredth of the drive: caches of faster cells hold several.
fn fresh_requests(file_bytes: u64, block_bytes: u32) -> Measure {
    Measure::Requests(file_bytes / 100 / u64::from(block_bytes))
}

/// Cycles of a block in the small card that is worn out: a third of the time of the usual number, and less than one
/// in a hundred off.
const CYCLES: u32 = 200;

/// Terabytes that the host has written when the drive is worn out.
fn endurance_tb(what: What, profile: &Profile, seed: u64, progress: &dyn Progress) -> Result<f64, LifetimeError> {
    let access = match what {
        What::EnduranceSequential => None,
        What::EnduranceRandom => Some(Access::Uniform),
        _ => Some(Access::Jesd219),
    };
    let wearing = Wearing {
        profile: profile.clone(),
        fill: 1.0,
        access,
        block_bytes: RANDOM_BYTES.into(),
        fsync_every: 0,
        compressible: Compressible::NOT,
        seed,
        size: Size { cycles: CYCLES, ..Size::default() },
    };
    // Bytes a day and years are asked for in other words than endurance is.
    let case = lifetime(&wearing, 1e12, 5.0, progress)?;
    Ok(case.endurance_bytes / 1e12)
}
