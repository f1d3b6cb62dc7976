//! Sizes for people.

/// Formats a size, such as `1.5 GB`.
pub(crate) fn of(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        None => format!("{bytes} bytes"),
        Some((unit, name)) => {
            let amount = bytes as f64 / unit as f64;
            if amount < 10.0 { format!("{amount:.2} {name}") } else { format!("{amount:.1} {name}") }
        }
    }
}
