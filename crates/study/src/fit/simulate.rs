//! Asking models what was measured.
//!
//! The places of all sectors depend on geometry and spare space, not on any time. So a state is made once, and
//! candidates that differ only in how fast they are begin from copies of it: that is what makes hundreds of candidates
//! affordable. And what can't matter to a load (programs to one that only reads) is the same for all candidates there,
//! so that no point is simulated twice.

use crate::fit::candidate::Candidate;
use crate::fit::condition::Condition;
use crate::fit::cycles;
use crate::fit::exchange::{self, Answer, Exchange, Question};
use crate::fit::observation::{Figure, Observation, RANKS};
use crate::fit::relevant::relevant;
use crate::fit::state;
use crate::fit::stops;
use card::{CardConfig, ModelCard};
use device::{Device, SECTOR_BYTES};
use profile::DeviceConfig;
use results::IoClass;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use target::{Measure, Modelled, OnlyCancel, Progress, RunError, RunSpec};

/// Sectors of all states that are kept: about ten bytes of memory each.
const KEPT_SECTORS: u64 = 60 << 20;
/// Requests of 16 KiB that are measured at a point, at least: forty lie beyond the 99th percentile. Larger requests are
/// fewer, but never below the minimum.
const REQUESTS: u64 = 4_000;
const MIN_REQUESTS: u64 = 800;
/// Bands that a point of writes fills, so that collection has its way with several victims.
const WRITTEN_BANDS: u64 = 4;
/// Bands and buffers that are written before it: free space and pace have to settle as the load leaves them.
const WARM_UP_BANDS: u64 = 2;
const WARM_UP_BUFFERS: u64 = 10;
/// Writes are measured for so many times as long as reads, at least.
const WRITES_MORE: u64 = 2;
/// Standard deviations beyond which residuals grow as their logarithm.
const FAR: f64 = 10.0;
/// Most requests of a point.
const MAX_REQUESTS: u64 = 20_000;

/// Figures of a model at one condition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Bytes a second, both ways.
    pub bytes_per_s: f64,
    read_mean_ns: f64,
    write_mean_ns: f64,
    read_ns: [f64; RANKS.len()],
    write_ns: [f64; RANKS.len()],
    write_longest_ns: f64,
}

impl Seen {
    pub(crate) fn of(read: &IoClass, write: &IoClass, stretch: f64) -> Seen {
        let mean = |class: &IoClass| if class.total_ios == 0 { 0.0 } else { class.lat_ns.mean };
        let times = |class: &IoClass| RANKS.map(|rank| class.lat_ns.at(rank) as f64);
        Seen {
            bytes_per_s: read.bw_bytes + write.bw_bytes,
            read_mean_ns: mean(read),
            write_mean_ns: mean(write),
            read_ns: times(read),
            write_ns: stops::stretched(write, stretch, times(write)),
            write_longest_ns: write.lat_ns.max as f64 * stretch,
        }
    }

    /// A figure; `None` where nothing of its kind was done.
    pub fn value(&self, figure: Figure) -> Option<f64> {
        let value = match figure {
            Figure::Throughput => self.bytes_per_s,
            Figure::ReadMean => self.read_mean_ns,
            Figure::WriteMean => self.write_mean_ns,
            Figure::WriteLongest => self.write_longest_ns,
            figure => match (figure.rank_of_reads(), figure.rank_of_writes()) {
                (Some(rank), _) => self.read_ns[rank],
                (None, Some(rank)) => self.write_ns[rank],
                (None, None) => 0.0,
            },
        };
        (value > 0.0).then_some(value)
    }
}

/// A point to be simulated.
struct Task<'a> {
    key: String,
    candidate: Candidate,
    condition: &'a Condition,
    state: String,
}

/// States that were made, and how much was simulated.
pub(crate) struct Lab<'a> {
    seed: u64,
    states: BTreeMap<String, Modelled>,
    order: VecDeque<String>,
    kept_sectors: u64,
    seen: BTreeMap<String, Seen>,
    progress: &'a dyn Progress,
    points: AtomicU64,
    /// Points are simulated with one in so many requests.
    part: u64,
    exchange: Option<Exchange<'a>>,
}

impl<'a> Lab<'a> {
    /// Simulations are divided with whoever the exchange leads to.
    pub fn new(seed: u64, progress: &'a dyn Progress, exchange: Option<Exchange<'a>>) -> Lab<'a> {
        Lab {
            seed,
            states: BTreeMap::new(),
            order: VecDeque::new(),
            kept_sectors: 0,
            seen: BTreeMap::new(),
            progress,
            points: AtomicU64::new(0),
            part: 1,
            exchange,
        }
    }

    /// Points simulated so far.
    pub fn points(&self) -> u64 {
        self.points.load(Ordering::Relaxed)
    }

    pub fn part(&self) -> u64 {
        self.part
    }

    /// From now on one in so many requests is enough, as for first guesses and for differences.
    pub fn set_part(&mut self, part: u64) {
        self.part = part;
    }

    pub fn progress(&self) -> &'a dyn Progress {
        self.progress
    }

    /// Returns the figures of each candidate at each condition; they do not depend on how many cores worked on them.
    pub fn see(&mut self, candidates: &[Candidate], conditions: &[&Condition]) -> Result<Vec<Vec<Seen>>, RunError> {
        let mut keys = Vec::new();
        let mut tasks: Vec<Task> = Vec::new();
        for candidate in candidates {
            for &condition in conditions {
                let candidate = relevant(candidate, condition);
                let key = format!("{} {candidate:?} {condition:?}", self.part);
                if !self.seen.contains_key(&key) && !tasks.iter().any(|task| task.key == key) {
                    let state = state::state_key(&candidate.device, condition);
                    tasks.push(Task { key: key.clone(), candidate, condition, state });
                }
                keys.push(key);
            }
        }
        let before = self.points();
        let seen = match self.exchange {
            Some(exchange) => self.simulate_with_others(&tasks, exchange)?,
            None => self.simulate(&tasks.iter().collect::<Vec<_>>())?,
        };
        // All of them count, here and elsewhere.
        self.points.store(before + tasks.len() as u64, Ordering::Relaxed);
        self.seen.extend(tasks.into_iter().map(|task| task.key).zip(seen));
        self.forget();
        let mut all = keys.iter().map(|key| self.seen[key].clone());
        // A review that was too short for any point asks for nothing.
        Ok(candidates.iter().map(|_| all.by_ref().take(conditions.len()).collect()).collect())
    }

    fn simulate(&mut self, tasks: &[&Task]) -> Result<Vec<Seen>, RunError> {
        self.make_states(tasks)?;
        review::on_all_cores(tasks, |task| {
            let seen = self.measure(&task.candidate, task.condition, &self.states[&task.state]);
            let done = self.points.fetch_add(1, Ordering::Relaxed) + 1;
            self.progress.at(done);
            seen
        })
    }

    fn simulate_with_others(&mut self, tasks: &[Task], exchange: Exchange<'a>) -> Result<Vec<Seen>, RunError> {
        let keys: Vec<String> = tasks.iter().map(|task| exchange::name(&task.key)).collect();
        let states: Vec<String> = tasks.iter().map(|task| exchange::name(&task.state)).collect();
        let mut seen: Vec<Option<Seen>> = vec![None; tasks.len()];
        let mut found = Vec::new();
        while seen.iter().any(Option::is_none) || !found.is_empty() {
            if self.progress.cancelled() {
                return Err(RunError::Cancelled);
            }
            let answer = exchange::ask(exchange, &Question { keys: &keys, states: &states, found });
            let alone = answer.is_none();
            let Answer { known, mut todo } = answer.unwrap_or(Answer { known: Vec::new(), todo: Vec::new() });
            if alone {
                todo.extend(0..tasks.len());
            }
            for (place, figures) in known {
                if let Some(place) = seen.get_mut(place) {
                    *place = Some(figures);
                }
            }
            todo.retain(|&place| seen.get(place).is_some_and(Option::is_none));
            let figures = self.simulate(&todo.iter().map(|&place| &tasks[place]).collect::<Vec<_>>())?;
            for (&place, figures) in todo.iter().zip(&figures) {
                seen[place] = Some(figures.clone());
            }
            found = if alone { Vec::new() } else { todo.into_iter().zip(figures).collect() };
        }
        Ok(seen.into_iter().flatten().collect())
    }

    fn make_states(&mut self, tasks: &[&Task]) -> Result<(), RunError> {
        let mut wanted: Vec<&Task> = Vec::new();
        for &task in tasks {
            if !self.states.contains_key(&task.state) && !wanted.iter().any(|w| w.state == task.state) {
                wanted.push(task);
            }
        }
        let made = review::on_all_cores(&wanted, |task| {
            state::make(&task.candidate.device, task.condition, self.seed, &OnlyCancel(self.progress))
        })?;
        for (task, state) in wanted.into_iter().zip(made) {
            self.kept_sectors += state.capacity_bytes() / SECTOR_BYTES;
            self.order.push_back(task.state.clone());
            self.states.insert(task.state.clone(), state);
        }
        Ok(())
    }

    fn forget(&mut self) {
        while self.kept_sectors > KEPT_SECTORS
            && let Some(key) = self.order.pop_front()
        {
            let state = self.states.remove(&key).expect("each state is kept once");
            self.kept_sectors -= state.capacity_bytes() / SECTOR_BYTES;
        }
    }

    fn measure(&self, candidate: &Candidate, condition: &Condition, state: &Modelled) -> Result<Seen, RunError> {
        let device = &candidate.device;
        let load = condition.load(device.user_bytes());
        let mut modelled = Modelled::new(device, load.build(self.seed)?.processes(), false, self.seed)?;
        match (&mut modelled, state) {
            (Modelled::Card(card), Modelled::Card(from)) => *card.ftl_mut() = from.ftl().clone(),
            (Modelled::Striped(cards), Modelled::Striped(from)) => copy_states(cards.cards_mut(), from.cards()),
            (Modelled::Mirrored(cards), Modelled::Mirrored(from)) => copy_states(cards.cards_mut(), from.cards()),
            (Modelled::Raid5(cards), Modelled::Raid5(from)) => copy_states(cards.cards_mut(), from.cards()),
            _ => {}
        }
        let length = length(device, condition, self.part);
        let mut host = candidate.host;
        host.session_ns += condition.cpu_per_request_ns;
        let only_cancel = OnlyCancel(self.progress);
        if let Some(length) = length.in_cycles(device) {
            let cycles = cycles::measure(modelled, &load, host, self.seed, &length, &only_cancel)?;
            // Work that is under way when enough is clean makes all stalls longer by as much.
            let stretch = (candidate.stretch + cycles.longer - 1.0) / cycles.longer;
            return Ok(Seen::of(&cycles.read, &cycles.write, stretch));
        }
        let spec = RunSpec {
            device,
            device_json: serde_json::Value::Null,
            host: &host,
            host_json: serde_json::Value::Null,
            load: &load,
            fill: condition.fill,
            seed: self.seed,
            measure: length.measure(),
            fresh: false,
            explain_tail: false,
            histograms: candidate.stretch > 1.0,
        };
        let result = target::measure(&spec, modelled.into(), &only_cancel)?;
        Ok(Seen::of(&result.read, &result.write, candidate.stretch))
    }
}

fn copy_states(cards: &mut [ModelCard], from: &[ModelCard]) {
    for (card, from) in cards.iter_mut().zip(from) {
        *card.ftl_mut() = from.ftl().clone();
    }
}

/// Length of a point's measurement.
struct Length {
    /// Requests before it, of loads that write.
    warm_up: Option<u64>,
    requests: u64,
    /// Sectors that a request writes.
    per_request: f64,
}

impl Length {
    fn measure(&self) -> Measure {
        match self.warm_up {
            Some(warm_up) => Measure::After { warm_up, requests: self.requests },
            None => Measure::Requests(self.requests),
        }
    }

    /// Returns the length in whole cycles where the card stops the world while it is measured: these need fewer
    /// requests.
    fn in_cycles(&self, device: &DeviceConfig) -> Option<cycles::Length> {
        cycles::Length::of(device, self.warm_up?, self.requests.min(REQUESTS), self.per_request)
    }
}

/// Requests that are enough for a point, and those before them until the card is as the load keeps it.
fn length(device: &DeviceConfig, condition: &Condition, part: u64) -> Length {
    let least = (REQUESTS * (16 << 10) / u64::from(condition.block_bytes)).clamp(MIN_REQUESTS, REQUESTS);
    if !condition.mode.writes() {
        return Length { warm_up: None, requests: (least / part).max(MIN_REQUESTS), per_request: 0.0 };
    }
    let cards = device.cards();
    let sum = |of: &dyn Fn(&CardConfig) -> u64| cards.iter().map(of).sum::<u64>();
    let band_sectors = sum(&|card| {
        let g = &card.nand.geometry;
        u64::from(g.dies()) * u64::from(g.units_per_band()) * u64::from(g.sectors_per_unit())
    });
    let buffer_sectors = sum(&|card| u64::from(card.buffer_sectors));
    let write_share = if condition.mode.reads() { 1.0 / (1.0 + condition.rw_ratio) } else { 1.0 };
    let per_request = (f64::from(condition.block_bytes) / SECTOR_BYTES as f64).max(1.0) * write_share;
    let least_before = (WARM_UP_BANDS * band_sectors).max(WARM_UP_BUFFERS * buffer_sectors);
    // All that is free comes round once.
    let all = cards.first().map_or(0, |card| u64::from(card.bands)) * band_sectors;
    let before = (least_before as f64).max(all as f64 * (1.0 - condition.fill));
    // A stall holds up all that are outstanding, so writes need more requests than reads.
    let wanted = ((WRITTEN_BANDS * band_sectors) as f64 / per_request) as u64;
    let requests = wanted.clamp(WRITES_MORE * least, MAX_REQUESTS);
    Length {
        warm_up: Some((before / per_request) as u64 / part),
        requests: (requests / part).max(MIN_REQUESTS),
        per_request,
    }
}

/// Residuals of what a model did against what was measured, in standard deviations.
pub(crate) fn residuals(points: &[&Observation], seen: &[Seen]) -> Vec<f64> {
    points
        .iter()
        .zip(seen)
        .flat_map(|(point, seen)| {
            point.measured.iter().map(|measured| {
                let modelled = seen.value(measured.figure).unwrap_or(1.0);
                saturated((modelled / measured.value).ln() / measured.noise)
            })
        })
        .collect()
}

/// Far off is far off: where a distribution has a cliff, the two sides of it are hundreds of standard deviations apart,
/// and one figure there must not outweigh all others.
fn saturated(residual: f64) -> f64 {
    let far = residual.abs() / FAR;
    if far > 1.0 { residual.signum() * FAR * (1.0 + far.ln()) } else { residual }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::base::Base;
    use crate::fit::knob::Knob;
    use crate::fit::space::Space;
    use load::FileioMode;
    use profile::Host;
    use target::Silent;

    /// Measures as a review does: until five rounds are steady.
    fn steady(candidate: &Candidate, condition: &Condition, state: Modelled) -> Seen {
        let load = condition.load(candidate.device.user_bytes());
        let spec = RunSpec {
            device: &candidate.device,
            device_json: serde_json::Value::Null,
            host: &candidate.host,
            host_json: serde_json::Value::Null,
            load: &load,
            fill: condition.fill,
            seed: 2,
            measure: Measure::Auto,
            fresh: false,
            explain_tail: false,
            histograms: false,
        };
        let result = target::measure(&spec, state.into(), &Silent).unwrap();
        Seen::of(&result.read, &result.write, candidate.stretch)
    }

    #[test]
    fn nothing_asked_of_cards_is_an_empty_answer_of_each() {
        let space = Space::new(&Base::neutral(None), &Host::builtin("default").unwrap(), false, &[]).unwrap();
        let card = || space.candidate(&space.base_values()).unwrap();
        let seen = Lab::new(1, &Silent, None).see(&[card(), card()], &[]).unwrap();
        assert_eq!(seen.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0]);
    }

    #[test]
    fn a_point_measures_what_a_review_does() {
        let host = Host::builtin("default").unwrap();
        for channels in [4.0_f64, 32.0] {
            let mut space = Space::new(&Base::neutral(None), &host, false, &[]).unwrap();
            space.knobs = vec![Knob::Channels, Knob::Spare];
            let candidate = space.candidate(&[channels.ln(), 0.12_f64.ln()]).unwrap();
            let streams = Condition { own_regions: true, ..Condition::random(FileioMode::SeqRewr, 128 << 10, 16) };
            let conditions = [
                Condition::random(FileioMode::RndWr, 16 << 10, 16),
                Condition::random(FileioMode::RndWr, 4 << 10, 16),
                Condition::random(FileioMode::RndRw, 16 << 10, 16),
                Condition::random(FileioMode::RndWr, 16 << 10, 16).at_fill(0.2),
                streams,
            ];
            let conditions: Vec<&Condition> = conditions.iter().collect();
            let mut lab = Lab::new(1, &Silent, None);
            let seen = lab.see(std::slice::from_ref(&candidate), &conditions).unwrap().remove(0);
            for (condition, seen) in conditions.into_iter().zip(seen) {
                let mut state = Modelled::new(&candidate.device, 16, false, 2).unwrap();
                let made = state::make(&candidate.device, condition, 2, &Silent).unwrap();
                let (Modelled::Card(card), Modelled::Card(from)) = (&mut state, &made) else { panic!("one card") };
                *card.ftl_mut() = from.ftl().clone();
                let reviewed = steady(&candidate, condition, state);
                for (what, figure, bound) in [
                    ("throughput", Figure::Throughput, 0.06),
                    // Programs and erases fall into step in one way or another where little is in use: 16 % apart.
                    ("median", Figure::WriteP50, 0.2),
                    ("95th percentile", Figure::WriteP95, 0.3),
                ] {
                    let off = (seen.value(figure).unwrap() / reviewed.value(figure).unwrap()).ln();
                    assert!(off.abs() < bound, "{channels} channels, {}: {what} off by {off:.3}", condition.label());
                }
            }
        }
    }
}
