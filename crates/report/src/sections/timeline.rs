//! Random writes second by second.

use super::{Section, sweep};
use crate::devices::{Devices, clip, positive};
use crate::plot::{Plot, STALL, Scale, Series, Table, View, XAxis, YAxis};
use crate::unit::Unit;
use results::{SeriesRow, Timeline};
use std::borrow::Cow;

pub(super) const SECONDS: XAxis =
    XAxis { label: Cow::Borrowed("Time"), suffix: "", unit: Unit::Seconds, scale: Scale::Linear };
const LONGEST: YAxis = YAxis { label: "Longest response", ..sweep::RESPONSE };
/// Rows of a timeline that are drawn; longer ones are gathered.
const ROWS: usize = 900;

/// Throughput and the longest response, and the seconds that stand out.
pub fn section(devices: &Devices) -> Option<Section> {
    let mut section = Section::new("timeline", "Random writes second by second");
    let timelines: Vec<(usize, &Timeline)> =
        devices.iter().filter_map(|(i, _, result)| Some((i, result.timeline.as_ref()?))).collect();
    let mut drawn: Vec<(usize, Vec<SeriesRow>, &Timeline)> = Vec::new();
    for &(i, timeline) in &timelines {
        let text = clip(&timeline.title, 300);
        section.note(if text.is_empty() { text } else { devices.labelled(i, &text) });
        let (mut rows, each) = gathered(&timeline.point.series);
        if devices.compared() {
            // Clocks of different devices tick beside each other; a common axis needs common seconds.
            rows.iter_mut().for_each(|row| row.t_s = row.t_s.round());
        }
        rows.dedup_by_key(|row| row.t_s.to_bits());
        if each > 1 {
            let text = format!("{each} rows are drawn as one: their mean throughput and their longest response.");
            section.note(devices.labelled(i, &text));
        }
        let (slowest, stalls) = (Unit::Percent.show(timeline.slowest_second * 100.0), timeline.stalls.len());
        let text = match stalls {
            0 => format!("No second stands out; the slowest has {slowest} of the mean."),
            1 => format!("One second stands out; the slowest has {slowest} of the mean."),
            _ => format!("{stalls} seconds stand out; the slowest has {slowest} of the mean."),
        };
        section.note(devices.labelled(i, &text));
        drawn.push((i, rows, timeline));
    }
    let mut xs: Vec<f64> = drawn.iter().flat_map(|(_, rows, _)| rows.iter().map(|r| r.t_s)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let series = |label: &str, style: usize, axis: usize, value: fn(&SeriesRow) -> Option<f64>| -> Vec<Series> {
        let series = drawn.iter().map(|(i, rows, timeline)| {
            let row = |x: f64| rows.binary_search_by(|r| r.t_s.total_cmp(&x)).ok().map(|at| &rows[at]);
            let values = xs.iter().map(|&x| row(x).and_then(value)).collect();
            let spacing = rows.windows(2).map(|w| w[1].t_s - w[0].t_s).fold(1.0, f64::max);
            let stalled = |x: f64| timeline.stalls.iter().any(|s| s.t_s <= x && x - s.t_s < spacing);
            let marks = xs.iter().map(|&x| if row(x).is_some() && stalled(x) { STALL } else { 0 }).collect();
            let (name, style) = if devices.compared() { (devices.name(*i), *i) } else { (label, style) };
            let mut series = Series::line(name, style, values, marks);
            series.axis = axis;
            series.thin = rows.len() > 60;
            series
        });
        series.collect()
    };
    // A second without a single byte is what the chart is for: zero is a figure here.
    let throughput = |row: &SeriesRow| Some(row.read_bw_bytes + row.write_bw_bytes);
    let longest = |row: &SeriesRow| positive(row.lat_max_ns as f64);
    let views = if devices.compared() {
        vec![
            View::new("Throughput", sweep::THROUGHPUT, series("", 0, 0, throughput)),
            View::new("Longest response", LONGEST, series("", 0, 0, longest)),
        ]
    } else {
        let throughput = series("Throughput", 0, 0, throughput);
        let both = throughput.into_iter().chain(series("Longest response", 1, 1, longest)).collect();
        let mut view = View::new("Second by second", sweep::THROUGHPUT, both);
        view.axes.push(LONGEST);
        vec![view]
    };
    section.plots.extend(Plot::new("plot-timeline", "Throughput and longest response", SECONDS, xs, views));
    section.tables.extend(stalls(devices, &timelines));
    (!section.is_empty()).then_some(section)
}

/// No more rows than can be drawn, and how many were made into one.
fn gathered(rows: &[SeriesRow]) -> (Vec<SeriesRow>, usize) {
    let each = rows.len().div_ceil(ROWS).max(1);
    let gather = |rows: &[SeriesRow]| {
        let mean = |value: fn(&SeriesRow) -> f64| rows.iter().map(value).sum::<f64>() / rows.len() as f64;
        SeriesRow {
            t_s: rows.last().expect("chunks are not empty").t_s,
            read_bw_bytes: mean(|r| r.read_bw_bytes),
            write_bw_bytes: mean(|r| r.write_bw_bytes),
            iops: mean(|r| r.iops),
            lat_max_ns: rows.iter().map(|r| r.lat_max_ns).max().unwrap_or(0),
        }
    };
    let mut gathered: Vec<SeriesRow> = rows.chunks(each).map(gather).filter(|r| r.t_s.is_finite()).collect();
    gathered.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
    (gathered, each)
}

/// Seconds that stand out, the worst first.
fn stalls(devices: &Devices, timelines: &[(usize, &Timeline)]) -> Option<Table> {
    let mut stalls: Vec<_> = timelines.iter().flat_map(|&(i, t)| t.stalls.iter().map(move |s| (i, s))).collect();
    stalls.sort_by_key(|(_, stall)| std::cmp::Reverse(stall.lat_max_ns));
    let all = stalls.len();
    stalls.truncate(20);
    let row = |&(i, stall): &(usize, &results::Stall)| {
        let device = devices.compared().then(|| devices.name(i).to_string());
        let cells = [
            Unit::Seconds.show(stall.t_s),
            Unit::Nanoseconds.show(stall.lat_max_ns as f64),
            format!("{} of the mean", Unit::Percent.show(stall.share_of_mean * 100.0)),
        ];
        device.into_iter().chain(cells).collect()
    };
    let columns = ["Second that ends at", "Longest response", "Throughput"].map(String::from);
    let columns = devices.compared().then(|| "Device".to_string()).into_iter().chain(columns).collect();
    let caption = if all > 20 { format!("The 20 worst of {all} stalls") } else { "Stalls, the worst first".into() };
    (all > 0).then(|| Table { caption, columns, rows: stalls.iter().map(row).collect(), text_columns: 0 })
}
