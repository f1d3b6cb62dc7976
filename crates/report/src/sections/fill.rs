//! Throughput, response times and write amplification against space in use.

use super::{Section, sweep};
use crate::devices::Devices;
use crate::plot::{Plot, Scale, Series, Table, View, YAxis};
use crate::ratios::{WANTED, ratios};
use crate::unit::Unit;

const WAF: YAxis = YAxis { label: "Write amplification", unit: Unit::Ratio, scale: Scale::Linear };

/// The fill sweep.
pub fn section(devices: &Devices) -> Option<Section> {
    let lines = devices.lines("fill")?;
    let mut section = Section::new("fill", "Random writes against space in use");
    sweep::notes(&mut section, devices, &lines);
    section.plots.extend(sweep::throughput(devices, &lines));
    section.plots.extend(sweep::response_times(devices, &lines));
    let waf = lines.sweeps.iter().map(|&(i, sweep)| {
        let (name, style) = if devices.compared() { (devices.name(i), i) } else { ("Write amplification", 3) };
        let values = lines.values(sweep, |p| p.waf.filter(|&w| w > 0.0));
        Series::line(name, style, values, lines.marks(sweep))
    });
    let views = vec![View::new("Write amplification", WAF, waf.collect())];
    let x = sweep::x_axis(lines.first().axis);
    section.plots.extend(Plot::new("plot-fill-waf", "Write amplification", x, lines.xs.clone(), views));

    let mut rows = Vec::new();
    for &(i, sweep) in &lines.sweeps {
        let Some((emptiest, ratios)) = ratios(sweep) else { continue };
        for ratio in ratios {
            let how = if ratio.interpolated {
                "interpolated between its neighbours".to_string()
            } else {
                format!("measured at {}", Unit::Percent.show(ratio.x))
            };
            let wanted = format!("{} in use", Unit::Percent.show(ratio.wanted));
            let device = devices.compared().then(|| devices.name(i).to_string());
            let cells = [
                wanted,
                Unit::BytesPerSecond.show(ratio.bw_bytes),
                format!("{} of that at {}", Unit::Percent.show(ratio.ratio * 100.0), Unit::Percent.show(emptiest)),
                how,
            ];
            rows.push(device.into_iter().chain(cells).collect());
        }
    }
    if !rows.is_empty() {
        let columns = ["Space", "Throughput", "Against the emptiest point", "Basis"].map(String::from);
        let columns = devices.compared().then(|| "Device".to_string()).into_iter().chain(columns).collect();
        debug_assert_eq!(WANTED.len(), 4);
        let caption = "What is left a third, half, two thirds and all full".into();
        section.tables.push(Table { caption, columns, rows, text_columns: 2 });
    }
    Some(section)
}
