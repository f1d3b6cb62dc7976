//! A log writer beside random readers.

use super::{Section, sweep};
use crate::devices::{Devices, positive};
use crate::plot::{Plot, Series, View, XAxis, YAxis};
use results::Point;
use std::borrow::Cow;

/// The log writer's throughput and sync times, the readers' rate and response times.
pub fn section(devices: &Devices) -> Option<Section> {
    let lines = devices.lines("redo")?;
    let mut section = Section::new("redo", "Redo log writes beside random reads");
    sweep::notes(&mut section, devices, &lines);
    let x =
        XAxis { label: Cow::Borrowed("Random readers"), suffix: "random readers", ..sweep::x_axis(lines.first().axis) };
    let series = |label: &str, style: usize, axis: usize, value: fn(&Point) -> Option<f64>| -> Vec<Series> {
        let series = lines.sweeps.iter().map(|&(i, sweep)| {
            let style = if devices.compared() { i } else { style };
            let name = if devices.compared() { devices.name(i) } else { label };
            let mut series = Series::line(name, style, lines.values(sweep, value), lines.marks(sweep));
            series.axis = axis;
            series
        });
        series.collect()
    };
    let log = |axis| series("Log writer", 1, axis, |p| positive(p.write.bw_bytes));
    let readers = |axis| series("Readers", 0, axis, |p| positive(p.read.iops));
    let log_p99 = || series("Log sync p99", 1, 0, |p| sweep::latency(&p.sync, 99.0));
    let read_p99 = || series("Read p99", 0, 0, |p| sweep::latency(&p.read, 99.0));
    let log_axis = YAxis { label: "Log writes", ..sweep::THROUGHPUT };
    let read_axis = YAxis { label: "Reads a second", ..sweep::REQUESTS };
    let (rates, times) = if devices.compared() {
        let rates = vec![View::new("Log writes", log_axis, log(0)), View::new("Reads", read_axis, readers(0))];
        let times = vec![
            View::new("Log sync, p99", sweep::RESPONSE, log_p99()),
            View::new("Reads, p99", sweep::RESPONSE, read_p99()),
        ];
        (rates, times)
    } else {
        let mut rates = View::new("Rates", log_axis, log(0).into_iter().chain(readers(1)).collect());
        rates.axes.push(read_axis);
        let times = log_p99().into_iter().chain(read_p99()).collect();
        (vec![rates], vec![View::new("p99", sweep::RESPONSE, times)])
    };
    let xs = &lines.xs;
    section.plots.extend(Plot::new("plot-redo-rates", "Log writes and reads", x.clone(), xs.clone(), rates));
    section.plots.extend(Plot::new("plot-redo-response", "Response times, p99", x, xs.clone(), times));
    Some(section)
}
