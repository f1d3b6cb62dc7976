//! The start of a fit: the values that physics gives at once, before anything is simulated.
//!
//! - One request at a time: its latency is the host's time, the link's and one read of flash.
//! - Many requests: the most that is read is what the link, the buses or the dies can do. One figure can't say which of
//!   them it is, so there is a start for each.
//! - Writes against fill: W = B / (1 + c (A(u f) - 1)) with the write amplification A of uniform random writes to the share
//!   u f of the data capacity, and c = 1 where a relocated sector costs what a written one does. For bands of many sectors
//!   all policies that choose among enough bands come close to A = 1 / (1 - X), u f = (X - 1) / ln X (Desnoyers, "Analytic
//!   models of SSD write performance", ACM TOS 10(2), 2014, there for FIFO/LRU; greedy's limit for large blocks is the same).

use crate::fit::condition::Condition;
use crate::fit::knob::Knob;
use crate::fit::observation::{Figure, Observation};
use crate::fit::space::Space;

/// Factor by which a part that is not the limit lies above it.
const ROOM: f64 = 2.5;
/// Factor by which the part that is the limit lies above what was reached.
const LIMIT: f64 = 1.05;
/// Share of a lone read's latency that is the link's, where no write says.
const LINK_SHARE: f64 = 0.2;

/// Spare factor where no collection shows.
const MAX_SPARE: f64 = 0.5;
/// Factor by which larger blocks are written faster where requests are the limit.
const FASTER: f64 = 1.5;

/// The part that is taken to be the limit of reads.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    Link,
    Bus,
    Dies,
    Commands,
}

/// Values to begin with, the base's among them.
pub(crate) fn starts(space: &Space, points: &[&Observation]) -> Vec<Vec<f64>> {
    let mut all = vec![space.base_values()];
    let fill = fill_curve(space, points);
    for limit in [Limit::Dies, Limit::Link, Limit::Bus, Limit::Commands] {
        let mut values = space.base_values();
        for (i, knob) in space.knobs.iter().enumerate() {
            if let Some(value) = guess(space, points, *knob, limit, fill) {
                values[i] = value.max(1e-9).ln();
            }
        }
        space.clamp(&mut values);
        if !all.contains(&values) {
            all.push(values);
        }
    }
    let last = all[all.len() - 1].clone();
    all.extend(host_paths(space, points).into_iter().map(|known| {
        let mut values = last.clone();
        for (knob, value) in known {
            if let Some(at) = space.knobs.iter().position(|k| *k == knob) {
                values[at] = value.max(1e-9).ln();
            }
        }
        space.clamp(&mut values);
        values
    }));
    all
}

/// Spare factors to begin with where relocation goes through the host.
const HOST_PATH_SPARES: [f64; 6] = [0.08, 0.12, 0.16, 0.2, 0.26, 0.34];

/// Moving one sector after the other through the host is the limit of a full card: W = 1 / ((A - 1) s). Any spare space
/// explains the fullest point, with another s for each; only simulation tells them apart.
fn host_paths(space: &Space, points: &[&Observation]) -> Vec<[(Knob, f64); 3]> {
    let curve = random_writes(points);
    let most = curve.iter().fold(0.0_f64, |most, (_, bw)| most.max(*bw));
    let fullest = curve.iter().copied().max_by(|a, b| fullness(a.0).total_cmp(&fullness(b.0)));
    let Some((fullest, bw)) = fullest.filter(|_| space.choices.through_host && most > 0.0) else { return Vec::new() };
    let dies = space.base_value(Knob::Channels) * space.dies_per_channel_row();
    let program_ns = space.programmed_at_once(dies) * 1e9 / most;
    HOST_PATH_SPARES
        .map(|spare| {
            let relocated = (write_amplification(fullest.utilization(spare)) - 1.0).max(1e-3);
            let sector_ns = 1e9 * device::SECTOR_BYTES as f64 * space.cards() / (relocated * bw);
            [(Knob::Spare, spare), (Knob::RelocationSector, sector_ns), (Knob::Program, program_ns)]
        })
        .to_vec()
}

/// Random writes are faster in larger blocks, though many are under way: it is not flash that they wait for. Flash
/// programs as many bytes in all blocks of a page and more.
fn larger_blocks_write_faster(points: &[&Observation]) -> bool {
    let of = |p: &&&Observation| {
        p.condition.mode.writes()
            && !p.condition.mode.reads()
            && !p.condition.mode.is_sequential()
            && p.condition.outstanding() >= 8
    };
    let curve = points.iter().filter(of).filter_map(|p| Some((p.condition.block_bytes, p.value(Figure::Throughput)?)));
    let curve: Vec<(u32, f64)> = curve.collect();
    let at = |block: Option<u32>| {
        let of_block = curve.iter().filter(|(bytes, _)| Some(*bytes) == block);
        of_block.fold(0.0_f64, |most, (_, bw)| most.max(*bw))
    };
    let blocks = || curve.iter().map(|(bytes, _)| *bytes).filter(|bytes| *bytes >= 16 << 10);
    at(blocks().max()) > FASTER * at(blocks().min())
}

/// Throughput of random writes that keep the card busy.
fn random_writes<'a>(points: &[&'a Observation]) -> Vec<(&'a Condition, f64)> {
    points
        .iter()
        .filter(|p| p.condition.mode.writes() && !p.condition.mode.reads() && !p.condition.mode.is_sequential())
        .filter(|p| !p.condition.fsync_all && p.condition.outstanding() >= 8)
        .filter_map(|p| Some((&p.condition, p.value(Figure::Throughput)?)))
        .collect()
}

/// Spare space and the writes without amplification, bytes a second, that explain writes against fill best; and what a
/// relocated sector costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FillCurve {
    pub spare: f64,
    pub write_bytes_per_s: f64,
    relocation_cost: f64,
}

fn guess(space: &Space, points: &[&Observation], knob: Knob, limit: Limit, fill: Option<FillCurve>) -> Option<f64> {
    let reads = || points.iter().filter(|p| p.condition.mode.reads() && !p.condition.mode.writes());
    let writes = || points.iter().filter(|p| p.condition.mode.writes());
    let throughput = |p: &&&Observation| p.value(Figure::Throughput).unwrap_or(0.0);
    let most_read = reads().map(|p| throughput(&p)).fold(0.0, f64::max);
    let most_reads = reads().map(|p| throughput(&p) / f64::from(p.condition.block_bytes)).fold(0.0, f64::max);
    let most_written = writes().map(|p| throughput(&p)).fold(0.0, f64::max);
    let most_writes = writes().map(|p| throughput(&p) / f64::from(p.condition.block_bytes)).fold(0.0, f64::max);
    // Flash is not the limit where requests are the limit of writes as well: nothing of collection shows.
    let by_command = limit == Limit::Commands && larger_blocks_write_faster(points);
    let host = space.host();
    let host_ns = (host.submit_ns + host.complete_ns) as f64;
    let lone = |p: &&&Observation| p.condition.outstanding() == 1;
    let latency = |p: &Observation, figures: [Figure; 2]| {
        let told = figures.into_iter().find_map(|figure| p.value(figure));
        let between = (host.session_ns + p.condition.cpu_per_request_ns) as f64;
        told.or_else(|| {
            let iops = p.value(Figure::Throughput)? / f64::from(p.condition.block_bytes);
            Some(1e9 * f64::from(p.condition.outstanding()) / iops - between)
        })
    };
    let least = |a: f64, b: f64| if a.is_nan() { b } else { a.min(b) };
    let lone_read = reads().filter(lone).filter_map(|p| latency(p, [Figure::ReadP50, Figure::ReadMean]));
    let lone_read_ns = lone_read.fold(f64::NAN, least) - host_ns;
    let lone_write = writes().filter(lone).filter(|p| !p.condition.mode.reads() && !p.condition.fsync_all);
    let lone_write = lone_write.filter_map(|p| latency(p, [Figure::WriteP50, Figure::WriteMean]));
    let lone_write_ns = lone_write.fold(f64::NAN, least) - host_ns;
    let link_ns = if lone_write_ns.is_finite() && lone_write_ns > 0.0 {
        if lone_read_ns > 0.0 { (lone_write_ns * 0.7).min(lone_read_ns * 0.6) } else { lone_write_ns * 0.7 }
    } else {
        lone_read_ns * LINK_SHARE
    };
    let page = space.page_bytes();
    let row = space.dies_per_channel_row();
    let read_ns = (lone_read_ns - link_ns).max(2_000.0) * 0.8;
    let read_known = read_ns.is_finite();
    // Random reads of a page each: a die is busy for the read and the transfer.
    let channels = {
        let wanted = if limit == Limit::Dies { LIMIT * 1.2 } else { ROOM };
        let from_reads = wanted * most_read / (page * 1e9 / (read_ns * 1.25)) / row;
        if read_known && most_read > 0.0 { from_reads.clamp(1.0, 200.0) } else { space.base_value(Knob::Channels) }
    };
    let channels = channels.round().max(1.0);
    let value = match knob {
        Knob::ReadLink if most_read > 0.0 => most_read * if limit == Limit::Link { LIMIT } else { ROOM },
        Knob::WriteLink if most_written > 0.0 => most_written * if fill.is_some() { 1.5 } else { LIMIT },
        Knob::ReadCommand if limit == Limit::Commands && most_reads > 0.0 => 1e9 / most_reads / LIMIT,
        Knob::WriteCommand if by_command => 1e9 / most_writes / LIMIT,
        Knob::Spare if by_command => MAX_SPARE,
        Knob::Program if by_command => {
            let channels =
                if space.knobs.contains(&Knob::Channels) { channels } else { space.base_value(Knob::Channels) };
            space.programmed_at_once(channels * row) * 1e9 / (most_written * ROOM)
        }
        Knob::Latency => link_ns,
        Knob::Read => read_ns,
        Knob::Bus if most_read > 0.0 && limit == Limit::Bus => most_read * LIMIT / (channels * row / 4.0).max(1.0),
        Knob::Channels if read_known && most_read > 0.0 => channels,
        Knob::Spare => fill?.spare,
        Knob::Program => {
            let channels =
                if space.knobs.contains(&Knob::Channels) { channels } else { space.base_value(Knob::Channels) };
            let rate = fill.map_or(most_written * 1.5, |fill| fill.write_bytes_per_s);
            space.programmed_at_once(channels * row) * 1e9 / rate
        }
        Knob::RelocationSector => {
            let fill = fill?;
            1e9 * device::SECTOR_BYTES as f64 / fill.write_bytes_per_s * fill.relocation_cost * space.cards()
        }
        _ => return None,
    };
    (value.is_finite() && value > 0.0).then_some(value)
}

/// The least latency of one request at a time by the first of these figures that is known, and the bytes of it.
pub(crate) fn lone_ns(points: &[&Observation], figures: [Figure; 3]) -> Option<(f64, f64)> {
    let lone = points.iter().filter(|p| p.condition.outstanding() == 1 && !p.condition.fsync_all);
    let known = lone.filter_map(|p| {
        let ns = figures.into_iter().find_map(|figure| p.value(figure))?;
        Some((ns, f64::from(p.condition.block_bytes)))
    });
    known.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Bytes a second of a bus, and the time of a read, where there are so many times fewer buses: as many bytes a second over all
/// of them, and a lone read that takes as long.
pub(crate) fn over_other_buses(space: &Space, values: &[f64], fewer: f64) -> (f64, f64) {
    let transfer_ns = |bus: f64| space.page_bytes() * 1e9 / bus;
    let (bus, read_ns) = (space.value(values, Knob::Bus), space.value(values, Knob::Read));
    let saved_ns = transfer_ns(bus) - transfer_ns(bus * fewer);
    (bus * fewer, (read_ns + saved_ns).max(0.2 * read_ns))
}

/// Write amplification of uniform random writes to a share `used` of the data capacity, for large bands.
pub(crate) fn write_amplification(used: f64) -> f64 {
    if used <= 0.0 {
        return 1.0;
    }
    // (X - 1) / ln X rises from 0 to 1 with X: halving finds it.
    let (mut low, mut high) = (0.0, 1.0 - 1e-9);
    for _ in 0..100 {
        let x: f64 = (low + high) / 2.0;
        if (x - 1.0) / x.ln() < used { low = x } else { high = x }
    }
    1.0 / (1.0 - low)
}

/// The fill that a device of ordinary spare space would have, if its writes went to all that is in use.
fn fullness(condition: &Condition) -> f64 {
    const SPARE: f64 = 0.1;
    condition.utilization(SPARE) / (1.0 - SPARE)
}

/// The best of a grid of spare factors, with the throughput without amplification that goes with each.
pub(crate) fn fill_curve(space: &Space, points: &[&Observation]) -> Option<FillCurve> {
    let curve = random_writes(points);
    let fills = curve.iter().map(|(condition, _)| fullness(condition));
    let (least, most) = fills.fold((f64::INFINITY, 0.0_f64), |(least, most), fill| (least.min(fill), most.max(fill)));
    if curve.is_empty() || most <= 0.0 {
        return None;
    }
    let costs: &[f64] = if space.choices.through_host { &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0] } else { &[1.0] };
    let one_fill = most - least < 0.05;
    let mut best: Option<(f64, FillCurve)> = None;
    for step in 1..=28 {
        let spare = if one_fill { 0.15 } else { 0.02 * f64::from(step) };
        for &relocation_cost in costs {
            let slower = |at: &Condition| 1.0 + relocation_cost * (write_amplification(at.utilization(spare)) - 1.0);
            let logs: Vec<f64> = curve.iter().map(|&(at, bw)| (bw * slower(at)).ln()).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            let error = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
            if best.is_none_or(|(least, _)| error < least) {
                best = Some((error, FillCurve { spare, write_bytes_per_s: mean.exp(), relocation_cost }));
            }
        }
    }
    best.map(|(_, curve)| curve)
}

#[cfg(test)]
mod tests {
    use super::{fullness, write_amplification};
    use crate::fit::condition::Condition;
    use load::FileioMode;

    #[test]
    fn a_part_of_a_full_drive_is_less_crowded_than_all_of_it_and_more_than_a_drive_with_no_more_in_use() {
        let of = |fill: f64, file: f64| {
            fullness(&Condition { file, ..Condition::random(FileioMode::RndWr, 16 << 10, 16).at_fill(fill) })
        };
        assert!((of(0.7, 0.7) - 0.7).abs() < 1e-12 && (of(1.0, 1.0) - 1.0).abs() < 1e-12);
        // A tenth of the data capacity is spare: beside 0.45 that stay, 0.45 of 0.55 are overwritten.
        assert!((of(1.0, 0.5) * 0.9 - 0.45 / 0.55).abs() < 1e-12);
        assert!(of(0.5, 0.5) < of(1.0, 0.5) && of(1.0, 0.5) < 1.0);
    }

    #[test]
    fn write_amplification_satisfies_its_equation_and_rises() {
        let mut last = 1.0;
        for used in [0.1, 0.3, 0.5, 0.776, 0.9, 0.95] {
            let amplification = write_amplification(used);
            let x = 1.0 - 1.0 / amplification;
            let back = if x > 1e-12 { (x - 1.0) / x.ln() } else { used };
            assert!((back - used).abs() < 1e-3, "{used}: {amplification}");
            assert!(amplification >= last);
            last = amplification;
        }
        // The tachIOn when full: 990 / 417 MiB/s (published/fill-percent.csv) is a ratio of 2.37.
        assert!((write_amplification(0.776) - 2.4).abs() < 0.15, "{}", write_amplification(0.776));
    }
}
