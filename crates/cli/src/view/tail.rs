//! Causes of latency: bands of latency against causes, and the slowest requests one by one.

use super::rounding::parts_that_add_up;
use crate::table::{Table, wrap};
use crate::units::{duration, grouped, three_digits};
use device::Cause;
use results::{TailBand, TailReport};

/// Bands side by side: more would be wider than 80 columns.
const BANDS_ABREAST: usize = 6;
/// Slowest requests that are shown.
const SLOWEST_SHOWN: usize = 5;
/// Causes that a line about one request names.
const CAUSES_NAMED: usize = 3;

pub fn report(report: &TailReport) -> String {
    let mut blocks: Vec<String> = Vec::new();
    for class in report.bands.chunk_by(|a, b| a.class == b.class) {
        blocks.extend(class.chunks(BANDS_ABREAST).map(bands));
    }
    if !report.slowest.is_empty() {
        blocks.extend(report.slowest.chunk_by(|a, b| a.class == b.class).map(slowest));
    }
    blocks.join("\n")
}

/// Bands of one class. The parts of a column add up to its last line.
fn bands(bands: &[TailBand]) -> String {
    let causes: Vec<Cause> =
        Cause::ALL.into_iter().filter(|cause| bands.iter().any(|band| part(band, *cause) > 0.0)).collect();
    // Each column has the unit that suits it: the parts of a fast request are not lost beside those of a slow one.
    let units: Vec<Unit> = bands.iter().map(|band| Unit::for_up_to(band.lat_ns)).collect();
    let columns: Vec<Vec<u64>> = bands
        .iter()
        .zip(&units)
        .map(|(band, unit)| parts_that_add_up(&causes.iter().map(|c| part(band, *c)).collect::<Vec<_>>(), unit.step_ns))
        .collect();
    let show = |cell: &dyn Fn(&Vec<u64>) -> u64| -> Vec<String> {
        columns.iter().zip(&units).map(|(column, unit)| unit.show(cell(column))).collect()
    };
    let class = bands.first().map_or("", |band| band.class.as_str());
    let mut table = Table::labelled(bands.len() + 1);
    let mut row = |label: &str, cells: Vec<String>| table.row(std::iter::once(label.to_owned()).chain(cells));
    row(&format!("{class}, mean up to"), bands.iter().map(|band| upper_end(&band.label).to_owned()).collect());
    row("", units.iter().map(|unit| unit.name.to_owned()).collect());
    for (i, cause) in causes.iter().enumerate() {
        row(cause.label(), show(&|column| column[i]));
    }
    row("together", show(&|column| column.iter().sum()));
    row("requests", bands.iter().map(|band| short_count(band.requests)).collect());
    table.render()
}

/// The end of a band, `p90` of `p50-p90`: each begins where the last one ends.
fn upper_end(label: &str) -> &str {
    label.rsplit('-').next().unwrap_or(label)
}

/// A count in at most seven columns.
fn short_count(count: u64) -> String {
    if count < 1_000_000 { grouped(count) } else { format!("{} M", three_digits(count as f64 / 1e6)) }
}

/// A unit in which the times of a column take at most six columns, and the step to which they are rounded.
struct Unit {
    name: &'static str,
    step_ns: f64,
    decimals: usize,
}

impl Unit {
    fn for_up_to(longest_ns: f64) -> Unit {
        let (name, step_ns, decimals) = match longest_ns {
            ns if ns < 1e6 => ("µs", 1e2, 1),
            ns if ns < 1e8 => ("ms", 1e3, 3),
            ns if ns < 1e9 => ("ms", 1e4, 2),
            ns if ns < 1e10 => ("ms", 1e5, 1),
            _ => ("s", 1e6, 3),
        };
        Unit { name, step_ns, decimals }
    }

    fn show(&self, steps: u64) -> String {
        let power = 10_u64.pow(self.decimals as u32);
        if steps == 0 {
            "-".to_owned()
        } else {
            format!("{}.{:0width$}", steps / power, steps % power, width = self.decimals)
        }
    }
}

/// The slowest of one class. They often are one incident: a few show it, the JSON has all.
fn slowest(requests: &[TailBand]) -> String {
    let class = requests.first().map_or("", |one| one.class.as_str());
    let shown = &requests[..requests.len().min(SLOWEST_SHOWN)];
    let lines: String = shown.iter().map(slow_request).collect();
    format!("slowest {class} requests, {} of {}\n{lines}", shown.len(), requests.len())
}

fn slow_request(one: &TailBand) -> String {
    let mut parts: Vec<(Cause, f64)> = Cause::ALL.into_iter().map(|c| (c, part(one, c))).collect();
    parts.retain(|(_, ns)| *ns > 0.0);
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (named, others) = parts.split_at(parts.len().min(CAUSES_NAMED));
    let mut causes: Vec<String> = named.iter().map(|(c, ns)| format!("{} {}", c.label(), duration(*ns))).collect();
    if !others.is_empty() {
        causes.push(format!("other {}", duration(others.iter().map(|(_, ns)| ns).sum())));
    }
    let when = one.t_s.map(|t| format!(" at {t:.3} s")).unwrap_or_default();
    let line = format!("{}{when}, {}: {}", one.label, duration(one.lat_ns), causes.join(", "));
    wrap("", 4, &line)
}

fn part(band: &TailBand, cause: Cause) -> f64 {
    band.parts_ns.get(cause.key()).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::COLUMNS;

    fn band(class: &str, label: &str, parts: &[(Cause, f64)]) -> TailBand {
        TailBand {
            class: class.to_owned(),
            label: label.to_owned(),
            requests: 1_234_567,
            t_s: label.starts_with('#').then_some(12.5),
            lat_ns: parts.iter().map(|(_, ns)| ns).sum(),
            parts_ns: parts.iter().map(|(c, ns)| (c.key().to_owned(), *ns)).collect(),
        }
    }

    fn widest() -> TailReport {
        let parts: Vec<(Cause, f64)> = Cause::ALL.into_iter().map(|c| (c, 43_478_261.3)).collect();
        let labels = ["p0-p50", "p50-p90", "p90-p99", "p99-p99.9", "p99.9-p99.99", "p99.99-max"];
        let bands = ["read", "write"].iter().flat_map(|class| labels.map(|label| band(class, label, &parts)));
        TailReport { bands: bands.collect(), slowest: vec![band("write", "#1", &parts)] }
    }

    #[test]
    fn no_line_is_wider_than_the_page() {
        for line in report(&widest()).lines() {
            assert!(line.chars().count() <= COLUMNS, "{line}");
        }
    }

    #[test]
    fn the_printed_parts_of_a_column_add_up() {
        let text = report(&widest());
        let block = text.split("\n\n").next().unwrap();
        let last = |line: &str| line.split_whitespace().last().unwrap().replace('.', "").parse::<u64>().unwrap();
        let lines: Vec<&str> = block.lines().collect();
        let [_labels, _units, parts @ .., total, _requests] = lines.as_slice() else { panic!("{block}") };
        let (parts, total) = (parts.iter().map(|line| last(line)).collect::<Vec<_>>(), last(total));
        assert_eq!(parts.len(), Cause::COUNT);
        assert_eq!(parts.iter().sum::<u64>(), total);
    }

    #[test]
    fn a_slow_request_names_its_three_longest_waits() {
        let parts = [(Cause::GcStall, 2.9e6), (Cause::Link, 2e5), (Cause::HostCpu, 5e3), (Cause::Bus, 1e3)];
        let line = slow_request(&band("write", "#1", &parts));
        let expected =
            "#1 at 12.500 s, 3.11 ms: stopped for GC 2.90 ms, host link 200 µs, host CPU 5.00 µs, other 1.00 µs";
        assert_eq!(line.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }
}
