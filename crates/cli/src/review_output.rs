//! NAME.json and NAME.html: where a review goes.

use crate::error::Failure;
use crate::output::{JsonSink, TextSink};
use results::{ReviewResult, TargetKind};
use std::path::{Path, PathBuf};

/// The two files of a review.
pub struct Files {
    /// Everything that was measured.
    pub json: PathBuf,
    /// The page.
    pub html: PathBuf,
}

/// What may happen to files that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// They can be made again: models.
    Replaced,
    /// They can't: real devices.
    Refused,
    /// They are gone on with.
    Resumed,
}

impl Files {
    /// For a name; an ending that belongs to one of the files is no part of it.
    pub fn of(out: Option<&Path>, target: &str) -> Files {
        let name = match out {
            Some(out) if out.extension().is_some_and(|e| e == "json" || e == "html") => out.with_extension(""),
            Some(out) => out.to_owned(),
            None => PathBuf::from(short_name(target)),
        };
        let with = |ending: &str| {
            let mut path = name.clone().into_os_string();
            path.push(ending);
            PathBuf::from(path)
        };
        Files { json: with(".json"), html: with(".html") }
    }

    /// Finds out that both can be written, before any long work begins. What is there and no review is never replaced.
    pub fn check(&self, existing: Existing) -> Result<(), Failure> {
        for path in [&self.json, &self.html] {
            TextSink::probe(path)?;
        }
        if existing == Existing::Resumed {
            return Ok(());
        }
        if self.json.exists() {
            if existing == Existing::Refused {
                return Err(Failure::ResultExists { path: self.json.clone() });
            }
            import::read(&self.json).map_err(|_| Failure::NoResult { path: self.json.clone() })?;
        } else if self.html.exists() && existing == Existing::Refused {
            return Err(Failure::ResultExists { path: self.html.clone() });
        }
        Ok(())
    }

    /// Writes both, each whole or not at all.
    pub fn write(&self, result: &ReviewResult) -> Result<(), Failure> {
        self.write_json(result)?;
        TextSink::replace(&self.html, &report::review_page(result))
    }

    /// Writes what there is so far.
    pub fn write_json(&self, result: &ReviewResult) -> Result<(), Failure> {
        JsonSink::open(&self.json)?.write(&serde_json::to_value(result).expect("results have text keys"))
    }

    /// The partial result that is to be gone on with.
    pub fn read(&self) -> Result<ReviewResult, Failure> {
        let result = import::read(&self.json)?;
        if result.target.kind == TargetKind::Imported {
            return Err(Failure::NoResult { path: self.json.clone() });
        }
        Ok(result)
    }
}

/// `/dev/nvme1n1` → `nvme1n1`, `./cards/mine.toml` → `mine`.
pub fn short_name(target: &str) -> String {
    let path = Path::new(target);
    let stem = if path.extension().is_some_and(|e| e == "toml") { path.file_stem() } else { path.file_name() };
    stem.map_or_else(|| "review".into(), |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_the_target_or_as_asked() {
        let names = |out: Option<&str>, target: &str| {
            let files = Files::of(out.map(Path::new), target);
            (files.json.display().to_string(), files.html.display().to_string())
        };
        let pair = |name: &str| (format!("{name}.json"), format!("{name}.html"));
        assert_eq!(names(None, "tachion-400"), pair("tachion-400"));
        assert_eq!(names(None, "./cards/mine.toml"), pair("mine"));
        assert_eq!(names(None, "/dev/nvme0n1"), pair("nvme0n1"));
        assert_eq!(names(Some("a/b"), "x"), pair("a/b"));
        assert_eq!(names(Some("b.json"), "x"), pair("b"));
        assert_eq!(names(Some("v1.2"), "x"), pair("v1.2"));
    }
}
