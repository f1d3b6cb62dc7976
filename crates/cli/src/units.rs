//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
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

/// Throughput in 10^6 bytes a second, without the unit.
pub fn mb_per_s(bytes_per_s: f64) -> String {
    three_digits(bytes_per_s / 1e6)
}

/// Throughput in 2^20 bytes a second, without the unit.
pub fn mib_per_s(bytes_per_s: f64) -> String {
    three_digits(bytes_per_s / (1 << 20) as f64)
}

/// A capacity, decimal: `400 GB`.
pub fn capacity(bytes: u64) -> String {
    let (divisor, unit) = match bytes {
        0..10_000 => return format!("{bytes} B"),
        10_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        1_000_000_000..1_000_000_000_000 => (1e9, "GB"),
        1_000_000_000_000..1_000_000_000_000_000 => (1e12, "TB"),
        _ => (1e15, "PB"),
    };
    format!("{} {unit}", trimmed(bytes as f64 / divisor))
}

/// The size of an I/O, binary: `16 KiB`.
pub fn io_size(bytes: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes >= 1 << shift {
            return format!("{} {unit}", trimmed(bytes as f64 / (1_u64 << shift) as f64));
        }
    }
    format!("{bytes} B")
}

/// A share as `3 %`, `0.4 %`, `100 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 && percent != percent.round() {
        format!("{} %", trimmed((percent * 10.0).round() / 10.0))
    } else {
        format!("{} %", trimmed(percent.round()))
    }
}

/// A scale as people type it: `1/64`, `1`, `0.3`.
pub fn scale(scale: f64) -> String {
    let inverse = (1.0 / scale).round();
    if scale < 1.0 && (inverse * scale - 1.0).abs() < 1e-9 { format!("1/{inverse}") } else { trimmed(scale) }
}

/// `1 thread`, `8 threads`.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// At most two decimals, none where they are zero.
fn trimmed(value: f64) -> String {
    let fixed = format!("{value:.2}");
    fixed.trim_end_matches('0').trim_end_matches('.').to_owned()
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
    fn sizes_have_no_needless_decimals() {
        assert_eq!(capacity(400_000_000_000), "400 GB");
        assert_eq!(capacity(3_840_000_000_000), "3.84 TB");
        assert_eq!(capacity(4096), "4096 B");
        assert_eq!(io_size(16 << 10), "16 KiB");
        assert_eq!(io_size(512), "512 B");
        assert_eq!(io_size(3 << 19), "1.5 MiB");
    }

    #[test]
    fn shares_read_as_percent_and_scales_as_fractions() {
        assert_eq!(percent(0.034), "3.4 %");
        assert_eq!(percent(0.03), "3 %");
        assert_eq!(percent(0.0004), "0 %");
        assert_eq!(percent(0.9), "90 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.224), "22 %");
        assert_eq!(scale(1.0 / 64.0), "1/64");
        assert_eq!(scale(1.0 / 3.0), "1/3");
        assert_eq!(scale(1.0), "1");
        assert_eq!(scale(0.3), "0.3");
    }
}
