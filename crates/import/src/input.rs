//! The input: a file, or text at hand. Its head is kept to tell its kind, the rest is read as it is used.

use crate::text::without_bom;
use crate::{ImportError, Problem};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// Bytes of JSON that are read; they are held in memory.
pub const JSON_BYTES_LIMIT: u64 = 256 << 20;
/// Bytes of a log that are read, line by line.
pub const LOG_BYTES_LIMIT: u64 = 1 << 30;
/// Bytes of a line of a log.
const LINE_BYTES_LIMIT: u64 = 64 << 10;
/// Bytes from which the kind is told: room for what a shell or fio may print before the results.
const HEAD_BYTES: u64 = 64 << 10;

/// A file, or text at hand.
pub(crate) struct Input<'a> {
    file: String,
    head: Vec<u8>,
    rest: Box<dyn BufRead + 'a>,
}

impl<'a> Input<'a> {
    pub fn open(path: &Path) -> Result<Input<'static>, ImportError> {
        let file = path.display().to_string();
        let opened =
            File::open(path).map_err(|source| ImportError::new(&file, None, Problem::Unreadable { source }))?;
        Input::new(file, Box::new(BufReader::with_capacity(1 << 18, opened)))
    }

    pub fn of_bytes(file: &str, bytes: &'a [u8]) -> Result<Input<'a>, ImportError> {
        Input::new(file.into(), Box::new(bytes))
    }

    fn new(file: String, mut rest: Box<dyn BufRead + 'a>) -> Result<Input<'a>, ImportError> {
        let mut head = Vec::new();
        match (&mut rest).take(HEAD_BYTES).read_to_end(&mut head) {
            Ok(_) => Ok(Input { file, head, rest }),
            Err(source) => Err(ImportError::new(&file, None, Problem::Unreadable { source })),
        }
    }

    /// The beginning, from which the kind is told.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// A problem of the file as a whole.
    pub fn error(&self, problem: Problem) -> ImportError {
        ImportError::new(&self.file, None, problem)
    }

    /// All of it, where it is JSON.
    pub fn into_bytes(self) -> Result<(String, Vec<u8>), ImportError> {
        let Input { file, head: mut bytes, rest } = self;
        let error = |problem| ImportError::new(&file, None, problem);
        let room = JSON_BYTES_LIMIT + 1 - bytes.len() as u64;
        rest.take(room).read_to_end(&mut bytes).map_err(|source| error(Problem::Unreadable { source }))?;
        if bytes.len() as u64 > JSON_BYTES_LIMIT {
            return Err(error(Problem::TooLong { what: "JSON", limit: JSON_BYTES_LIMIT }));
        }
        Ok((file, bytes))
    }

    /// Line by line.
    pub fn into_lines(self) -> Lines<'a> {
        let reader = Cursor::new(self.head).chain(self.rest);
        Lines { file: self.file, reader: Box::new(reader), line: Vec::new(), number: 0, bytes: 0 }
    }
}

/// The lines of a log.
pub(crate) struct Lines<'a> {
    file: String,
    reader: Box<dyn BufRead + 'a>,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
}

impl Lines<'_> {
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The next line without its end; `None` after the last. Bytes that are no UTF-8 are replaced.
    pub fn next(&mut self) -> Result<Option<Cow<'_, str>>, ImportError> {
        self.line.clear();
        self.number += 1;
        // One byte more than the limit tells a line that is too long from one that just fits.
        let read = (&mut self.reader).take(LINE_BYTES_LIMIT + 1).read_until(b'\n', &mut self.line);
        let read = read.map_err(|source| self.error(Problem::Unreadable { source }))? as u64;
        self.bytes += read;
        if read > LINE_BYTES_LIMIT {
            return Err(self.error(Problem::LineTooLong { limit: LINE_BYTES_LIMIT }));
        }
        if self.bytes > LOG_BYTES_LIMIT {
            return Err(ImportError::new(&self.file, None, Problem::TooLong { what: "a log", limit: LOG_BYTES_LIMIT }));
        }
        if read == 0 {
            return Ok(None);
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if self.number == 1 { without_bom(line) } else { line };
        Ok(Some(String::from_utf8_lossy(line)))
    }

    /// The number of the line that was handed out last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// A problem of the line that was handed out last.
    pub fn error(&self, problem: Problem) -> ImportError {
        ImportError::new(&self.file, Some(self.number), problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_refused_with_its_number() {
        let text = [b"short\n".to_vec(), vec![b'x'; LINE_BYTES_LIMIT as usize + 1]].concat();
        let mut lines = Input::of_bytes("f", &text).unwrap().into_lines();
        assert_eq!(lines.next().unwrap().unwrap(), "short");
        assert_eq!(
            lines.next().unwrap_err().to_string(),
            "f:2: the line is longer than 65,536 bytes: write it again, it is broken"
        );
        let just = vec![b'x'; LINE_BYTES_LIMIT as usize];
        let mut lines = Input::of_bytes("f", &just).unwrap().into_lines();
        assert!(lines.next().unwrap().is_some() && lines.next().unwrap().is_none());
    }
}
