//! Sequential writes into an emptied device, and again after pauses: where a cache of faster cells ends.

use super::{Section, sweep};
use crate::devices::{Devices, clip, positive};
use crate::plot::{Plot, Scale, Series, Table, View, XAxis};
use crate::unit::{Unit, capacity};
use results::{Burst, BurstReport, BurstRow};
use std::borrow::Cow;

const WRITTEN: XAxis =
    XAxis { label: Cow::Borrowed("Written"), suffix: "written", unit: Unit::Bytes, scale: Scale::Linear };
/// Bursts of a device that are shown: as many as there are colours.
const BURSTS: usize = 6;
/// Steps of the axis at most: as fine as what a review writes down of a burst that is half as long as the longest.
const STEPS: usize = 512;

/// Throughput against bytes written, and what of each burst was fast.
pub fn section(devices: &Devices) -> Option<Section> {
    let mut section = Section::new("burst", "Bursts of sequential writes");
    let mut bursts = Vec::new();
    for (i, report) in devices.iter().filter_map(|(i, _, result)| Some((i, result.burst.as_ref()?))) {
        let shown: Vec<&Burst> = report.bursts.iter().filter(|burst| burst.bytes > 0).take(BURSTS).collect();
        // Devices that were asked the same are told so once.
        let title = clip(&report.title, 300);
        let same = devices.iter().all(|(_, _, other)| other.burst.as_ref().is_none_or(|b| b.title == report.title));
        section.note(if same || title.is_empty() { title } else { devices.labelled(i, &title) });
        if report.bursts.len() > BURSTS {
            let text = format!("Of {} bursts, {} are shown.", report.bursts.len(), shown.len());
            section.note(devices.labelled(i, &text));
        }
        if !shown.is_empty() {
            section.note(devices.labelled(i, what_is_to_see(report)));
        }
        bursts.extend(shown.into_iter().map(|burst| Shown { device: i, report, burst, curve: Curve::of(burst) }));
    }
    section.plots.extend(plot(devices, &bursts));
    if devices.compared() && !section.plots.is_empty() {
        section.note("Lines are bursts into the emptied devices; the table has those after pauses as well.");
    }
    section.tables.extend(table(devices, &bursts));
    (!bursts.is_empty()).then_some(section)
}

/// A burst on the page.
struct Shown<'a> {
    device: usize,
    report: &'a BurstReport,
    burst: &'a Burst,
    curve: Curve,
}

impl Shown<'_> {
    fn rested(&self) -> Option<String> {
        positive(self.burst.idle_s).map(|rest| Unit::Seconds.show(rest))
    }
}

fn what_is_to_see(report: &BurstReport) -> &'static str {
    if report.bursts.iter().any(|burst| burst.cliff.is_some()) {
        return "Throughput falls and stays low: until there, data went into a cache of faster cells. What goes fast after \
                a pause is what the device emptied of it while nothing was asked.";
    }
    "Throughput falls for good in none of the bursts: as far as they go, no cache comes to its end."
}

fn plot(devices: &Devices, bursts: &[Shown]) -> Option<Plot> {
    // Several devices with several bursts each would be more lines than anybody can tell apart.
    let drawn: Vec<&Shown> = bursts.iter().filter(|s| !devices.compared() || s.rested().is_none()).collect();
    let xs = steps(drawn.iter().map(|shown| &shown.curve));
    let mut names: Vec<String> = Vec::new();
    let mut series = Vec::new();
    for shown in drawn {
        let name = match shown.rested() {
            _ if devices.compared() => devices.name(shown.device).to_string(),
            Some(rest) => format!("After {rest} of rest"),
            None => "Into the emptied device".to_string(),
        };
        // The legend switches lines by their names.
        let alike = names.iter().filter(|known| **known == name).count();
        let label = if alike == 0 { name.clone() } else { format!("{name} ({})", alike + 1) };
        let style = if devices.compared() { shown.device } else { names.len() };
        names.push(name);
        let mut line = Series::line(label, style, shown.curve.at_steps(&xs), Vec::new());
        line.thin = true;
        series.push(line);
    }
    let views = vec![View::new("Throughput", sweep::THROUGHPUT, series)];
    Plot::new("plot-burst", "Throughput against bytes written", WRITTEN, xs, views)
}

/// Common x for all curves: every so many bytes, as fine as the finest of them.
fn steps<'a>(curves: impl Iterator<Item = &'a Curve> + Clone) -> Vec<f64> {
    let longest = curves.clone().map(Curve::bytes).fold(0.0, f64::max);
    let finest = curves.filter_map(|curve| positive(curve.bytes() / curve.0.len() as f64)).fold(longest, f64::min);
    if longest <= 0.0 {
        return Vec::new();
    }
    let count = ((longest / finest).round() as usize).clamp(1, STEPS);
    (1..=count).map(|i| longest * i as f64 / count as f64).collect()
}

/// Bytes written and seconds until then, both rising.
struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// Rows that no burst has, whatever a file says, are left out.
    fn of(burst: &Burst) -> Curve {
        let mut points: Vec<(f64, f64)> = Vec::with_capacity(burst.rows.len());
        let (mut bytes, mut seconds) = (0.0, 0.0);
        for &BurstRow { bytes: until, bw_bytes } in &burst.rows {
            let more = until as f64 - bytes;
            if let Some(took) = positive(bw_bytes).and_then(|bw| positive(more / bw)) {
                (bytes, seconds) = (until as f64, seconds + took);
                points.push((bytes, seconds));
            }
        }
        Curve(points)
    }

    fn bytes(&self) -> f64 {
        self.0.last().map_or(0.0, |last| last.0)
    }

    /// Seconds until so many bytes were written.
    fn seconds_at(&self, bytes: f64) -> f64 {
        let next = self.0.partition_point(|point| point.0 < bytes);
        let before = next.checked_sub(1).map_or((0.0, 0.0), |i| self.0[i]);
        match self.0.get(next) {
            Some(after) => before.1 + (after.1 - before.1) * (bytes - before.0) / (after.0 - before.0),
            None => before.1,
        }
    }

    /// Throughput from each step to the next; none where less than half of the step was written.
    fn at_steps(&self, steps: &[f64]) -> Vec<Option<f64>> {
        let mut from = 0.0;
        let throughput = steps.iter().map(|&until| {
            let (begin, end) = (std::mem::replace(&mut from, until), until.min(self.bytes()));
            let written = end - begin;
            let enough = written >= 0.5 * (until - begin);
            enough.then(|| written / (self.seconds_at(end) - self.seconds_at(begin)))
        });
        throughput.collect()
    }
}

fn table(devices: &Devices, bursts: &[Shown]) -> Option<Table> {
    let bandwidth = |bw: Option<f64>| bw.and_then(positive).map_or("–".into(), |bw| Unit::BytesPerSecond.show(bw));
    let row = |shown: &Shown| {
        let (burst, pace) = (shown.burst, shown.report.pace(shown.burst));
        let device = devices.compared().then(|| devices.name(shown.device).to_string());
        let fast = match pace.slow_bw_bytes {
            None => "all of it".to_string(),
            Some(_) if pace.fast_bytes == 0 => "nothing".to_string(),
            Some(_) => capacity(pace.fast_bytes),
        };
        let cells = [
            shown.rested().unwrap_or_else(|| "emptied".to_string()),
            capacity(burst.bytes),
            fast,
            bandwidth(pace.fast_bw_bytes),
            bandwidth(pace.slow_bw_bytes),
        ];
        device.into_iter().chain(cells).collect()
    };
    let columns = ["Rest before", "Written", "Fast", "At", "Then"].map(String::from);
    let columns = devices.compared().then(|| "Device".to_string()).into_iter().chain(columns).collect();
    let caption = "Bursts, one after the other".to_string();
    (!bursts.is_empty()).then(|| Table { caption, columns, rows: bursts.iter().map(row).collect(), text_columns: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burst(rows: &[(u64, f64)]) -> Burst {
        let rows: Vec<BurstRow> = rows.iter().map(|&(bytes, bw_bytes)| BurstRow { bytes, bw_bytes }).collect();
        Burst { bytes: rows.last().map_or(0, |row| row.bytes), rows, ..Burst::default() }
    }

    #[test]
    fn bursts_of_different_lengths_share_steps_and_keep_their_time() {
        let (long, short) = (Curve::of(&burst(&[(40, 4.0), (80, 1.0)])), Curve::of(&burst(&[(10, 5.0), (30, 2.0)])));
        let xs = steps([&long, &short].into_iter());
        assert_eq!(xs, [16.0, 32.0, 48.0, 64.0, 80.0]);
        // Half of the third step at 4, half at 1: 16 bytes in 10 seconds.
        assert_eq!(long.at_steps(&xs), [4.0, 4.0, 1.6, 1.0, 1.0].map(Some));
        // 10 bytes in 2 seconds and 6 in 3; then 14 of 16 are there, and no more.
        assert_eq!(short.at_steps(&xs), [Some(3.2), Some(2.0), None, None, None]);
    }

    #[test]
    fn rows_that_no_burst_has_are_left_out() {
        let nan =
            Curve::of(&burst(&[(10, f64::NAN), (20, -1.0), (30, 3.0), (30, 3.0), (20, 1.0), (40, 1e300), (50, 0.0)]));
        assert_eq!(nan.0, [(30.0, 10.0), (40.0, 10.0)]);
        assert_eq!(Curve::of(&burst(&[])).at_steps(&[1.0]), [None]);
        assert_eq!(steps([Curve::of(&burst(&[]))].iter()), Vec::<f64>::new());
        let many: Vec<(u64, f64)> = (1..100_000).map(|i| (i, 1.0)).collect();
        assert_eq!(steps([Curve::of(&burst(&many))].iter()).len(), STEPS);
    }
}
