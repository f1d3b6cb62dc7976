//! fio's iolog, version 2 and 3: `/dev/sda write 4096 8192`, and with microseconds since the start before it,
//! `166 /dev/sda read 61440 4096`. The first line names the version.
//!
//! Actions on files (`add`, `open`, `close`) are no requests. Version 2 has no times, only `wait` lines (fio's manual:
//! microseconds, its offset), which nothing writes by itself; where it has none, all requests are at the same time. A
//! volume is a file. fio's own reader knows no names with blanks either.

use crate::trace::error::Bad;
use crate::trace::field::Fields;
use crate::trace::said::{Line, Said};
use device::Operation;

/// Nanoseconds of a unit of time.
pub(crate) const UNIT_NS: u64 = 1_000;
pub(crate) const HEADER_V2: &[u8] = b"fio version 2 iolog";
pub(crate) const HEADER_V3: &[u8] = b"fio version 3 iolog";

pub(crate) fn parse_v2(line: &[u8]) -> Result<Line<'_>, Bad> {
    if line == HEADER_V2 {
        return Ok(Line::Other);
    }
    parse(Fields::of(line), None)
}

pub(crate) fn parse_v3(line: &[u8]) -> Result<Line<'_>, Bad> {
    if line == HEADER_V3 {
        return Ok(Line::Other);
    }
    let mut fields = Fields::of(line);
    let time = fields.word("time")?;
    let stamp_ns = time.number_of(UNIT_NS)?;
    parse(fields, Some((stamp_ns, time.column)))
}

fn parse<'a>(mut fields: Fields<'a>, stamp: Option<(u64, usize)>) -> Result<Line<'a>, Bad> {
    let file = fields.word("file name")?;
    let action = fields.word("action")?;
    let op = match action.bytes {
        b"add" | b"open" | b"close" => {
            fields.end()?;
            return Ok(Line::Other);
        }
        b"read" => Some(Operation::Read),
        b"write" => Some(Operation::Write),
        b"trim" => Some(Operation::Trim),
        b"sync" | b"datasync" | b"sync_file_range" => Some(Operation::Flush),
        b"wait" if stamp.is_none() => None,
        _ if stamp.is_none() => {
            return Err(action.wrong("read, write, trim, sync, datasync, wait, add, open or close"));
        }
        _ => return Err(action.wrong("read, write, trim, sync, datasync, add, open or close")),
    };
    let offset = fields.word("offset")?;
    let length = fields.word("length")?;
    fields.end()?;
    let (offset_bytes, len_bytes) = (offset.number()?, length.number()?);
    let Some(op) = op else { return Ok(Line::Wait(offset.number_of(UNIT_NS)?, offset.column)) };
    if op == Operation::Flush {
        let flush = Said {
            stamp,
            op,
            fua: false,
            offset_bytes: 0,
            len_bytes: 0,
            place_column: offset.column,
            volume: file.bytes,
        };
        return Ok(Line::Request(flush));
    }
    let place_column = offset.column;
    Ok(Said { stamp, op, fua: false, offset_bytes, len_bytes, place_column, volume: file.bytes }.line())
}
