//! Random writes second by second: which seconds stand out.

use results::{Point, Stall, Timeline};

/// A second is a stall when its throughput is below this share of the mean …
const STALL_SHARE: f64 = 0.5;
/// … or its longest response is so many times the median response …
const STALL_RESPONSES: u64 = 100;
/// … and so many times that of the median second: where every second has such a response, none stands out by it.
const STALL_OF_SECOND: u64 = 2;
/// A last row shorter than this says nothing.
const MIN_ROW_S: f64 = 0.5;

/// The timeline that a point's rows make.
pub(crate) fn timeline(mut point: Point) -> Timeline {
    let starts = std::iter::once(0.0).chain(point.series.iter().map(|row| row.t_s));
    let last_s = point.series.last().map(|row| row.t_s).zip(starts.take(point.series.len()).last());
    if point.series.len() > 1 && last_s.is_some_and(|(end, start)| end - start < MIN_ROW_S) {
        point.series.pop();
    }
    let mean = point.write.bw_bytes;
    let share = |bw: f64| if mean > 0.0 { bw / mean } else { 0.0 };
    let slowest = point.series.iter().map(|row| row.write_bw_bytes).fold(f64::INFINITY, f64::min);
    let median_ns = point.write.lat_ns.at(50.0);
    let mut longest: Vec<u64> = point.series.iter().map(|row| row.lat_max_ns).collect();
    longest.sort_unstable();
    let usual_ns = longest.get(longest.len() / 2).copied().unwrap_or(0);
    let stalled_ns = STALL_RESPONSES.saturating_mul(median_ns).max(STALL_OF_SECOND.saturating_mul(usual_ns));
    let stalls = point
        .series
        .iter()
        .filter(|row| share(row.write_bw_bytes) < STALL_SHARE || (median_ns > 0 && row.lat_max_ns >= stalled_ns))
        .map(|row| Stall { t_s: row.t_s, share_of_mean: share(row.write_bw_bytes), lat_max_ns: row.lat_max_ns })
        .collect();
    Timeline {
        title: format!(
            "16 KiB random writes, {:.0} threads, {:.0} % of the device in use, second by second",
            point.x,
            point.fill * 100.0
        ),
        slowest_second: if slowest.is_finite() { share(slowest) } else { 0.0 },
        stalls,
        point,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::{IoClass, LatencyRecorder, SeriesRow};

    fn point(rows: &[(f64, u64)]) -> Point {
        let mut latency = LatencyRecorder::new();
        (0..1000).for_each(|_| latency.record(100_000));
        let series = rows.iter().enumerate().map(|(i, &(bw, lat_max_ns))| SeriesRow {
            t_s: (i + 1) as f64,
            write_bw_bytes: bw,
            lat_max_ns,
            ..SeriesRow::default()
        });
        let write = IoClass { bw_bytes: 100.0, lat_ns: latency.summary(), ..IoClass::default() };
        Point { x: 8.0, fill: 1.0, series: series.collect(), write, ..Point::default() }
    }

    #[test]
    fn a_slow_second_and_a_long_response_are_stalls_and_nothing_else_is() {
        let line = timeline(point(&[(100.0, 4_000_000), (49.0, 1), (51.0, 1), (120.0, 10_100_000)]));
        let at: Vec<f64> = line.stalls.iter().map(|stall| stall.t_s).collect();
        assert_eq!(at, [2.0, 4.0]);
        assert!((line.slowest_second - 0.49).abs() < 1e-12);
    }

    #[test]
    fn what_every_second_has_makes_none_stand_out() {
        let mut rows = [(100.0, 11_000_000); 30];
        assert_eq!(timeline(point(&rows)).stalls, []);
        rows[7].1 = 23_000_000;
        let at: Vec<f64> = timeline(point(&rows)).stalls.iter().map(|stall| stall.t_s).collect();
        assert_eq!(at, [8.0]);
    }

    #[test]
    fn a_last_row_of_a_moment_is_left_out() {
        let mut point = point(&[(100.0, 1), (100.0, 1), (5.0, 1)]);
        point.series[2].t_s = 2.1;
        let line = timeline(point);
        assert_eq!((line.point.series.len(), line.stalls.len()), (2, 0));
    }
}
