//! From results to figures that a model can be held against: what was asked, what came out, how far that can be trusted.

use crate::fit::burst::Bursts;
use crate::fit::condition::Condition;
use crate::fit::error::{FitError, Missing};
use crate::fit::input::Input;
use crate::fit::observation::{Figure, Measured, Observation, RANKS, READS, WRITES};
use crate::fit::stops;
use load::{FileioConfig, FileioMode};
use results::{Axis, IoClass, Point, Sweep, TargetKind};
use serde_json::Value;

/// Noise of a throughput that says nothing of its own: one standard deviation, in logarithms. Runs of the same load
/// on the same drive seldom agree better.
pub const THROUGHPUT_NOISE: f64 = 0.02;
/// The same of a median or a mean latency.
pub const MIDDLE_NOISE: f64 = 0.04;
/// The same of a 99th percentile and those beyond: far fewer requests decide it.
pub const TAIL_NOISE: f64 = 0.06;
/// Agreement of ranks at best: one standard deviation of the logarithm of the odds to be beyond.
const RANK_NOISE: f64 = 0.3;
/// Requests that a model measures at a point, about: its ranks are no better known.
const MODEL_REQUESTS: f64 = 8_000.0;
/// Figures of the same condition that are further apart contradict each other: five deviations of their difference, and
/// no less than a tenth.
const CONTRADICTION_DEVIATIONS: f64 = 5.0;
const CONTRADICTION_LEAST: f64 = 0.10;
/// Points that a fit needs.
pub const MIN_POINTS: usize = 3;
/// Most points that are fitted; beyond, those in between are left out.
const MAX_POINTS: usize = 60;
/// Sizes of one device that are stated further apart are of two devices.
const SIZE_TOLERANCE: f64 = 0.01;
/// A percentile needs requests beyond it.
const MIN_BEYOND: f64 = 10.0;
/// Largest request and most requests outstanding that are modelled.
const MAX_BLOCK_BYTES: u64 = 1 << 20;
const MAX_OUTSTANDING: u64 = 1 << 12;

/// Everything that the files say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Points, in the order of the files and their sweeps.
    pub points: Vec<Observation>,
    /// Remarks for people on points that were left out or assumed.
    pub notes: Vec<String>,
    /// Bytes that the device is sold with, where a file says.
    pub user_bytes: Option<u64>,
    /// Title of the device.
    pub title: Option<String>,
    /// Bursts, where a review has some.
    pub bursts: Option<Bursts>,
}

/// Facts that a person states about files that do not say them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumed {
    /// Share of the device in use while it was measured, where a file doesn't say.
    pub fill: f64,
    /// Threads, where a file doesn't say.
    pub threads: u32,
}

impl Default for Assumed {
    /// A full device, and enough threads to keep it busy.
    fn default() -> Assumed {
        Assumed { fill: 1.0, threads: 16 }
    }
}

/// Reads all files as figures of one device.
pub fn observe(inputs: &[Input], assumed: &Assumed) -> Result<Observed, FitError> {
    same_device(inputs)?;
    let mut observed = Observed::default();
    for input in inputs {
        let target = &input.result.target;
        let sold = target.sold_bytes.or((target.capacity_bytes > 0).then_some(target.capacity_bytes));
        observed.user_bytes = observed.user_bytes.or(sold);
        observed.title = observed.title.take().or((!target.title.is_empty()).then(|| target.title.clone()));
        for sweep in &input.result.sweeps {
            of_sweep(input, sweep, assumed, &mut observed);
        }
    }
    observed.bursts = Bursts::of(inputs);
    merge(&mut observed)?;
    stops::forget_what_is_rare(&mut observed.points);
    thin(&mut observed);
    if observed.points.len() < MIN_POINTS {
        let files = inputs.iter().map(|i| i.file.as_str()).collect::<Vec<_>>().join(", ");
        let missing = Missing::of(&observed.points);
        return Err(FitError::TooFew { files: files.into(), found: observed.points.len(), least: MIN_POINTS, missing });
    }
    Ok(observed)
}

/// Two results of two devices have no card that would have measured like both.
fn same_device(inputs: &[Input]) -> Result<(), FitError> {
    let fact = |input: &Input, key: &str| {
        input.result.target.facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone())
    };
    // A result of another tool is called after its file.
    let title = |input: &Input| {
        let target = &input.result.target;
        let tells = target.kind != TargetKind::Imported || input.file.starts_with("published:");
        tells.then(|| target.title.clone())
    };
    for (i, a) in inputs.iter().enumerate() {
        for b in &inputs[i + 1..] {
            let differ = |x: Option<String>, y: Option<String>| match (x, y) {
                (Some(x), Some(y)) if x != y => Some((x, y)),
                _ => None,
            };
            let size = |input: &Input| input.result.target.sold_bytes.filter(|&bytes| bytes > 0);
            let sizes = match (size(a), size(b)) {
                (Some(x), Some(y)) if (x as f64 / y as f64).ln().abs() > SIZE_TOLERANCE => {
                    Some((format!("{:.1} GB", x as f64 / 1e9), format!("{:.1} GB", y as f64 / 1e9)))
                }
                _ => None,
            };
            let found = differ(title(a), title(b)).or(differ(fact(a, "serial"), fact(b, "serial"))).or(sizes);
            if let Some((first, second)) = found {
                let (a, b) = (a.file.as_str().into(), b.file.as_str().into());
                return Err(FitError::TwoDevices { a, first: first.into(), b, second: second.into() });
            }
        }
    }
    Ok(())
}

/// Points of a sweep that can be fitted, as they were measured.
pub(crate) fn of_sweep(input: &Input, sweep: &Sweep, assumed: &Assumed, observed: &mut Observed) {
    let mut left_out = 0;
    for point in &sweep.points {
        let condition = condition(input, sweep, point, assumed, &mut observed.notes);
        let measured = measured(point);
        match condition {
            Some(condition) if !measured.is_empty() => observed.points.push(Observation {
                file: input.file.clone(),
                sweep: sweep.name.clone(),
                condition,
                measured,
            }),
            _ => left_out += 1,
        }
    }
    if left_out > 0 {
        note(&mut observed.notes, format!("{left_out} of {} not fitted: its load is not one that is", sweep.name));
    }
}

fn note(notes: &mut Vec<String>, text: String) {
    if !notes.contains(&text) {
        notes.push(text);
    }
}

fn condition(
    input: &Input,
    sweep: &Sweep,
    point: &Point,
    assumed: &Assumed,
    notes: &mut Vec<String>,
) -> Option<Condition> {
    let load = &point.load;
    let whole = |key: &str| load[key].as_u64().or_else(|| load[key].as_f64().map(|value| value as u64));
    // Points at a fixed rate say what the rate says; a load that flushes now and then is not one of ours.
    if !load["rate_iops"].is_null() || whole("fsync_every").unwrap_or(0) > 0 || sweep.axis == Axis::RatePercent {
        return None;
    }
    if load["think_ns"].as_u64().unwrap_or(0) > 0 || load["access"].as_str().is_some_and(|a| a != "uniform") {
        return None;
    }
    let mode = FileioMode::ALL.into_iter().find(|mode| load["mode"].as_str() == Some(mode.name()))?;
    let block_bytes = whole("block_bytes").or((sweep.axis == Axis::BlockBytes).then_some(point.x as u64))?;
    let circumstances = input.circumstances.as_ref();
    let threads = whole("threads").or(circumstances.and_then(|c| c.threads.map(u64::from)));
    let threads = threads.or((sweep.axis == Axis::Threads).then_some(point.x as u64)).unwrap_or_else(|| {
        note(notes, format!("{}: threads not stated, {} assumed", input.file, assumed.threads));
        assumed.threads.into()
    });
    let queue_depth = whole("queue_depth").or(whole("iodepth")).unwrap_or(1).max(1);
    if threads == 0 || threads.saturating_mul(queue_depth) > MAX_OUTSTANDING {
        return None;
    }
    if !(512..=MAX_BLOCK_BYTES).contains(&block_bytes) || !block_bytes.is_multiple_of(512) {
        return None;
    }
    let fill = if point.fill > 0.0 && point.fill <= 1.0 {
        point.fill
    } else {
        if mode.writes() {
            note(notes, format!("{}: fill not stated, {:.0} % assumed", input.file, assumed.fill * 100.0));
        }
        assumed.fill
    };
    let rw_ratio = load["rw_ratio"].as_f64().or_else(|| {
        let percent = load["read_percent"].as_f64()?;
        (percent < 100.0).then(|| percent / (100.0 - percent))
    });
    Some(Condition {
        mode,
        block_bytes: block_bytes as u32,
        threads: threads as u32,
        queue_depth: queue_depth as u32,
        rw_ratio: rw_ratio.filter(|r| *r > 0.0 && *r < 1e6).unwrap_or(FileioConfig::default().rw_ratio),
        fsync_all: load["fsync_all"] == Value::Bool(true),
        own_regions: load["own_regions"] == Value::Bool(true),
        fill,
        file: load["file_share"].as_f64().filter(|share| *share > 0.0).map_or(fill, |share| share.min(fill)),
        cpu_per_request_ns: circumstances.map_or(0, |c| c.cpu_per_request_ns),
    })
}

fn measured(point: &Point) -> Vec<Measured> {
    let mut out = Vec::new();
    let bw = point.bw_bytes();
    if !(bw.is_finite() && bw > 0.0) {
        return out;
    }
    // The rounds of one point differ by noise that was seen.
    let seen = point.steady.as_ref().map_or(0.0, |steady| scatter(&steady.rounds));
    let noise = THROUGHPUT_NOISE.hypot(seen);
    out.push(Measured { figure: Figure::Throughput, value: bw, noise });
    // A stall holds up all requests that are outstanding: so many of the slow ones are one event.
    let threads = point.load["threads"].as_f64().unwrap_or(1.0).max(1.0);
    let at_once = |class: &IoClass| {
        let streams = point.load["own_regions"] == Value::Bool(true) && threads > 1.0;
        match (streams, point.write.total_ios > 0) {
            // Streams meet each other in a place that is decided once for each.
            (true, _) => independent(class) / threads,
            (false, true) => threads,
            (false, false) => 1.0,
        }
    };
    of_class(&point.read, Figure::ReadMean, READS, at_once(&point.read), &mut out);
    of_class(&point.write, Figure::WriteMean, WRITES, at_once(&point.write), &mut out);
    out.extend(stops::longest(&point.write));
    out
}

/// Requests that ranks are known by: no more than a model has.
fn independent(class: &IoClass) -> f64 {
    MODEL_REQUESTS.min(class.total_ios as f64)
}

/// Percentiles of a class. The latency at a rank is known as badly as the rank is where latency is steep against rank,
/// as where one request in a hundred waits for an erase: noise of the rank is noise of the figure, by the slope.
fn of_class(class: &IoClass, mean: Figure, figures: [Figure; 8], burst: f64, out: &mut Vec<Measured>) {
    if class.total_ios == 0 {
        return;
    }
    let lat = &class.lat_ns;
    let known: Vec<(usize, f64)> =
        RANKS.iter().enumerate().map(|(i, rank)| (i, lat.at(*rank) as f64)).filter(|(_, ns)| *ns > 0.0).collect();
    if known.is_empty() {
        if lat.mean.is_finite() && lat.mean > 0.0 {
            out.push(Measured { figure: mean, value: lat.mean, noise: MIDDLE_NOISE });
        }
        return;
    }
    let odds = |i: usize| (RANKS[i] / (100.0 - RANKS[i])).ln();
    for (at, &(i, value)) in known.iter().enumerate() {
        let share = RANKS[i].min(100.0 - RANKS[i]) / 100.0;
        if class.total_ios as f64 * share < MIN_BEYOND {
            continue;
        }
        let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|n| known.get(n));
        let slope = neighbours.map(|&(n, ns)| ((ns / value).ln() / (odds(n) - odds(i))).abs()).fold(0.0, f64::max);
        let rank_noise = RANK_NOISE.hypot((burst / (independent(class) * share)).sqrt());
        let own = if figures[i].is_tail() { TAIL_NOISE } else { MIDDLE_NOISE };
        out.push(Measured { figure: figures[i], value, noise: own.hypot(slope * rank_noise) });
    }
}

/// Standard deviation of the mean of the last five rounds, in logarithms.
fn scatter(rounds: &[f64]) -> f64 {
    let last = &rounds[rounds.len().saturating_sub(5)..];
    if last.len() < 2 || last.iter().any(|r| !(*r > 0.0 && r.is_finite())) {
        return 0.0;
    }
    let n = last.len() as f64;
    let mean = last.iter().map(|r| r.ln()).sum::<f64>() / n;
    let variance = last.iter().map(|r| (r.ln() - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (variance / n).sqrt().min(0.2)
}

/// Points of the same condition become one, unless they contradict each other.
fn merge(observed: &mut Observed) -> Result<(), FitError> {
    let mut merged: Vec<Observation> = Vec::new();
    for point in observed.points.drain(..) {
        let Some(same) = merged.iter_mut().find(|m| m.condition == point.condition) else {
            merged.push(point);
            continue;
        };
        for new in &point.measured {
            let Some(old) = same.measured.iter_mut().find(|m| m.figure == new.figure) else {
                same.measured.push(*new);
                continue;
            };
            let apart = (new.value / old.value).ln().abs();
            let bound = CONTRADICTION_DEVIATIONS * new.noise.hypot(old.noise);
            if new.figure == Figure::Throughput && apart > bound.max(CONTRADICTION_LEAST) {
                return Err(FitError::Contradiction {
                    condition: point.condition.clone(),
                    a: same.file.as_str().into(),
                    first_bytes_per_s: old.value,
                    b: point.file.as_str().into(),
                    second_bytes_per_s: new.value,
                });
            }
            old.value = (old.value * new.value).sqrt();
            old.noise /= std::f64::consts::SQRT_2;
        }
    }
    observed.points = merged;
    Ok(())
}

/// Few points say nearly as much as many of the same kind.
fn thin(observed: &mut Observed) {
    let all = observed.points.len();
    if all <= MAX_POINTS {
        return;
    }
    let mut i = 0;
    observed.points.retain(|_| {
        i += 1;
        (i * MAX_POINTS) / all != ((i - 1) * MAX_POINTS) / all
    });
    observed.notes.push(format!("{} of {all} points are fitted, evenly chosen", observed.points.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(name: &str) -> Input {
        Input {
            file: name.into(),
            result: import::published(name).unwrap(),
            circumstances: review::circumstances(name),
        }
    }

    #[test]
    fn a_published_table_becomes_figures_with_its_circumstances() {
        let observed = observe(&[published("published:duo-320-fill")], &Assumed::default()).unwrap();
        assert_eq!((observed.points.len(), observed.user_bytes), (9, Some(320_000_000_000)));
        assert_eq!(observed.points[8].condition.label(), "rndwr 16k 16t 100%");
        assert_eq!(observed.points[8].value(Figure::Throughput), Some(99.0 * 1_048_576.0));
        let violin = observe(&[published("published:violin-3205")], &Assumed::default()).unwrap();
        assert_eq!(violin.points[0].condition.cpu_per_request_ns, 33_000);
        assert_eq!(violin.points[0].value(Figure::ReadMean), Some(107_000.0));
    }

    #[test]
    fn a_percentile_on_a_cliff_is_known_worse_than_one_on_a_plateau() {
        let noise = |p99_ns: u64| {
            let mut class = IoClass { total_ios: 100_000, ..IoClass::default() };
            let all = RANKS.map(|rank| (results::LatencySummary::key(rank), 100_000));
            class.lat_ns.percentile = all.into_iter().collect();
            for rank in [99.0, 99.9] {
                class.lat_ns.percentile.insert(results::LatencySummary::key(rank), p99_ns);
            }
            let mut out = Vec::new();
            of_class(&class, Figure::WriteMean, WRITES, 16.0, &mut out);
            let at = |figure| out.iter().find(|m| m.figure == figure).unwrap().noise;
            (at(Figure::WriteP50), at(Figure::WriteP99))
        };
        let (flat, cliff) = (noise(100_000), noise(5_000_000));
        assert_eq!(flat, (MIDDLE_NOISE, TAIL_NOISE));
        assert_eq!(cliff.0, MIDDLE_NOISE);
        assert!(cliff.1 > 5.0 * TAIL_NOISE, "{cliff:?}");
    }

    #[test]
    fn two_devices_are_refused() {
        let inputs = [published("published:duo-320-fill"), published("published:tachion-400-fill")];
        assert!(matches!(observe(&inputs, &Assumed::default()), Err(FitError::TwoDevices { .. })));
    }

    #[test]
    fn the_same_condition_with_other_figures_is_a_contradiction_and_with_like_ones_a_mean() {
        let table = published("published:duo-320-fill");
        let scaled = |factor: f64| {
            let mut other = table.clone();
            other.file = "other.json".into();
            other.result.sweeps[0].points.iter_mut().for_each(|p| p.write.bw_bytes *= factor);
            other
        };
        let both = |factor| observe(&[table.clone(), scaled(factor)], &Assumed::default());
        assert!(matches!(both(1.3), Err(FitError::Contradiction { .. })));
        let merged = both(1.02).unwrap();
        assert_eq!(merged.points.len(), 9);
        let value = merged.points[0].value(Figure::Throughput).unwrap() / (1095.0 * 1_048_576.0);
        assert!((value - 1.02_f64.sqrt()).abs() < 1e-9, "{value}");
    }

    #[test]
    fn too_few_points_are_refused_with_what_is_missing() {
        let mut table = published("published:duo-320-fill");
        table.result.sweeps[0].points.truncate(2);
        let error = observe(&[table], &Assumed::default()).unwrap_err().to_string();
        assert!(error.contains("2 points") && error.contains("1 more"), "{error}");
    }
}
