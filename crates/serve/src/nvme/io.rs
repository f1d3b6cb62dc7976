//! The checks of an I/O command (NVM Command Set 1.0, section 3): a command that passes lies within its namespace.

use crate::nvme::bytes::{u32_at, u64_at};
use crate::nvme::command::{Command, Place, io};
use crate::nvme::limits::{BLOCK_BYTES, MAX_TRANSFER_BYTES};
use crate::nvme::reservations::Reservations;
use crate::nvme::status::Status;
use crate::nvme::terms::{Namespace, Terms};
use crate::nvme::work::Operation;

/// Bit 30 of dword 12 of a write.
const FORCE_UNIT_ACCESS: u32 = 1 << 30;
/// Bit 25 of dword 12 of a Write Zeroes.
const DEALLOCATE_ZEROES: u32 = 1 << 25;
/// Bit 2 of dword 11 of a Dataset Management.
const DEALLOCATE: u32 = 1 << 2;
/// Bytes of a range of a Dataset Management.
const RANGE_BYTES: usize = 16;
/// The longest list of ranges, in bytes.
const MAX_LIST_BYTES: u32 = 256 * RANGE_BYTES as u32;
/// The longest trim that the card gets at once, in bytes.
const MAX_TRIM_BYTES: u64 = (u32::MAX - (BLOCK_BYTES - 1)) as u64;

/// A range of a card that a command means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub card: usize,
    pub offset_bytes: u64,
    pub length_bytes: u32,
}

/// A command that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Its data go between the host and the card.
    Transfer { operation: Operation, extent: Extent, fua: bool },
    /// It has no data.
    Plain { operation: Operation, extent: Extent, fua: bool },
    /// Flush each of the namespaces.
    Flush,
    /// It changes the reservations of its namespace, for which the host sends so many bytes.
    Reserve { sent_bytes: u32 },
    /// It asks for them.
    Report,
    /// It has ranges, for which the host sends so many bytes.
    Dataset { sent_bytes: u32 },
}

/// Where the data of a host are, for a command that wants so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the capsule, from here on.
    Capsule(usize),
    /// They are to be asked for.
    Transport,
}

/// Checks where the data of a command from the host are. `capsule` is the number of bytes of data in its capsule.
pub fn source(command: &Command, length: u32, capsule: usize) -> Result<Source, Status> {
    match command.place() {
        Place::Unknown => Err(Status::DESCRIPTOR_TYPE_INVALID),
        Place::Capsule { length: named, .. } | Place::Transport { length: named } if named != length => {
            Err(Status::DATA_LENGTH_INVALID)
        }
        Place::Transport { .. } => Ok(Source::Transport),
        Place::Capsule { offset, length } => match offset.checked_add(length.into()) {
            Some(end) if end <= capsule as u64 => Ok(Source::Capsule(offset as usize)),
            _ => Err(Status::SGL_OFFSET_INVALID),
        },
    }
}

/// Checks that a command to the host names a transport data block of so many bytes.
pub fn destination(command: &Command, length: usize) -> Result<(), Status> {
    match command.place() {
        _ if !command.has_sgl() => Err(Status::INVALID_FIELD),
        Place::Transport { length: named } if named as usize == length => Ok(()),
        Place::Transport { .. } => Err(Status::DATA_LENGTH_INVALID),
        Place::Capsule { .. } | Place::Unknown => Err(Status::DESCRIPTOR_TYPE_INVALID),
    }
}

/// Checks a command of an I/O queue.
pub fn plan(command: &Command, terms: &Terms) -> Result<Plan, Status> {
    let opcode = command.opcode();
    let moves = matches!(opcode, io::WRITE | io::READ | io::COMPARE);
    let is_plain = matches!(opcode, io::FLUSH | io::WRITE_ZEROES | io::DATASET_MANAGEMENT | io::RESERVATION_REPORT);
    let reserves = io::RESERVATIONS.contains(&opcode);
    if !moves && !is_plain && !reserves {
        return Err(Status::INVALID_OPCODE);
    }
    // FUSES is 0: no fused operation is supported. Fabrics know SGLs only.
    if command.is_fused() || !command.has_sgl() {
        return Err(Status::INVALID_FIELD);
    }
    if opcode == io::FLUSH && command.namespace() == super::command::ALL_NAMESPACES {
        return terms.refusal().map_or(Ok(Plan::Flush), Err);
    }
    let namespace = terms.namespace(command.namespace()).ok_or(Status::INVALID_NAMESPACE)?;
    if (reserves || opcode == io::RESERVATION_REPORT) && !namespace.takes_reservations {
        return Err(Status::INVALID_OPCODE);
    }
    if let Some(refused) = namespace.access.refusal() {
        return Err(refused);
    }
    if opcode == io::RESERVATION_REPORT {
        return Ok(Plan::Report);
    }
    if reserves {
        let (least, sent) = (Reservations::data_bytes(opcode), command.data_length());
        let fits = (least..=MAX_LIST_BYTES).contains(&sent);
        return if fits { Ok(Plan::Reserve { sent_bytes: sent }) } else { Err(Status::DATA_LENGTH_INVALID) };
    }
    let changes = !matches!(opcode, io::READ | io::COMPARE | io::FLUSH);
    if changes && namespace.read_only {
        return Err(Status::WRITE_PROTECTED);
    }
    let conflicts = match opcode {
        io::READ | io::COMPARE => namespace.read_conflict,
        _ => namespace.write_conflict,
    };
    if conflicts {
        return Err(Status::RESERVATION_CONFLICT);
    }
    let fua = command.dword(12) & FORCE_UNIT_ACCESS != 0 || terms.writes_through;
    match opcode {
        io::FLUSH => Ok(Plan::Plain {
            operation: Operation::Flush,
            extent: Extent { card: namespace.card, offset_bytes: 0, length_bytes: 0 },
            fua: false,
        }),
        io::DATASET_MANAGEMENT => {
            // Linux sends a whole page however few ranges are in it.
            let (least, sent) = (list_bytes(command), command.data_length());
            if !(least..=MAX_LIST_BYTES).contains(&sent) {
                return Err(Status::DATA_LENGTH_INVALID);
            }
            Ok(Plan::Dataset { sent_bytes: sent })
        }
        io::WRITE_ZEROES => {
            let keeps_room = command.dword(12) & DEALLOCATE_ZEROES == 0;
            let extent = extent(namespace, command.first_block(), command.blocks())?;
            Ok(Plan::Plain { operation: Operation::Zero { keeps_room }, extent, fua })
        }
        _ => {
            if command.blocks() > MAX_TRANSFER_BYTES / BLOCK_BYTES {
                return Err(Status::INVALID_FIELD);
            }
            let extent = extent(namespace, command.first_block(), command.blocks())?;
            let operation = match opcode {
                io::READ => Operation::Read,
                io::COMPARE => Operation::Compare,
                _ => Operation::Write,
            };
            Ok(Plan::Transfer { operation, extent, fua: fua && opcode == io::WRITE })
        }
    }
}

/// The bytes of the ranges that a Dataset Management counts.
fn list_bytes(command: &Command) -> u32 {
    ((command.dword(10) & 0xFF) + 1) * RANGE_BYTES as u32
}

fn extent(namespace: &Namespace, first: u64, blocks: u32) -> Result<Extent, Status> {
    match first.checked_add(blocks.into()) {
        Some(end) if end <= namespace.blocks => Ok(Extent {
            card: namespace.card,
            offset_bytes: first * u64::from(BLOCK_BYTES),
            length_bytes: blocks * BLOCK_BYTES,
        }),
        _ => Err(Status::LBA_OUT_OF_RANGE),
    }
}

/// The ranges of a Dataset Management that are trimmed, each of which the card takes at once or in parts.
#[derive(Debug, Default)]
pub struct Trims {
    card: usize,
    /// Pairs of an offset and a length in bytes, last one first.
    left: Vec<(u64, u64)>,
}

impl Trims {
    /// Checks the list that came with a command. None are left where the command does not deallocate.
    pub fn new(command: &Command, terms: &Terms, list: &[u8]) -> Result<Trims, Status> {
        let namespace = terms.namespace(command.namespace()).ok_or(Status::INVALID_NAMESPACE)?;
        let mut left = Vec::new();
        for range in list[..list_bytes(command) as usize].chunks_exact(RANGE_BYTES).rev() {
            let (blocks, first) = (u64::from(u32_at(range, 4)), u64_at(range, 8));
            if first.checked_add(blocks).is_none_or(|end| end > namespace.blocks) {
                return Err(Status::LBA_OUT_OF_RANGE);
            }
            if blocks > 0 && command.dword(11) & DEALLOCATE != 0 {
                left.push((first * u64::from(BLOCK_BYTES), blocks * u64::from(BLOCK_BYTES)));
            }
        }
        Ok(Trims { card: namespace.card, left })
    }

    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }
}

impl Iterator for Trims {
    type Item = Extent;

    fn next(&mut self) -> Option<Extent> {
        let (offset_bytes, length) = self.left.pop()?;
        let now = length.min(MAX_TRIM_BYTES);
        if now < length {
            self.left.push((offset_bytes + now, length - now));
        }
        Some(Extent { card: self.card, offset_bytes, length_bytes: now as u32 })
    }
}
