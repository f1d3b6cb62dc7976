//! The model against published measurements.

use crate::table::{Align, COLUMNS, Table, wrap};
use crate::units::{grouped, three_digits};
use results::{Comparison, ComparisonPoint, Published};

/// Above the figures.
const HEADING: [&str; 5] = ["published", "model", "", "error", "bound"];

/// All tables, and how many hold.
pub fn comparisons(comparisons: &[Comparison]) -> String {
    let mut out: String = comparisons.iter().map(|comparison| format!("{}\n", table(comparison))).collect();
    let holding = comparisons.iter().filter(|comparison| comparison.holds).count();
    let points = comparisons.iter().flat_map(|comparison| &comparison.points);
    let (within, missed): (Vec<_>, Vec<_>) = points.partition(|point| point.holds);
    out.push_str(&format!(
        "{holding} of {} tables hold; {} points within their bounds, {} not\n",
        comparisons.len(),
        within.len(),
        missed.len(),
    ));
    out
}

/// The comparison with one published table.
pub fn table(comparison: &Comparison) -> String {
    let mut out = wrap("", 2, &format!("{} ({})", comparison.title, comparison.card));
    use Align::{Left, Right};
    let mut table = Table::new([Left, Left, Right, Right, Left, Right, Right]);
    table.row(["", ""].into_iter().chain(HEADING));
    let figures: Vec<[String; 5]> = comparison.points.iter().map(figures).collect();
    let label_width = room_beside(&figures);
    for (point, figures) in comparison.points.iter().zip(figures) {
        // A long label takes several rows; the figures stand in its last.
        let mut lines = broken(&point.label, label_width);
        let last = lines.pop().unwrap_or_default();
        for line in lines {
            table.row([String::new(), line]);
        }
        let mark = if point.holds { "" } else { "!" };
        table.row([mark.to_owned(), last].into_iter().chain(figures));
    }
    out.push_str(&table.render());
    if comparison.points.iter().any(|point| !point.holds) {
        out.push_str("! outside its bound\n");
    }
    if let Some(mean) = comparison.mean_error {
        let bound = comparison.mean_error_bound.map(|bound| {
            let verdict = if mean <= bound { "" } else { " !" };
            format!(", bound {}{verdict}", one_decimal(bound))
        });
        out.push_str(&format!("mean error {}{}\n", one_decimal(mean), bound.unwrap_or_default()));
    }
    if !comparison.note.is_empty() {
        out.push_str(&wrap("", 0, &comparison.note));
    }
    out
}

/// Published, model, unit, error, bound.
fn figures(point: &ComparisonPoint) -> [String; 5] {
    let published = match point.published {
        Published::Figure { value, .. } => figure(value),
        Published::AtLeast { value } => format!("≥ {}", figure(value)),
        Published::AtMost { value } => format!("≤ {}", figure(value)),
        Published::Between { low, high } => format!("{} - {}", figure(low), figure(high)),
    };
    let bound = match point.published {
        Published::Figure { bound, .. } => format!("{:.0} %", bound * 100.0),
        _ => String::new(),
    };
    let error = point.error.map_or(String::new(), |error| format!("{:+.1} %", error * 100.0));
    [published, figure(point.model), point.unit.clone(), error, bound]
}

/// Columns that are left for labels, when each column of figures is as wide as its widest.
fn room_beside(figures: &[[String; 5]]) -> usize {
    const GAP: usize = 2;
    const MARK: usize = 1;
    let heading = HEADING.map(|cell| cell.chars().count());
    let widths = figures.iter().map(|row| row.each_ref().map(|cell| cell.chars().count()));
    let widest = widths.fold(heading, |a, b| std::array::from_fn(|i| a[i].max(b[i])));
    let used = MARK + GAP + widest.iter().map(|width| width + GAP).sum::<usize>();
    COLUMNS.saturating_sub(used).max(16)
}

/// Whole numbers without decimals, as they were published.
fn figure(value: f64) -> String {
    if value == value.round() && (0.0..1e15).contains(&value) { grouped(value as u64) } else { three_digits(value) }
}

/// Lines of at most `width`, the later ones indented.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn one_decimal(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        let point = |published, model| {
            ComparisonPoint::new("random write, 16 threads, against something", "sessions", published, model)
        };
        let points = vec![
            point(Published::Figure { value: 113_775.8, bound: 0.12 }, 90_000.0),
            point(Published::AtMost { value: 3.1 }, 2.9),
            point(Published::Between { low: 16.0, high: 36.0 }, 20.0),
        ];
        Comparison::new("t", "A table", "tachion-400-preproduction", points, Some(0.07), &"what is assumed ".repeat(12))
    }

    #[test]
    fn no_line_is_wider_than_the_page() {
        for line in comparisons(&[comparison()]).lines() {
            assert!(line.chars().count() <= COLUMNS, "{line}");
        }
    }

    #[test]
    fn what_is_missed_is_said_where_it_stands_and_at_the_end() {
        let text = comparisons(&[comparison()]);
        let missed: Vec<&str> = text.lines().filter(|line| line.contains('!')).collect();
        assert!(missed[0].starts_with("!  ") && missed[0].contains("-20.9 %"), "{text}");
        assert!(missed[2].starts_with("mean error 20.9 %") && missed.len() == 3, "{text}");
        assert!(text.ends_with("0 of 1 tables hold; 2 points within their bounds, 1 not\n"), "{text}");
    }
}
