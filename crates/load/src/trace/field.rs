//! The fields of a line: pieces with their columns, and the numbers in them.

use crate::trace::error::{Bad, Problem};
use device::Operation;

/// A piece of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub bytes: &'a [u8],
    /// Number of the column, from 1.
    pub column: usize,
    /// Name of the field in errors.
    pub what: &'static str,
}

impl Field<'_> {
    /// It should be something else.
    pub fn wrong(&self, must: &'static str) -> Bad {
        Bad { column: self.column, problem: Problem::Wrong { what: self.what, found: self.bytes.into(), must } }
    }

    /// A whole number.
    pub fn number(&self) -> Result<u64, Bad> {
        digits(self.bytes).ok_or_else(|| self.wrong("a whole number below 2^64"))
    }

    /// A whole number, in units of so many.
    pub fn number_of(&self, unit: u64) -> Result<u64, Bad> {
        self.number()?.checked_mul(unit).ok_or_else(|| self.wrong("a smaller number"))
    }

    /// One of the two words for a read and a write.
    pub fn read_or_write(&self, [read, write]: [&[u8]; 2], must: &'static str) -> Result<Operation, Bad> {
        match self.bytes {
            word if word == read => Ok(Operation::Read),
            word if word == write => Ok(Operation::Write),
            _ => Err(self.wrong(must)),
        }
    }

    /// Seconds with at most nine decimals, as nanoseconds.
    pub fn seconds_ns(&self) -> Result<u64, Bad> {
        let wrong = || self.wrong("seconds with at most nine decimals");
        let dot = memchr::memchr(b'.', self.bytes).unwrap_or(self.bytes.len());
        let whole = digits(&self.bytes[..dot]).ok_or_else(wrong)?;
        let decimals = self.bytes.get(dot + 1..).unwrap_or_default();
        if decimals.len() > 9 || (dot < self.bytes.len() && decimals.is_empty()) {
            return Err(wrong());
        }
        let fraction = if decimals.is_empty() { 0 } else { digits(decimals).ok_or_else(wrong)? };
        let scale = 10_u64.pow(9 - decimals.len() as u32);
        whole.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(fraction * scale)).ok_or_else(wrong)
    }
}

/// Decimal digits and nothing else.
fn digits(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() {
        return None;
    }
    let mut value = 0_u64;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    Some(value)
}

/// Takes a line apart from its left.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    /// Start of the next field; beyond the line's end: there is none.
    next: usize,
}

impl<'a> Fields<'a> {
    pub fn of(line: &'a [u8]) -> Fields<'a> {
        Fields { line, next: 0 }
    }

    /// The next field of a line with commas, blanks around it taken off.
    pub fn comma(&mut self, what: &'static str) -> Result<Field<'a>, Bad> {
        if self.next > self.line.len() {
            return Err(self.missing(what));
        }
        let rest = &self.line[self.next..];
        let end = memchr::memchr(b',', rest).unwrap_or(rest.len());
        let bytes = rest[..end].trim_ascii_end();
        let trimmed = bytes.trim_ascii_start();
        let column = self.next + (bytes.len() - trimmed.len()) + 1;
        self.next += end + 1;
        Ok(Field { bytes: trimmed, column, what })
    }

    /// The next word of a line with blanks.
    pub fn word(&mut self, what: &'static str) -> Result<Field<'a>, Bad> {
        let mut at = self.next.min(self.line.len());
        while self.line.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if at >= self.line.len() {
            return Err(self.missing(what));
        }
        let rest = &self.line[at..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.next = at + end;
        Ok(Field { bytes: &rest[..end], column: at + 1, what })
    }

    /// The line must be over.
    pub fn end(&self) -> Result<(), Bad> {
        let rest = self.line.get(self.next..).unwrap_or_default();
        // After a comma there is a field, even an empty one.
        if self.next > self.line.len() || rest.trim_ascii().is_empty() && self.line.last() != Some(&b',') {
            return Ok(());
        }
        Err(Bad { column: self.next + 1, problem: Problem::Stray { found: rest.into() } })
    }

    fn missing(&self, what: &'static str) -> Bad {
        Bad { column: self.line.len() + 1, problem: Problem::Missing { what } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> Field<'_> {
        Field { bytes: text.as_bytes(), column: 1, what: "time" }
    }

    #[test]
    fn numbers_are_digits_below_2_to_the_64() {
        assert_eq!(field("0").number().unwrap(), 0);
        assert_eq!(field("18446744073709551615").number().unwrap(), u64::MAX);
        for text in ["", "-1", "+1", "1.0", "18446744073709551616", "1 ", "0x10", "１"] {
            assert!(field(text).number().is_err(), "{text:?}");
        }
    }

    #[test]
    fn seconds_are_exact() {
        for (text, ns) in
            [("0", 0), ("1.5", 1_500_000_000), ("1456135200.013118000", 1_456_135_200_013_118_000), ("0.000000001", 1)]
        {
            assert_eq!(field(text).seconds_ns().unwrap(), ns, "{text}");
        }
        for text in ["", ".", "1.", ".5", "1.0000000001", "1e9", "18446744074.0", "1.-5"] {
            assert!(field(text).seconds_ns().is_err(), "{text:?}");
        }
    }

    #[test]
    fn fields_know_their_columns() {
        let mut fields = Fields::of(b"a, bc ,,d");
        let found: Vec<(usize, &[u8])> =
            (0..4).map(|_| fields.comma("x").map(|field| (field.column, field.bytes)).unwrap()).collect();
        assert_eq!(found, [(1, &b"a"[..]), (4, b"bc"), (8, b""), (9, b"d")]);
        assert!(fields.end().is_ok());
        assert_eq!(fields.comma("x").unwrap_err().column, 10);
        let mut words = Fields::of(b"  ab  c ");
        let found: Vec<(usize, &[u8])> =
            (0..2).map(|_| words.word("x").map(|field| (field.column, field.bytes)).unwrap()).collect();
        assert_eq!(found, [(3, &b"ab"[..]), (7, b"c")]);
        assert!(words.end().is_ok());
        assert_eq!(words.word("x").unwrap_err().column, 9);
    }
}
