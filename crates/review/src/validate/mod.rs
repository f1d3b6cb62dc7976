//! The model against every published table.

pub(crate) mod context;
mod depths;
mod fill;
mod flashmax;
mod postgres;
mod threads;
mod violin;

use crate::parallel;
use crate::point::PointError;
use context::Context;
use load::Given;
use results::Comparison;
use std::sync::atomic::{AtomicU64, Ordering};
use target::Progress;

/// An error that keeps the comparison from being made.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ValidateError {
    /// No such table.
    #[error("no published table '{name}'; there are {}", TABLES.map(|t| t.name).join(", "))]
    UnknownTable { name: Given },
    /// A point could not be measured.
    #[error(transparent)]
    Point(#[from] PointError),
}

/// A published table that the model is compared with.
pub struct TableEntry {
    /// Key of the table on the command line.
    pub name: &'static str,
    /// Cards that it is about.
    pub cards: &'static [&'static str],
    compare: for<'a> fn(&Context<'a>) -> Result<Vec<Comparison>, PointError>,
}

impl TableEntry {
    /// Compares the model with the table.
    pub(crate) fn compare(&self, context: &Context) -> Result<Vec<Comparison>, PointError> {
        (self.compare)(context)
    }
}

/// All published tables.
pub const TABLES: [TableEntry; 8] = [
    TableEntry { name: "tachion-fill", cards: &["tachion-400"], compare: fill::tachion },
    TableEntry { name: "duo-fill", cards: &["iodrive-duo-320-slc"], compare: fill::duo },
    TableEntry { name: "iodrive-320-mlc-fill", cards: &["iodrive-320-mlc"], compare: fill::mlc },
    TableEntry {
        name: "tachion-400-threads",
        cards: &["tachion-400", "tachion-400-preproduction", "iodrive-160-slc"],
        compare: threads::compare,
    },
    TableEntry { name: "flashmax-n800-slob", cards: &["flashmax-n800"], compare: flashmax::compare },
    TableEntry { name: "violin-3205-slob", cards: &["violin-3205"], compare: violin::compare },
    TableEntry {
        name: "iodrive-320-mlc-postgres",
        cards: &["iodrive-320-mlc", "sas-raid10-6"],
        compare: postgres::compare,
    },
    TableEntry {
        name: "drives-2017-depths",
        cards: &["intel-p4800x-375", "intel-p3700-800", "micron-9100-max-2400"],
        compare: depths::compare,
    },
];

/// Tables that a card appears in.
pub fn tables_of_card(card: &str) -> impl Iterator<Item = &'static TableEntry> + use<'_> {
    TABLES.iter().filter(move |t| t.cards.contains(&card))
}

/// Compares one table, which may be split by device.
pub fn validate_table(
    name: &str,
    scale: f64,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Comparison>, ValidateError> {
    let entry = TABLES.iter().find(|t| t.name == name);
    let entry = entry.ok_or_else(|| ValidateError::UnknownTable { name: name.into() })?;
    Ok(entry.compare(&Context { seed, scale, progress })?)
}

/// Compares all tables, several at a time: the last points of one leave cores to the next.
pub fn validate(scale: f64, seed: u64, progress: &dyn Progress) -> Result<Vec<Comparison>, ValidateError> {
    progress.begin("compare with published tables", TABLES.len() as u64);
    let done = AtomicU64::new(0);
    let tables = parallel::map(&TABLES, |table| {
        let compared = table.compare(&Context { seed, scale, progress })?;
        progress.at(done.fetch_add(1, Ordering::Relaxed) + 1);
        Ok::<_, ValidateError>(compared)
    })?;
    Ok(tables.into_iter().flatten().collect())
}
