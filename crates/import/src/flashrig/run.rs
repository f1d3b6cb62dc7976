//! A run becomes a sweep of one point, which lies in the chart of the review's sweep of the same load.

use crate::Problem;
use crate::shell::{self, Origin, fact, name_of};
use crate::sweeps::{self, Condition, Mode};
use results::{Axis, Point, ReviewResult, RunResult, Sweep, TargetKind};
use serde::Deserialize;
use serde_json::Value;

/// The key that only a stopped run has.
#[derive(Deserialize)]
pub(crate) struct Partial {
    #[serde(default)]
    partial: Option<bool>,
}

/// A review that has the run's point.
pub(crate) fn review(file: &str, run: RunResult, partial: Partial) -> Result<ReviewResult, Problem> {
    let text = |value: &Value, key: &str| value[key].as_str().map(str::to_string);
    let wall_seconds = run.sim.map_or(0.0, |sim| sim.wall_seconds);
    let seconds = run.sim.map_or_else(|| run.series.last().map_or(0.0, |row| row.t_s), |sim| sim.virtual_seconds);
    let origin = Origin {
        name: name_of(file),
        tool: "flashrig run".into(),
        facts: text(&run.target, "title").iter().map(|title| fact("device", "Device", title)).collect(),
        started: None,
        seconds: wall_seconds,
    };
    let mut review = shell::review(origin, Vec::new());
    review.target.kind = if run.sim.is_some() { TargetKind::Model } else { TargetKind::Imported };
    review.target.name = text(&run.target, "name").unwrap_or(review.target.name);
    review.target.title = text(&run.target, "title").unwrap_or(review.target.title);
    review.target.capacity_bytes = run.target["scaled_user_bytes"].as_u64().unwrap_or(0);
    review.target.sold_bytes = run.target["user_bytes"].as_u64();
    review.host.name = text(&run.host, "name").unwrap_or(review.host.name);
    review.options.seed = run.seed;
    review.options.scale = share(&run.target["scale"]).unwrap_or(1.0);
    review.options.fill = share(&run.target["fill"]).unwrap_or(0.0);
    review.partial = partial.partial.filter(|&partial| partial).map(|_| "stopped by Ctrl-C".into());
    let point = Point {
        fill: review.options.fill,
        seconds,
        read: run.read,
        write: run.write,
        sync: run.sync,
        series: run.series,
        steady: run.steady_state,
        waf: run.flash.map(|flash| flash.waf),
        generator: run.generator,
        load: run.load,
        ..Point::default()
    };
    review.target.profile = Some(run.target);
    review.sweeps = sweep(point)?;
    Ok(review)
}

fn share(value: &Value) -> Option<f64> {
    value.as_f64().filter(|share| (0.0..=1.0).contains(share))
}

fn sweep(point: Point) -> Result<Vec<Sweep>, Problem> {
    let kind = point.load["kind"].as_str().unwrap_or("").to_string();
    let count = |key: &str| point.load[key].as_u64().and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
    let (x, title) = match kind.as_str() {
        "fileio" => {
            let condition = Condition {
                mode: mode(point.load["mode"].as_str().unwrap_or(""))
                    .ok_or(Problem::UnknownLoad { kind: kind.into() })?,
                block_bytes: point.load["block_bytes"].as_u64(),
                threads: count("threads").max(1),
                depth: count("queue_depth").max(1),
                read_percent: None,
            };
            return Ok(sweeps::build(vec![(condition, point)], "flashrig run", ""));
        }
        "slob" => (count("readers").saturating_add(count("writers")), "SLOB against sessions"),
        "oltp" => (count("sessions"), "OLTP 80/20 against sessions"),
        "tpcc" => (count("sessions"), "Order entry against sessions"),
        "replica" => (count("workers"), "A replica against appliers"),
        "redo" => (count("readers"), "A redo log beside reads against readers"),
        "trace" => (count("depth"), "A trace against requests at once"),
        _ => return Err(Problem::UnknownLoad { kind: kind.into() }),
    };
    Ok(vec![Sweep {
        name: kind.clone(),
        phase: kind,
        title: format!("{title} (flashrig run)"),
        note: String::new(),
        axis: Axis::Threads,
        points: vec![Point { x: f64::from(x), ..point }],
    }])
}

fn mode(name: &str) -> Option<Mode> {
    [Mode::SeqRd, Mode::SeqWr, Mode::SeqRewr, Mode::SeqRw, Mode::RndRd, Mode::RndWr, Mode::RndRw]
        .into_iter()
        .find(|mode| mode.name() == name)
}
