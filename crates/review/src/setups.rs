//! Circumstances in which the published tables were measured: `published/setups.toml`.

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
    /// Returns the setup of a table.
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

/// Circumstances in which the points of a published table were measured, as far as they concern a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Circumstances {
    /// The host's name.
    pub host: String,
    /// Threads, where the table does not say.
    pub threads: Option<u32>,
    /// CPU time of a session between two requests, beside the host's own.
    pub cpu_per_request_ns: u64,
}

/// Those of a table that [`import::published`] knows under this name; `None` for others.
pub fn circumstances(name: &str) -> Option<Circumstances> {
    let table = match name {
        "published:tachion-400-fill" | "published:duo-320-fill" => "fill-percent",
        "published:tachion-400-fill-gib" => "tachion-400-fill",
        "published:violin-3205" => "violin-3205-slob",
        _ => return None,
    };
    let setup = Setup::of(table);
    let whole = |key: &str| setup.numbers.contains_key(key).then(|| setup.whole(key));
    let (threads, cpu) = (whole("threads").map(|n| n as u32), whole("cpu_per_logical_read_ns"));
    Some(Circumstances { threads, cpu_per_request_ns: cpu.unwrap_or(0), host: setup.host })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_table_has_its_circumstances() {
        for name in import::PUBLISHED {
            let found = circumstances(name).unwrap_or_else(|| panic!("{name}"));
            profile::Host::builtin(&found.host).unwrap();
        }
        assert_eq!(circumstances("published:violin"), None);
    }

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
