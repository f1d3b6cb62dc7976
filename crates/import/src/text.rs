//! Text for people.

use std::fmt;

/// Text of a file in an error: one short line.
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

/// The name of a file in an error: one line, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneLine(Box<str>);

impl From<&str> for OneLine {
    fn from(text: &str) -> OneLine {
        OneLine(one_line(text).into())
    }
}

impl fmt::Display for OneLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name on one line, whole.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// A text on one line, cut where it is long.
pub(crate) fn excerpt(text: &str) -> String {
    const LIMIT: usize = 120;
    let text = text.trim();
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => one_line(&text[..end]) + "…",
        None => one_line(text),
    }
}

/// Without the mark that some editors of Windows put first.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Bytes as block sizes are written: `16 KiB`, `1 MiB`, `512 B`.
pub(crate) fn block(bytes: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes >= 1 << shift && bytes.is_multiple_of(1 << shift) {
            return format!("{} {unit}", bytes >> shift);
        }
    }
    format!("{bytes} B")
}

/// Bytes as part of a sweep's name: `16k`, `1m`, `512`.
pub(crate) fn block_key(bytes: u64) -> String {
    for (shift, unit) in [(30, "g"), (20, "m"), (10, "k")] {
        if bytes >= 1 << shift && bytes.is_multiple_of(1 << shift) {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// A time since 1970 in RFC 3339, UTC. Days become a date as Howard Hinnant's `civil_from_days` has it: years begin in
/// March, so that the leap day is their last.
pub(crate) fn rfc3339(epoch_s: u64) -> Option<String> {
    // The last second that has four digits for its year.
    const END_OF_9999: u64 = 253_402_300_799;
    if epoch_s > END_OF_9999 {
        return None;
    }
    let (days, second) = (epoch_s / 86_400 + 719_468, epoch_s % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (h, m, s) = (second / 3_600, second / 60 % 60, second % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (epoch_s, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_259_205, "2026-11-21T11:06:45Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(epoch_s).as_deref(), Some(date));
        }
        assert_eq!(rfc3339(u64::MAX), None);
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        let text = excerpt(&"a\n\u{1b}[31m".repeat(200));
        assert!(text.chars().count() < 1_000 && !text.contains('\n') && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn blocks_read_as_people_write_them() {
        assert_eq!((block(16_384), block_key(16_384)), ("16 KiB".into(), "16k".into()));
        assert_eq!((block(1 << 20), block_key(512)), ("1 MiB".into(), "512".into()));
        assert_eq!(block(4_000), "4000 B");
    }
}
