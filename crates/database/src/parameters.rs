//! Parameters that are set by name, and their bounds.

use std::str::FromStr;

/// The value of a parameter that is a whole number.
pub(crate) fn whole_number<T: FromStr>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key}={value}: no whole number"))
}

/// A parameter has its bounds, both of them allowed.
pub(crate) fn within(key: &str, value: u64, least: u64, most: u64) -> Result<(), String> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(format!("{key} is {value}: must be {least} to {most}")) }
}
