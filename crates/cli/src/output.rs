//! Destinations of output: standard output, and JSON files that are there whole or not at all.

use crate::call;
use crate::error::StreamFailure;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes to standard output. A reader that has gone away (`| head`) has seen enough: that is no error.
pub fn print(text: &str) -> Result<(), StreamFailure> {
    if let Some(call) = call::current() {
        call.print(text);
        return Ok(());
    }
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(StreamFailure::Stdout(e)),
        _ => Ok(()),
    }
}

/// A line about something that went wrong and changes no result.
pub fn print_error(message: &str) {
    note(&format!("flashrig: {}", crate::message::one_line(message)));
}

/// Lines beside the output, for standard error.
pub fn note(text: &str) {
    match call::current() {
        Some(call) => call.note(text),
        None => eprintln!("{text}"),
    }
}

/// JSON as it is printed and written.
pub fn pretty(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("JSON values have text keys");
    text.push('\n');
    text
}

/// The destination of JSON.
#[derive(Debug)]
pub enum JsonSink {
    /// To standard output, in place of tables.
    Stdout,
    /// To a regular file: written beside it and put in its place.
    File(PathBuf),
    /// To a pipe or a device, which can't be replaced.
    Stream(PathBuf, File),
}

impl JsonSink {
    /// Finds out whether the file can be written, before any long work begins.
    pub fn open(path: &Path) -> Result<JsonSink, StreamFailure> {
        if path == Path::new("-") {
            return Ok(JsonSink::Stdout);
        }
        JsonSink::try_open(path).map_err(|source| StreamFailure::Unwritable { path: path.to_owned(), source })
    }

    fn try_open(path: &Path) -> io::Result<JsonSink> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                Ok(JsonSink::Stream(path.to_owned(), File::options().write(true).open(path)?))
            }
            Ok(_) => {
                File::options().append(true).open(path)?;
                // A link stays a link: what it points to is replaced.
                JsonSink::probe(fs::canonicalize(path)?)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => JsonSink::probe(path.to_owned()),
            Err(e) => Err(e),
        }
    }

    fn probe(path: PathBuf) -> io::Result<JsonSink> {
        let beside = beside(&path)?;
        File::create_new(&beside)?;
        fs::remove_file(&beside)?;
        Ok(JsonSink::File(path))
    }

    /// Returns whether tables would stand in the way.
    pub fn is_stdout(&self) -> bool {
        matches!(self, JsonSink::Stdout)
    }

    /// Writes the value as JSON, in full or not at all where the place is a file.
    pub fn write(self, value: &Value) -> Result<(), StreamFailure> {
        self.write_text(&pretty(value))
    }

    /// Writes a text that is no JSON.
    pub fn write_text(self, text: &str) -> Result<(), StreamFailure> {
        let (path, written) = match self {
            JsonSink::Stdout => return print(text),
            JsonSink::File(path) => {
                let written = replace(&path, text.as_bytes());
                (path, written)
            }
            JsonSink::Stream(path, mut stream) => {
                let written = stream.write_all(text.as_bytes());
                (path, written)
            }
        };
        written.map_err(|source| StreamFailure::Unwritable { path, source })
    }
}

/// Text files that are there whole or not at all.
pub struct TextSink;

impl TextSink {
    /// Finds out whether a file can be written, and leaves nothing behind.
    pub fn probe(path: &Path) -> Result<(), StreamFailure> {
        JsonSink::open(path).map(|_| ())
    }

    /// Puts a file in its place.
    pub fn replace(path: &Path, text: &str) -> Result<(), StreamFailure> {
        match JsonSink::open(path)? {
            JsonSink::Stdout => print(text),
            sink => replace_in(path, sink, text.as_bytes()),
        }
    }

    /// Puts a file that is no text in its place. A terminal is no place for it.
    pub fn replace_bytes(path: &Path, bytes: &[u8]) -> Result<(), StreamFailure> {
        match JsonSink::open(path)? {
            JsonSink::Stdout => {
                let source = io::Error::new(io::ErrorKind::InvalidInput, "a picture needs a file");
                Err(StreamFailure::Unwritable { path: path.to_owned(), source })
            }
            sink => replace_in(path, sink, bytes),
        }
    }
}

fn replace_in(path: &Path, sink: JsonSink, bytes: &[u8]) -> Result<(), StreamFailure> {
    let written = match sink {
        JsonSink::Stdout => io::stdout().write_all(bytes),
        JsonSink::File(place) => replace(&place, bytes),
        JsonSink::Stream(_, mut stream) => stream.write_all(bytes),
    };
    written.map_err(|source| StreamFailure::Unwritable { path: path.to_owned(), source })
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = beside(path)?;
    let mut file = File::create_new(&beside)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| fs::metadata(path).map_or(Ok(()), |old| file.set_permissions(old.permissions())))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A name in the same directory, so that renaming stays within a file system.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}.tmp", std::process::id()));
    Ok(path.with_file_name(beside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("a.json"), dir.path().join("link.json"));
        fs::write(&path, "old and longer than the new").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        JsonSink::open(&link).unwrap().write(&json!(1)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_cannot_be_written_is_known_at_once() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().to_owned(), dir.path().join("no/such/a.json"), PathBuf::from("/")] {
            assert!(matches!(JsonSink::open(&path), Err(StreamFailure::Unwritable { .. })), "{}", path.display());
        }
        JsonSink::open(Path::new("/dev/null")).unwrap().write(&json!(1)).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
