//! The handful of figures that a decision begins with.

use crate::anchor;
use crate::devices::{at, positive};
use crate::ratios::ratios;
use crate::unit::{THIN, Unit, capacity, three_digits};
use results::{Point, ReviewResult, Sweep};

/// One of them.
pub struct Figure {
    /// Name of the figure.
    pub label: String,
    /// The figure itself, in large type.
    pub value: String,
    /// A detail that stands under it.
    pub detail: String,
    /// The section that shows it.
    pub chart: String,
}

/// Threads at which devices are compared at first sight.
pub const THREADS: f64 = 16.0;
/// From here on a device counts as full, percent in use.
pub const FULL: f64 = 98.0;

/// Returns the figures that there are: random reads and writes, p99, loss when full, worst stall, bytes written fast,
/// price.
pub fn figures(result: &ReviewResult) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (name, label) in [("threads-rndrd", "Random reads"), ("threads-rndwr", "Random writes")] {
        let Some((sweep, point)) = result.sweep(name).and_then(|s| Some((s, usual(s)?))) else { continue };
        let class = if name.ends_with("rd") { &point.read } else { &point.write };
        let p99 = positive(class.lat_ns.at(99.0) as f64);
        let mut detail = vec![Unit::BytesPerSecond.show(class.bw_bytes)];
        detail.extend(p99.map(|p99| format!("p99 {}", Unit::Nanoseconds.show(p99))));
        figures.push(Figure {
            label: format!("{label}, {}", place(sweep, point)),
            value: Unit::Iops.show(class.iops),
            detail: detail.join(" · "),
            chart: anchor::chart(name),
        });
    }
    figures.extend(kept(result).map(|(emptiest, x, kept)| Figure {
        label: format!("Random writes kept when {} full", Unit::Percent.show(x)),
        value: Unit::Percent.show(kept * 100.0),
        detail: format!("of the throughput at {} in use", Unit::Percent.show(emptiest)),
        chart: anchor::chart("fill"),
    }));
    figures.extend(result.timeline.as_ref().and_then(|timeline| {
        let worst = worst_response_ns(result)?;
        let stalls = match timeline.stalls.len() {
            0 => "no second stands out".to_string(),
            1 => "1 second stands out".to_string(),
            n => format!("{n} seconds stand out"),
        };
        Some(Figure {
            label: "Longest response, random writes".into(),
            value: Unit::Nanoseconds.show(worst),
            detail: format!("{stalls}; slowest {} of mean", Unit::Percent.show(timeline.slowest_second * 100.0)),
            chart: anchor::chart("timeline"),
        })
    }));
    figures.extend(result.burst.as_ref().and_then(|report| {
        let first = report.pace(report.first()?);
        let (fast, slow) = (positive(first.fast_bw_bytes?)?, positive(first.slow_bw_bytes?)?);
        let [fast, slow] = [fast, slow].map(|bw| Unit::BytesPerSecond.show(bw));
        Some(Figure {
            label: "Written fast into an emptied device".into(),
            value: capacity(first.fast_bytes),
            detail: format!("{fast} until then, {slow} from then on"),
            chart: anchor::chart("burst"),
        })
    }));
    if let (Some(price), Some(per_gb)) = (&result.price, price_per_gb(result)) {
        let currency = crate::devices::clip(&price.currency, 12);
        figures.push(Figure {
            label: "Price per GB".into(),
            value: format!("{}{THIN}{currency}", three_digits(per_gb)),
            detail: format!("{}{THIN}{currency} in all", three_digits(price.amount)),
            chart: anchor::chart("price"),
        });
    }
    figures
}

/// The point at 16 threads, or else the nearest below, or else the first.
fn usual(sweep: &Sweep) -> Option<&Point> {
    let below = || sweep.points.iter().filter(|p| p.x < THREADS).max_by(|a, b| a.x.total_cmp(&b.x));
    at(sweep, THREADS).or_else(below).or_else(|| sweep.points.first())
}

/// `16 threads, 100 % full`.
fn place(sweep: &Sweep, point: &Point) -> String {
    let axis = crate::sections::x_axis(sweep.axis);
    let place = format!("{} {}", axis.unit.show(point.x), axis.suffix);
    match positive(point.fill) {
        Some(fill) => format!("{place}, {} full", Unit::Percent.show(fill * 100.0)),
        None => place,
    }
}

/// The emptiest share in use, the fullest, and what the fullest keeps of the throughput.
pub fn kept(result: &ReviewResult) -> Option<(f64, f64, f64)> {
    let (emptiest, ratios) = ratios(result.sweep("fill")?)?;
    let full = ratios.iter().find(|r| r.wanted == 100.0 && r.x >= FULL)?;
    (emptiest < FULL).then_some((emptiest, full.x, full.ratio))
}

/// Returns the longest response in the timeline.
pub fn worst_response_ns(result: &ReviewResult) -> Option<f64> {
    let point = &result.timeline.as_ref()?.point;
    let of_rows = point.series.iter().map(|r| r.lat_max_ns).max().unwrap_or(0);
    positive(of_rows.max(point.write.lat_ns.max).max(point.read.lat_ns.max) as f64)
}

/// Amount over bytes sold, per 10^9 of them.
pub fn price_per_gb(result: &ReviewResult) -> Option<f64> {
    let bytes = positive(result.target.sold_bytes? as f64)?;
    positive(result.price.as_ref()?.amount / (bytes / 1e9))
}

/// The most requests a second of a sweep, and at how many threads.
pub fn best_iops(result: &ReviewResult, sweep: &str) -> Option<(f64, f64)> {
    let points = &result.sweep(sweep)?.points;
    let best = points.iter().max_by(|a, b| a.iops().total_cmp(&b.iops()))?;
    Some((positive(best.iops())?, best.x))
}
