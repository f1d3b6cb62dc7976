//! Figures as people read them, in a terminal and in sentences.

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    grouped_with(number, ',')
}

/// All digits of a number, in groups of three with a separator between them.
pub fn grouped_with(number: u64, separator: char) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(separator);
        }
        out.push(digit);
    }
    out
}

/// Three significant digits, all digits before the point: `0.0123`, `1.23`, `12.3`, `1,234`.
pub fn three_digits(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let magnitude = value.abs();
    // The bounds are where rounding to fewer places begins to print the next power of ten.
    let places = match magnitude {
        m if m == 0.0 || m >= 99.95 => return grouped_rounded(value),
        m if m >= 9.995 => 1,
        m if m >= 0.9995 => 2,
        m if m >= 0.09995 => 3,
        _ => 4,
    };
    format!("{value:.places$}")
}

/// An estimate: three significant digits, zeros for the others: `1.23`, `12,300`.
pub fn about(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude < 999.5 || !magnitude.is_finite() {
        return three_digits(value);
    }
    let unit = 10f64.powi(magnitude.log10().floor() as i32 - 2);
    three_digits((value / unit).round() * unit)
}

/// Bytes a second, in 10^6 of them: `391 MB/s`.
pub fn mb_s(bytes_s: f64) -> String {
    format!("{} MB/s", three_digits(bytes_s / 1e6))
}

/// How many times one figure is the other: `1.9 times`, `12 times`.
pub fn times(ratio: f64) -> String {
    match ratio {
        r if r < 9.95 => format!("{r:.1} times"),
        r if r < 999.5 => format!("{r:.0} times"),
        r => format!("{} times", about(r)),
    }
}

fn grouped_rounded(value: f64) -> String {
    let sign = if value <= -0.5 { "-" } else { "" };
    format!("{sign}{}", grouped(value.abs().round() as u64))
}

/// A time in the unit that suits it: `850 ns`, `107 µs`, `3.12 ms`, `12.0 s`.
pub fn duration(ns: f64) -> String {
    let (divisor, unit) = match ns {
        n if n < 999.5 => return format!("{} ns", n.round()),
        n if n < 999.5e3 => (1e3, "µs"),
        n if n < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", three_digits(ns / divisor))
}

/// Seconds of a pause, without decimals that say nothing: `60 s`, `1.67 s`.
pub fn pause(seconds: f64) -> String {
    format!("{} s", (seconds * 100.0).round() / 100.0)
}

/// An amount of bytes, decimal, in three digits: `12.0 GB`, `1.20 TB`.
pub fn amount(bytes: u64) -> String {
    let bytes = bytes as f64;
    let (divisor, unit) = match bytes {
        n if n < 999.5e3 => (1e3, "kB"),
        n if n < 999.5e6 => (1e6, "MB"),
        n if n < 999.5e9 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    format!("{} {unit}", three_digits(bytes / divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_in_threes() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (u64::MAX, "18,446,744,073,709,551,615")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn three_digits_never_become_four_by_rounding() {
        for (value, text) in [
            (0.0, "0"),
            (0.0123, "0.0123"),
            (0.9994, "0.999"),
            (0.9996, "1.00"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (99.94, "99.9"),
            (99.96, "100"),
            (417.33, "417"),
            (12_345.6, "12,346"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(three_digits(value), text, "{value}");
        }
    }

    #[test]
    fn an_estimate_has_three_digits_and_zeros() {
        for (value, text) in
            [(0.5, "0.500"), (999.4, "999"), (999.6, "1,000"), (12_345.0, "12,300"), (85_455.0, "85,500")]
        {
            assert_eq!(about(value), text);
        }
        for (ratio, text) in [(1.0, "1.0 times"), (9.94, "9.9 times"), (9.96, "10 times"), (1234.0, "1,230 times")] {
            assert_eq!(times(ratio), text);
        }
        assert_eq!(mb_s(391.4e6), "391 MB/s");
    }

    #[test]
    fn a_time_has_the_unit_that_suits_it() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (999.0, "999 ns"),
            (999.6, "1.00 µs"),
            (107_000.0, "107 µs"),
            (999_600.0, "1.00 ms"),
            (3_120_000.0, "3.12 ms"),
            (300_000_000.0, "300 ms"),
            (12e9, "12.0 s"),
            (5_000e9, "5,000 s"),
        ] {
            assert_eq!(duration(ns), text, "{ns}");
        }
    }

    #[test]
    fn a_pause_has_only_decimals_that_count() {
        for (seconds, text) in [(60.0, "60 s"), (5.0 / 3.0, "1.67 s"), (0.5, "0.5 s")] {
            assert_eq!(pause(seconds), text);
        }
    }

    #[test]
    fn an_amount_has_three_digits_and_the_unit_that_suits_it() {
        for (bytes, text) in [
            (0, "0 kB"),
            (131_072, "131 kB"),
            (999_499_999, "999 MB"),
            (999_500_000, "1.00 GB"),
            (12_000_000_000, "12.0 GB"),
            (1_024_000_000_000, "1.02 TB"),
        ] {
            assert_eq!(amount(bytes), text, "{bytes}");
        }
    }
}
