//! The table of data sheets.

use import::Table;
use load::FileioMode;
use profile::Profile;

/// The figures of one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Name of its card.
    pub card: &'static str,
    /// Its figures, in the order of the table.
    pub figures: Vec<Figure>,
}

/// A figure of a data sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The quantity that was measured.
    pub what: What,
    /// The figure, in the unit of [`What::unit`].
    pub value: f64,
    /// Requests that are outstanding.
    pub threads: u32,
    /// The state of the drive.
    pub state: State,
    /// Bytes that the requests go to; `None`: all of the drive.
    pub range_bytes: Option<f64>,
    /// The part that the figure has in the card's file.
    pub role: Role,
}

/// The quantity that a figure is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum What {
    RandomRead,
    RandomWrite,
    /// 70 % reads, 30 % writes.
    RandomMix,
    SequentialRead,
    SequentialWrite,
    /// Mean of random reads.
    ReadLatency,
    /// Mean of random writes.
    WriteLatency,
    /// Bytes written under JEDEC's enterprise workload.
    Endurance,
    /// Bytes written all over, 4 KiB at a time.
    EnduranceRandom,
    EnduranceSequential,
}

/// The state in which a drive is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Full, and overwritten until that changes nothing any more.
    Steady,
    /// New: what is written goes to a cache of faster cells, where a drive has one.
    Fresh,
}

/// The part that a figure has in a card's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A number of the file is derived from it.
    Given,
    /// No number of the file is: the model says it by itself.
    Predicted,
}

impl What {
    fn of(name: &str) -> Option<What> {
        Some(match name {
            "random read" => What::RandomRead,
            "random write" => What::RandomWrite,
            "random 70/30" => What::RandomMix,
            "sequential read" => What::SequentialRead,
            "sequential write" => What::SequentialWrite,
            "read latency" => What::ReadLatency,
            "write latency" => What::WriteLatency,
            "endurance" => What::Endurance,
            "endurance, random" => What::EnduranceRandom,
            "endurance, sequential" => What::EnduranceSequential,
            _ => return None,
        })
    }

    /// The unit of its figures.
    pub fn unit(self) -> &'static str {
        match self {
            What::RandomRead | What::RandomWrite | What::RandomMix => "IOPS",
            What::SequentialRead | What::SequentialWrite => "MB/s",
            What::ReadLatency | What::WriteLatency => "us",
            What::Endurance | What::EnduranceRandom | What::EnduranceSequential => "TB",
        }
    }

    /// The requests of the drive; `None` for figures of a life.
    pub(crate) fn mode(self) -> Option<FileioMode> {
        match self {
            What::RandomRead | What::ReadLatency => Some(FileioMode::RndRd),
            What::RandomWrite | What::WriteLatency => Some(FileioMode::RndWr),
            What::RandomMix => Some(FileioMode::RndRw),
            What::SequentialRead => Some(FileioMode::SeqRd),
            What::SequentialWrite => Some(FileioMode::SeqRewr),
            What::Endurance | What::EnduranceRandom | What::EnduranceSequential => None,
        }
    }
}

/// The data sheets of `published/datasheets.csv`, a drive each.
///
/// # Panics
/// When a row of the table, which is compiled in, can't be read: a bug.
pub fn sheets() -> Vec<Sheet> {
    let table = Table::get("datasheets");
    let [cards, whats, states, roles] = ["card", "figure", "state", "role"].map(|column| table.texts(column));
    let [values, threads, ranges] = ["value", "threads", "range_gb"].map(|column| table.numbers(column));
    let mut sheets: Vec<Sheet> = Vec::new();
    for i in 0..cards.len() {
        let wrong = |column: &str| -> ! { panic!("datasheets.csv: {column} of row {}", i + 1) };
        let figure = Figure {
            what: What::of(&whats[i]).unwrap_or_else(|| wrong("figure")),
            value: values[i],
            threads: if threads[i].is_finite() { threads[i] as u32 } else { 1 },
            state: match states[i].as_str() {
                "steady" => State::Steady,
                "fresh" => State::Fresh,
                _ => wrong("state"),
            },
            range_bytes: ranges[i].is_finite().then_some(ranges[i] * 1e9),
            role: match roles[i].as_str() {
                "given" => Role::Given,
                "predicted" => Role::Predicted,
                _ => wrong("role"),
            },
        };
        if !figure.value.is_finite() {
            wrong("value");
        }
        let card = Profile::builtin_names().find(|name| *name == cards[i]).unwrap_or_else(|| wrong("card"));
        match sheets.last_mut().filter(|sheet| sheet.card == card) {
            Some(sheet) => sheet.figures.push(figure),
            None => sheets.push(Sheet { card, figures: vec![figure] }),
        }
    }
    sheets
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_sheet_is_that_of_a_card_and_has_a_source() {
        let sheets = sheets();
        assert!(sheets.len() >= 8);
        let names: BTreeSet<&str> = sheets.iter().map(|sheet| sheet.card).collect();
        assert_eq!(names.len(), sheets.len(), "the rows of a drive stand together");
        for sheet in &sheets {
            assert!(sheet.figures.iter().all(|figure| figure.value > 0.0 && figure.threads > 0), "{}", sheet.card);
        }
        let table = Table::get("datasheets");
        assert!(table.texts("source").iter().all(|source| source.len() > 10));
        let said: Vec<String> = sheets.iter().flat_map(|s| &s.figures).map(|f| f.what.unit().to_owned()).collect();
        assert_eq!(said, table.texts("unit"));
    }
}
