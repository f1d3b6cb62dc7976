//! How the published tables were measured: `published/setups.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;

const FILE: &str = include_str!("../../../published/setups.toml");

/// A number with where it comes from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sourced {
    value: f64,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file; a test checks it"))]
    basis: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file; a test checks it"))]
    source: String,
}

#[derive(Debug, Deserialize)]
struct Raw {
    host: String,
    #[serde(flatten)]
    numbers: BTreeMap<String, Sourced>,
}

/// The circumstances of one published table.
pub struct Setup {
    table: String,
    /// The host's name.
    pub host: String,
    numbers: BTreeMap<String, Sourced>,
}

impl Setup {
    /// Of a table.
    ///
    /// # Panics
    /// When the file, which is compiled in, has none: a bug.
    pub fn of(table: &str) -> Setup {
        let mut all: BTreeMap<String, Raw> = toml::from_str(FILE).expect("published/setups.toml is compiled in");
        let raw = all.remove(table).unwrap_or_else(|| panic!("published/setups.toml has no [{table}]"));
        Setup { table: table.to_string(), host: raw.host, numbers: raw.numbers }
    }

    /// A number.
    ///
    /// # Panics
    /// When the file, which is compiled in, does not have it: a bug.
    pub fn number(&self, key: &str) -> f64 {
        match self.numbers.get(key) {
            Some(number) => number.value,
            None => panic!("published/setups.toml: [{}] has no {key}", self.table),
        }
    }

    /// A whole number.
    pub fn whole(&self, key: &str) -> u64 {
        self.number(key).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_says_where_it_comes_from() {
        let all: BTreeMap<String, Raw> = toml::from_str(FILE).unwrap();
        assert!(all.len() >= 6);
        for (table, raw) in &all {
            profile::Host::builtin(&raw.host).unwrap();
            for (key, number) in &raw.numbers {
                let known = ["measured", "datasheet", "derived", "assumed"].contains(&number.basis.as_str());
                assert!(known && !number.source.is_empty(), "[{table}] {key}");
            }
        }
    }
}
