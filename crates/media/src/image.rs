//! A module of emulated flash as bytes, in the format of `docs/media-image.md`.
//!
//! Invariants:
//! - [`parse`] takes any bytes, and allocates no more than a small multiple of their number.
//! - A module has one image: `encode(parse(bytes)) == bytes` where `parse` succeeds.
//! - Every byte is covered by a checksum, and bytes without a meaning are 0.

use crate::chunk::{Cells, SectorCells, UnitCells};
use crate::module::{Block, Claim, Header, Module};
use crate::sectors::Sectors;
use format::{HEADER_BYTES, SPARE_BYTES, Shape};
use std::io::{self, Write};

/// The first bytes of an image.
pub const MAGIC: [u8; 8] = *b"FRIGIMG\0";
/// The version of the format that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// The size of the first part, with its checksum.
const HEAD_BYTES: usize = 128;
const BLOCK_BYTES: u64 = 16;
const UNIT_BYTES: u64 = 8;
const SECTOR_BYTES: u64 = 4;
const CRC_BYTES: u64 = 4;

const DEAD: u32 = 1;
const STUCK: u32 = 2;
const CLAIMED: u32 = 4;

const BAD: u32 = 1;
const BROKEN: u32 = 2;
const WEAK: u32 = 4;

const MAX_PAYLOAD_BYTES: u32 = 1 << 20;
const MAX_UNIT_SECTORS: u32 = 64;
const MAX_ROWS: u32 = 1 << 20;

/// The reason why bytes are no image of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ImageError {
    /// The image ends early.
    #[error("cut off: {needed} bytes should follow offset {offset}, and {left} do")]
    Truncated { offset: u64, needed: u64, left: u64 },
    /// The image does not end where it should.
    #[error("{extra} bytes follow the end of the image at offset {offset}")]
    TooLong { offset: u64, extra: u64 },
    /// The bytes do not begin with the magic of an image.
    #[error("no image of a flash module: the magic at offset 0 is wrong")]
    BadMagic,
    /// Another version wrote it.
    #[error("version {version} at offset 8 is not known here; {VERSION} is the newest that is")]
    UnknownVersion { version: u32 },
    /// The checksum of a part does not match, so the part has changed since it was written.
    #[error("the checksum of {what} at offset {offset} is wrong")]
    Checksum { offset: u64, what: &'static str },
    /// A dimension is 0 or larger than any flash.
    #[error("{what} at offset {offset} is {value}, out of limits")]
    OutOfLimits { offset: u64, what: &'static str, value: u32 },
    /// A field has a value that is never written.
    #[error("{what} at offset {offset}")]
    Malformed { offset: u64, what: &'static str },
}

/// The sizes of the parts, which follow from the shape.
struct Sizes {
    blocks: u64,
    rows: u64,
    sectors: u64,
    sector_bytes: u64,
}

impl Sizes {
    fn of(shape: &Shape) -> Sizes {
        let rows = u64::from(shape.rows_per_block);
        Sizes {
            blocks: u64::from(shape.dies_per_module) * u64::from(shape.blocks_per_die),
            rows,
            sectors: rows * u64::from(shape.unit_sectors),
            sector_bytes: SPARE_BYTES as u64 + u64::from(shape.payload_bytes),
        }
    }
    /// The size of a block's contents, with their checksum. It is below 2^20 * 2^6 * 2^21, so it does not overflow.
    fn record_bytes(&self) -> u64 {
        8 + self.rows * UNIT_BYTES + self.sectors * (SECTOR_BYTES + self.sector_bytes) + CRC_BYTES
    }
}

fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Writes the part that was gathered, and its checksum.
fn finish(out: &mut dyn Write, part: &mut Vec<u8>) -> io::Result<()> {
    put_u32(part, crc32c::crc32c(part));
    out.write_all(part)?;
    part.clear();
    Ok(())
}

/// The spare areas and payloads of a block: those of its chunk, from one sector on.
struct Bytes<'a> {
    contents: &'a Sectors,
    first: usize,
}

/// The contents of a block: units, sectors and bytes; `None` if it is erased.
fn contents(module: &Module, block: usize) -> Option<(&[UnitCells], &[SectorCells], Bytes<'_>)> {
    let cut = &module.cut;
    let (chunk, place) = cut.locate(block);
    let chunk = module.chunks[chunk].as_ref()?;
    let rows = cut.rows as usize;
    let units = &chunk.units[place * rows..][..rows];
    let first = place * rows * cut.sectors;
    let sectors = &chunk.sectors[first..][..rows * cut.sectors];
    let is_erased = units.iter().all(|unit| *unit == UnitCells::default())
        && sectors.iter().all(|sector| *sector == SectorCells::default());
    (!is_erased).then_some((units, sectors, Bytes { contents: &chunk.contents, first }))
}

/// Writes a module's image. Faults that wait for their operation are not part of it.
pub fn write(module: &Module, out: &mut dyn Write) -> io::Result<()> {
    let (shape, sizes) = (&module.shape, Sizes::of(&module.shape));
    let records = (0..module.blocks.len()).filter(|&block| contents(module, block).is_some()).count();
    let dead_dies = module.dead_dies.len() as u64;
    let written_headers = module.headers.iter().filter(|header| matches!(header, Header::Written(_))).count() as u64;
    let length = HEAD_BYTES as u64
        + dead_dies * 4
        + sizes.blocks * BLOCK_BYTES
        + CRC_BYTES
        + written_headers * (HEADER_BYTES as u64 + CRC_BYTES)
        + records as u64 * sizes.record_bytes();
    let flag = |is_set: bool, bit: u32| if is_set { bit } else { 0 };

    let mut part = Vec::new();
    part.extend_from_slice(&MAGIC);
    put_u32(&mut part, VERSION);
    put_u32(&mut part, flag(module.dead, DEAD) | flag(module.stuck, STUCK) | flag(module.claim.is_some(), CLAIMED));
    for value in [
        shape.dies_per_module,
        shape.blocks_per_die,
        shape.rows_per_block,
        shape.unit_sectors,
        shape.payload_bytes,
        shape.rows_sharing_cells,
        module.slow_percent,
        module.minutes,
    ] {
        put_u32(&mut part, value);
    }
    put_u64(&mut part, module.serial);
    put_u64(&mut part, module.claim.map_or(0, |claim| claim.generation));
    put_u64(&mut part, module.claim.map_or(0, |claim| claim.controller));
    for header in &module.headers {
        part.push(match header {
            Header::Blank => 0,
            Header::Written(_) => 1,
            Header::Unreadable => 2,
        });
    }
    part.extend_from_slice(&[0; 2]);
    put_u32(&mut part, dead_dies as u32);
    put_u32(&mut part, records as u32);
    put_u32(&mut part, 0);
    put_u64(&mut part, length);
    part.resize(HEAD_BYTES - CRC_BYTES as usize, 0);
    finish(out, &mut part)?;

    module.dead_dies.iter().for_each(|&die| put_u32(&mut part, die));
    for block in &module.blocks {
        put_u32(&mut part, block.cycles);
        put_u32(&mut part, block.next_row);
        put_u32(&mut part, block.reads);
        put_u32(&mut part, flag(block.bad, BAD) | flag(block.broken, BROKEN) | flag(block.weak, WEAK));
    }
    finish(out, &mut part)?;

    for header in &module.headers {
        if let Header::Written(bytes) = header {
            part.extend_from_slice(bytes);
            finish(out, &mut part)?;
        }
    }

    for (number, block) in (0u32..).zip(0..module.blocks.len()) {
        let Some((units, sectors, bytes)) = contents(module, block) else { continue };
        put_u32(&mut part, number);
        put_u32(&mut part, 0);
        for unit in units {
            put_u32(&mut part, unit.minute);
            put_u32(&mut part, u32::from(unit.touched));
        }
        for sector in sectors {
            part.extend_from_slice(&[sector.cells as u8, 0]);
            part.extend_from_slice(&sector.flips.to_le_bytes());
        }
        for (sector, at) in sectors.iter().zip(bytes.first..) {
            match sector.cells {
                Cells::Programmed => {
                    part.extend_from_slice(bytes.contents.spare(at));
                    part.extend_from_slice(bytes.contents.payload(at));
                }
                Cells::Erased | Cells::Lost => part.resize(part.len() + sizes.sector_bytes as usize, 0),
            }
        }
        finish(out, &mut part)?;
    }
    Ok(())
}

/// Encodes a module as an image.
pub fn encode(module: &Module) -> Vec<u8> {
    let mut image = Vec::new();
    write(module, &mut image).expect("memory takes all that is written to it");
    image
}

/// A reader of an image, with its offset.
struct Reader<'a> {
    image: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    fn offset(&self) -> u64 {
        self.offset as u64
    }
    fn take(&mut self, bytes: u64) -> Result<&'a [u8], ImageError> {
        let rest = &self.image[self.offset..];
        match usize::try_from(bytes) {
            Ok(length) if length <= rest.len() => {
                self.offset += length;
                Ok(&rest[..length])
            }
            _ => Err(ImageError::Truncated { offset: self.offset(), needed: bytes, left: rest.len() as u64 }),
        }
    }
    /// Reads a part of `bytes` and the checksum after it. The result is a reader of this part alone, with its offset.
    fn part(&mut self, bytes: u64, what: &'static str) -> Result<Reader<'a>, ImageError> {
        let offset = self.offset;
        let with_crc = self.take(bytes.saturating_add(CRC_BYTES))?;
        let (part, crc) = with_crc.split_at(with_crc.len() - CRC_BYTES as usize);
        if crc32c::crc32c(part).to_le_bytes() != crc {
            return Err(ImageError::Checksum { offset: offset as u64, what });
        }
        Ok(Reader { image: &self.image[..offset + part.len()], offset })
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], ImageError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }
    fn u16(&mut self) -> Result<u16, ImageError> {
        self.array().map(u16::from_le_bytes)
    }
    fn u32(&mut self) -> Result<u32, ImageError> {
        self.array().map(u32::from_le_bytes)
    }
    fn u64(&mut self) -> Result<u64, ImageError> {
        self.array().map(u64::from_le_bytes)
    }
    fn u8(&mut self) -> Result<u8, ImageError> {
        self.array::<1>().map(|[byte]| byte)
    }
    /// Reads a number that has to be within limits.
    fn within(&mut self, what: &'static str, limits: std::ops::RangeInclusive<u32>) -> Result<u32, ImageError> {
        let offset = self.offset();
        let value = self.u32()?;
        if limits.contains(&value) { Ok(value) } else { Err(ImageError::OutOfLimits { offset, what, value }) }
    }
    /// Reads bits that have to be among `known`.
    fn flags(&mut self, known: u32) -> Result<u32, ImageError> {
        let offset = self.offset();
        let flags = self.u32()?;
        if flags & !known == 0 { Ok(flags) } else { Err(ImageError::Malformed { offset, what: "an unknown flag" }) }
    }
    /// Reads bytes without a meaning, which have to be 0.
    fn zeros(&mut self, bytes: u64) -> Result<(), ImageError> {
        let offset = self.offset();
        if self.take(bytes)?.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        Err(ImageError::Malformed { offset, what: "bytes that mean nothing are not 0" })
    }
}

/// Decodes the module of an image.
pub fn parse(image: &[u8]) -> Result<Module, ImageError> {
    let mut whole = Reader { image, offset: 0 };
    if !image.starts_with(&MAGIC) {
        // A short file that begins like one was cut off.
        let is_prefix = !image.is_empty() && MAGIC.starts_with(image);
        let cut_off = ImageError::Truncated { offset: 0, needed: HEAD_BYTES as u64, left: image.len() as u64 };
        return Err(if is_prefix { cut_off } else { ImageError::BadMagic });
    }
    // The version is checked before the checksum, because another version may have the checksum elsewhere.
    if let Some(version) = image.get(8..12) {
        let version = u32::from_le_bytes([version[0], version[1], version[2], version[3]]);
        if version != VERSION {
            return Err(ImageError::UnknownVersion { version });
        }
    }
    let mut head = whole.part(HEAD_BYTES as u64 - CRC_BYTES, "the head")?;
    head.take(12)?;
    let flags = head.flags(DEAD | STUCK | CLAIMED)?;
    let dies_per_module = head.within("the number of dies", 1..=u32::MAX)?;
    // Block numbers have 32 bits.
    let blocks_per_die = head.within("the number of blocks of a die", 1..=u32::MAX / dies_per_module)?;
    let shape = Shape {
        modules: 1,
        dies_per_module,
        blocks_per_die,
        rows_per_block: head.within("the number of rows of a block", 1..=MAX_ROWS)?,
        unit_sectors: head.within("the number of sectors of a unit", 1..=MAX_UNIT_SECTORS)?,
        payload_bytes: head.within("the length of a payload", 1..=MAX_PAYLOAD_BYTES)?,
        rows_sharing_cells: head.u32()?,
    };
    let sizes = Sizes::of(&shape);
    let slow_percent = head.u32()?;
    let minutes = head.u32()?;
    let serial = head.u64()?;
    let claim_offset = head.offset();
    let claim = Claim { generation: head.u64()?, controller: head.u64()? };
    if flags & CLAIMED == 0 && claim != (Claim { generation: 0, controller: 0 }) {
        return Err(ImageError::Malformed { offset: claim_offset, what: "a claim that nobody made" });
    }
    let headers_offset = head.offset();
    let header_states: [u8; 2] = head.array()?;
    if header_states.iter().any(|&state| state > 2) {
        return Err(ImageError::Malformed { offset: headers_offset, what: "an unknown state of a header" });
    }
    head.zeros(2)?;
    let dead_dies = head.within("the number of dead dies", 0..=dies_per_module)?;
    let records = head.u32()?;
    head.zeros(4)?;
    let length = head.u64()?;
    head.zeros(HEAD_BYTES as u64 - CRC_BYTES - head.offset())?;
    if (image.len() as u64) < length {
        let offset = image.len() as u64;
        return Err(ImageError::Truncated { offset, needed: length - offset, left: 0 });
    }

    let tables = u64::from(dead_dies) * 4 + sizes.blocks * BLOCK_BYTES;
    let mut tables = whole.part(tables, "the tables of dies and blocks")?;
    // The tables are there, so the memory that is allocated for the blocks is in proportion to them.
    let mut module = Module::perfect(&shape, serial);
    module.minutes = minutes;
    module.slow_percent = slow_percent;
    module.dead = flags & DEAD != 0;
    module.stuck = flags & STUCK != 0;
    module.claim = (flags & CLAIMED != 0).then_some(claim);
    for _ in 0..dead_dies {
        let offset = tables.offset();
        let die = tables.u32()?;
        if die >= dies_per_module || module.dead_dies.last().is_some_and(|&last| last >= die) {
            return Err(ImageError::Malformed { offset, what: "a dead die out of order" });
        }
        module.dead_dies.push(die);
    }
    for block in &mut module.blocks {
        let cycles = tables.u32()?;
        let next_row = tables.within("the next row of a block", 0..=shape.rows_per_block)?;
        let reads = tables.u32()?;
        let flags = tables.flags(BAD | BROKEN | WEAK)?;
        let (bad, broken, weak) = (flags & BAD != 0, flags & BROKEN != 0, flags & WEAK != 0);
        *block = Block { cycles, next_row, reads, bad, broken, weak };
    }

    for (copy, state) in header_states.into_iter().enumerate() {
        module.headers[copy] = match state {
            0 => Header::Blank,
            1 => Header::Written(whole.part(HEADER_BYTES as u64, "a header copy")?.take(HEADER_BYTES as u64)?.into()),
            _ => Header::Unreadable,
        };
    }

    let mut next = 0;
    for _ in 0..records {
        let record = whole.part(sizes.record_bytes() - CRC_BYTES, "a block's contents")?;
        next = parse_record(&mut module, record, next)?;
    }
    let end = whole.offset();
    if image.len() as u64 > end {
        return Err(ImageError::TooLong { offset: end, extra: image.len() as u64 - end });
    }
    if length != end {
        return Err(ImageError::Malformed { offset: 88, what: "the image's length is wrong" });
    }
    Ok(module)
}

/// Reads the contents of one block, whose number is at least `min_number`. Returns the number after it.
fn parse_record(module: &mut Module, mut record: Reader<'_>, min_number: u32) -> Result<u32, ImageError> {
    let start = record.offset();
    let number = record.u32()?;
    let block = number as usize;
    if number < min_number || block >= module.blocks.len() {
        return Err(ImageError::Malformed { offset: start, what: "a block's contents out of order" });
    }
    record.zeros(4)?;
    let cut = module.cut;
    let rows = cut.rows as usize;
    let (chunk, place) = module.chunk_mut(block);
    for unit in &mut chunk.units[place * rows..][..rows] {
        unit.minute = record.u32()?;
        unit.touched = record.flags(1)? == 1;
    }
    let sectors = place * rows * cut.sectors..(place + 1) * rows * cut.sectors;
    for sector in &mut chunk.sectors[sectors.clone()] {
        let offset = record.offset();
        sector.cells = match record.u8()? {
            0 => Cells::Erased,
            1 => Cells::Programmed,
            2 => Cells::Lost,
            _ => return Err(ImageError::Malformed { offset, what: "an unknown state of a sector" }),
        };
        record.zeros(1)?;
        sector.flips = record.u16()?;
    }
    for sector in sectors {
        match chunk.sectors[sector].cells {
            Cells::Programmed => {
                chunk.contents.spare_mut(sector).copy_from_slice(record.take(SPARE_BYTES as u64)?);
                chunk.contents.payload_mut(sector).copy_from_slice(record.take(cut.payload_bytes as u64)?);
            }
            Cells::Erased | Cells::Lost => record.zeros((SPARE_BYTES + cut.payload_bytes) as u64)?,
        }
    }
    if contents(module, block).is_none() {
        return Err(ImageError::Malformed { offset: start, what: "contents of an erased block" });
    }
    Ok(number + 1)
}
