//! JSON texts in a file, with their places for messages.

use crate::text::without_bom;
use crate::{ImportError, Problem};
use serde::de::DeserializeOwned;

/// A JSON text inside a file: all of it from a line that begins with a brace.
#[derive(Clone, Copy)]
pub(crate) struct Document<'a> {
    pub file: &'a str,
    pub text: &'a [u8],
    /// Lines of the file before it.
    lines_before: u64,
}

impl<'a> Document<'a> {
    /// All of a file.
    pub fn whole(file: &'a str, text: &'a [u8]) -> Document<'a> {
        Document { file, text, lines_before: 0 }
    }

    /// From the next line on that begins with a brace; leading space is not skipped, as JSON is not indented where it
    /// begins and fio's own text has braces elsewhere. Blank lines and the mark of Windows' editors are.
    pub fn next_document(self) -> Option<Document<'a>> {
        let mut text = self.text;
        let mut lines_before = self.lines_before;
        if lines_before == 0 {
            text = without_bom(text);
            let blank = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if text.get(blank) == Some(&b'{') {
                lines_before += newlines(&text[..blank]);
                return Some(Document { text: &text[blank..], lines_before, ..self });
            }
        }
        while !text.starts_with(b"{") {
            let end = text.iter().position(|&byte| byte == b'\n')?;
            text = &text[end + 1..];
            lines_before += 1;
        }
        Some(Document { text, lines_before, ..self })
    }

    /// Its first value, and what follows it.
    pub fn first_value<T: DeserializeOwned>(self) -> Result<(T, Document<'a>), ImportError> {
        let mut stream = serde_json::Deserializer::from_slice(self.text).into_iter();
        let value = match stream.next() {
            Some(Ok(value)) => value,
            Some(Err(source)) => return Err(self.json_error(source)),
            None => return Err(self.error(Problem::NotOurs)),
        };
        let (read, text) = self.text.split_at(stream.byte_offset());
        Ok((value, Document { text, lines_before: self.lines_before + newlines(read), ..self }))
    }

    /// All of it as one value.
    pub fn only_value<T: DeserializeOwned>(self) -> Result<T, ImportError> {
        serde_json::from_slice(self.text).map_err(|source| self.json_error(source))
    }

    /// A problem of the file as a whole.
    pub fn error(self, problem: Problem) -> ImportError {
        ImportError::new(self.file, None, problem)
    }

    fn json_error(self, source: serde_json::Error) -> ImportError {
        let line = self.lines_before + source.line() as u64;
        ImportError::new(self.file, Some(line), Problem::Json { column: source.column(), source })
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}
