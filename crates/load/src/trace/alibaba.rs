//! Alibaba's cloud disks (2020), CSV without a header: `419,W,8792731648,16384,1577808144360767`.
//!
//! Disk, `R` or `W`, offset and length in bytes, time in microseconds since 1970. A volume is a disk.

use crate::trace::error::Bad;
use crate::trace::field::Fields;
use crate::trace::said::{Line, Said};

/// Nanoseconds of a unit of time.
pub(crate) const UNIT_NS: u64 = 1_000;
const HEADER: &[u8] = b"device_id,opcode,";

pub(crate) fn parse(line: &[u8]) -> Result<Line<'_>, Bad> {
    if line.starts_with(HEADER) {
        return Ok(Line::Other);
    }
    let mut fields = Fields::of(line);
    let disk = fields.comma("device")?;
    let kind = fields.comma("opcode")?;
    let offset = fields.comma("offset")?;
    let length = fields.comma("length")?;
    let time = fields.comma("timestamp")?;
    fields.end()?;
    disk.number()?;
    let op = kind.read_or_write([b"R", b"W"], "R or W")?;
    let place = Said::at(offset, length)?;
    let stamp_ns = time.number_of(UNIT_NS)?;
    Ok(Said { stamp: Some((stamp_ns, time.column)), op, volume: disk.bytes, ..place }.line())
}

/// Returns whether a line looks like one of these.
pub(crate) fn is_one(line: &[u8]) -> bool {
    let mut fields = line.split(|&byte| byte == b',');
    line.starts_with(HEADER)
        || (fields.clone().count() == 5 && fields.nth(1).is_some_and(|kind| matches!(kind, b"R" | b"W")))
}
