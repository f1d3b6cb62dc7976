//! Distributions of response times.

use super::{Section, sweep};
use crate::devices::{Devices, Lines};
use crate::plot::{Plot, Scale, Series, Table, View, XAxis};
use crate::unit::Unit;
use results::words::grouped;
use results::{Histogram, Point, Sweep};
use std::borrow::Cow;

const PERCENTILES: XAxis = XAxis {
    label: Cow::Borrowed("Percentile"),
    suffix: "of the requests took no longer",
    unit: Unit::Percent,
    scale: Scale::Nines,
};

/// Percentiles that have a column in the table.
const CURVE_TICKS: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// Steps for each tenfold of 1/(1-p), and tenfolds.
const STEPS: u32 = 12;
const TENFOLDS: u32 = 6;

/// Percentiles at which curves have points; the same for all, so that one axis serves them.
fn percentiles() -> Vec<f64> {
    // Down to the fastest tenth; the very fastest request says nothing about the others.
    let low = [10.0, 20.0, 30.0, 40.0, 50.0];
    let high = (4..=STEPS * TENFOLDS).map(|step| 100.0 * (1.0 - 10f64.powf(-f64::from(step) / f64::from(STEPS))));
    let mut xs: Vec<f64> = low.into_iter().chain(high).chain(CURVE_TICKS).map(|p| (p * 1e6).round() / 1e6).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    xs
}

/// Latency at each percentile that the number of requests can tell.
fn curve(histogram: &Histogram, xs: &[f64]) -> Vec<Option<f64>> {
    let total = histogram.total() as f64;
    if total == 0.0 {
        return vec![None; xs.len()];
    }
    // A percentile that fewer than one request lies beyond says nothing but the maximum again.
    let known = |p: f64| total * (100.0 - p) / 100.0 >= 0.999;
    xs.iter().map(|&p| known(p).then(|| histogram.percentile_ns(p) as f64)).collect()
}

/// A chart for reads, one for writes, one for syncs, each of a point that can be chosen.
pub fn section(devices: &Devices, curves: usize) -> Option<Section> {
    let mut section = Section::new("distribution", "Response-time distribution");
    section.note(
        "How long the given share of the requests took at most. Each step to the right on the axis is ten times rarer.",
    );
    let lines: Vec<Lines> = devices.sweep_names().iter().filter_map(|name| devices.lines(name)).collect();
    let xs = percentiles();
    let mut left = curves;
    for (name, class) in sweep::CLASSES {
        let mut views = Vec::new();
        let mut rows = Vec::new();
        let histogram = |sweep: &'_ Sweep, x: f64| -> Option<Histogram> {
            let point: &Point = crate::devices::at(sweep, x)?;
            class(point).histogram.clone().filter(|h| h.total() > 0)
        };
        for lines in &lines {
            for &x in &lines.xs {
                let label = label(lines.first(), x);
                let found: Vec<_> = lines.sweeps.iter().filter_map(|&(i, s)| Some((i, histogram(s, x)?))).collect();
                if found.is_empty() || left < found.len() {
                    continue;
                }
                left -= found.len();
                let series = found.iter().map(|(i, histogram)| {
                    let line = if devices.compared() { devices.name(*i) } else { name };
                    let mut series = Series::line(line, *i, curve(histogram, &xs), Vec::new());
                    series.thin = true;
                    series
                });
                rows.extend(found.iter().map(|(i, histogram)| row(devices, *i, &label, histogram)));
                views.push(View::new(label, sweep::RESPONSE, series.collect()));
            }
        }
        let columns = std::iter::once("Point".to_string())
            .chain(CURVE_TICKS.iter().map(|&p| Unit::Percent.show(p)))
            .chain(["Longest".to_string(), "Requests".to_string()])
            .collect();
        let mut used = xs.clone();
        trim(&mut used, &mut views);
        let id = format!("plot-distribution-{}", name.to_lowercase());
        let wanted = match name {
            "Reads" => "rndrd",
            "Writes" => "rndwr",
            _ => "sync",
        };
        let wanted = lines.iter().find(|l| l.first().name == format!("threads-{wanted}") || l.first().name == wanted);
        let wanted = wanted.map(|lines| label(lines.first(), 16.0));
        let Some(plot) = Plot::new(id, name, PERCENTILES, used, views) else { continue };
        let mut plot = plot.starting_with(|view| Some(&view.name) == wanted.as_ref());
        plot.choice = "Point";
        plot.table = Some(Table { caption: format!("{name}: percentiles"), columns, rows, text_columns: 0 });
        section.plots.push(plot);
    }
    if left < devices.iter().count() {
        section.note("Not all points are drawn: the page would be too large.");
    }
    (!section.plots.is_empty()).then_some(section)
}

/// `threads-rndrd` at 16: `Random reads, 16 threads`.
fn label(sweep: &Sweep, x: f64) -> String {
    let load = match sweep.name.rsplit('-').next().unwrap_or("") {
        "rndrd" => "Random reads",
        "rndwr" => "Random writes",
        "rndrw" => "Random reads and writes",
        "seqrd" => "Sequential reads",
        "seqrewr" => "Sequential overwrites",
        _ => match sweep.name.as_str() {
            "fill" => "Random writes",
            "rate" => "Fixed rate",
            "sync" => "Writes with syncs",
            "mix" => "Mix",
            "redo" => "Redo log beside reads",
            _ if sweep.title.trim().is_empty() => &sweep.name,
            _ => &sweep.title,
        },
    };
    let axis = sweep::x_axis(sweep.axis);
    let suffix = if sweep.name == "redo" { "readers" } else { axis.suffix };
    format!("{}, {} {suffix}", crate::devices::clip(load, 80), axis.unit.show(x))
}

/// Percentiles that no curve reaches take no room.
fn trim(xs: &mut Vec<f64>, views: &mut [View]) {
    let reached = |s: &Series| s.values.iter().rposition(Option::is_some).map_or(0, |at| at + 1);
    let length = views.iter().flat_map(|v| v.series.iter().map(reached)).max().unwrap_or(0);
    xs.truncate(length);
    views.iter_mut().flat_map(|v| &mut v.series).for_each(|s| s.values.truncate(length));
}

fn row(devices: &Devices, device: usize, label: &str, histogram: &Histogram) -> Vec<String> {
    let total = histogram.total();
    let shown = curve(histogram, &CURVE_TICKS);
    std::iter::once(devices.labelled(device, label))
        .chain(shown.iter().map(|v| v.map_or("–".into(), |v| Unit::Nanoseconds.show(v))))
        .chain([Unit::Nanoseconds.show(histogram.percentile_ns(100.0) as f64), grouped(total)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_ends_where_the_requests_do() {
        let histogram = Histogram::from_counts((1..=1000).map(|ns| (ns * 1000, 1)));
        let xs = percentiles();
        let curve = curve(&histogram, &xs);
        let at = |p: f64| curve[xs.iter().position(|&x| x == p).unwrap()];
        assert!((at(50.0).unwrap() / 500_000.0 - 1.0).abs() < 0.04);
        assert!((at(99.9).unwrap() / 999_000.0 - 1.0).abs() < 0.04);
        assert_eq!(at(99.99), None, "a thousand requests know no 99.99 %");
        assert!(curve.iter().flatten().is_sorted());
    }
}
