//! Traces, written: for tests, and to make a trace of one format into another.

use crate::trace::{Format, Record, alibaba, blkparse, fio, msr, systor};
use device::Operation;
use std::io::{self, Write};
use thiserror::Error;

/// A request that a format has no words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{} can't say {what}", .format.title())]
pub struct NotInFormat {
    /// Format of the trace.
    pub format: Format,
    /// The part of a request that can't be written.
    pub what: &'static str,
}

/// Writes records in a format. Times are rounded down to the format's unit.
pub struct Writer<W> {
    out: W,
    format: Format,
    line: Vec<u8>,
    lines: u64,
    last_ns: u64,
}

/// When traces begin that are written with dates: 2017-07-14.
const BEGAN_S: u64 = 1_500_000_000;
/// From 1601, where Windows' time begins, to 1970.
const FILETIME_TO_UNIX_S: u64 = 11_644_473_600;

impl<W: Write> Writer<W> {
    /// Begins a trace.
    pub fn new(mut out: W, format: Format) -> io::Result<Writer<W>> {
        let header: &[&[u8]] = match format {
            Format::Systor => &[systor::HEADER],
            Format::FioV2 => &[fio::HEADER_V2, b"/dev/flash add", b"/dev/flash open"],
            Format::FioV3 => &[fio::HEADER_V3, b"0 /dev/flash add", b"0 /dev/flash open"],
            Format::Msr | Format::Alibaba | Format::Blkparse => &[],
        };
        for line in header {
            out.write_all(line)?;
            out.write_all(b"\n")?;
        }
        Ok(Writer { out, format, line: Vec::new(), lines: 0, last_ns: 0 })
    }

    /// Writes a request; one that the format has no words for is an error of kind `InvalidInput`.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.line.clear();
        self.make_line(record).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        self.lines += 1;
        self.out.write_all(&self.line)
    }

    /// The end; hands back what was written to.
    pub fn finish(mut self) -> io::Result<W> {
        if self.format == Format::Blkparse {
            writeln!(self.out, "Total (8,0):\n Reads Queued:           0,        0KiB")?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn make_line(&mut self, record: &Record) -> Result<(), NotInFormat> {
        let Record { at_ns, op, fua, offset_bytes, len_bytes } = *record;
        let format = self.format;
        let not = |what| Err(NotInFormat { format, what });
        if fua && format != Format::Blkparse {
            return not("FUA");
        }
        let letter = match op {
            Operation::Read => "R",
            Operation::Write => "W",
            Operation::Trim | Operation::Flush if matches!(format, Format::Msr | Format::Systor | Format::Alibaba) => {
                return not("trims and flushes");
            }
            Operation::Trim => "D",
            Operation::Flush => "FN",
        };
        let out = &mut self.line;
        let written = match format {
            Format::Msr => {
                let units = (BEGAN_S + FILETIME_TO_UNIX_S) * (1_000_000_000 / msr::UNIT_NS) + at_ns / msr::UNIT_NS;
                let kind = if op == Operation::Read { "Read" } else { "Write" };
                writeln!(out, "{units},host,0,{kind},{offset_bytes},{len_bytes},1000")
            }
            Format::Systor => {
                let (s, ns) = (BEGAN_S + at_ns / 1_000_000_000, at_ns % 1_000_000_000);
                writeln!(out, "{s}.{ns:09},0.000100000,{letter},0,{offset_bytes},{len_bytes}")
            }
            Format::Alibaba => {
                let us = BEGAN_S * 1_000_000 + at_ns / alibaba::UNIT_NS;
                writeln!(out, "0,{letter},{offset_bytes},{len_bytes},{us}")
            }
            Format::Blkparse => {
                let (s, ns, line) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000, self.lines + 1);
                let flags = if fua { "F" } else { "" };
                let begin = format!("  8,0    0 {line:>8} {s:>5}.{ns:09}   100  D  {letter}{flags} ");
                if op == Operation::Flush {
                    writeln!(out, "{begin}[flashrig]")
                } else if offset_bytes.is_multiple_of(blkparse::SECTOR_BYTES)
                    && len_bytes.is_multiple_of(blkparse::SECTOR_BYTES)
                {
                    let sectors = len_bytes / blkparse::SECTOR_BYTES;
                    writeln!(out, "{begin}{} + {sectors} [flashrig]", offset_bytes / blkparse::SECTOR_BYTES)
                } else {
                    return not("pieces of a sector of 512 bytes");
                }
            }
            Format::FioV2 | Format::FioV3 => {
                let action = match op {
                    Operation::Read => "read",
                    Operation::Write => "write",
                    Operation::Flush => "sync",
                    Operation::Trim => "trim",
                };
                let us = at_ns / fio::UNIT_NS;
                let before = if format == Format::FioV3 {
                    format!("{us} ")
                } else {
                    match us - self.last_ns / fio::UNIT_NS {
                        0 => String::new(),
                        wait => format!("/dev/flash wait {wait} 0\n"),
                    }
                };
                self.last_ns = at_ns;
                writeln!(out, "{before}/dev/flash {action} {offset_bytes} {len_bytes}")
            }
        };
        written.expect("a vector takes all that is written to it");
        Ok(())
    }
}
