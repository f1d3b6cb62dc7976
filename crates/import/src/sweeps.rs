//! Points become sweeps: what varies between them decides against what they are drawn.
//!
//! Sweeps have the names of Flashrig's own where they show the same thing, so that they lie in the same chart.

use crate::text::{block, block_key};
use results::{Axis, Point, Sweep};
use std::collections::BTreeSet;

/// Blocks of Flashrig's own sweeps over threads: of several block sizes, this one has the plain name.
const OWN_BLOCK_BYTES: u64 = 16 << 10;

/// The kind of a load's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    SeqRd,
    SeqWr,
    SeqRewr,
    SeqRw,
    RndRd,
    RndWr,
    RndRw,
    /// Different jobs at the same time.
    Several,
}

impl Mode {
    const ALL: [Mode; 8] =
        [Mode::RndRd, Mode::RndWr, Mode::RndRw, Mode::SeqRd, Mode::SeqRewr, Mode::SeqWr, Mode::SeqRw, Mode::Several];

    /// Name in sweeps, sysbench's where it has one.
    pub fn name(self) -> &'static str {
        match self {
            Mode::SeqRd => "seqrd",
            Mode::SeqWr => "seqwr",
            Mode::SeqRewr => "seqrewr",
            Mode::SeqRw => "seqrw",
            Mode::RndRd => "rndrd",
            Mode::RndWr => "rndwr",
            Mode::RndRw => "rndrw",
            Mode::Several => "several",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Mode::SeqRd => "sequential reads",
            Mode::SeqWr => "sequential writes of new files",
            Mode::SeqRewr => "sequential writes",
            Mode::SeqRw => "sequential reads and writes",
            Mode::RndRd => "random reads",
            Mode::RndWr => "random writes",
            Mode::RndRw => "random reads and writes",
            Mode::Several => "different jobs at once",
        }
    }
}

/// The load of a point, as far as sweeps tell loads apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub mode: Mode,
    /// Size of the blocks, where all had one size.
    pub block_bytes: Option<u64>,
    pub threads: u32,
    /// Requests that each thread keeps outstanding.
    pub depth: u32,
    /// Share of reads, where the tool mixes reads and writes.
    pub read_percent: Option<u32>,
}

/// A point and what was asked.
pub(crate) type PointAt = (Condition, Point);

/// The sweeps that the points make. All of them are in one sweep, and in one only.
pub(crate) fn build(points: Vec<PointAt>, tool: &str, note: &str) -> Vec<Sweep> {
    let mut sweeps = Vec::new();
    let mut left = points;
    for mode in Mode::ALL {
        let (of_mode, others) = left.into_iter().partition(|(condition, _)| condition.mode == mode);
        left = others;
        for draft in drafts(mode, of_mode) {
            draft.finish(tool, note, &mut sweeps);
        }
    }
    sweeps
}

/// A sweep of which only points and axis are settled.
struct Draft {
    name: String,
    title: String,
    axis: Axis,
    points: Vec<PointAt>,
}

fn drafts(mode: Mode, points: Vec<PointAt>) -> Vec<Draft> {
    if points.is_empty() {
        return Vec::new();
    }
    let blocks = distinct(&points, |condition| condition.block_bytes);
    let threads = distinct(&points, |condition| condition.threads);
    let depths = distinct(&points, |condition| condition.depth);
    let shares = distinct(&points, |condition| condition.read_percent);
    let outstanding = |n: u32, depth: u32| {
        if depth == 1 { several(n, "thread") } else { format!("{}, queue depth {depth}", several(n, "thread")) }
    };
    let only = points[0].0;
    if blocks.len() == 1 && threads.len() == 1 && depths.len() == 1 && shares.len() > 1 && !shares.contains(&None) {
        let name = if mode == Mode::RndRw { "mix".into() } else { format!("mix-{}", mode.name()) };
        let title = format!("{}, {}", titled(mode, only.block_bytes), outstanding(only.threads, only.depth));
        return vec![Draft { name, title, axis: Axis::ReadPercent, points }];
    }
    if blocks.len() > 1 && threads.len() == 1 && depths.len() == 1 && !blocks.contains(&None) {
        let name = format!("blocks-{}", mode.name());
        let title = format!("{}, {}", titled(mode, None), outstanding(only.threads, only.depth));
        return vec![Draft { name, title, axis: Axis::BlockBytes, points }];
    }
    let plain = if blocks.contains(&Some(OWN_BLOCK_BYTES)) { Some(OWN_BLOCK_BYTES) } else { only.block_bytes };
    let mut drafts = Vec::new();
    for (block_bytes, points) in split(points, |condition| condition.block_bytes) {
        let suffix = match block_bytes {
            same if same == plain => String::new(),
            Some(bytes) => format!("-{}", block_key(bytes)),
            None => "-varying".into(),
        };
        let title = titled(mode, block_bytes);
        of_one_block(mode, &suffix, &title, points, &mut drafts);
    }
    drafts
}

/// Threads and queue depths of one block size.
fn of_one_block(mode: Mode, suffix: &str, title: &str, points: Vec<PointAt>, drafts: &mut Vec<Draft>) {
    let (single, deep): (Vec<_>, Vec<_>) = points.into_iter().partition(|(condition, _)| condition.depth == 1);
    let mut of_depth = deep;
    if of_depth.is_empty() || distinct(&single, |condition| condition.threads).len() > 1 {
        if !single.is_empty() {
            let name = format!("threads-{}{suffix}", mode.name());
            drafts.push(Draft { name, title: title.into(), axis: Axis::Threads, points: single });
        }
    } else {
        // One number of threads without a queue is where a sweep over depths begins.
        of_depth = single.into_iter().chain(of_depth).collect();
    }
    if of_depth.is_empty() {
        return;
    }
    let name = format!("depth-{}{suffix}", mode.name());
    let depths = distinct(&of_depth, |condition| condition.depth);
    let groups = if depths.len() == 1 { vec![(0, of_depth)] } else { split(of_depth, |condition| condition.threads) };
    let many = groups.len() > 1;
    for (threads, points) in groups {
        let name = if many { format!("{name}-t{threads}") } else { name.clone() };
        let title = match threads {
            0 | 1 => title.to_string(),
            threads => format!("{title}, {}", several(threads, "thread")),
        };
        drafts.push(Draft { name, title, axis: Axis::QueueDepth, points });
    }
}

impl Draft {
    /// Orders the points. One that stands where another does already goes to a further sweep: a chart has one figure at
    /// each place, and none is dropped.
    fn finish(self, tool: &str, note: &str, sweeps: &mut Vec<Sweep>) {
        let (phase, against) = match self.axis {
            Axis::Threads => ("threads", "threads"),
            Axis::QueueDepth => ("depth", "requests outstanding"),
            Axis::BlockBytes => ("blocks", "block size"),
            _ => ("mix", "share of reads"),
        };
        let mut points: Vec<Point> =
            self.points.into_iter().map(|(condition, point)| Point { x: x(self.axis, &condition), ..point }).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let mut rounds: Vec<Vec<Point>> = Vec::new();
        let mut round = 0;
        for point in points {
            let same = rounds.first().and_then(|first| first.last()).is_some_and(|last| last.x == point.x);
            round = if same { round + 1 } else { 0 };
            if round == rounds.len() {
                rounds.push(Vec::new());
            }
            rounds[round].push(point);
        }
        for (i, points) in rounds.into_iter().enumerate() {
            let again =
                "the file has several results with the same threads, depth and block size, here are further ones";
            let (name, note) = match i {
                0 => (self.name.clone(), note.to_string()),
                _ if note.is_empty() => (format!("{}-{}", self.name, i + 1), again.into()),
                _ => (format!("{}-{}", self.name, i + 1), format!("{note}; {again}")),
            };
            let title = format!("{} against {against} ({tool})", self.title);
            sweeps.push(Sweep { name, phase: phase.into(), title, note, axis: self.axis, points });
        }
    }
}

fn x(axis: Axis, condition: &Condition) -> f64 {
    match axis {
        Axis::Threads => f64::from(condition.threads),
        Axis::QueueDepth => f64::from(condition.threads) * f64::from(condition.depth),
        Axis::BlockBytes => condition.block_bytes.unwrap_or(0) as f64,
        _ => f64::from(condition.read_percent.unwrap_or(0)),
    }
}

fn titled(mode: Mode, block_bytes: Option<u64>) -> String {
    let title = match block_bytes {
        Some(bytes) => format!("{} {}", block(bytes), mode.title()),
        None => mode.title().into(),
    };
    let mut chars = title.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

fn several(number: u32, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

fn distinct<K: Ord>(points: &[PointAt], key: impl Fn(&Condition) -> K) -> BTreeSet<K> {
    points.iter().map(|(condition, _)| key(condition)).collect()
}

/// Groups by a key, the lowest first.
fn split<K: Ord>(points: Vec<PointAt>, key: impl Fn(&Condition) -> K) -> Vec<(K, Vec<PointAt>)> {
    let mut groups = std::collections::BTreeMap::<K, Vec<PointAt>>::new();
    for point in points {
        groups.entry(key(&point.0)).or_default().push(point);
    }
    groups.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(condition: &[(u64, u32, u32)]) -> Vec<(String, Axis, Vec<f64>)> {
        let points = condition.iter().map(|&(block, threads, depth)| {
            let condition =
                Condition { mode: Mode::RndRd, block_bytes: Some(block), threads, depth, read_percent: None };
            (condition, Point::default())
        });
        let sweeps = build(points.collect(), "tool", "");
        sweeps.into_iter().map(|s| (s.name, s.axis, s.points.iter().map(|p| p.x).collect())).collect()
    }

    #[test]
    fn what_varies_decides_the_axis() {
        const K: u64 = 1 << 10;
        let sweep = |name: &str, axis, xs: &[f64]| (name.to_string(), axis, xs.to_vec());
        assert_eq!(made(&[(K, 4, 1), (K, 1, 1)]), [sweep("threads-rndrd", Axis::Threads, &[1.0, 4.0])]);
        assert_eq!(made(&[(K, 1, 1)]), [sweep("threads-rndrd", Axis::Threads, &[1.0])]);
        assert_eq!(made(&[(K, 1, 1), (K, 1, 8)]), [sweep("depth-rndrd", Axis::QueueDepth, &[1.0, 8.0])]);
        assert_eq!(made(&[(K, 1, 8), (K, 4, 8)]), [sweep("depth-rndrd", Axis::QueueDepth, &[8.0, 32.0])]);
        assert_eq!(made(&[(4 * K, 2, 1), (K, 2, 1)]), [sweep("blocks-rndrd", Axis::BlockBytes, &[1024.0, 4096.0])]);
        assert_eq!(
            made(&[(16 * K, 1, 1), (16 * K, 2, 1), (4 * K, 1, 1), (4 * K, 2, 1)]),
            [sweep("threads-rndrd-4k", Axis::Threads, &[1.0, 2.0]), sweep("threads-rndrd", Axis::Threads, &[1.0, 2.0])]
        );
        assert_eq!(
            made(&[(K, 1, 1), (K, 2, 1), (K, 1, 8), (K, 1, 16), (K, 2, 16)]),
            [
                sweep("threads-rndrd", Axis::Threads, &[1.0, 2.0]),
                sweep("depth-rndrd-t1", Axis::QueueDepth, &[8.0, 16.0]),
                sweep("depth-rndrd-t2", Axis::QueueDepth, &[32.0]),
            ]
        );
    }

    #[test]
    fn no_point_is_dropped_where_several_stand_at_one_place() {
        let sweeps = made(&[(1, 1, 1), (1, 2, 1), (1, 1, 1), (1, 1, 1)]);
        let names: Vec<&str> = sweeps.iter().map(|s| s.0.as_str()).collect();
        assert_eq!(names, ["threads-rndrd", "threads-rndrd-2", "threads-rndrd-3"]);
        assert_eq!(sweeps.iter().map(|s| s.2.len()).sum::<usize>(), 4);
    }
}
