//! Throughput and response times of a sweep, of one device or of several.

use super::Section;
use crate::devices::{Devices, Lines, clip, positive};
use crate::plot::{Plot, Scale, Series, View, XAxis, YAxis};
use crate::unit::Unit;
use results::{Axis, IoClass, Point, SyncJudgement};

pub const THROUGHPUT: YAxis = YAxis { label: "Throughput", unit: Unit::BytesPerSecond, scale: Scale::Linear };
pub const REQUESTS: YAxis = YAxis { label: "Requests a second", unit: Unit::Iops, scale: Scale::Linear };
pub const RESPONSE: YAxis = YAxis { label: "Response time", unit: Unit::Nanoseconds, scale: Scale::Log };

/// A kind of request, and its figures at a point.
pub type Class = (&'static str, fn(&Point) -> &IoClass);

pub const CLASSES: [Class; 3] = [("Reads", |p| &p.read), ("Writes", |p| &p.write), ("Syncs", |p| &p.sync)];

/// Percentiles that are read from a latency summary, with their style in the legend.
pub const LATENCIES: [(&str, f64); 5] = [("p50", 50.0), ("p95", 95.0), ("p99", 99.0), ("p99.9", 99.9), ("max", 100.0)];

/// Colour and dashes of what others measured.
pub const PUBLISHED_STYLE: usize = 5;

/// A response time; none where it wasn't recorded.
pub fn latency(class: &IoClass, percent: f64) -> Option<f64> {
    positive(if percent >= 100.0 { class.lat_ns.max } else { class.lat_ns.at(percent) } as f64)
}

/// The axis of a sweep.
pub fn x_axis(axis: Axis) -> XAxis {
    let (label, suffix, unit, scale) = match axis {
        Axis::FillPercent => ("Space in use", "in use", Unit::Percent, Scale::Linear),
        Axis::Threads => ("Threads", "threads", Unit::Count, Scale::Log),
        Axis::BlockBytes => ("Block size", "blocks", Unit::BlockBytes, Scale::Log),
        Axis::ReadPercent => ("Share of reads", "reads", Unit::Percent, Scale::Linear),
        Axis::RatePercent => ("Offered load", "of the most it took", Unit::Percent, Scale::Linear),
        Axis::QueueDepth => ("Queue depth", "outstanding", Unit::Count, Scale::Log),
    };
    XAxis { label: label.into(), suffix, unit, scale }
}

/// Throughput and response times, by the sweep's name.
pub fn section(devices: &Devices, name: &str, heading: &str) -> Option<Section> {
    let lines = devices.lines(name)?;
    let mut section = Section::new(name, heading);
    notes(&mut section, devices, &lines);
    section.plots.extend(throughput(devices, &lines));
    section.plots.extend(response_times(devices, &lines));
    Some(section)
}

/// Response times at a fixed rate: they, and not the throughput, are the answer.
pub fn rate(devices: &Devices) -> Option<Section> {
    let lines = devices.lines("rate")?;
    let mut section = Section::new("rate", "Response times against offered load");
    notes(&mut section, devices, &lines);
    section.note("100 % is the most that the device took of this load; each device by its own.");
    section.plots.extend(response_times(devices, &lines));
    section.plots.extend(throughput(devices, &lines));
    Some(section)
}

/// Writes that are flushed, and whether the flushes can be believed.
pub fn sync(devices: &Devices) -> Option<Section> {
    let mut section = Section::new("sync", "Writes with a sync behind each");
    for (i, _, result) in devices.iter() {
        if let Some(verdict) = &result.sync {
            let words = match verdict.judgement {
                SyncJudgement::Plausible => "Syncs take as long as they must.",
                SyncJudgement::NothingToFlush => "There is nothing to flush.",
                SyncJudgement::TooFast => "Syncs are too fast to be true.",
                SyncJudgement::Unknown => "Whether syncs do what they claim can’t be told.",
            };
            section.note(devices.labelled(i, &format!("{words} {}", clip(&verdict.text, 600))));
        }
    }
    if let Some(lines) = devices.lines("sync") {
        notes(&mut section, devices, &lines);
        let rates = |label: &str, rate: fn(&Point) -> f64, style: usize| -> Vec<Series> {
            let series = lines.sweeps.iter().map(|&(i, sweep)| {
                let style = if devices.compared() { i } else { style };
                let values = lines.values(sweep, |p| positive(rate(p)));
                Series::line(devices.labelled(i, label), style, values, lines.marks(sweep))
            });
            series.collect()
        };
        let (syncs, writes) = (rates("Syncs", |p| p.sync.iops, 1), rates("Writes", |p| p.write.iops, 0));
        let views = if devices.compared() {
            vec![View::new("Syncs", REQUESTS, syncs), View::new("Writes", REQUESTS, writes)]
        } else {
            vec![View::new("Rates", REQUESTS, syncs.into_iter().chain(writes).collect())]
        };
        let x = x_axis(lines.first().axis);
        section.plots.extend(Plot::new("plot-sync-rates", "Writes and syncs a second", x, lines.xs.clone(), views));
        let syncs_first =
            |view: &View| view.name.starts_with("Syncs") && view.name.ends_with(default_percentile(devices));
        section.plots.extend(response_times(devices, &lines).map(|plot| plot.starting_with(syncs_first)));
    }
    (!section.is_empty()).then_some(section)
}

fn default_percentile(devices: &Devices) -> &'static str {
    if devices.compared() { "p99" } else { "" }
}

/// Adds the sweeps' own notes.
pub fn notes(section: &mut Section, devices: &Devices, lines: &Lines) {
    for &(i, sweep) in &lines.sweeps {
        if !sweep.note.trim().is_empty() {
            section.note(devices.labelled(i, &clip(&sweep.note, 600)));
        }
        let mut xs: Vec<f64> = sweep.points.iter().map(|p| p.x).collect();
        xs.sort_by(f64::total_cmp);
        let twice = xs.windows(2).filter(|pair| pair[0] == pair[1]).count();
        if twice > 0 {
            let text = format!("{twice} more points at the same place on the axis are not drawn; the data has them.");
            section.note(devices.labelled(i, &text));
        }
    }
}

/// Bytes and requests a second, on a toggle.
pub fn throughput(devices: &Devices, lines: &Lines) -> Option<Plot> {
    let both = lines.any(|p| p.read.iops > 0.0 || p.read.bw_bytes > 0.0)
        && lines.any(|p| p.write.iops > 0.0 || p.write.bw_bytes > 0.0);
    let series = |total: fn(&Point) -> f64, of: fn(&IoClass) -> f64| -> Vec<Series> {
        let mut series = Vec::new();
        for &(i, sweep) in &lines.sweeps {
            let style = if devices.compared() { i } else { 0 };
            let name = match (devices.compared(), both) {
                (true, _) => devices.name(i),
                (false, true) => "Together",
                (false, false) if lines.any(|p| p.write.bw_bytes > 0.0) => "Writes",
                (false, false) => "Reads",
            };
            let values = lines.values(sweep, |p| positive(total(p)));
            series.push(Series::line(name, style, values, lines.marks(sweep)));
            if both && !devices.compared() {
                series.push(Series::line("Reads", 1, lines.values(sweep, |p| positive(of(&p.read))), Vec::new()));
                series.push(Series::line("Writes", 2, lines.values(sweep, |p| positive(of(&p.write))), Vec::new()));
            }
        }
        series
    };
    let mut bandwidth = series(Point::bw_bytes, |class| class.bw_bytes);
    for &(i, sweep) in &lines.sweeps {
        let style = if devices.compared() { i } else { PUBLISHED_STYLE };
        let values = lines.values(sweep, |p| p.published_bw_bytes.and_then(positive));
        let mut published = Series::line(devices.labelled(i, "Published"), style, values, Vec::new());
        published.dots = true;
        bandwidth.push(published);
    }
    let requests = series(Point::iops, |class| class.iops);
    let sweep = lines.first();
    let x = x_axis(sweep.axis);
    let views = vec![View::new("MB/s", THROUGHPUT, bandwidth), View::new("IOPS", REQUESTS, requests)];
    Plot::new(format!("plot-{}-throughput", sweep.name), "Throughput", x, lines.xs.clone(), views)
}

/// Percentiles of response times: all of one device, or one of all devices.
pub fn response_times(devices: &Devices, lines: &Lines) -> Option<Plot> {
    let mut views = Vec::new();
    for (name, class) in CLASSES {
        let series_of = |i: usize, sweep, style, percent: f64, label: &str| {
            let values = lines.values(sweep, |p| latency(class(p), percent));
            // The lines of one device share their points: marks on one of them say it for all.
            let marks = if devices.compared() || style == 0 { lines.marks(sweep) } else { Vec::new() };
            Series::line(if devices.compared() { devices.name(i) } else { label }, style, values, marks)
        };
        if devices.compared() {
            for (label, percent) in LATENCIES {
                let series = lines.sweeps.iter().map(|&(i, sweep)| series_of(i, sweep, i, percent, label));
                views.push(View::new(format!("{name}, {label}"), RESPONSE, series.collect()));
            }
        } else {
            let (i, sweep) = lines.sweeps[0];
            let series = LATENCIES.iter().enumerate();
            let series = series.map(|(style, &(label, percent))| series_of(i, sweep, style, percent, label));
            views.push(View::new(name, RESPONSE, series.collect()));
        }
    }
    let sweep = lines.first();
    let (x, id) = (x_axis(sweep.axis), format!("plot-{}-response", sweep.name));
    let plot = Plot::new(id, "Response times", x, lines.xs.clone(), views)?;
    Some(plot.starting_with(|view| view.name.ends_with(default_percentile(devices))))
}
