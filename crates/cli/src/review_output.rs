//! NAME.json and NAME.html: where a review goes.

use crate::error::{Failure, ReviewFailure, StreamFailure};
use crate::output::{JsonSink, TextSink};
use results::{ReviewResult, TargetKind};
use serde_json::Value;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The two files of a review.
pub struct Files {
    /// Everything that was measured.
    pub json: PathBuf,
    pub html: PathBuf,
}

/// The fate of files that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// A review is replaced.
    Replaced,
    /// A review of a model is replaced: it can be made again.
    ReplacedIfModelled,
    /// No file is replaced.
    Refused,
    /// The review goes on from them.
    Resumed,
}

impl Files {
    /// For a name; an ending that belongs to one of the files is no part of it. In a directory they are called after
    /// the target.
    pub fn of(out: Option<&Path>, target: &str) -> Files {
        let name = match out {
            Some(out) if out.is_dir() || out.as_os_str().as_bytes().ends_with(b"/") => out.join(short_name(target)),
            Some(out) if out.extension().is_some_and(|e| e == "json" || e == "html") => out.with_extension(""),
            Some(out) if !out.as_os_str().is_empty() => out.to_owned(),
            _ => PathBuf::from(short_name(target)),
        };
        let with = |ending: &str| {
            let mut path = name.clone().into_os_string();
            path.push(ending);
            PathBuf::from(path)
        };
        Files { json: with(".json"), html: with(".html") }
    }

    /// Finds out that both can be written, before any long work begins. A file that is no review is never replaced.
    pub fn check(&self, existing: Existing) -> Result<(), Failure> {
        for path in [&self.json, &self.html] {
            TextSink::probe(path)?;
        }
        if !is_page_or_empty(&self.html) {
            return Err(ReviewFailure::NoResult { path: self.html.clone() }.into());
        }
        if existing == Existing::Resumed {
            return Ok(());
        }
        if self.json.exists() {
            let there = self.review_there()?;
            if existing != Existing::Replaced
                && (existing == Existing::Refused || there.target.kind != TargetKind::Model)
            {
                return Err(ReviewFailure::ResultExists { path: self.json.clone() }.into());
            }
        } else if self.html.exists() && existing == Existing::Refused {
            return Err(ReviewFailure::ResultExists { path: self.html.clone() }.into());
        }
        Ok(())
    }

    /// The review in NAME.json. Results of other tools and of single runs can be read as reviews too, and are none.
    fn review_there(&self) -> Result<ReviewResult, Failure> {
        let none = || ReviewFailure::NoResult { path: self.json.clone() };
        let read = fs::read(&self.json).map_err(|_| none())?;
        let json: Value = serde_json::from_slice(&read).map_err(|_| none())?;
        if json["kind"] != ReviewResult::KIND {
            return Err(none().into());
        }
        Ok(import::parse(&self.json.display().to_string(), &read)?)
    }

    /// Writes both, each whole or not at all.
    pub fn write(&self, result: &ReviewResult) -> Result<(), StreamFailure> {
        self.write_json(result)?;
        TextSink::replace(&self.html, &report::review_page(result))
    }

    /// Writes what there is so far.
    pub fn write_json(&self, result: &ReviewResult) -> Result<(), StreamFailure> {
        JsonSink::open(&self.json)?.write(&serde_json::to_value(result).expect("results have text keys"))
    }

    /// The partial result that is to be gone on with.
    pub fn read(&self) -> Result<ReviewResult, Failure> {
        // A file that can't be read at all says why.
        import::read(&self.json)?;
        self.review_there()
    }
}

/// Returns whether a file is a page of ours, or has nothing in it, or is not there: then a page may take its place.
pub fn is_page_or_empty(path: &Path) -> bool {
    // Pipes and devices are written to and hold nothing; reading one would wait.
    if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return true;
    }
    let mut head = Vec::new();
    let Ok(_) = File::open(path).and_then(|file| file.take(MAX_PAGE_HEAD_BYTES).read_to_end(&mut head)) else {
        return false;
    };
    head.is_empty() || head.windows(PAGE_MARK.len()).any(|part| part == PAGE_MARK)
}

/// End of each page's title, and the bytes in which it stands at the latest.
const PAGE_MARK: &[u8] = " · Flashrig</title>".as_bytes();
const MAX_PAGE_HEAD_BYTES: u64 = 64 << 10;

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
        assert_eq!(names(Some(""), "x"), pair("x"));
        assert_eq!(names(Some("/"), "./y"), pair("/y"));
        assert_eq!(names(Some("no-such-directory/"), "y"), pair("no-such-directory/y"));
    }
}
