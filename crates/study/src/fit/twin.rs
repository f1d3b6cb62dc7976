//! A modelled card that stands for a reviewed device, asked between the points of a sweep.
//!
//! A model is its own twin, held against all points of the sweep. A real device has one where a card that was fitted in
//! seconds to some points of the sweep predicts the others; of a sweep that it misses it says nothing.

use crate::fit::candidate::Candidate;
use crate::fit::condition::Condition;
use crate::fit::error::FitError;
use crate::fit::input::Input;
use crate::fit::observation::{Figure, Observation};
use crate::fit::observe::{Assumed, Observed, of_sweep};
use crate::fit::outcome::{Errors, distance};
use crate::fit::rough::{rough, shown_and_held};
use crate::fit::search::BOUND;
use crate::fit::simulate::{Lab, Seen};
use profile::{Host, Profile};
use results::{Axis, IoClass, LatencySummary, Point, ReviewResult, Sweep, Twin};
use review::{Between, Computed};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use target::{Progress, Silent};

/// A twin that misses a sweep's points by more, in the median and at worst, does not fill it: the median is that of a fit.
const WORST: f64 = 0.3;
/// Fills that are asked, percent.
const FILLS: [f64; 7] = [70.0, 75.0, 80.0, 85.0, 90.0, 95.0, 100.0];
/// Threads that are asked, as far as the sweep reaches.
const THREADS: [u32; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];
/// A card in the model has no fewer bands and sectors, as in a fit.
const MODEL_BANDS: f64 = 36.0;
const MODEL_SECTORS: f64 = 200_000.0;

/// A twin at work.
struct Asked<'a> {
    input: Input,
    lab: Mutex<Lab<'a>>,
    card: Card,
    began: Instant,
}

/// The card that answers.
enum Card {
    /// The model that was reviewed.
    Itself(Box<Candidate>),
    /// A card for each sweep, of a device with so many bytes.
    Fitted { user_bytes: u64, host: Host },
}

/// Time that is left. A person may stop it earlier.
struct Patience<'a> {
    until: Instant,
    within: &'a dyn Progress,
    over: AtomicBool,
}

impl Progress for Patience<'_> {
    fn begin(&self, _: &str, _: u64) {}

    fn at(&self, _: u64) {}

    fn cancelled(&self) -> bool {
        if Instant::now() > self.until || self.within.cancelled() {
            self.over.store(true, Ordering::Relaxed);
        }
        self.over.load(Ordering::Relaxed)
    }
}

/// Gives a review of a model the action that the model says between its points. Disks and volumes have no flash to model
/// on a small scale: their measured points decide.
pub fn advise_model(result: &mut ReviewResult, profile: &Profile, host: &Host, seed: u64) -> Result<(), FitError> {
    let Some(figures) = profile.figures()? else { return Ok(()) };
    let capacities = figures.capacities;
    let wanted = MODEL_BANDS.max(MODEL_SECTORS / capacities.data_sectors_per_band as f64);
    let device = profile.lower((wanted / f64::from(capacities.bands)).min(1.0))?;
    let card = Card::Itself(Box::new(Candidate { device, host: host.config(), stretch: 1.0 }));
    let lab = Mutex::new(Lab::new(seed, &Silent, None));
    let asked = Asked { input: input(result), lab, card, began: Instant::now() };
    review::answer_between(result, &asked);
    Ok(())
}

/// Gives a review of a real device the action that a card fitted to it says between its points, where there is such a card
/// within the time that there is and predicts what was measured. A review without one keeps its own.
pub fn advise_device(
    result: &mut ReviewResult,
    seed: u64,
    patience: Duration,
    progress: &dyn Progress,
) -> Result<(), FitError> {
    let began = Instant::now();
    let patience = Patience { until: began + patience, within: progress, over: AtomicBool::new(false) };
    let card = Card::Fitted { user_bytes: result.target.capacity_bytes, host: Host::builtin("default")? };
    let lab = Mutex::new(Lab::new(seed, &patience, None));
    let asked = Asked { input: input(result), lab, card, began };
    review::answer_between(result, &asked);
    Ok(())
}

fn input(result: &ReviewResult) -> Input {
    Input { file: "review".into(), result: result.clone(), circumstances: None }
}

/// Points of a sweep that were the device's own.
fn observed(input: &Input, name: &str) -> Vec<Observation> {
    let mut observed = Observed::default();
    for sweep in input.result.sweeps.iter().filter(|sweep| sweep.name == name) {
        let own = sweep.points.iter().filter(|point| !point.limited_by_host).cloned().collect();
        of_sweep(input, &Sweep { points: own, ..sweep.clone() }, &Assumed::default(), &mut observed);
    }
    observed.points
}

impl Asked<'_> {
    fn see(&self, card: &Candidate, conditions: &[Condition]) -> Option<Vec<Seen>> {
        let borrowed: Vec<&Condition> = conditions.iter().collect();
        let mut lab = self.lab.lock().expect("no worker panics with the lock");
        lab.see(std::slice::from_ref(card), &borrowed).ok()?.pop()
    }

    /// The card for a sweep, the points that it is held against, and the number of those that it was fitted to.
    fn card(&self, measured: &[Observation]) -> Option<(Candidate, Vec<Observation>, Option<u32>)> {
        match &self.card {
            Card::Itself(card) => Some((card.as_ref().clone(), measured.to_vec(), None)),
            Card::Fitted { user_bytes, host } => {
                let (shown, held) = shown_and_held(measured);
                let mut lab = self.lab.lock().expect("no worker panics with the lock");
                let card = rough(&mut lab, &shown, *user_bytes, host).ok()??;
                Some((card, held, Some(shown.len() as u32)))
            }
        }
    }
}

impl Between for Asked<'_> {
    fn fill(&self, sweep: &Sweep) -> Option<Computed> {
        let measured = observed(&self.input, &sweep.name);
        let (first, last) = (measured.first()?, measured.last()?);
        let (card, held, fitted_points) = self.card(&measured)?;
        let conditions: Vec<Condition> = held.iter().map(|point| point.condition.clone()).collect();
        let seen = self.see(&card, &conditions)?;
        let off =
            |(seen, point): (&Seen, &Observation)| Some(distance(seen.bytes_per_s, point.value(Figure::Throughput)?));
        let errors = Errors::of(seen.iter().zip(&held).filter_map(off).collect());
        if errors.figures == 0 || errors.median > BOUND || errors.most > WORST {
            return None;
        }
        let asked: Vec<(f64, Condition)> = match sweep.axis {
            Axis::FillPercent => {
                let base = last.condition.clone();
                FILLS.iter().map(|&fill| (fill, base.clone().at_fill(fill / 100.0))).collect()
            }
            Axis::Threads => {
                let reach = first.condition.threads..=last.condition.threads;
                let base = &last.condition;
                let threads = THREADS.iter().filter(|threads| reach.contains(threads));
                threads.map(|&threads| (f64::from(threads), Condition { threads, ..base.clone() })).collect()
            }
            _ => return None,
        };
        let conditions: Vec<Condition> = asked.iter().map(|(_, condition)| condition.clone()).collect();
        let points =
            self.see(&card, &conditions)?.iter().zip(&asked).map(|(seen, (x, of))| point(*x, of, seen)).collect();
        let twin = Twin {
            fitted_points,
            computed_points: asked.len() as u32,
            error: errors.median,
            took_s: fitted_points.map(|_| self.began.elapsed().as_secs_f64()),
        };
        Some(Computed { sweep: Sweep { points, ..sweep.clone() }, twin })
    }
}

/// A point of a sweep, as far as a twin has it: rates and mean latencies.
fn point(x: f64, condition: &Condition, seen: &Seen) -> Point {
    let of = |is: bool, figure: Figure| {
        let iops = seen.bytes_per_s / f64::from(condition.block_bytes);
        let mean = seen.value(figure).unwrap_or(0.0);
        let lat_ns = LatencySummary { mean, ..LatencySummary::default() };
        if is { IoClass { iops, bw_bytes: seen.bytes_per_s, lat_ns, ..IoClass::default() } } else { IoClass::default() }
    };
    let write = of(condition.mode.writes(), Figure::WriteMean);
    // Each write has a flush of its own.
    let sync =
        if condition.fsync_all { IoClass { iops: write.iops, ..IoClass::default() } } else { IoClass::default() };
    Point {
        x,
        fill: condition.fill,
        read: of(condition.mode.reads(), Figure::ReadMean),
        write,
        sync,
        ..Point::default()
    }
}
