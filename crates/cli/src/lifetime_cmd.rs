//! `flashrig lifetime`: how long a card lasts under a load, what its reserve buys, and what that costs.

use crate::args::{LifetimeArgs, Values};
use crate::cancel;
use crate::error::{Failure, LifetimeFailure, OptionWithout};
use crate::opening::{self, open};
use crate::output::{JsonSink, print};
use crate::progress::Watch;
use crate::view;
use device::Compressible;
use load::{Access, FileioConfig, LoadConfig};
use profile::Profile;
use results::{LifetimeCase, LifetimeResult, WhatifAnswer};
use serde_json::json;
use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use study::lifetime::miniature::Size;
use study::lifetime::{LifetimeError, Wearing};
use study::whatif::{Axis, Question};
use target::{Measure, Progress};

/// Most reserves: each is a column.
const MAX_RESERVES: usize = 5;

pub fn lifetime(args: &LifetimeArgs) -> Result<ExitCode, Failure> {
    let (writes, device) = (&args.writes, &args.device);
    let mode = writes.load.0;
    if !mode.writes() {
        return Err(LifetimeFailure::NothingIsWritten { load: mode.name() }.into());
    }
    if mode.is_sequential() && writes.access != Access::Uniform {
        return Err(OptionWithout { option: "--access", what: "sequential loads" }.into());
    }
    let Values::List(reserves) = &device.reserve else {
        return Err(OptionWithout { option: "a range of --reserve", what: "lives: give a list" }.into());
    };
    let reserves: Vec<f64> = reserves.iter().map(|reserve| reserve.0).collect();
    if reserves.len() > MAX_RESERVES {
        return Err(LifetimeFailure::TooManyReserves { given: reserves.len(), max: MAX_RESERVES }.into());
    }
    let (profile, host) = open(&args.card, &device.model.host, &device.model.all_settings())?;
    if profile.cache_of().is_some() {
        return Err(LifetimeFailure::Cache.into());
    }
    let sold_bytes = profile.figures()?.ok_or_else(|| LifetimeError::Disks { name: profile.name().into() })?.sold_bytes;
    let bytes_per_day = writes.per_day.map_or(sold_bytes, |bytes| bytes.0) as f64;
    if bytes_per_day < 1.0 {
        return Err(LifetimeFailure::NothingIsWritten { load: "--per-day 0" }.into());
    }
    let scale = opening::scale(&profile, device.scale)?;
    if profile.lower(scale)?.cards().iter().any(|card| card.model.missing_module.is_some()) {
        return Err(LifetimeFailure::MissingModule.into());
    }
    if profile.lower(scale)?.cards().iter().any(|card| card.ftl.zones.is_some()) {
        return Err(LifetimeFailure::Zones.into());
    }
    let load = FileioConfig {
        mode,
        block_bytes: writes.block.0,
        threads: writes.threads,
        access: writes.access,
        fsync_every: writes.fsync_freq,
        ..FileioConfig::default()
    };
    let compressible = host.config().compressible;
    let question = Question {
        profile: profile.clone(),
        host,
        scale,
        seed: device.model.seed,
        measure: Measure::Auto,
        load,
        axes: vec![Axis::Reserve(reserves.clone()), Axis::Fill(vec![writes.fill.0 * 100.0])],
    };
    question.check()?;
    let csv = args.output.csv.as_deref().map(JsonSink::open).transpose()?;
    let json = args.output.json.as_deref().map(JsonSink::open).transpose()?;
    let on_stdout = |sink: &Option<JsonSink>| sink.as_ref().is_some_and(JsonSink::is_stdout);
    if on_stdout(&csv) && on_stdout(&json) {
        return Err(OptionWithout { option: "--csv -", what: "what --json - prints" }.into());
    }
    let table_too = !on_stdout(&csv) && !on_stdout(&json);
    let wearings: Vec<Wearing> =
        reserves.iter().map(|reserve| wearing(args, &profile, compressible, *reserve)).collect::<Result<_, _>>()?;
    cancel::listen()?;
    let (mut cases, answers, stopped) = {
        let watch = Watch::new();
        let cases = live_all(&wearings, bytes_per_day, device.years, &watch)?;
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let answers = if watch.cancelled() { None } else { Some(study::whatif::grid(&question, threads, &watch)?) };
        (cases, answers, watch.stopped())
    };
    let iops = answers.iter().flat_map(|answers| &answers.points);
    for (case, answer) in cases.iter_mut().zip(iops.map(|point| point.answer)) {
        add_price_of_speed(case, answer, profile.price_usd());
    }
    let mut target = profile.to_json()?;
    target["scale"] = json!(scale);
    let result = LifetimeResult {
        kind: LifetimeResult::KIND.into(),
        schema: LifetimeResult::SCHEMA,
        generator: format!("flashrig {}", env!("CARGO_PKG_VERSION")),
        target,
        load: LoadConfig::Fileio(load).describe(),
        fill: writes.fill.0,
        bytes_per_day,
        warranty_years: device.years,
        seed: device.model.seed,
        cases,
        partial: stopped.then(|| "stopped by Ctrl-C".into()),
    };
    if let Some(sink) = json {
        sink.write(&serde_json::to_value(&result).expect("results have text keys"))?;
    }
    if let Some(sink) = csv {
        sink.write_text(&view::lifetime_csv(&result))?;
    }
    if table_too {
        print(&view::lifetime(&result))?;
    }
    Ok(if stopped { ExitCode::from(cancel::EXIT_CODE) } else { ExitCode::SUCCESS })
}

fn wearing(
    args: &LifetimeArgs,
    profile: &Profile,
    compressible: Compressible,
    reserve: f64,
) -> Result<Wearing, Failure> {
    let mut profile = profile.clone();
    profile.set(&format!("ftl.reserve={reserve}%"))?;
    let writes = &args.writes;
    Ok(Wearing {
        profile,
        fill: writes.fill.0,
        access: (!writes.load.0.is_sequential()).then_some(writes.access),
        block_bytes: writes.block.0.into(),
        fsync_every: writes.fsync_freq,
        compressible,
        seed: args.device.model.seed,
        size: Size { cycles: args.device.cycles, ..Size::default() },
    })
}

/// All lives, on all cores, in their order; after Ctrl-C those that came to their end, as far as none is missing
/// between.
fn live_all(wearings: &[Wearing], per_day: f64, years: f64, watch: &Watch) -> Result<Vec<LifetimeCase>, Failure> {
    let done: Vec<AtomicU64> = wearings.iter().map(|_| AtomicU64::new(0)).collect();
    watch.begin("wear out", LIFE * wearings.len() as u64);
    let numbered: Vec<(usize, &Wearing)> = wearings.iter().enumerate().collect();
    let Ok(lives) = review::on_all_cores(&numbered, |&(i, wearing)| {
        Ok::<_, Infallible>(study::lifetime::lifetime(wearing, per_day, years, &OneOfMany { watch, done: &done, i }))
    });
    let mut cases = Vec::new();
    for life in lives {
        match life {
            Ok(case) => cases.push(case),
            Err(LifetimeError::Cancelled) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(cases)
}

/// Steps of the progress bar for one life.
const LIFE: u64 = 1_000;

struct OneOfMany<'a> {
    watch: &'a Watch,
    done: &'a [AtomicU64],
    i: usize,
}

impl Progress for OneOfMany<'_> {
    fn begin(&self, _: &str, _: u64) {}

    fn at(&self, done: u64) {
        self.done[self.i].store(done, Ordering::Relaxed);
        self.watch.at(self.done.iter().map(|done| done.load(Ordering::Relaxed)).sum());
    }

    fn cancelled(&self) -> bool {
        self.watch.cancelled()
    }
}

fn add_price_of_speed(case: &mut LifetimeCase, answer: Option<WhatifAnswer>, price_usd: Option<f64>) {
    case.iops = answer.map(|answer| answer.iops);
    case.usd_per_iops = price_usd.zip(case.iops).map(|(usd, iops)| usd / iops);
}
