//! A history as Markdown, for a ticket or a wiki.

use super::trend::DeviceHistory;
use std::fmt::Write;

/// A heading, a sentence and a table for each device.
pub fn markdown(histories: &[DeviceHistory]) -> String {
    let mut out = String::new();
    for history in histories {
        let _ = write!(out, "## {}\n\n{}\n", plain(&history.title), plain(&history.sentence()));
        let trends: Vec<_> =
            history.trends.iter().filter(|trend| trend.row.values.iter().any(Option::is_some)).collect();
        if !trends.is_empty() {
            let when = history.when.iter().zip(&history.partial);
            let heads: Vec<String> =
                when.map(|(when, partial)| plain(when) + if *partial { " (partial)" } else { "" }).collect();
            let _ = write!(
                out,
                "\n| figure | {} | change |\n|---|{}---:|\n",
                heads.join(" | "),
                "---:|".repeat(heads.len())
            );
            for trend in trends {
                let values: Vec<String> = (0..heads.len()).map(|i| trend.row.show(i)).collect();
                let change =
                    trend.change().map_or("–".to_owned(), |change| format!("{:+.0} %", (change - 1.0) * 100.0));
                let _ = writeln!(out, "| {} | {} | {change} |", plain(&trend.name()), values.join(" | "));
            }
        }
        out.push('\n');
    }
    out.push_str("A change of +100 % is twice as good: twice the throughput, or half the time.\n");
    out
}

/// Text of a file without what Markdown or HTML would take for more than text.
fn plain(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            '|' | '<' | '>' | '&' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' => vec!['\\', c],
            c if c.is_control() => vec![' '],
            c => vec![c],
        })
        .collect()
}
