//! The fitted card as a file: the base's, with what was fitted in its place and a source that says so.

use crate::fit::base::Base;
use crate::fit::error::FitError;
use crate::fit::outcome::{Parameter, Status};
use crate::fit::space::Space;
use profile::{Host, Profile};
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

/// A parameter, and where it stands in the card's file: table and key.
pub(crate) type Filed = (Option<(&'static str, &'static str)>, Parameter);

/// Remark in a file beside a number.
pub(crate) struct Note<'a> {
    /// Files that were fitted to.
    pub files: &'a str,
    pub base: &'a Base,
    pub seed: u64,
    /// One line on how well it predicts.
    pub quality: &'a str,
}

/// The card's file. Its contents are checked by reading it again.
pub(crate) fn card(note: &Note, space: &Space, values: &[f64], parameters: &[Filed]) -> Result<String, FitError> {
    let text = if note.base.neutral { without_head(&note.base.text) } else { &note.base.text };
    let mut document: DocumentMut = text.parse().expect("the base was read before");
    for (key, value) in space.settings(values)? {
        let (table, key) = key.split_once('.').expect("settings are table.key");
        if value == "none" {
            take_away(&mut document, table, key);
            continue;
        }
        let parameter = parameters.iter().find(|(file_key, _)| *file_key == Some((table, key))).map(|(_, p)| p);
        // Blocks follow from the rest of the geometry even where spare space is the base's.
        let is_blocks = (table, key) == ("geometry", "blocks_per_plane");
        let is_undetermined = parameter.is_some_and(|p| p.status == Status::Undetermined);
        if is_undetermined && !is_blocks {
            undetermined(&mut document, (table, key), &value, note.files);
            continue;
        }
        let parameter = parameter.filter(|_| !is_undetermined);
        set(&mut document, table, key, &value, &source(note.files, parameter));
    }
    let title = format!("fitted to {}", one_line(note.files));
    document["card"]["title"] = toml_edit::value(title);
    if !note.base.neutral {
        // Its price and its maker are facts of the base, and not of what was measured.
        for key in ["vendor", "year", "interface", "price_usd"] {
            if let Some(table) = document["card"].as_table_like_mut() {
                table.remove(key);
            }
        }
    }
    let head = format!(
        "# A card that measures like {} (flashrig fit, seed {}, base {}).\n# {}\n",
        one_line(note.files),
        note.seed,
        one_line(&note.base.name),
        one_line(note.quality)
    );
    let text = format!("{head}\n{}", document.to_string().trim_start());
    Profile::parse(&text, "fitted.toml")?;
    Ok(text)
}

/// The host's file.
pub(crate) fn host(note: &Note, host: &Host, space: &Space, values: &[f64]) -> Result<String, FitError> {
    let config = space.host_at(values);
    let source = format!("basis = \"derived\", source = \"fitted to {}\"", quoted(note.files));
    let text = format!(
        "# What an I/O costs the host, fitted to {}.\n\n[host]\ntitle = \"fitted, after {}\"\ncores = {}\n\
         session_ns = {{ value = {}, {source} }}\nsubmit_ns = {{ value = {}, {source} }}\n\
         complete_ns = {{ value = {}, {source} }}\ncontention = {{ value = {}, {source} }}\n{}",
        one_line(note.files),
        quoted(host.name()),
        config.cores,
        config.session_ns,
        config.submit_ns,
        config.complete_ns,
        config.contention,
        shared(&config)
    );
    Host::parse(&text, "fitted-host.toml")?;
    Ok(text)
}

/// Lines of a host that is not alone, or has a link that may be the limit.
fn shared(config: &device::HostConfig) -> String {
    let count = if config.count > 1 { format!("count = {}\n", config.count) } else { String::new() };
    match config.link_bytes_per_s {
        u64::MAX => count,
        rate => format!("{count}link_bytes_per_s = {rate}\n"),
    }
}

/// The neutral base's own first lines say what it is, which the fitted card is no longer.
fn without_head(text: &str) -> &str {
    text.trim_start_matches(|c| c != '[')
}

fn source(files: &str, parameter: Option<&Parameter>) -> String {
    let files = one_line(files);
    let Some(parameter) = parameter else { return format!("follows from what was fitted to {files}") };
    let bounds = match (parameter.low, parameter.high) {
        (Some(low), Some(high)) => format!(", {}..{}", number(low), number(high)),
        _ => String::new(),
    };
    let of = match parameter.name.as_str() {
        "effective spare factor" => " for the spare factor",
        "bytes cleaned at once" => " for the bytes",
        _ => "",
    };
    match parameter.status {
        Status::AtLeast => format!("fitted to {files}{bounds}{of}: more would not show"),
        Status::AtMost => format!("fitted to {files}{bounds}{of}: less would not show"),
        Status::Together => format!("fitted to {files}{bounds}{of}, only together with others"),
        _ => format!("fitted to {files}{bounds}{of}"),
    }
}

/// Notes on a parameter that the results say nothing of: the base's value, or a guess where it has none.
fn undetermined(document: &mut DocumentMut, (table, key): (&str, &str), guess: &str, files: &str) {
    let keys = document.get_mut(table).and_then(Item::as_table_like_mut);
    let Some(item) = keys.and_then(|keys| keys.get_mut(key)).filter(|item| !item.is_none()) else {
        let source = format!("undetermined by {}", one_line(files));
        return put(document, table, key, sourced(value_of(guess), "assumed", &source));
    };
    let old = item.get("source").and_then(Item::as_str).unwrap_or("as the base has it").to_string();
    let old_value = item.get("value").and_then(Item::as_value).or(item.as_value()).cloned();
    let Some(value) = old_value else { return };
    let source = format!("undetermined by {}; the base's: {old}", one_line(files));
    *item = sourced(value, "assumed", &source);
}

fn set(document: &mut DocumentMut, table: &str, key: &str, text: &str, source: &str) {
    put(document, table, key, sourced(value_of(text), "derived", source));
}

fn value_of(text: &str) -> Value {
    match text {
        "true" | "false" => Value::from(text == "true"),
        text => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
    }
}

fn put(document: &mut DocumentMut, table: &str, key: &str, item: Item) {
    if document.get(table).is_none() {
        document.insert(table, Item::Table(Table::new()));
    }
    document[table][key] = item;
}

/// A table that lost its last key is as if it were not there.
fn take_away(document: &mut DocumentMut, table: &str, key: &str) {
    let Some(keys) = document.get_mut(table).and_then(Item::as_table_like_mut) else { return };
    keys.remove(key);
    if keys.is_empty() {
        document.remove(table);
    }
}

fn sourced(mut value: Value, basis: &str, source: &str) -> Item {
    value.decor_mut().clear();
    let mut table = InlineTable::new();
    table.insert("value", value);
    table.insert("basis", basis.into());
    table.insert("source", source.into());
    toml_edit::value(table)
}

/// A number in three digits, whole where it is large.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = 2 - value.abs().log10().floor() as i32;
    let unit = 10_f64.powi(-digits);
    let rounded = (value / unit).round() * unit;
    if digits > 0 { format!("{rounded:.*}", digits as usize) } else { format!("{rounded:.0}") }
}

/// Names of files may hold anything.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn quoted(text: &str) -> String {
    one_line(text).replace('\\', "/").replace('"', "'")
}
