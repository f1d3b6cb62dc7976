//! A line of a trace, in whichever format it was written.

use crate::trace::error::Bad;
use crate::trace::field::Field;
use device::Operation;

/// The content of a line.
#[derive(Debug)]
pub(crate) enum Line<'a> {
    Request(Said<'a>),
    /// A flush, and then a request.
    Flushed(Said<'a>),
    /// Time passes; the column that says so.
    Wait(u64, usize),
    /// Nothing is asked.
    Other,
    /// Nothing is asked here nor behind it.
    End,
}

/// A request, as its line says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    /// When, by the trace's own clock, and the column where that stands; `None`: at the time of the line before.
    pub stamp: Option<(u64, usize)>,
    pub op: Operation,
    pub fua: bool,
    pub offset_bytes: u64,
    pub len_bytes: u64,
    /// The column where the offset stands.
    pub place_column: usize,
    pub volume: &'a [u8],
}

impl<'a> Said<'a> {
    /// Parses a line's offset and length, both in bytes; the rest is yet to be said.
    pub fn at(offset: Field<'_>, length: Field<'_>) -> Result<Said<'a>, Bad> {
        Ok(Said {
            stamp: None,
            op: Operation::Read,
            fua: false,
            offset_bytes: offset.number()?,
            len_bytes: length.number()?,
            place_column: offset.column,
            volume: b"",
        })
    }

    /// The line of a request; one of no length asks nothing.
    pub fn line(self) -> Line<'a> {
        if self.len_bytes == 0 && self.op != Operation::Flush { Line::Other } else { Line::Request(self) }
    }
}
