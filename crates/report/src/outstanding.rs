//! Threads with one request each, and jobs with queues, against the same thing: requests outstanding.
//!
//! fio's results are against `iodepth` times `numjobs`, a review's against threads. A device sees of both how many
//! requests are outstanding, so a comparison draws them in one chart.

use crate::devices::at;
use results::{Axis, ReviewResult, Sweep};
use std::collections::BTreeSet;

/// The note of a sweep into which points with queues have come.
const NOTE: &str = "threads are requests outstanding: fio's iodepth times numjobs";

/// Lays sweeps over queue depths of some results over the sweeps over threads of others. A point whose place is taken
/// stays where it is.
pub fn line_up(results: &mut [ReviewResult]) {
    let of_threads = |result: &ReviewResult| -> Vec<String> {
        let sweeps = result.sweeps.iter().filter(|sweep| sweep.axis == Axis::Threads);
        sweeps.filter_map(|sweep| Some(sweep.name.strip_prefix("threads-")?.to_owned())).collect()
    };
    let loads: BTreeSet<String> = results.iter().flat_map(of_threads).collect();
    for result in results {
        for load in &loads {
            take_in(result, load);
        }
    }
}

/// Moves the points over queue depths of one load to its sweep over threads.
fn take_in(result: &mut ReviewResult, load: &str) {
    let name = format!("threads-{load}");
    let of_load = |sweep: &Sweep| sweep.axis == Axis::QueueDepth && load_of(&sweep.name) == Some(load);
    let Some(title) = result.sweeps.iter().find(|sweep| of_load(sweep)).map(|sweep| sweep.title.clone()) else {
        return;
    };
    let mut target = match result.sweeps.iter().position(|sweep| sweep.name == name) {
        Some(at) => result.sweeps.remove(at),
        None => {
            let note = String::new();
            Sweep { name, phase: "threads".into(), title, note, axis: Axis::Threads, points: Vec::new() }
        }
    };
    for sweep in result.sweeps.iter_mut().filter(|sweep| of_load(sweep)) {
        let (taken, moved): (Vec<_>, Vec<_>) =
            std::mem::take(&mut sweep.points).into_iter().partition(|point| at(&target, point.x).is_some());
        sweep.points = taken;
        if !moved.is_empty() && !target.note.contains(NOTE) {
            let notes = [target.note.as_str(), sweep.note.as_str(), NOTE];
            target.note = notes.into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; ");
        }
        target.points.extend(moved);
    }
    target.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    result.sweeps.retain(|sweep| !sweep.points.is_empty());
    result.sweeps.push(target);
}

/// `rndrd` of `depth-rndrd` and of `depth-rndrd-t4`.
fn load_of(name: &str) -> Option<&str> {
    let load = name.strip_prefix("depth-")?;
    let of_threads = |(_, suffix): &(&str, &str)| {
        suffix.strip_prefix('t').is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    Some(load.rsplit_once('-').filter(of_threads).map_or(load, |(load, _)| load))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_of_a_sweep_is_its_name_without_depth_and_threads() {
        for (name, load) in [
            ("depth-rndrd", Some("rndrd")),
            ("depth-rndrd-t16", Some("rndrd")),
            ("depth-rndwr-4k", Some("rndwr-4k")),
            ("depth-rndwr-4k-t2", Some("rndwr-4k")),
            ("depth-rndwr-t", Some("rndwr-t")),
            ("depth-rndrd-2", Some("rndrd-2")),
            ("threads-rndrd", None),
        ] {
            assert_eq!(load_of(name), load, "{name}");
        }
    }
}
