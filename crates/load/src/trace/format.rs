//! The formats behind one name.

use crate::trace::error::{Bad, Problem};
use crate::trace::said::Line;
use crate::trace::{LENGTH_LIMIT_BYTES, alibaba, blkparse, fio, msr, systor};
use device::Operation;

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Format {
    /// MSR Cambridge, CSV.
    Msr,
    Blkparse,
    /// fio's iolog, version 2.
    FioV2,
    /// fio's iolog, version 3.
    FioV3,
    /// SYSTOR '17, CSV.
    Systor,
    /// Alibaba's cloud disks, CSV.
    Alibaba,
}

/// Lines that are looked at to tell a format: the first may be broken, or print something else.
const LINES_LOOKED_AT: usize = 32;

impl Format {
    /// All formats that are known.
    pub const ALL: [Format; 6] =
        [Format::Msr, Format::Blkparse, Format::FioV2, Format::FioV3, Format::Systor, Format::Alibaba];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Format::Msr => "msr",
            Format::Blkparse => "blkparse",
            Format::FioV2 => "fio2",
            Format::FioV3 => "fio3",
            Format::Systor => "systor",
            Format::Alibaba => "alibaba",
        }
    }

    /// Returns the title for people.
    pub fn title(self) -> &'static str {
        match self {
            Format::Msr => "MSR Cambridge CSV",
            Format::Blkparse => "blkparse text, issued requests (D)",
            Format::FioV2 => "fio iolog v2",
            Format::FioV3 => "fio iolog v3",
            Format::Systor => "SYSTOR '17 CSV",
            Format::Alibaba => "Alibaba CSV",
        }
    }

    /// Returns whether its lines say when something was asked.
    pub fn has_times(self) -> bool {
        self != Format::FioV2
    }

    /// The format of a text that begins so, told by its first lines.
    pub fn of(head: &[u8]) -> Option<Format> {
        let lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let looked_at = lines.filter(|line| !line.trim_ascii().is_empty()).take(LINES_LOOKED_AT);
        let format_of = |line: &[u8]| {
            Some(match line {
                fio::HEADER_V2 => Format::FioV2,
                fio::HEADER_V3 => Format::FioV3,
                _ if systor::is_one(line) => Format::Systor,
                _ if msr::is_one(line) => Format::Msr,
                _ if alibaba::is_one(line) => Format::Alibaba,
                _ if blkparse::is_one(line) => Format::Blkparse,
                _ => return None,
            })
        };
        looked_at.filter_map(format_of).next()
    }

    /// Parses a line, which has no line end.
    #[inline]
    pub(crate) fn parse(self, line: &[u8]) -> Result<Line<'_>, Bad> {
        let said = match self {
            Format::Msr => msr::parse(line),
            Format::Blkparse => blkparse::parse(line),
            Format::FioV2 => fio::parse_v2(line),
            Format::FioV3 => fio::parse_v3(line),
            Format::Systor => systor::parse(line),
            Format::Alibaba => alibaba::parse(line),
        }?;
        if let Line::Request(said) | Line::Flushed(said) = &said {
            let column = said.place_column;
            if said.op != Operation::Trim && said.len_bytes > LENGTH_LIMIT_BYTES {
                return Err(Bad { column, problem: Problem::TooLong { len_bytes: said.len_bytes } });
            }
            if said.offset_bytes.checked_add(said.len_bytes).is_none() {
                return Err(Bad { column, problem: Problem::BeyondEnd });
            }
        }
        Ok(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_lines() {
        for (text, format) in [
            ("128166372003061629,hm,1,Read,383496192,32768,113736\r\n", Format::Msr),
            ("\n419,W,8792731648,16384,1577808144360767\n", Format::Alibaba),
            ("device_id,opcode,offset,length,timestamp\n", Format::Alibaba),
            ("Timestamp,Response,IOType,LUN,Offset,Size\n", Format::Systor),
            ("1456135200.013118000,0.000806000,R,0,899056122368,131072", Format::Systor),
            ("fio version 2 iolog\n/dev/sda add\n", Format::FioV2),
            ("fio version 3 iolog\n", Format::FioV3),
            ("  8,0    3       11     0.009507758   697  D   W 223490 + 8 [kjournald]\n", Format::Blkparse),
            ("broken\n259,3 0 1 0.1 9 D R 0 + 8 [a b]\n", Format::Blkparse),
        ] {
            assert_eq!(Format::of(text.as_bytes()), Some(format), "{text}");
        }
        for text in ["", "\n\n", "a,b,c\n", "1,2,3,4,5,6,7\n", "{}", "fio version 1 iolog\n"] {
            assert_eq!(Format::of(text.as_bytes()), None, "{text}");
        }
    }
}
