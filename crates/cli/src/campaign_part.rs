//! The file of a part: records are added as they come.

use crate::campaign_plan::read;
use crate::error::{CampaignFailure, Failure, StreamFailure};
use crate::output::print;
use crate::whatif_output::GENERATOR;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use study::campaign::{Part, Plan, Record};

/// A part that is being written; `-` stands for standard output.
pub struct Sink {
    path: PathBuf,
    written: Mutex<Written>,
}

struct Written {
    file: Option<File>,
    /// Records of a part that goes to standard output, which has one writer.
    text: String,
    result: io::Result<()>,
}

impl Sink {
    /// A new part, or one that goes on: the units that it has are taken off the list.
    pub fn open(path: &Path, plan: &Plan, units: &mut Vec<usize>) -> Result<Sink, Failure> {
        let sink = |file, text| {
            let written = Written { file, text, result: Ok(()) }.into();
            Sink { path: path.to_owned(), written }
        };
        if path == Path::new("-") {
            return Ok(sink(None, Part::head(plan)));
        }
        let unwritable = |source| StreamFailure::Unwritable { path: path.to_owned(), source };
        let there = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0);
        if !there {
            let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(unwritable)?;
            file.write_all(Part::head(plan).as_bytes()).map_err(unwritable)?;
            return Ok(sink(Some(file), String::new()));
        }
        let part = Part::parse(&read(path)?, GENERATOR);
        let part = part.map_err(|source| CampaignFailure::Part { path: path.to_owned(), source })?;
        if part.plan.id != plan.id {
            return Err(CampaignFailure::OtherPlan { path: path.to_owned() }.into());
        }
        units.retain(|&unit| part.records.iter().all(|record| record.unit != unit));
        let file = OpenOptions::new().append(true).open(path).map_err(unwritable)?;
        // The beginning of a line, as a worker leaves it that was killed.
        file.set_len(part.whole_bytes as u64).map_err(unwritable)?;
        Ok(sink(Some(file), String::new()))
    }

    /// Adds a record. The first error is kept for the end.
    pub fn add(&self, record: &Record) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let added = match &mut written.file {
            Some(file) => file.write_all(record.line().as_bytes()),
            None => {
                written.text.push_str(&record.line());
                Ok(())
            }
        };
        if written.result.is_ok() {
            written.result = added;
        }
    }

    pub fn close(self) -> Result<(), Failure> {
        let Written { file, text, result } = self.written.into_inner().unwrap_or_else(PoisonError::into_inner);
        match file {
            None => print(&text)?,
            Some(file) => {
                let synced = result.and_then(|()| file.sync_all());
                synced.map_err(|source| StreamFailure::Unwritable { path: self.path, source })?;
            }
        }
        Ok(())
    }
}
