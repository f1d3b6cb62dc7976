//! Sources of a device's numbers, as a table and as JSON.

use crate::schema::{Key, Kind, Value};
use crate::settings::{Entry, Settings};
use crate::text::{COLUMNS, short, wrap};
use crate::{Basis, Place};
use results::words::grouped;
use serde_json::{Map, Value as Json, json};

/// A value as a person reads it.
pub(crate) fn shown(kind: &Kind, value: &Value) -> String {
    match (kind, value) {
        // A year has no thousands.
        (Kind::Count { min: 1950, .. }, Value::Count(number)) => number.to_string(),
        (_, Value::Count(number)) => grouped(*number),
        (_, Value::Real(number)) if *number == 0.0 || *number >= 0.1 => short(*number),
        (_, Value::Real(number)) if *number >= 1e-6 => number.to_string(),
        (_, Value::Real(number)) => format!("{number:.1e}"),
        (_, Value::Flag(flag)) => if *flag { "yes" } else { "no" }.to_string(),
        (_, Value::Text(text)) => text.clone(),
    }
}

fn json_value(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(text),
        Value::Flag(flag) => json!(flag),
        Value::Count(number) => json!(number),
        Value::Real(number) => json!(number),
    }
}

/// Names the basis of a value, of one that was set, and of one without any.
fn basis_of(entry: &Entry) -> &'static str {
    match (&entry.place, entry.basis) {
        (Place::Setting { .. }, _) => "set",
        (_, basis) => basis.map_or("-", Basis::name),
    }
}

/// Columns that a source has at least, whatever stands before it.
const MIN_SOURCE: usize = 26;

/// Returns whether it matters where an entry comes from: a title is what its file says.
fn has_origin(key: &Key, entry: &Entry) -> bool {
    let is_name = key.kind == Kind::Text || key.name == "kind";
    !is_name || entry.basis.is_some() || entry.source.is_some()
}

/// A table with each value, its basis and its source.
pub(crate) fn table(settings: &Settings) -> String {
    let mut out = String::new();
    let entries: Vec<_> = settings
        .entries()
        .filter(|(_, key, e)| has_origin(key, e))
        .map(|(table, key, entry)| (table, key.name, shown(&key.kind, &entry.value), entry))
        .collect();
    for group in entries.chunk_by(|a, b| a.0 == b.0) {
        let width = |column: fn(&(&str, &str, String, &Entry)) -> usize| group.iter().map(column).max().unwrap_or(0);
        let (keys, values) = (width(|r| r.1.len()), width(|r| r.2.chars().count()).min(20));
        out.push_str(&format!("[{}]\n", group[0].0));
        for (_, key, value, entry) in group {
            let basis = basis_of(entry);
            let first = format!("  {key:<keys$}  {value:>values$}  {basis:<9}  ");
            let indent = " ".repeat(first.chars().count().min(COLUMNS - MIN_SOURCE));
            out.push_str(&wrap(&first, &indent, entry.source.as_deref().unwrap_or("")));
        }
    }
    out
}

/// All values: table, key, value.
pub(crate) fn values_json(settings: &Settings) -> Json {
    nested(settings, |entry| json_value(&entry.value))
}

/// All bases and sources: table, key, both.
pub(crate) fn sources_json(settings: &Settings) -> Json {
    nested(settings, |entry| json!({ "basis": basis_of(entry), "source": entry.source }))
}

fn nested(settings: &Settings, json: impl Fn(&Entry) -> Json) -> Json {
    let mut tables = Map::new();
    for (table, key, entry) in settings.entries() {
        if let Json::Object(keys) = tables.entry(table).or_insert_with(|| json!({})) {
            keys.insert(key.name.to_string(), json(entry));
        }
    }
    Json::Object(tables)
}
