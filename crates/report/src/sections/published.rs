//! Against what others published about the device.

use super::Section;
use crate::devices::{Devices, clip};
use crate::plot::Table;
use crate::unit::three_digits;
use results::{Comparison, Published};

/// A table for each published one.
pub fn sections(devices: &Devices) -> Vec<Section> {
    let mut sections = Vec::new();
    for (i, _, result) in devices.iter() {
        for comparison in &result.comparisons {
            let topic = format!("published-{}", comparison.name);
            let heading = devices.labelled(i, &clip(&comparison.title, 200));
            let mut section = Section::new(topic, heading);
            let held = if comparison.holds { "Within its bounds." } else { "Outside its bounds." };
            section.note(match (comparison.mean_error, comparison.mean_error_bound) {
                (Some(mean), Some(bound)) => {
                    format!("{held} Mean error {:.1} %, at most {:.1} % allowed.", mean * 100.0, bound * 100.0)
                }
                (Some(mean), None) => format!("{held} Mean error {:.1} %.", mean * 100.0),
                _ => held.to_string(),
            });
            section.note(clip(&comparison.note, 600));
            section.tables.push(table(comparison));
            sections.push(section);
        }
    }
    sections
}

fn table(comparison: &Comparison) -> Table {
    let row = |point: &results::ComparisonPoint| {
        let published = match point.published {
            Published::Figure { value, .. } => three_digits(value),
            Published::AtLeast { value } => format!("at least {}", three_digits(value)),
            Published::AtMost { value } => format!("at most {}", three_digits(value)),
            Published::Between { low, high } => format!("{} to {}", three_digits(low), three_digits(high)),
        };
        let error = point.error.map_or("–".into(), |e| format!("{:+.1} %", e * 100.0).replace('-', "−"));
        let held = if point.holds { "yes" } else { "no" };
        let unit = clip(&point.unit, 20);
        vec![clip(&point.label, 120), unit, published, three_digits(point.model), error, held.to_string()]
    };
    let columns = ["Point", "Unit", "Published", "Here", "Error", "Within bounds"].map(String::from).to_vec();
    let rows = comparison.points.iter().map(row).collect();
    Table { caption: clip(&comparison.title, 200), columns, rows, text_columns: 0 }
}
