//! The two charts of the first screen: throughput against fill, and latency percentiles against load.

use super::sweep;
use crate::devices::Devices;
use crate::plot::Plot;

/// Sweeps whose throughput is looked at first, the best known one first.
const THROUGHPUT: [&str; 6] = ["fill", "threads-rndwr", "threads-rndrd", "threads-rndrw", "blocks-rndrd", "mix"];
/// Sweeps whose response times are.
const RESPONSE: [&str; 6] = ["rate", "threads-rndrw", "threads-rndrd", "threads-rndwr", "redo", "sync"];
/// Percentiles that a small chart has room for.
const PERCENTILES: [&str; 3] = ["p50", "p99", "p99.9"];

/// The charts that there are; sweeps that only their writer knows stand in for others.
pub fn first(devices: &Devices) -> Vec<Plot> {
    let lines = |names: &[&str]| {
        let known = names.iter().find_map(|name| devices.lines(name));
        known.or_else(|| devices.sweep_names().into_iter().find_map(|name| devices.lines(name)))
    };
    let throughput = lines(&THROUGHPUT).and_then(|lines| {
        let plot = sweep::throughput(devices, &lines)?;
        Some(small(plot, "plot-first-throughput", format!("MB/s against {}", against(&lines)), |_| true))
    });
    let response = lines(&RESPONSE).and_then(|lines| {
        let plot = sweep::response_times(devices, &lines)?;
        let of = plot.views[plot.first_view].name.to_lowercase();
        let title = format!("Latency of {of} against {}", against(&lines));
        Some(small(plot, "plot-first-response", title, |series| PERCENTILES.contains(&series)))
    });
    throughput.into_iter().chain(response).collect()
}

fn against(lines: &crate::devices::Lines) -> String {
    sweep::x_axis(lines.first().axis).label.to_lowercase()
}

/// The first view alone, without what a small chart has no room for.
fn small(mut plot: Plot, id: &str, title: String, keep: impl Fn(&str) -> bool) -> Plot {
    let mut view = plot.views.swap_remove(plot.first_view);
    if view.series.iter().any(|series| keep(&series.name)) {
        view.series.retain(|series| keep(&series.name));
    }
    (plot.id, plot.title, plot.views, plot.first_view, plot.compact) = (id.into(), title, vec![view], 0, true);
    plot
}
