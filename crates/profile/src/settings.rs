//! A file's tables with their values, where each stands and where each comes from.

use crate::error::{KnownKey, Place, Problem, ProfileError};
use crate::nearest::nearest;
use crate::schema::{Key, Kind, Schema, TableSchema, VICTIMS, Value};
use std::collections::BTreeMap;
use std::fmt;
use toml_edit::{Document, Item, TableLike};

/// Longest file that is read: the built-in ones are a hundredth of it.
pub(crate) const MAX_FILE_BYTES: usize = 1 << 20;

/// The basis of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// Somebody measured it on the device.
    Measured,
    /// The maker of the device or of its parts states it.
    Datasheet,
    /// It follows from other numbers that are measured or stated.
    Derived,
    /// A guess that fits devices of its time.
    Assumed,
}

impl Basis {
    const ALL: [Basis; 4] = [Basis::Measured, Basis::Datasheet, Basis::Derived, Basis::Assumed];

    /// As files name it.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Measured => "measured",
            Basis::Datasheet => "datasheet",
            Basis::Derived => "derived",
            Basis::Assumed => "assumed",
        }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value with its place and its origin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    pub(crate) basis: Option<Basis>,
    pub(crate) source: Option<String>,
    pub(crate) place: Place,
}

#[derive(Clone, Debug, PartialEq)]
struct Table {
    place: Place,
    entries: BTreeMap<&'static str, Entry>,
}

/// Values of a file, checked against its schema, and the settings that override them.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    schema: &'static Schema,
    file: String,
    tables: BTreeMap<&'static str, Table>,
    changed: Vec<String>,
}

impl Settings {
    /// Reads a file's text.
    pub(crate) fn parse(schema: &'static Schema, text: &str, file: &str) -> Result<Settings, ProfileError> {
        let place = |line| Place::File { file: file.to_string(), line };
        if text.len() > MAX_FILE_BYTES {
            let problem = Problem::TooLong { bytes: text.len() as u64, limit: MAX_FILE_BYTES as u64 };
            return Err(ProfileError::wrong(place(None), problem));
        }
        let document = Document::parse(text).map_err(|e| {
            let line = e.span().map(|s| line_of(text, s.start));
            ProfileError::wrong(place(line), Problem::Toml { message: e.message().into() })
        })?;
        let mut settings = Settings { schema, file: file.to_string(), tables: BTreeMap::new(), changed: Vec::new() };
        let lines = Lines { text, file };
        for (name, item) in document.iter() {
            let place = lines.place(document.as_table(), name, item);
            let (table_schema, table) =
                settings.find_table(name, item).map_err(|p| ProfileError::wrong(place.clone(), p))?;
            let mut entries = BTreeMap::new();
            for (name, item) in table.iter() {
                let place = lines.place(table, name, item);
                let (key, entry) = settings
                    .read_entry(table_schema, name, item, place.clone())
                    .map_err(|p| ProfileError::wrong(place, p))?;
                entries.insert(key.name, entry);
            }
            settings.tables.insert(table_schema.name, Table { place, entries });
        }
        Ok(settings)
    }

    fn find_table<'a>(&self, name: &str, item: &'a Item) -> Result<(&'static TableSchema, &'a dyn TableLike), Problem> {
        match (self.schema.table(name), item.as_table_like()) {
            (Some(schema), Some(table)) => Ok((schema, table)),
            (Some(schema), None) => Err(Problem::NotATable { table: schema.name }),
            (None, Some(_)) => {
                Err(Problem::UnknownTable { table: name.into(), nearest: nearest(name, self.table_names()) })
            }
            (None, None) => Err(Problem::OutsideTable { key: name.into(), nearest: self.nearest_anywhere(name) }),
        }
    }

    fn table_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.schema.tables.iter().map(|t| t.name)
    }

    /// The key most like `name` in any table, with its table.
    fn nearest_anywhere(&self, name: &str) -> KnownKey {
        let key = nearest(name, self.schema.tables.iter().flat_map(|t| t.keys).map(|k| k.name));
        let table = self.schema.tables.iter().find(|t| t.key(key).is_some()).expect("the key is from a table");
        KnownKey { table: Some(table.name), key }
    }

    fn find_key(&self, table: &'static TableSchema, name: &str) -> Result<&'static Key, Problem> {
        table.key(name).ok_or_else(|| {
            let elsewhere = self.schema.tables.iter().any(|t| t.key(name).is_some());
            let nearest = if elsewhere {
                self.nearest_anywhere(name)
            } else {
                KnownKey { table: None, key: nearest(name, table.keys.iter().map(|k| k.name)) }
            };
            Problem::UnknownKey { table: table.name, key: name.into(), nearest }
        })
    }

    fn read_entry(
        &self,
        table: &'static TableSchema,
        name: &str,
        item: &Item,
        place: Place,
    ) -> Result<(&'static Key, Entry), Problem> {
        let key = self.find_key(table, name)?;
        let Some(fields) = item.as_table_like() else {
            return Ok((key, Entry { value: read_value(table, key, item)?, basis: None, source: None, place }));
        };
        let (mut value, mut basis, mut source) = (None, None, None);
        for (field, item) in fields.iter() {
            match field {
                "value" => value = Some(read_value(table, key, item)?),
                "basis" => basis = Some(read_basis(table, key, &read_note(table, key, "basis", item)?)?),
                "source" => source = Some(read_note(table, key, "source", item)?),
                _ => {
                    let nearest = nearest(field, ["value", "basis", "source"]);
                    let field = field.into();
                    return Err(Problem::UnknownField { table: table.name, key: key.name, field, nearest });
                }
            }
        }
        let value = value.ok_or(Problem::NoValue { table: table.name, key: key.name })?;
        Ok((key, Entry { value, basis, source, place }))
    }

    /// Overrides a key: `table.key=value`. The value `none` takes the key away.
    pub(crate) fn set(&mut self, assignment: &str) -> Result<(), ProfileError> {
        let place = Place::Setting { assignment: assignment.to_string() };
        self.try_set(assignment, place.clone()).map_err(|problem| ProfileError::wrong(place, problem))
    }

    fn try_set(&mut self, assignment: &str, place: Place) -> Result<(), Problem> {
        let (path, text) = assignment.split_once('=').ok_or(Problem::NotASetting)?;
        let (path, text) = (path.trim(), text.trim());
        let Some((table_name, name)) = path.split_once('.') else {
            return Err(Problem::OutsideTable { key: path.into(), nearest: self.nearest_anywhere(path) });
        };
        let table = self.schema.table(table_name).ok_or_else(|| Problem::UnknownTable {
            table: table_name.into(),
            nearest: nearest(table_name, self.table_names()),
        })?;
        // `ftl.gc=fifo` is what people type when they mean the choice of victims: it changes that and keeps the pacing.
        let name = if table.name == "ftl" && name == "gc" && VICTIMS.contains(&text) { "victim" } else { name };
        let key = self.find_key(table, name)?;
        if text == "none" {
            if let Some(entries) = self.tables.get_mut(table.name).map(|t| &mut t.entries) {
                entries.remove(key.name);
                // A table that lost its last key is as if it were not there.
                if entries.is_empty() {
                    self.tables.remove(table.name);
                }
            }
        } else {
            let value = key.kind.of_text(text).ok_or_else(|| bad_value(table, key, text))?;
            let entry = Entry { value, basis: None, source: None, place: place.clone() };
            let table = self.tables.entry(table.name).or_insert(Table { place, entries: BTreeMap::new() });
            // Two names of one thing: the one that was set last counts.
            match key.name {
                "user_bytes" => table.entries.remove("user_gb"),
                "user_gb" => table.entries.remove("user_bytes"),
                _ => None,
            };
            table.entries.insert(key.name, entry);
        }
        self.changed.push(assignment.trim().to_string());
        Ok(())
    }

    /// The settings that were made, in order.
    pub(crate) fn changed(&self) -> &[String] {
        &self.changed
    }

    /// Entries in the order of the schema: table, key, entry.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'static str, &'static Key, &Entry)> {
        let keys = self.schema.tables.iter().flat_map(|t| t.keys.iter().map(move |k| (t.name, k)));
        keys.filter_map(|(table, key)| Some((table, key, self.entry(table, key.name)?)))
    }

    /// An entry, if there is one.
    pub(crate) fn entry(&self, table: &str, key: &str) -> Option<&Entry> {
        debug_assert!(self.schema.table(table).is_some_and(|t| t.key(key).is_some()), "{table}.{key} is in the schema");
        self.tables.get(table)?.entries.get(key)
    }

    /// Returns whether a table is there.
    pub(crate) fn has_table(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    /// Returns the place of a key, else of its table, else the file.
    pub(crate) fn place(&self, table: &str, key: &str) -> Place {
        self.entry(table, key).map_or_else(|| self.table_place(table), |e| e.place.clone())
    }

    /// Returns the place where a table begins, else the file.
    pub(crate) fn table_place(&self, table: &str) -> Place {
        let file = || Place::File { file: self.file.clone(), line: None };
        self.tables.get(table).map_or_else(file, |t| t.place.clone())
    }

    /// An error about a key.
    pub(crate) fn wrong(&self, table: &str, key: &str, problem: Problem) -> ProfileError {
        ProfileError::wrong(self.place(table, key), problem)
    }

    /// Fails if a size is no whole multiple of another.
    pub(crate) fn must_be_multiple(
        &self,
        (table, key): (&str, &str),
        what: &'static str,
        bytes: u64,
        multiple: u64,
    ) -> Result<(), ProfileError> {
        if bytes.is_multiple_of(multiple) {
            return Ok(());
        }
        Err(self.wrong(table, key, Problem::NotAMultiple { what, bytes, multiple }))
    }

    /// An error about a table as a whole: about the key of it that was set last, if any was.
    pub(crate) fn wrong_table(&self, table: &str, problem: Problem) -> ProfileError {
        let set_here = |assignment: &&String| assignment.split('.').next().is_some_and(|t| t.trim() == table);
        let place = match self.changed.iter().rfind(set_here) {
            Some(assignment) => Place::Setting { assignment: assignment.clone() },
            None => self.table_place(table),
        };
        ProfileError::wrong(place, problem)
    }

    /// An error between keys of a file that was right before settings were made: they are to blame, not the file.
    pub(crate) fn blame_settings(&self, error: ProfileError) -> ProfileError {
        match error {
            ProfileError::Wrong { place: Place::File { .. }, problem } if !self.changed.is_empty() => {
                ProfileError::Wrong { place: Place::Setting { assignment: self.changed.join(" --set ") }, problem }
            }
            error => error,
        }
    }

    /// An error about a key that is not there.
    pub(crate) fn missing(&self, table: &'static str, key: &'static str) -> ProfileError {
        if self.tables.contains_key(table) {
            ProfileError::wrong(self.table_place(table), Problem::MissingKey { table, key })
        } else {
            ProfileError::wrong(self.table_place(table), Problem::MissingTable { table })
        }
    }

    /// A number that may be missing.
    pub(crate) fn count_if_any(&self, table: &str, key: &str) -> Option<u64> {
        match self.entry(table, key)?.value {
            Value::Count(number) => Some(number),
            _ => None,
        }
    }

    /// Reads a whole number.
    pub(crate) fn count(&self, table: &'static str, key: &'static str) -> Result<u64, ProfileError> {
        self.count_if_any(table, key).ok_or_else(|| self.missing(table, key))
    }

    /// A number that the schema limits to 32 bits.
    pub(crate) fn count32(&self, table: &'static str, key: &'static str) -> Result<u32, ProfileError> {
        Ok(u32::try_from(self.count(table, key)?).expect("the schema limits it"))
    }

    /// A share or an amount that may be missing.
    pub(crate) fn real_if_any(&self, table: &str, key: &str) -> Option<f64> {
        match self.entry(table, key)?.value {
            Value::Real(number) => Some(number),
            _ => None,
        }
    }

    /// A text that may be missing.
    pub(crate) fn text_if_any(&self, table: &str, key: &str) -> Option<&str> {
        match &self.entry(table, key)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A text or a name.
    pub(crate) fn text(&self, table: &'static str, key: &'static str) -> Result<&str, ProfileError> {
        self.text_if_any(table, key).ok_or_else(|| self.missing(table, key))
    }

    /// Yes or no, where it is said.
    pub(crate) fn flag_if_any(&self, table: &str, key: &str) -> Option<bool> {
        match self.entry(table, key)?.value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    /// Yes or no.
    pub(crate) fn flag(&self, table: &'static str, key: &'static str) -> Result<bool, ProfileError> {
        match self.entry(table, key) {
            Some(Entry { value: Value::Flag(flag), .. }) => Ok(*flag),
            _ => Err(self.missing(table, key)),
        }
    }
}

fn bad_value(table: &'static TableSchema, key: &'static Key, found: &str) -> Problem {
    let (table, name) = (table.name, key.name);
    match key.kind {
        Kind::Choice(known) => {
            let nearest = nearest(found, known.iter().copied());
            Problem::UnknownChoice { table, key: name, found: found.into(), nearest, known }
        }
        _ => Problem::BadValue { table, key: name, found: found.into(), kind: &key.kind },
    }
}

fn read_value(table: &'static TableSchema, key: &'static Key, item: &Item) -> Result<Value, Problem> {
    let value = item.as_value();
    value.and_then(|v| key.kind.of_toml(v)).ok_or_else(|| {
        let found = match (value, value.and_then(|v| v.as_str())) {
            (_, Some(text)) if matches!(key.kind, Kind::Choice(_)) => text.to_string(),
            (_, Some(text)) => format!("{text:?}"),
            (Some(value), None) => value.clone().decorated("", "").to_string(),
            (None, _) => format!("a {}", item.type_name()),
        };
        bad_value(table, key, &found)
    })
}

fn read_note(
    table: &'static TableSchema,
    key: &'static Key,
    field: &'static str,
    item: &Item,
) -> Result<String, Problem> {
    match item.as_str() {
        Some(text) if !text.chars().any(char::is_control) => Ok(text.to_string()),
        _ => Err(Problem::BadNote { table: table.name, key: key.name, field }),
    }
}

fn read_basis(table: &'static TableSchema, key: &'static Key, name: &str) -> Result<Basis, Problem> {
    Basis::ALL.into_iter().find(|b| b.name() == name).ok_or_else(|| Problem::UnknownBasis {
        table: table.name,
        key: key.name,
        found: name.into(),
        nearest: nearest(name, Basis::ALL.map(Basis::name)),
    })
}

/// Finds the lines of keys.
struct Lines<'a> {
    text: &'a str,
    file: &'a str,
}

impl Lines<'_> {
    fn place(&self, table: &dyn TableLike, name: &str, item: &Item) -> Place {
        let span = table.key(name).and_then(|k| k.span()).or_else(|| item.span());
        Place::File { file: self.file.to_string(), line: span.map(|s| line_of(self.text, s.start)) }
    }
}

/// Line of a byte of the text, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..offset]).count()
}
