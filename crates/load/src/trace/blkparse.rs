//! Default output of blkparse, of a recording by blktrace: ` 8,0 3 11 0.009507758 697 D W 223490 + 8 [kjournald]`.
//!
//! Device, CPU, sequence, seconds, process, event, kind, first sector of 512 bytes `+` sectors, command. Only the
//! *issue* to the drive (`D`) is taken of all events: it shows the drive's requests, after merging and splitting. The
//! queued events before (`Q`) are the same requests as the file system made them. Everything from the summary on is
//! passed over.
//!
//! Kinds: `R`, `W`, `D` (discard), `F` (flush); an `F` before another kind is a flush ahead of it, one behind it is FUA.
//! Commands that are passed through to a drive, and zones, are no requests. A volume is a device, `8,0`.

use crate::trace::error::Bad;
use crate::trace::field::{Field, Fields};
use crate::trace::said::{Line, Said};
use device::Operation;

/// Bytes of a sector of these lines.
pub(crate) const SECTOR_BYTES: u64 = 512;

pub(crate) fn parse(line: &[u8]) -> Result<Line<'_>, Bad> {
    let mut fields = Fields::of(line);
    let device = fields.word("device")?;
    if is_summary(line) {
        return Ok(Line::End);
    }
    if device.bytes == b"Input" {
        return Ok(Line::Other);
    }
    if !is_device(device.bytes) {
        return Err(device.wrong("a device, as 8,0"));
    }
    fields.word("CPU")?.number()?;
    fields.word("sequence")?.number()?;
    let time = fields.word("time")?;
    let stamp_ns = time.seconds_ns()?;
    fields.word("process")?.number()?;
    if fields.word("event")?.bytes != b"D" {
        return Ok(Line::Other);
    }
    let kind = fields.word("kind")?;
    let Some(Kind { flush_before, op, fua }) = kind_of(kind)? else { return Ok(Line::Other) };
    let place = fields.word("first sector");
    let stamp = Some((stamp_ns, time.column));
    let flush = Said {
        stamp,
        op: Operation::Flush,
        fua: false,
        offset_bytes: 0,
        len_bytes: 0,
        place_column: kind.column,
        volume: device.bytes,
    };
    let Some(op) = op else { return Ok(Line::Request(flush)) };
    // Only the command is printed of a flush without data, or of no data at all.
    let place = match place {
        Ok(place) if place.bytes.starts_with(b"[") && flush_before => return Ok(Line::Request(flush)),
        place => place?,
    };
    let offset_bytes = place.number_of(SECTOR_BYTES)?;
    let plus = fields.word("plus sign")?;
    if plus.bytes.starts_with(b"(") {
        return Ok(Line::Other);
    }
    if plus.bytes != b"+" {
        return Err(plus.wrong("+"));
    }
    let len_bytes = fields.word("number of sectors")?.number_of(SECTOR_BYTES)?;
    let place_column = place.column;
    let said = Said { stamp, op, fua, offset_bytes, len_bytes, place_column, volume: device.bytes };
    Ok(match (flush_before, len_bytes) {
        (true, 0) => Line::Request(flush),
        (true, _) => Line::Flushed(said),
        (false, _) => said.line(),
    })
}

struct Kind {
    flush_before: bool,
    /// `None`: only the flush.
    op: Option<Operation>,
    fua: bool,
}

/// Returns the kind that the letters name; `None`: no request.
fn kind_of(kind: Field) -> Result<Option<Kind>, Bad> {
    let (flush_before, rest) = match kind.bytes {
        [b'F', rest @ ..] => (true, rest),
        all => (false, all),
    };
    let op = match rest.first() {
        Some(b'R') => Some(Operation::Read),
        Some(b'W') => Some(Operation::Write),
        Some(b'D') => Some(Operation::Trim),
        Some(b'N' | b'F' | b'S' | b'M' | b'A') | None if flush_before => None,
        // No data: a command of another kind. Z: a zone's.
        Some(b'N' | b'Z') => return Ok(None),
        _ => return Err(kind.wrong("R, W, D, F or N with flags")),
    };
    let fua = op == Some(Operation::Write) && rest.contains(&b'F');
    Ok(Some(Kind { flush_before, op, fua }))
}

fn is_device(bytes: &[u8]) -> bool {
    let Some(comma) = memchr::memchr(b',', bytes) else { return false };
    let number = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    number(&bytes[..comma]) && number(&bytes[comma + 1..])
}

/// The lines with which blkparse's closing summary begins: `CPU0 (8,0):`, or `Total (8,0):` on one CPU.
fn is_summary(line: &[u8]) -> bool {
    (line.starts_with(b"CPU") || line.starts_with(b"Total (")) && line.trim_ascii_end().ends_with(b":")
}

/// Returns whether a line looks like one of these.
pub(crate) fn is_one(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next().is_some_and(is_device)
        && words
            .nth(2)
            .is_some_and(|time| time.contains(&b'.') && time.iter().all(|b| b.is_ascii_digit() || *b == b'.'))
        && words.nth(1).is_some()
}
