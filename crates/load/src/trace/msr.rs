//! MSR Cambridge (and the Microsoft traces of the same form), CSV without a header:
//! `128166372003061629,hm,1,Read,383496192,32768,113736`.
//!
//! Time in units of 100 ns since 1601 (Windows filetime), host, disk, `Read` or `Write`, offset and size in bytes, and how
//! long it took, in the same units; that is not replayed. A volume is a host's disk, `hm,1`.

use crate::trace::error::Bad;
use crate::trace::field::Fields;
use crate::trace::said::{Line, Said};

/// Nanoseconds of a unit of time.
pub(crate) const UNIT_NS: u64 = 100;
const HEADER: &[u8] = b"Timestamp,Hostname,";

pub(crate) fn parse(line: &[u8]) -> Result<Line<'_>, Bad> {
    if line.starts_with(HEADER) {
        return Ok(Line::Other);
    }
    let mut fields = Fields::of(line);
    let time = fields.comma("timestamp")?;
    let host = fields.comma("host name")?;
    let disk = fields.comma("disk number")?;
    let kind = fields.comma("type")?;
    let offset = fields.comma("offset")?;
    let size = fields.comma("size")?;
    let response = fields.comma("response time")?;
    fields.end()?;
    let stamp_ns = time.number_of(UNIT_NS)?;
    disk.number()?;
    let op = kind.read_or_write([b"Read", b"Write"], "Read or Write")?;
    let place = Said::at(offset, size)?;
    response.number()?;
    let volume = &line[host.column - 1..disk.column - 1 + disk.bytes.len()];
    Ok(Said { stamp: Some((stamp_ns, time.column)), op, volume, ..place }.line())
}

/// Returns whether a line looks like one of these.
pub(crate) fn is_one(line: &[u8]) -> bool {
    let mut fields = line.split(|&byte| byte == b',');
    line.starts_with(HEADER)
        || (fields.clone().count() == 7 && fields.nth(3).is_some_and(|kind| matches!(kind, b"Read" | b"Write")))
}
