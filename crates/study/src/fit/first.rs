//! First guesses where the geometry is free: each part of a card from the loads that meet it.
//!
//! Loads that only read say how many dies there are, how many share a bus, and how long a read and a transfer take; no
//! program or erase has a part in them. So every number of dies and of dies behind a bus is tried against them, with the
//! numbers of reading that suit it. Loads that only write then say the rest of the best few, with parity and without. All
//! that is cheap beside fitting all numbers to all loads, and all numbers begin near where they end.

use crate::fit::chooser::{Chooser, difference};
use crate::fit::error::FitError;
use crate::fit::knob::Knob;
use crate::fit::observation::{Figure, Observation};
use crate::fit::refine::{Problem, State};
use crate::fit::simulate::Lab;
use crate::fit::space::Space;
use crate::fit::start::{fill_curve, lone_ns, over_other_buses};

/// Points of one kind that are needed: with fewer, nothing is told apart.
const MIN_POINTS: usize = 4;
/// Guesses do with one request in so many.
const COARSE: u64 = 3;
/// Parameters that reads determine.
pub(crate) const OF_READS: &[Knob] = &[Knob::ReadLink, Knob::ReadCommand, Knob::Latency, Knob::Read, Knob::Bus];
/// Parameters that throughput and medians of writes determine.
const OF_SMOOTH_WRITES: &[Knob] = &[Knob::WriteLink, Knob::WriteCommand, Knob::Program, Knob::Spare];
/// Parameters that writes determine, given those of reads.
const OF_WRITES: &[Knob] = &[Knob::WriteLink, Knob::WriteCommand, Knob::Program, Knob::Erase, Knob::Spare];
/// Buses to begin with, bytes a second: ONFI's first, third and fifth.
const BUSES: [f64; 3] = [166e6, 400e6, 1e9];
/// Links to begin with, times the most that was read: one that limits reads, and one that does not.
const LINKS: [f64; 2] = [1.1, 2.0];
/// Erases to begin with.
const ERASES_NS: [f64; 3] = [0.9e6, 2e6, 4e6];
/// Programs of flash that there is, from fast SLC to slow QLC.
const PROGRAMS_NS: std::ops::RangeInclusive<f64> = 120e3..=3e6;
/// Structures that are followed, more and more closely.
const FOLLOWED: [(usize, usize); 2] = [(16, 3), (10, 6)];
/// Steps of a structure that begins where another ended.
const SEEDED_STEPS: usize = 8;
/// Steps with what of writes is smooth, and with all of it.
const SMOOTH_STEPS: usize = 4;
const WRITE_STEPS: usize = 2;
/// A structure that explains reads so much worse than the best is not tried with writes.
const WORSE: f64 = 30.0;
/// Numbers of dies that are tried with writes.
const WITH_WRITES: usize = 3;
/// Numbers of dies that are refined with everything, where few requests leave them so near to each other.
const KEPT: usize = 2;
const NEARLY: f64 = 200.0;
/// Shares of a lone write that are the link's latency, to begin with; the rest is its command and the transfer.
const LATENCY_SHARES: [f64; 2] = [0.3, 0.6];

/// A structure, and the numbers that suit it so far.
struct Guess {
    space: Space,
    state: State,
}

impl Guess {
    fn dies(&self) -> u32 {
        let channels = self.space.value(&self.state.values, Knob::Channels);
        (channels * f64::from(self.space.choices.dies_per_channel)).round() as u32
    }
}

/// Points that first guesses simulate, about; 0 where there will be none.
pub(crate) fn expected_points(chooser: &Chooser, space: &Space) -> u64 {
    let (reads, writes) = of_reads_and_writes(chooser);
    let structures = space.structures().len();
    if structures == 0 || reads.len() < MIN_POINTS || writes.len() < MIN_POINTS {
        return 0;
    }
    // About every second step takes slopes anew.
    let steps = |steps: usize, knobs: &[Knob]| steps * (knobs.len() + 2) * 2 / 3;
    let starts = structures * LINKS.len() * BUSES.len() * LATENCY_SHARES.len();
    let [(kept, few_steps), (followed, all_steps)] = FOLLOWED;
    let of_reads = (starts + kept * steps(few_steps, OF_READS)) * telling(&reads).len()
        + followed * steps(all_steps, OF_READS) * reads.len();
    let of_writes = WITH_WRITES * 2 * (ERASES_NS.len() + steps(SMOOTH_STEPS + WRITE_STEPS, OF_WRITES)) * writes.len();
    (of_reads + of_writes) as u64
}

/// Points that only read, and points that only write, with percentiles.
fn of_reads_and_writes<'a>(chooser: &Chooser<'a>) -> (Vec<&'a Observation>, Vec<&'a Observation>) {
    let percentiles = |p: &&Observation| p.measured.len() > 3;
    let reads = |p: &&Observation| p.condition.mode.reads() && !p.condition.mode.writes();
    let writes = |p: &&Observation| p.condition.mode.writes() && !p.condition.mode.reads();
    let all = || chooser.points.iter().copied().filter(percentiles);
    (all().filter(reads).collect(), all().filter(writes).collect())
}

/// The best structure with numbers that come near, and the best with another number of dies where that explains the loads
/// nearly as well; none where the geometry is given or the points are too few.
pub(crate) fn first(lab: &mut Lab, chooser: &Chooser, space: &Space) -> Result<Vec<(Space, State)>, FitError> {
    let (of_reads, of_writes) = of_reads_and_writes(chooser);
    let mut structures = space.structures();
    if let Some(fill) = fill_curve(space, &of_writes) {
        // Bytes written a second are known, so dies are as many as there are programs under way.
        let program_ns = |dies: u32| f64::from(dies) * space.unit_bytes() * 1e9 / fill.write_bytes_per_s;
        structures.retain(|(dies, _)| PROGRAMS_NS.contains(&program_ns(*dies)));
    }
    let lone = of_reads.iter().any(|p| p.condition.outstanding() == 1);
    if structures.is_empty() || !lone || of_reads.len() < MIN_POINTS || of_writes.len() < MIN_POINTS {
        return Ok(Vec::new());
    }
    lab.set_part(COARSE);
    let mut guesses = read(lab, space, &structures, &of_reads, &of_writes)?;
    let best = guesses.first().map_or(f64::INFINITY, |guess| guess.state.cost);
    let rows = of_reads.iter().map(|p| p.measured.len()).sum();
    guesses.retain(|guess| difference(guess.state.cost, best, rows) < WORSE);
    // The dies that share a bus are tried again later; how many there are is not.
    let mut counts: Vec<u32> = Vec::new();
    guesses.retain(|guess| {
        let dies = guess.dies();
        let is_first = !counts.contains(&dies);
        counts.push(dies);
        is_first
    });
    guesses.truncate(WITH_WRITES);
    let both: Vec<&Observation> = of_reads.iter().chain(&of_writes).copied().collect();
    let mut found: Vec<Guess> = Vec::new();
    for guess in guesses {
        // With a wrong number of dies the wrong parity may suit better.
        for units in [0, 1] {
            found.extend(write(lab, &guess, units, &of_writes, &both)?);
        }
    }
    found.sort_by(|a, b| a.state.cost.total_cmp(&b.state.cost));
    lab.set_part(1);
    let figures = both.iter().map(|p| p.measured.len()).sum();
    let mut kept: Vec<Guess> = Vec::new();
    for guess in found {
        let is_other = kept.iter().all(|kept| kept.dies() != guess.dies());
        let is_near = kept.iter().all(|kept| difference(guess.state.cost, kept.state.cost, figures) < NEARLY);
        if is_other && is_near && kept.len() < KEPT {
            kept.push(guess);
        }
    }
    let mut out = Vec::new();
    for Guess { space, state } in kept {
        let all = Problem::new(&space, chooser.points);
        let state = all.states(lab, &[state.values])?.pop().flatten();
        out.extend(state.map(|state| (space, state)));
    }
    Ok(out)
}

/// Structures with the numbers of reading that suit them, the best first.
fn read(
    lab: &mut Lab,
    space: &Space,
    structures: &[(u32, u32)],
    points: &[&Observation],
    writes: &[&Observation],
) -> Result<Vec<Guess>, FitError> {
    let few = telling(points);
    let mut guesses = Vec::new();
    for &(dies, each) in structures {
        let space = space.structured(each, 0);
        let ceilings = LINKS.iter().flat_map(|link| BUSES.map(|bus| (*link, bus)));
        let all = ceilings.flat_map(|(link, bus)| LATENCY_SHARES.map(|latency| (link, bus, latency)));
        let starts: Vec<Vec<f64>> = all.map(|begin| start(&space, dies / each, begin, points, writes)).collect();
        let states = Problem::new(&space, &few).only(OF_READS).states(lab, &starts)?;
        if let Some(state) = states.into_iter().flatten().min_by(|a, b| a.cost.total_cmp(&b.cost)) {
            guesses.push(Guess { space, state });
        }
    }
    for (round, (kept, steps)) in FOLLOWED.into_iter().enumerate() {
        guesses.sort_by(|a, b| a.state.cost.total_cmp(&b.state.cost));
        guesses.truncate(kept);
        let now: &[&Observation] = if round == 0 { &few } else { points };
        for guess in &mut guesses {
            let problem = Problem::new(&guess.space, now).only(OF_READS);
            if let Some(state) = problem.states(lab, std::slice::from_ref(&guess.state.values))?.pop().flatten() {
                guess.state = problem.refine(lab, state, steps)?;
            }
        }
    }
    guesses.extend(seeded(lab, structures, &guesses, points)?);
    guesses.sort_by(|a, b| a.state.cost.total_cmp(&b.state.cost));
    Ok(guesses)
}

/// Half and twice the dies of each number that came near, begun where that one ended: numbers of reading that lead nowhere
/// from one start lead on from another.
fn seeded(
    lab: &mut Lab,
    structures: &[(u32, u32)],
    guesses: &[Guess],
    points: &[&Observation],
) -> Result<Vec<Guess>, FitError> {
    let best = guesses.iter().map(|guess| guess.state.cost).fold(f64::INFINITY, f64::min);
    let rows = points.iter().map(|p| p.measured.len()).sum();
    let mut counts: Vec<u32> = Vec::new();
    let mut out = Vec::new();
    for seed in guesses.iter().filter(|guess| difference(guess.state.cost, best, rows) < WORSE) {
        if counts.contains(&seed.dies()) {
            continue;
        }
        counts.push(seed.dies());
        for dies in [seed.dies() / 2, seed.dies() * 2] {
            let mut nearest: Option<Guess> = None;
            for &(_, each) in structures.iter().filter(|(count, _)| *count == dies) {
                let space = seed.space.structured(each, 0);
                let problem = Problem::new(&space, points).only(OF_READS);
                let Some(state) = problem.states(lab, &[carried(seed, &space, dies)])?.pop().flatten() else {
                    continue;
                };
                if nearest.as_ref().is_none_or(|nearest| state.cost < nearest.state.cost) {
                    nearest = Some(Guess { space, state });
                }
            }
            let Some(Guess { space, state }) = nearest else { continue };
            let state = Problem::new(&space, points).only(OF_READS).refine(lab, state, SEEDED_STEPS)?;
            out.push(Guess { space, state });
        }
    }
    Ok(out)
}

/// A guess's numbers with other dies.
fn carried(seed: &Guess, space: &Space, dies: u32) -> Vec<f64> {
    let channels = f64::from(dies / space.choices.dies_per_channel);
    let buses = seed.space.value(&seed.state.values, Knob::Channels) / channels;
    let (bus, read_ns) = over_other_buses(&seed.space, &seed.state.values, buses);
    let mut values = seed.state.values.clone();
    set(space, &mut values, Knob::Channels, channels);
    set(space, &mut values, Knob::Bus, bus);
    set(space, &mut values, Knob::Read, read_ns);
    space.clamp(&mut values);
    values
}

/// A structure with parity or without, and the numbers of writing that suit it. Its cost is that of reads and writes.
fn write(
    lab: &mut Lab,
    guess: &Guess,
    parity_units: u32,
    points: &[&Observation],
    both: &[&Observation],
) -> Result<Option<Guess>, FitError> {
    let space = guess.space.structured(guess.space.choices.dies_per_channel, parity_units);
    let mut values = guess.state.values.clone();
    if let Some(fill) = fill_curve(&space, points) {
        let program_ns = space.programmed_at_once(space.dies(&values)) * 1e9 / fill.write_bytes_per_s;
        set(&space, &mut values, Knob::Program, program_ns);
    }
    // Tails are cliffs from afar: throughput and medians lead to where tails say something.
    let smooth: Vec<Observation> = points.iter().map(|point| smooth(point)).collect();
    let smooth: Vec<&Observation> = smooth.iter().collect();
    let problem = Problem::new(&space, &smooth).only(OF_SMOOTH_WRITES);
    let Some(state) = problem.states(lab, &[values])?.pop().flatten() else { return Ok(None) };
    let values = problem.refine(lab, state, SMOOTH_STEPS)?.values;
    let starts: Vec<Vec<f64>> = ERASES_NS
        .iter()
        .map(|erase_ns| {
            let mut values = values.clone();
            set(&space, &mut values, Knob::Erase, *erase_ns);
            values
        })
        .collect();
    let problem = Problem::new(&space, points).only(OF_WRITES);
    let states = problem.states(lab, &starts)?.into_iter().flatten();
    let Some(state) = states.min_by(|a, b| a.cost.total_cmp(&b.cost)) else { return Ok(None) };
    let values = problem.refine(lab, state, WRITE_STEPS)?.values;
    let state = Problem::new(&space, both).states(lab, &[values])?.pop().flatten();
    Ok(state.map(|state| Guess { space, state }))
}

/// A point with its throughput and its median alone.
fn smooth(point: &Observation) -> Observation {
    let of = |figure: Figure| matches!(figure, Figure::Throughput | Figure::WriteP50);
    Observation { measured: point.measured.iter().copied().filter(|m| of(m.figure)).collect(), ..point.clone() }
}

/// Few points that say most of reads: alone, with most threads, in the smallest and the largest blocks.
fn telling<'a>(points: &[&'a Observation]) -> Vec<&'a Observation> {
    let by = |key: &dyn Fn(&Observation) -> i64| points.iter().copied().max_by_key(|p| key(p));
    let outstanding = |p: &Observation| i64::from(p.condition.outstanding());
    let block = |p: &Observation| i64::from(p.condition.block_bytes);
    let wanted = [by(&|p| -outstanding(p)), by(&|p| outstanding(p)), by(&|p| -block(p)), by(&|p| block(p))];
    let mut few: Vec<&Observation> = Vec::new();
    for point in wanted.into_iter().flatten() {
        if !few.iter().any(|p| p.condition == point.condition) {
            few.push(point);
        }
    }
    few
}

/// Starts from reads: the time of a lone read, divided between link, bus and flash.
fn start(
    space: &Space,
    channels: u32,
    (link, bus, latency): (f64, f64, f64),
    reads: &[&Observation],
    writes: &[&Observation],
) -> Vec<f64> {
    let mut values = space.base_values();
    let most =
        |points: &[&Observation]| points.iter().filter_map(|p| p.value(Figure::Throughput)).fold(0.0_f64, f64::max);
    let host = space.host();
    let host_ns = (host.submit_ns + host.complete_ns) as f64;
    let read = lone_ns(reads, [Figure::ReadP05, Figure::ReadP25, Figure::ReadP50]);
    let write = lone_ns(writes, [Figure::WriteP05, Figure::WriteP25, Figure::WriteP50]);
    let read_ns = read.map_or(50e3, |(ns, _)| ns) - host_ns;
    let block_bytes = read.map_or(4096.0, |(_, bytes)| bytes);
    // Latency falls to both alike.
    let latency_ns = write.map_or(0.2 * read_ns, |(ns, _)| latency * (ns - host_ns)).min(0.4 * read_ns);
    let link = link * most(reads);
    let command_ns = 1_500.0;
    let transfer_ns = space.page_bytes() * 1e9 / bus;
    let rest_ns = read_ns - latency_ns - command_ns - block_bytes * 1e9 / link;
    for (knob, value) in [
        (Knob::ReadLink, link),
        (Knob::WriteLink, 2.0 * most(writes)),
        (Knob::ReadCommand, command_ns),
        (Knob::Latency, latency_ns),
        (Knob::Bus, bus),
        (Knob::Read, (rest_ns - transfer_ns).max(0.2 * rest_ns)),
        (Knob::Channels, f64::from(channels)),
        (Knob::Spare, fill_curve(space, writes).map_or(0.2, |fill| fill.spare)),
    ] {
        set(space, &mut values, knob, value);
    }
    space.clamp(&mut values);
    values
}

fn set(space: &Space, values: &mut [f64], knob: Knob, value: f64) {
    if let (Some(at), true) = (space.knobs.iter().position(|k| *k == knob), value > 0.0 && value.is_finite()) {
        values[at] = value.ln();
    }
}
