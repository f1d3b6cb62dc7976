//! Text for people: numbers with their units, wrapped lines, excerpts that keep a message on one line.

use results::words::grouped;
use std::fmt;

/// Width that every printed line keeps to.
pub(crate) const COLUMNS: usize = 80;

/// Text of a file or of a person in an error: on one line, cut where it is long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(Box<str>);

impl<T: AsRef<str>> From<T> for Excerpt {
    fn from(text: T) -> Excerpt {
        Excerpt(excerpt(text.as_ref()).into())
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 120;
    let mut out: String = text.trim().chars().take(MAX_CHARS).flat_map(one_line).collect();
    if text.trim().chars().count() > MAX_CHARS {
        out.push('…');
    }
    out
}

fn one_line(c: char) -> impl Iterator<Item = char> {
    let escaped = if c == '\n' {
        vec![',', ' ']
    } else if c.is_control() {
        c.escape_default().collect()
    } else {
        vec![c]
    };
    escaped.into_iter()
}

/// Names separated by commas.
pub(crate) fn listed(names: &[&str]) -> String {
    names.join(", ")
}

/// A capacity, decimal.
pub(crate) fn decimal_bytes(bytes: u64) -> String {
    let (divisor, unit) = match bytes {
        0..10_000 => return format!("{bytes} B"),
        10_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        1_000_000_000..10_000_000_000_000 => (1e9, "GB"),
        10_000_000_000_000..10_000_000_000_000_000 => (1e12, "TB"),
        _ => (1e15, "PB"),
    };
    format!("{} {unit}", short(bytes as f64 / divisor))
}

/// A size in binary units, exact where it is a whole number of them.
pub(crate) fn binary_bytes(bytes: u64) -> String {
    for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes >= 1 << shift {
            return format!("{} {unit}", short(bytes as f64 / (1_u64 << shift) as f64));
        }
    }
    format!("{bytes} B")
}

/// Throughput in MB/s.
pub(crate) fn mb_per_s(bytes_per_s: f64) -> String {
    format!("{} MB/s", grouped((bytes_per_s / 1e6).round() as u64))
}

/// A time in the unit that suits it.
pub(crate) fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", short(ns as f64 / 1e3)),
        1_000_000..10_000_000_000 => format!("{} ms", short(ns as f64 / 1e6)),
        _ => format!("{} s", short(ns as f64 / 1e9)),
    }
}

/// At most two decimals, none where they are zero.
pub(crate) fn short(value: f64) -> String {
    let fixed = format!("{value:.2}");
    let trimmed = fixed.trim_end_matches('0').trim_end_matches('.');
    match trimmed.split_once('.') {
        Some((whole, fraction)) => format!("{}.{fraction}", whole.parse().map_or(whole.to_string(), grouped)),
        None => trimmed.parse().map_or(trimmed.to_string(), grouped),
    }
}

/// A share in per cent, one decimal.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// "1 die", "2 dies".
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Breaks a text at spaces so that no line is longer than [`COLUMNS`], each line after the first indented. A word that no
/// line can hold is cut.
pub(crate) fn wrap(first_indent: &str, indent: &str, text: &str) -> String {
    let room = COLUMNS - indent.chars().count();
    let mut lines = vec![first_indent.to_string()];
    let mut at_start = true;
    for word in text.split_whitespace().flat_map(|w| cut(w, room)) {
        let line = lines.last_mut().expect("there is a first line");
        let width = line.chars().count() + usize::from(!at_start) + word.chars().count();
        if width > COLUMNS {
            lines.push(format!("{indent}{word}"));
        } else {
            line.push_str(if at_start { "" } else { " " });
            line.push_str(&word);
        }
        at_start = false;
    }
    lines.iter().map(|l| format!("{}\n", l.trim_end())).collect()
}

fn cut(word: &str, limit: usize) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    chars.chunks(limit).map(|c| c.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_keep_to_the_width() {
        let text = format!("{} {} end", "word ".repeat(60), "x".repeat(500));
        for indent in [4, 19, 54] {
            let wrapped = wrap(&" ".repeat(indent + 2), &" ".repeat(indent), &text);
            assert!(wrapped.lines().all(|l| l.chars().count() <= COLUMNS), "{wrapped}");
            assert_eq!(wrapped.matches('x').count(), 500);
            assert_eq!(wrapped.matches("word").count(), 60);
        }
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(decimal_bytes(400_000_000_000), "400 GB");
        assert_eq!(decimal_bytes(3_840_000_000_000), "3,840 GB");
        assert_eq!(binary_bytes(512 << 30), "512 GiB");
        assert_eq!(duration(25_000), "25 µs");
        assert_eq!(duration(1_500_000), "1.5 ms");
        assert_eq!(short(34.0), "34");
        assert_eq!(short(1234.5), "1,234.5");
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        let text = excerpt(&"a\n\u{1b}[31m".repeat(200));
        assert!(text.chars().count() < 600 && !text.contains('\n') && !text.contains('\u{1b}'), "{text}");
    }
}
