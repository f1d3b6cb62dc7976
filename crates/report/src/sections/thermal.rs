//! Temperatures of modelled cards, and what they were throttled for.

use super::timeline::SECONDS;
use super::{Section, sweep};
use crate::devices::Devices;
use crate::plot::{Plot, Scale, Series, Table, View, YAxis};
use crate::unit::Unit;
use results::{Point, ThermalReport};

const TEMPERATURE: YAxis = YAxis { label: "Temperature", unit: Unit::Celsius, scale: Scale::Linear };
/// Points in the table: the hottest.
const ROWS: usize = 12;

/// A point, where it is, and its heat.
struct Heated<'a> {
    device: usize,
    at: String,
    seconds: f64,
    heat: &'a ThermalReport,
}

impl<'a> Heated<'a> {
    /// `None`: the device has no temperature.
    fn of(device: usize, at: String, point: &'a Point) -> Option<Heated<'a>> {
        Some(Heated { device, at, seconds: point.seconds, heat: point.thermal.as_ref()? })
    }
}

/// The hottest points of all sweeps, and the temperature of the random writes second by second.
pub fn section(devices: &Devices) -> Option<Section> {
    let mut points = Vec::new();
    for (device, _, result) in devices.iter() {
        for of in &result.sweeps {
            let x = sweep::x_axis(of.axis);
            let place = |point: &Point| format!("{}, {} {}", of.name, x.unit.show(point.x), x.suffix);
            points.extend(of.points.iter().filter_map(|point| Heated::of(device, place(point), point)));
        }
        let line = result.timeline.as_ref();
        points.extend(line.and_then(|line| Heated::of(device, "timeline".to_owned(), &line.point)));
    }
    if points.is_empty() {
        return None;
    }
    let mut section = Section::new("thermal", "Temperature and throttling");
    section.note("By the heat model of the card; each point begins at the temperature that the card has at rest.");
    section.plots.extend(timeline(devices));
    points.sort_by(|a, b| b.heat.highest_celsius.total_cmp(&a.heat.highest_celsius));
    let all = points.len();
    points.truncate(ROWS);
    let row = |point: &Heated| {
        vec![
            devices.labelled(point.device, &point.at).to_string(),
            Unit::Celsius.show(point.heat.highest_celsius),
            Unit::Celsius.show(point.heat.end_celsius),
            format!("{}{}W", crate::unit::three_digits(point.heat.mean_watts), crate::unit::THIN),
            Unit::Percent.show(100.0 * point.heat.throttled_share(point.seconds)),
        ]
    };
    let columns = ["Point", "Highest", "At the end", "Mean power", "Throttled"].map(String::from).to_vec();
    let caption =
        if all > ROWS { format!("The {ROWS} hottest of {all} points") } else { "Points, the hottest first".into() };
    section.tables.push(Table { caption, columns, rows: points.iter().map(row).collect(), text_columns: 0 });
    Some(section)
}

/// The temperature during the random writes that are shown second by second.
fn timeline(devices: &Devices) -> Option<Plot> {
    let of_all: Vec<(usize, &[f64])> = devices
        .iter()
        .filter_map(|(i, _, result)| Some((i, result.timeline.as_ref()?.point.thermal.as_ref()?.series.as_slice())))
        .collect();
    let seconds = of_all.iter().map(|(_, series)| series.len()).max()?;
    let xs: Vec<f64> = (1..=seconds).map(|second| second as f64).collect();
    let line = |&(i, series): &(usize, &[f64])| {
        let (name, style) = if devices.compared() { (devices.name(i), i) } else { ("Temperature", 0) };
        let values = (0..seconds).map(|second| series.get(second).copied()).collect();
        let mut line = Series::line(name, style, values, Vec::new());
        line.thin = seconds > 60;
        line
    };
    let views = vec![View::new("Temperature", TEMPERATURE, of_all.iter().map(line).collect())];
    Plot::new("plot-thermal", "Temperature during the random writes", SECONDS, xs, views)
}
