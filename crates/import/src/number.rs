//! Numbers as other programs print them.

use crate::Problem;

/// Threads, queue depths and the like: more is a broken file, and products of two stay within 64 bits.
pub(crate) const COUNT_LIMIT: u32 = 1_000_000;
/// Rates, bytes, seconds and milliseconds: more is a broken file. Sums and products of a few stay finite.
const FIGURE_LIMIT: f64 = 1e18;

/// Percentiles that a summary has a key for: six decimals, and two digits before them.
pub(crate) const PERCENTS: std::ops::RangeInclusive<f64> = 0.0..=99.999_999;

/// A figure that can't be negative.
pub(crate) fn figure(what: &'static str, text: &str) -> Result<f64, Problem> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=FIGURE_LIMIT).contains(&value) => Ok(value),
        _ => Err(Problem::BadNumber { what, found: text.into() }),
    }
}

/// A number of things, at least one.
pub(crate) fn count(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|count| (1..=COUNT_LIMIT).contains(count))
}

/// A size with a unit of which only the first letter counts; all are powers of two. `16KiB`, `16Kb`, `4096`.
pub(crate) fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let shift = match text[digits..].chars().next().map(|unit| unit.to_ascii_lowercase()) {
        None | Some('b') => 0,
        Some('k') => 10,
        Some('m') => 20,
        Some('g') => 30,
        _ => return None,
    };
    number.checked_mul(1 << shift).filter(|&bytes| bytes > 0 && bytes <= 1 << 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_can_not_be_are_refused() {
        for text in ["nan", "inf", "-1", "1e30", "", "x"] {
            assert!(figure("figure", text).is_err(), "{text}");
        }
        for text in ["0", "-1", "1000001", "1.5", ""] {
            assert_eq!(count(text), None, "{text}");
        }
        for text in ["", "k", "0", "4x", "99999999999999999999", "9999999999g", "-4k"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_are_powers_of_two_whatever_the_unit_says() {
        for (text, bytes) in [("16KiB", 16_384), ("16Kb", 16_384), ("4096", 4_096), ("1M", 1 << 20), ("512B", 512)] {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
    }
}
