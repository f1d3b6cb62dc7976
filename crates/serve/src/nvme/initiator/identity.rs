//! The properties of a controller and of a namespace, as Identify tells them.

use crate::nvme::bytes::{array_at, text_at, u16_at, u32_at, u64_at};
use crate::nvme::command::COMMAND_BYTES;
use crate::nvme::initiator::broken::Broken;
use crate::nvme::limits::{MAX_ADMIN_DATA_BYTES, MAX_CAPSULE_DATA_BYTES, MAX_TRANSFER_BYTES};

/// Bytes of the structures.
const BYTES: usize = 4096;

/// The facts of a controller that matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerFacts {
    /// The model number.
    pub model: Box<str>,
    /// The serial number.
    pub serial: Box<str>,
    /// The NQN of its subsystem.
    pub subsystem: Box<str>,
    /// The longest transfer of a command, in bytes.
    pub transfer_bytes: u32,
    /// The most data in a capsule of an I/O queue.
    pub capsule_bytes: u32,
    /// It has Write Zeroes.
    pub can_zero: bool,
    /// It has reservations.
    pub can_reserve: bool,
}

fn padded(page: &[u8], at: usize, length: usize) -> Box<str> {
    String::from_utf8_lossy(&page[at..at + length]).trim_end_matches([' ', '\0']).into()
}

impl ControllerFacts {
    /// Reads the structure of Identify Controller.
    pub fn of(page: &[u8]) -> Result<ControllerFacts, Broken> {
        let wrong = Err(Broken::Structure { what: "Identify Controller" });
        if page.len() != BYTES {
            return wrong;
        }
        // Pages of 4 KiB: the shift of a controller that has less is refused by its CAP.
        let transfer_bytes = match page[77] {
            0 => MAX_TRANSFER_BYTES,
            shift => 4096u32.checked_shl(shift.into()).filter(|bytes| *bytes >= 4096).unwrap_or(u32::MAX),
        };
        let (capsule, offset) = (u32_at(page, 1792), u16_at(page, 1796));
        let Some(subsystem) = text_at(page, 768, 256) else { return wrong };
        let optional = u16_at(page, 520);
        // In units of 16 bytes, with the command; data behind an offset are not sent in capsules at all.
        let in_capsule = u64::from(capsule) * 16;
        let capsule_bytes = match offset {
            0 => in_capsule.saturating_sub(COMMAND_BYTES as u64).min(MAX_CAPSULE_DATA_BYTES.into()) as u32,
            _ => 0,
        };
        Ok(ControllerFacts {
            model: padded(page, 24, 40),
            serial: padded(page, 4, 20),
            subsystem: subsystem.into(),
            transfer_bytes: transfer_bytes.min(MAX_TRANSFER_BYTES),
            capsule_bytes,
            can_zero: optional & 1 << 3 != 0,
            can_reserve: optional & 1 << 5 != 0,
        })
    }
}

/// The facts of a namespace that matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// The size in blocks.
    pub blocks: u64,
    /// Bytes of a block.
    pub block_bytes: u32,
    /// The name that no other namespace has; zeroes if it has none.
    pub guid: [u8; 16],
    /// It takes no writes.
    pub read_only: bool,
    /// Reservations can survive a loss of power.
    pub keeps_reservations: bool,
}

impl NamespaceFacts {
    /// Reads the structure of Identify Namespace.
    pub fn of(page: &[u8]) -> Result<NamespaceFacts, Broken> {
        let wrong = Err(Broken::Structure { what: "Identify Namespace" });
        if page.len() != BYTES {
            return wrong;
        }
        let format = usize::from(page[26] & 0x0F);
        let (metadata, shift) = (u16_at(page, 128 + format * 4), page[128 + format * 4 + 2]);
        let blocks = u64_at(page, 0);
        if format > usize::from(page[25]) || !(9..=12).contains(&shift) || metadata != 0 {
            return wrong;
        }
        if blocks == 0 || blocks.checked_mul(1 << shift).is_none_or(|bytes| bytes > i64::MAX as u64) {
            return wrong;
        }
        Ok(NamespaceFacts {
            blocks,
            block_bytes: 1 << shift,
            guid: array_at(page, 104),
            read_only: page[99] & 1 != 0,
            keeps_reservations: page[31] & 1 != 0,
        })
    }
}

/// Bytes of the log page of asymmetric access, of a controller with one group of namespaces.
pub const ACCESS_BYTES: u32 = 48;

/// Whether a controller serves the namespaces of its one group itself, from the log page of asymmetric access (NVMe Base
/// 2.0, section 5.16.1.13).
pub fn is_optimized(page: &[u8]) -> Result<bool, Broken> {
    if page.len() != ACCESS_BYTES as usize || u16_at(page, 8) != 1 {
        return Err(Broken::Structure { what: "log page of asymmetric access" });
    }
    Ok(page[32] & 0x0F == 1)
}

/// The identifiers of the namespaces, from the list of Identify.
pub fn namespaces(page: &[u8]) -> Vec<u32> {
    page.chunks_exact(4).map(|entry| u32_at(entry, 0)).take_while(|id| *id != 0).collect()
}

const _: () = assert!(MAX_CAPSULE_DATA_BYTES >= MAX_ADMIN_DATA_BYTES);
