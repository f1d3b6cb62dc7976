//! A review on a page or two.

use super::comparison;
use crate::table::{Table, wrap};
use crate::units::{duration, mib_per_s, percent, three_digits};
use results::{Axis, ReviewResult, Sweep, SweepPoint, Timeline};

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub fn review(heading: &str, result: &ReviewResult) -> String {
    let mut blocks = vec![wrap("", 2, heading)];
    if result.partial {
        blocks[0].push_str("PARTIAL: stopped by Ctrl-C, points are missing\n");
    }
    blocks.extend(result.sweeps.iter().filter(|sweep| !sweep.points.is_empty()).map(sweep));
    if !result.timeline.rows.is_empty() {
        blocks.push(timeline(&result.timeline));
    }
    blocks.extend(result.comparisons.iter().map(comparison::table));
    let points: usize = result.sweeps.iter().map(|sweep| sweep.points.len()).sum();
    blocks.push(format!("speed:  {points} points in {}\n", duration(result.wall_seconds * 1e9)));
    blocks.join("\n")
}

fn sweep(sweep: &Sweep) -> String {
    let mut out = wrap("", 2, &sweep.title);
    let measured = sweep.points.iter().any(|point| point.measured_bw_bytes.is_some());
    let wrote = sweep.points.iter().any(|point| point.waf.is_some_and(|waf| waf > 0.0));
    let axis = match sweep.axis {
        Axis::FillPercent => "in use",
        Axis::Threads => "threads",
    };
    let mut heading = vec![axis, "MiB/s"];
    heading.extend(measured.then_some(["published", "error"]).into_iter().flatten());
    if !measured {
        heading.push("IOPS");
    }
    heading.extend(["mean", "p95", "p99", "max"]);
    heading.extend(wrote.then_some("WAF"));
    let mut table = Table::labelled(heading.len() + 1);
    table.row(std::iter::once("").chain(heading));
    for point in &sweep.points {
        table.row(row(sweep.axis, point, measured, wrote));
    }
    out.push_str(&table.render());
    if sweep.points.iter().any(|point| !point.steady) {
        out.push_str("* not steady: range or slope of the last five rounds is above the bound\n");
    }
    out
}

fn row(axis: Axis, point: &SweepPoint, measured: bool, wrote: bool) -> Vec<String> {
    let bandwidth = point.read_bw_bytes + point.write_bw_bytes;
    let x = match axis {
        Axis::FillPercent => percent(point.x / 100.0),
        Axis::Threads => three_digits(point.x).replace(".00", "").replace(".0", ""),
    };
    let mut cells = vec![if point.steady { "" } else { "*" }.to_owned(), x, mib_per_s(bandwidth)];
    if measured {
        let published = point.measured_bw_bytes;
        cells.push(published.map_or(String::new(), mib_per_s));
        cells.push(published.map_or(String::new(), |p| format!("{:+.1} %", (bandwidth / p - 1.0) * 100.0)));
    }
    if !measured {
        cells.push(three_digits(point.iops));
    }
    cells.push(duration(point.lat_mean_ns));
    cells.extend([point.lat_p95_ns, point.lat_p99_ns, point.lat_max_ns].map(|ns| duration(ns as f64)));
    if wrote {
        cells.push(point.waf.filter(|waf| *waf > 0.0).map_or("-".to_owned(), |waf| format!("{waf:.2}")));
    }
    cells
}

/// Bars from zero to the fastest second.
fn timeline(timeline: &Timeline) -> String {
    let bandwidths = timeline.rows.iter().map(|row| row.read_bw_bytes + row.write_bw_bytes);
    let fastest = bandwidths.clone().fold(0.0, f64::max);
    let bar = |bandwidth: f64| {
        let step = if fastest > 0.0 { (bandwidth / fastest * BARS.len() as f64).ceil() as usize } else { 1 };
        BARS[step.clamp(1, BARS.len()) - 1]
    };
    let bars: String = bandwidths.map(bar).collect();
    let mut out = wrap("", 2, &timeline.title);
    // One word, cut where the page ends.
    out.push_str(&wrap("", 0, &bars));
    out.push_str(&wrap(
        "",
        2,
        &format!(
            "fastest second {} MiB/s; slowest second {} of the mean; longest response {}",
            mib_per_s(fastest),
            percent(timeline.slowest_second),
            duration(timeline.lat_max_ns as f64),
        ),
    ));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::COLUMNS;
    use results::SeriesRow;

    fn result() -> ReviewResult {
        let point = |x: f64| SweepPoint {
            x,
            read_bw_bytes: 1.4e9,
            write_bw_bytes: 1e9,
            iops: 168_997.3,
            lat_mean_ns: 747_000.0,
            lat_p95_ns: 99_900_000,
            lat_p99_ns: 99_900_000,
            lat_p999_ns: 99_900_000,
            lat_max_ns: 99_900_000,
            waf: Some(12.34),
            steady: x < 50.0,
            measured_bw_bytes: Some(990.0 * 1_048_576.0),
        };
        let sweep = |axis| Sweep {
            name: "s".to_owned(),
            title: "16 KiB random writes, against something".to_owned(),
            axis,
            points: vec![point(8.0), point(100.0)],
        };
        let row = |i: u32| SeriesRow { t_s: i.into(), write_bw_bytes: f64::from(i) * 1e8, ..SeriesRow::default() };
        ReviewResult {
            schema: 1,
            target: serde_json::Value::Null,
            host: serde_json::Value::Null,
            seed: 1,
            sweeps: vec![sweep(Axis::FillPercent), sweep(Axis::Threads)],
            timeline: Timeline { title: "t".to_owned(), rows: (0..8).map(row).collect(), ..Timeline::default() },
            comparisons: Vec::new(),
            partial: true,
            wall_seconds: 12.3,
        }
    }

    #[test]
    fn no_line_is_wider_than_the_page() {
        for line in review("a heading", &result()).lines() {
            assert!(line.chars().count() <= COLUMNS, "{line}");
        }
    }

    #[test]
    fn what_is_not_steady_is_marked_and_seconds_become_bars() {
        let text = review("a heading", &result());
        assert!(text.lines().any(|line| line.starts_with("*   100 %")), "{text}");
        assert!(text.contains("\n▁▂▃▄▅▆▇█\n"), "{text}");
        assert!(text.contains("PARTIAL"), "{text}");
    }
}
