//! Numbers as people read them.

pub use results::words::{duration, grouped, three_digits};

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

/// The size of an I/O, binary: `16 KiB`; a size that was given in decimal units in these: `25 GB`.
pub fn io_size(bytes: u64) -> String {
    if bytes >= 1_000_000 && bytes.is_multiple_of(1_000_000) && !bytes.is_multiple_of(1 << 20) {
        return capacity(bytes);
    }
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
    fn sizes_have_no_needless_decimals() {
        assert_eq!(capacity(400_000_000_000), "400 GB");
        assert_eq!(capacity(3_840_000_000_000), "3.84 TB");
        assert_eq!(capacity(4096), "4096 B");
        assert_eq!(io_size(16 << 10), "16 KiB");
        assert_eq!(io_size(512), "512 B");
        assert_eq!(io_size(3 << 19), "1.5 MiB");
        assert_eq!(io_size(25_000_000_000), "25 GB");
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
