//! A unit as it lies in a file: its sectors' payloads, then its frame.
//!
//! The frame has as many parts of 512 bytes as the spare areas of the unit's sectors need, seven in each. A disk writes
//! 512 bytes as a whole or not at all, so each part is whole, even after a cut: it is of the present program, of a
//! program before the block's last erase, or blank. A part that is none of these is damaged.
//!
//! ```text
//!       0       1       2       3       4       5       6       7
//!     +-------------------------------+-------------------------------+
//!   0 | "FLUF"                        | crc32c of bytes 8 to 511      |
//!     +-------------------------------+-------------------------------+
//!   8 | file                                                          |
//!     +---------------------------------------------------------------+
//!  16 | epoch of the block                                            |
//!     +---------------------------------------------------------------+
//!  24 | number of the program                                         |
//!     +-------------------------------+-------------------------------+
//!  32 | block                         | row                           |
//!     +-------------------------------+---------------+---------------+
//!  40 | die                           | part          | parts         |
//!     +-------------------------------+---------------+---------------+
//!  48 | crc32c of all payloads        | units of the block until now  |
//!     +-------------------------------+-------------------------------+
//!  56 | 0                                                             |
//!     +---------------------------------------------------------------+
//!  64 | spare areas of up to seven sectors; where there are fewer: 0  |
//!     +---------------------------------------------------------------+
//! ```

use crate::sizes::SECTOR_BYTES;
use crate::table::Entry;
use bytes::Bytes;
use media::{Payload, SPARE_BYTES, SectorState, Shape, Unit, UnitAt};
use std::mem::offset_of;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The number of spare areas in a part of the frame.
const SPARES: usize = 7;

const MAGIC: [u8; 4] = *b"FLUF";
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Raw {
    magic: [u8; 4],
    crc: U32,
    file: U64,
    epoch: U64,
    program: U64,
    block: U32,
    row: U32,
    die: U32,
    part: U16,
    parts: U16,
    payload_crc: U32,
    count: U32,
    reserved: [u8; 8],
    spares: [[u8; SPARE_BYTES]; SPARES],
}

const _: () = assert!(size_of::<Raw>() == SECTOR_BYTES);
const CHECKED_FROM: usize = offset_of!(Raw, file);

fn parts(shape: &Shape) -> usize {
    (shape.unit_sectors as usize).div_ceil(SPARES)
}

/// The size of the payloads, with the padding of the last sector.
fn payload_area(shape: &Shape) -> usize {
    (shape.unit_sectors as usize * shape.payload_bytes as usize).next_multiple_of(SECTOR_BYTES)
}

/// The size of a unit, a multiple of 512.
pub(crate) fn unit_bytes(shape: &Shape) -> u64 {
    (payload_area(shape) + parts(shape) * SECTOR_BYTES) as u64
}

/// The bytes of a unit that hold its frame.
pub(crate) fn frame_bytes(shape: &Shape) -> std::ops::Range<u64> {
    payload_area(shape) as u64..unit_bytes(shape)
}

/// The fields of a frame besides the spare areas.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    /// The file's own number.
    pub file: u64,
    /// The epoch of the block.
    pub epoch: u64,
    /// The number of the program, which tells whether the program was synced.
    pub program: u64,
    /// Units of the block that were programmed, with this one; 0: not known.
    pub count: u32,
}

/// Writes a unit as it lies in the file.
pub(crate) fn encode(shape: &Shape, at: UnitAt, stamp: Stamp, unit: &Unit, out: &mut [u8]) {
    let (sectors, payload_bytes) = (shape.unit_sectors as usize, shape.payload_bytes as usize);
    assert_unit(shape, unit);
    let (payloads, rest) = out.split_at_mut(payload_area(shape));
    for sector in 0..sectors {
        payloads[sector * payload_bytes..][..payload_bytes].copy_from_slice(unit.payload(sector));
    }
    payloads[sectors * payload_bytes..].fill(0);
    encode_frame(shape, at, stamp, unit, rest);
}

/// Writes what lies behind the payloads of a unit in the file.
pub(crate) fn encode_frame(shape: &Shape, at: UnitAt, stamp: Stamp, unit: &Unit, out: &mut [u8]) {
    let sectors = shape.unit_sectors as usize;
    let payload_crc = unit.payloads_crc();
    let (frame, filling) = out.split_at_mut(parts(shape) * SECTOR_BYTES);
    filling.fill(0);
    for (part, out) in frame.chunks_exact_mut(SECTOR_BYTES).enumerate() {
        let mut raw = Raw {
            magic: MAGIC,
            crc: 0.into(),
            file: stamp.file.into(),
            epoch: stamp.epoch.into(),
            program: stamp.program.into(),
            block: at.block.block.into(),
            row: at.row.into(),
            die: at.block.die.into(),
            part: (part as u16).into(),
            parts: (parts(shape) as u16).into(),
            payload_crc: payload_crc.into(),
            count: stamp.count.into(),
            reserved: [0; 8],
            spares: [[0; SPARE_BYTES]; SPARES],
        };
        for (spare, sector) in raw.spares.iter_mut().zip(part * SPARES..sectors) {
            spare.copy_from_slice(unit.spare(sector));
        }
        raw.crc = crc32c::crc32c(&raw.as_bytes()[CHECKED_FROM..]).into();
        out.copy_from_slice(raw.as_bytes());
    }
}

/// A part of a frame, as it was read.
enum Part<'a> {
    /// The part was never written.
    Blank,
    /// The part is from before the last erase.
    Stale,
    /// The part is of the present epoch.
    Present(&'a Raw),
    /// The part is none of these.
    Damaged,
}

fn look<'a>(shape: &Shape, at: UnitAt, file: u64, epoch: u64, part: usize, bytes: &'a [u8]) -> Part<'a> {
    let raw = Raw::ref_from_bytes(bytes).expect("parts have one size");
    if raw.magic != MAGIC || raw.crc.get() != crc32c::crc32c(&bytes[CHECKED_FROM..]) {
        return if bytes.iter().all(|byte| *byte == 0) { Part::Blank } else { Part::Damaged };
    }
    let is_here = raw.file.get() == file
        && (raw.block.get(), raw.row.get(), raw.die.get()) == (at.block.block, at.row, at.block.die)
        && usize::from(raw.part.get()) == part
        && usize::from(raw.parts.get()) == parts(shape);
    match raw.epoch.get() {
        found if !is_here || found > epoch => Part::Damaged,
        found if found < epoch => Part::Stale,
        _ => Part::Present(raw),
    }
}

/// The file and the block that a unit is read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// The file's own number.
    pub file: u64,
    /// The block's entry in the table.
    pub block: &'a Entry,
}

/// The bytes of a unit that is decoded.
#[derive(Clone, Copy)]
pub(crate) enum Read<'a> {
    /// Payloads are copied.
    Copied(&'a [u8]),
    /// Payloads are parts of these bytes.
    Lent(&'a Bytes),
}

impl Read<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Read::Copied(bytes) => bytes,
            Read::Lent(bytes) => bytes,
        }
    }
}

/// Decodes the sectors of a unit whose bits are set in `wanted`. The contents of the other sectors stay as they are,
/// but their states may change. `was_synced` says whether a sync has ended after the program of a number.
///
/// If the parts of a unit are of different times, its program was cut, or the disk's cache lost a part of it. Such a
/// unit counts as never programmed if it is not known to have been synced. Otherwise, and if nothing tells, the unit is
/// damaged; the payloads' own checksums tell which of them are.
pub(crate) fn decode(
    shape: &Shape,
    at: UnitAt,
    wanted: u64,
    Origin { file, block }: Origin,
    was_synced: impl FnOnce(u64) -> bool,
    read: Read,
    unit: &mut Unit,
) {
    assert_unit(shape, unit);
    let (sectors, payload_bytes) = (shape.unit_sectors as usize, shape.payload_bytes as usize);
    let all = |unit: &mut Unit, state| (0..sectors).for_each(|sector| unit.set_state(sector, state));
    if !block.is_known {
        return all(unit, SectorState::Uncorrectable);
    }
    let (payloads, rest) = read.bytes().split_at(payload_area(shape));
    let frame = rest[..parts(shape) * SECTOR_BYTES].chunks_exact(SECTOR_BYTES).enumerate();
    let (mut program, mut is_whole, mut is_damaged) = (None, true, false);
    for (number, bytes) in frame.clone() {
        match look(shape, at, file, block.epoch, number, bytes) {
            Part::Blank | Part::Stale => is_whole = false,
            Part::Damaged => (is_whole, is_damaged) = (false, true),
            Part::Present(raw) => {
                let found = (raw.program.get(), raw.payload_crc.get());
                if *program.get_or_insert(found) != found {
                    return all(unit, SectorState::Uncorrectable);
                }
            }
        }
    }
    let Some((program, payload_crc)) = program else {
        return all(unit, if is_damaged { SectorState::Uncorrectable } else { SectorState::Erased });
    };
    let payloads = &payloads[..sectors * payload_bytes];
    let is_torn = || !is_whole || media::payload_crc(payloads) != payload_crc;
    if !was_synced(program) && is_torn() {
        return all(unit, SectorState::Erased);
    }
    for (number, bytes) in frame {
        let of_part = number * SPARES..sectors.min((number + 1) * SPARES);
        of_part.clone().for_each(|sector| unit.set_state(sector, SectorState::Uncorrectable));
        let mut of_part = of_part.filter(|sector| wanted >> sector & 1 == 1).peekable();
        if of_part.peek().is_none() {
            continue;
        }
        let Part::Present(raw) = look(shape, at, file, block.epoch, number, bytes) else { continue };
        for sector in of_part {
            unit.spare_mut(sector).copy_from_slice(&raw.spares[sector % SPARES]);
            let place = sector * payload_bytes..(sector + 1) * payload_bytes;
            match read {
                Read::Copied(bytes) => unit.write_payload(sector, &bytes[place]),
                Read::Lent(bytes) => unit.lend_payload(sector, &Payload::part(bytes.slice(place))),
            }
            unit.set_state(sector, SectorState::Good);
        }
    }
}

/// The answer of a frame about its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing of the block's epoch, and nothing else that would be damage.
    Nothing,
    /// The states of all sectors. The unit was synced, and counts the units of its block; 0: it does not, or is damaged.
    All { count: u32 },
    /// Only the payloads tell, because the program is not known to have been synced.
    TooLittle,
}

/// Decodes the spare areas of a unit from its frame, for a scan: the states are those of [`decode`], and the payloads are
/// not looked at.
pub(crate) fn decode_frame(
    shape: &Shape,
    at: UnitAt,
    origin: Origin,
    was_synced: impl FnOnce(u64) -> bool,
    frame: &[u8],
    unit: &mut Unit,
) -> Told {
    let all = |unit: &mut Unit, state| (0..unit.sectors()).for_each(|sector| unit.set_state(sector, state));
    let (mut program, mut is_damaged) = (None, !origin.block.is_known);
    for (number, bytes) in frame[..parts(shape) * SECTOR_BYTES].chunks_exact(SECTOR_BYTES).enumerate() {
        match look(shape, at, origin.file, origin.block.epoch, number, bytes) {
            Part::Blank | Part::Stale => {}
            Part::Damaged => is_damaged = true,
            Part::Present(raw) => {
                let found = (raw.program.get(), raw.payload_crc.get(), raw.count.get());
                if *program.get_or_insert(found) != found {
                    all(unit, SectorState::Uncorrectable);
                    return Told::All { count: 0 };
                }
            }
        }
    }
    match program {
        None if is_damaged => {
            all(unit, SectorState::Uncorrectable);
            Told::All { count: 0 }
        }
        None => {
            all(unit, SectorState::Erased);
            Told::Nothing
        }
        Some((program, ..)) if !was_synced(program) => Told::TooLittle,
        Some((_, _, count)) => {
            decode_spares(shape, at, origin, frame, unit);
            Told::All { count }
        }
    }
}

/// Decodes the spare areas of a unit from its frame alone. A sector whose part of the frame is of the block's present
/// epoch counts as good, and its payload is not looked at; every other one counts as uncorrectable.
pub(crate) fn decode_spares(shape: &Shape, at: UnitAt, origin: Origin, frame: &[u8], unit: &mut Unit) {
    assert_unit(shape, unit);
    let sectors = shape.unit_sectors as usize;
    (0..sectors).for_each(|sector| unit.set_state(sector, SectorState::Uncorrectable));
    if !origin.block.is_known {
        return;
    }
    for (number, bytes) in frame[..parts(shape) * SECTOR_BYTES].chunks_exact(SECTOR_BYTES).enumerate() {
        let Part::Present(raw) = look(shape, at, origin.file, origin.block.epoch, number, bytes) else { continue };
        for sector in number * SPARES..sectors.min((number + 1) * SPARES) {
            unit.spare_mut(sector).copy_from_slice(&raw.spares[sector % SPARES]);
            unit.set_state(sector, SectorState::Good);
        }
    }
}

/// Panics if the unit was made for another shape.
fn assert_unit(shape: &Shape, unit: &Unit) {
    let (sectors, payload_bytes) = (unit.sectors(), unit.payload(0).len());
    assert!(
        sectors == shape.unit_sectors as usize && payload_bytes == shape.payload_bytes as usize,
        "a unit of {sectors} sectors of {payload_bytes} bytes on a medium of {shape:?}"
    );
}
