//! Lines of a stream, without copying them.

use std::io::{self, Read};

/// Length of the longest line that is read.
pub const LINE_BYTES_LIMIT: usize = 64 << 10;
/// Bytes that are read at once; a line that crosses the border is moved to the front.
const BUFFER_BYTES: usize = 512 << 10;

/// The next line, or the end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<'a> {
    /// A line without its end.
    Line(&'a [u8]),
    /// A line longer than the limit; it is passed over.
    TooLong,
    End,
}

/// Splits a stream into lines.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// Start of the bytes that are not handed out yet.
    from: usize,
    to: usize,
    ended: bool,
    number: u64,
}

impl<R: Read> Lines<R> {
    pub fn new(source: R) -> Lines<R> {
        Lines { source, buffer: vec![0; BUFFER_BYTES], from: 0, to: 0, ended: false, number: 0 }
    }

    /// The number of the line that was handed out last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The beginning of the stream: as much as one buffer holds.
    pub fn head(&mut self) -> io::Result<&[u8]> {
        while !self.ended && self.to < self.buffer.len() {
            self.read_more()?;
        }
        Ok(&self.buffer[self.from..self.to])
    }

    /// The next line.
    #[inline]
    pub fn next(&mut self) -> io::Result<Next<'_>> {
        let mut looked_at = self.from;
        let mut too_long = false;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[looked_at..self.to]) {
                let (from, end) = (self.from, looked_at + found);
                self.from = end + 1;
                self.number += 1;
                return Ok(self.handed_out(from, end, too_long));
            }
            if self.ended {
                let (from, end) = (self.from, self.to);
                self.from = self.to;
                if from == end && !too_long {
                    return Ok(Next::End);
                }
                self.number += 1;
                return Ok(self.handed_out(from, end, too_long));
            }
            if self.to - self.from > LINE_BYTES_LIMIT {
                // Nothing of it is wanted but its end.
                too_long = true;
                self.from = self.to;
            }
            self.buffer.copy_within(self.from..self.to, 0);
            self.to -= self.from;
            self.from = 0;
            looked_at = self.to;
            self.read_more()?;
        }
    }

    fn handed_out(&self, from: usize, end: usize, too_long: bool) -> Next<'_> {
        let line = &self.buffer[from..end];
        if too_long || line.len() > LINE_BYTES_LIMIT {
            return Next::TooLong;
        }
        Next::Line(line.strip_suffix(b"\r").unwrap_or(line))
    }

    fn read_more(&mut self) -> io::Result<()> {
        let read = loop {
            match self.source.read(&mut self.buffer[self.to..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.ended = read == 0;
        self.to += read;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(bytes: &[u8]) -> Vec<Option<usize>> {
        let mut lines = Lines::new(bytes);
        let mut found = Vec::new();
        loop {
            match lines.next().unwrap() {
                Next::Line(line) => found.push(Some(line.len())),
                Next::TooLong => found.push(None),
                Next::End => return found,
            }
        }
    }

    #[test]
    fn lines_end_with_the_stream_and_carriage_returns_are_no_part_of_them() {
        assert_eq!(lengths(b"ab\r\n\nc"), [Some(2), Some(0), Some(1)]);
        assert_eq!(lengths(b"ab\n"), [Some(2)]);
        assert_eq!(lengths(b""), []);
    }

    #[test]
    fn what_is_too_long_is_passed_over_as_one_line() {
        let long = vec![b'x'; 3 * BUFFER_BYTES];
        assert_eq!(lengths(&[&b"a\n"[..], &long, b"\nb\n"].concat()), [Some(1), None, Some(1)]);
        assert_eq!(lengths(&long), [None]);
        let just = vec![b'x'; LINE_BYTES_LIMIT];
        assert_eq!(lengths(&just), [Some(LINE_BYTES_LIMIT)]);
        assert_eq!(lengths(&[&just[..], b"x\ny"].concat()), [None, Some(1)]);
    }

    #[test]
    fn lines_across_the_border_of_a_buffer_are_whole() {
        let text: String = (0..60_000).map(|i| format!("{:>width$}\n", i, width = 10 + i % 17)).collect();
        let mut lines = Lines::new(text.as_bytes());
        for expected in text.lines() {
            assert_eq!(lines.next().unwrap(), Next::Line(expected.as_bytes()));
        }
        assert_eq!(lines.next().unwrap(), Next::End);
        assert_eq!(lines.number(), 60_000);
    }
}
