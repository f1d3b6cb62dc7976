//! Numbers for people: three significant digits, all digits before the point, a unit: as `results::words` writes them in
//! the terminal and in sentences.
//!
//! `page/format.js` does the same for what is shown while somebody points at a chart; a browser test holds both against
//! each other.

use results::words::grouped;
use serde::Serialize;

/// The unit of a number. The stored value is always in the base unit that the variant names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Unit {
    /// Bytes a second, shown as MB/s of 10^6.
    BytesPerSecond,
    /// Requests a second.
    Iops,
    /// Nanoseconds, shown as ns, µs, ms or s.
    Nanoseconds,
    /// Percent, 0 to 100.
    Percent,
    /// A plain number of things, exact.
    Count,
    /// A ratio: write amplification, one throughput over another.
    Ratio,
    /// Bytes of a request, in powers of two.
    BlockBytes,
    /// An amount of bytes as devices are sold, in powers of ten.
    Bytes,
    Seconds,
    /// A temperature in degrees Celsius.
    Celsius,
}

/// Narrow no-break space, between a number and its unit.
pub const THIN: char = '\u{202f}';

/// Three significant digits, all digits before the point.
pub fn three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { "–".into() };
    }
    let scientific = format!("{:.2e}", nudged(value).abs());
    let (_, exponent) = scientific.split_once('e').expect("scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    let sign = if value < 0.0 { "−" } else { "" };
    if exponent > 2 {
        // Above 10^18 nobody reads digits.
        return match exponent {
            ..=18 => format!("{sign}{}", grouped(nudged(value).abs().round() as u64)),
            _ => format!("{sign}{scientific}"),
        };
    }
    // Below 10^-6 too.
    match exponent {
        -6.. => format!("{sign}{:.*}", (2 - exponent) as usize, nudged(value).abs()),
        _ => format!("{sign}{scientific}"),
    }
}

/// A little larger, so that no number lies between two: there Rust rounds to even, and JavaScript up.
fn nudged(value: f64) -> f64 {
    value * (1.0 + 4.0 * f64::EPSILON)
}

/// Up to `decimals` decimals, without zeros at the end.
fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", nudged(value));
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

impl Unit {
    /// A number and the unit it is shown in.
    pub fn parts(self, value: f64) -> (String, &'static str) {
        match self {
            Unit::BytesPerSecond => (three_digits(value / 1e6), "MB/s"),
            Unit::Iops => (three_digits(value), "IOPS"),
            Unit::Nanoseconds => {
                let (scale, unit) = match value.abs() {
                    ..999.5 => (1.0, "ns"),
                    ..999.5e3 => (1e3, "µs"),
                    ..999.5e6 => (1e6, "ms"),
                    _ => (1e9, "s"),
                };
                let scaled = value / scale;
                // Whole nanoseconds: a clock knows no more.
                (if unit == "ns" { trimmed(scaled, 0) } else { three_digits(scaled) }, unit)
            }
            Unit::Percent => {
                // Close to 100 what is missing counts: 99.99 is not 100.
                let decimals = if value < 100.0 { (-(100.0 - value).log10()).ceil().clamp(1.0, 6.0) } else { 1.0 };
                (trimmed(value, decimals as usize), "%")
            }
            Unit::Count if value >= 0.0 && value.fract() == 0.0 && value < 1e18 => (grouped(value as u64), ""),
            Unit::Count | Unit::Ratio => (three_digits(value), ""),
            // Sizes that were given in decimal units.
            Unit::BlockBytes if value >= 1e6 && value % 1e6 == 0.0 && value % 1_048_576.0 != 0.0 => {
                let (scale, unit) = if value < 1e9 { (1e6, "MB") } else { (1e9, "GB") };
                (trimmed(value / scale, 3), unit)
            }
            Unit::BlockBytes => match value {
                ..1024.0 => (trimmed(value, 0), "B"),
                ..1_048_576.0 => (trimmed(value / 1024.0, 1), "KiB"),
                ..1_073_741_824.0 => (trimmed(value / 1_048_576.0, 1), "MiB"),
                _ => (trimmed(value / 1_073_741_824.0, 1), "GiB"),
            },
            Unit::Bytes => {
                let (scale, unit) = match value {
                    0.0 => (1.0, "B"),
                    ..999.5e3 => (1e3, "kB"),
                    ..999.5e6 => (1e6, "MB"),
                    ..999.5e9 => (1e9, "GB"),
                    _ => (1e12, "TB"),
                };
                (three_digits(value / scale), unit)
            }
            Unit::Seconds => (trimmed(value, if value < 10.0 { 2 } else { 1 }), "s"),
            Unit::Celsius => (trimmed(value, 1), "°C"),
        }
    }

    /// For a cell or a sentence.
    pub fn show(self, value: f64) -> String {
        match self.parts(value) {
            (number, "") => number,
            (number, unit) => format!("{number}{THIN}{unit}"),
        }
    }

    /// The unit in which a CSV file has it.
    pub fn csv(self) -> &'static str {
        match self {
            Unit::BytesPerSecond => "MB/s",
            Unit::Iops => "1/s",
            Unit::Nanoseconds => "µs",
            Unit::Percent => "%",
            Unit::Count | Unit::Ratio => "",
            Unit::BlockBytes | Unit::Bytes => "bytes",
            Unit::Seconds => "s",
            Unit::Celsius => "°C",
        }
    }
}

/// A capacity as it is sold: powers of ten.
pub fn capacity(bytes: u64) -> String {
    Unit::Bytes.show(bytes as f64)
}

/// A wall-clock duration.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() || s < 0.0 => "–".into(),
        ..120.0 => format!("{}{THIN}s", three_digits(seconds)),
        ..7200.0 => format!("{:.0}{THIN}min", seconds / 60.0),
        _ => format!("{:.1}{THIN}h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        let plain = |unit: Unit, value| unit.show(value).replace(THIN, " ");
        assert_eq!(plain(Unit::BytesPerSecond, 1_234_567_890.0), "1,235 MB/s");
        assert_eq!(plain(Unit::Iops, 123_456.0), "123,456 IOPS");
        assert_eq!(plain(Unit::Nanoseconds, 251_400.0), "251 µs");
        assert_eq!(plain(Unit::Nanoseconds, 999_900.0), "1.00 ms");
        assert_eq!(plain(Unit::Nanoseconds, 90.0), "90 ns");
        assert_eq!(plain(Unit::Percent, 99.99), "99.99 %");
        assert_eq!(plain(Unit::Percent, 99.2749), "99.3 %");
        assert_eq!(plain(Unit::Percent, 99.999), "99.999 %");
        assert_eq!(plain(Unit::Percent, 33.333), "33.3 %");
        assert_eq!(plain(Unit::Count, 1024.0), "1,024");
        assert_eq!(plain(Unit::Ratio, 2.4), "2.40");
        assert_eq!(plain(Unit::BlockBytes, 16_384.0), "16 KiB");
        assert_eq!(plain(Unit::BlockBytes, 25e9), "25 GB");
        assert_eq!(plain(Unit::BlockBytes, 2_147_483_648.0), "2 GiB");
        assert_eq!(plain(Unit::Ratio, 0.0), "0");
        assert_eq!(plain(Unit::Celsius, 79.96), "80 °C");
        assert_eq!(plain(Unit::Ratio, 0.012345), "0.0123");
        assert_eq!(plain(Unit::Ratio, f64::NAN), "–");
        assert_eq!(plain(Unit::Bytes, 999_499_999_999.0), "999 GB");
        assert_eq!(plain(Unit::Bytes, 999_500_000_000.0), "1.00 TB");
        assert_eq!(capacity(400_000_000_000).replace(THIN, " "), "400 GB");
    }

    #[test]
    fn numbers_are_written_as_in_the_terminal() {
        // Not where a figure lies halfway between two spellings: a page rounds up there, as its scripts do.
        for value in [0.1, 0.123_45, 0.9996, 1.004, 9.996, 42.0, 99.96, 373.1, 999.4, 999.6, 1_034.4, 85_455.2, 1.25e9]
        {
            assert_eq!(three_digits(value), results::words::three_digits(value), "{value}");
        }
    }
}
