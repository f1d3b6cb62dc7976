//! SYSTOR '17 (a virtual desktop infrastructure), CSV with a header:
//! `1456135200.013118000,0.000806000,R,0,899056122368,131072`.
//!
//! Time in seconds since 1970, response time (not replayed), `R`, `W` or nothing (neither a read nor a write: no request),
//! LUN, offset and size in bytes. A volume is a LUN.

use crate::trace::error::Bad;
use crate::trace::field::Fields;
use crate::trace::said::{Line, Said};

pub(crate) const HEADER: &[u8] = b"Timestamp,Response,IOType,LUN,Offset,Size";

pub(crate) fn parse(line: &[u8]) -> Result<Line<'_>, Bad> {
    if line == HEADER {
        return Ok(Line::Other);
    }
    let mut fields = Fields::of(line);
    let time = fields.comma("timestamp")?;
    let response = fields.comma("response time")?;
    let kind = fields.comma("type")?;
    let lun = fields.comma("LUN")?;
    let offset = fields.comma("offset")?;
    let size = fields.comma("size")?;
    fields.end()?;
    let stamp_ns = time.seconds_ns()?;
    if !response.bytes.is_empty() {
        response.seconds_ns()?;
    }
    if kind.bytes.is_empty() {
        return Ok(Line::Other);
    }
    let op = kind.read_or_write([b"R", b"W"], "R, W or empty")?;
    lun.number()?;
    let place = Said::at(offset, size)?;
    Ok(Said { stamp: Some((stamp_ns, time.column)), op, volume: lun.bytes, ..place }.line())
}

/// Returns whether a line looks like one of these.
pub(crate) fn is_one(line: &[u8]) -> bool {
    let mut fields = line.split(|&byte| byte == b',');
    line == HEADER
        || (fields.clone().count() == 6
            && fields.next().is_some_and(|time| time.contains(&b'.'))
            && fields.nth(1).is_some_and(|kind| matches!(kind, b"R" | b"W")))
}
