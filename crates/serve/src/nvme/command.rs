//! A submission queue entry (NVMe Base 2.0, figure 87), and the names of commands.

use crate::nvme::bytes::{array_at, u16_at, u32_at, u64_at};
use crate::nvme::limits::MAX_MESSAGE_BYTES;

/// Bytes of a submission queue entry.
pub const COMMAND_BYTES: usize = 64;

/// Opcodes of the admin queue.
pub mod admin {
    pub const GET_LOG_PAGE: u8 = 0x02;
    pub const IDENTIFY: u8 = 0x06;
    pub const ABORT: u8 = 0x08;
    pub const SET_FEATURES: u8 = 0x09;
    pub const GET_FEATURES: u8 = 0x0A;
    pub const ASYNC_EVENT_REQUEST: u8 = 0x0C;
    pub const KEEP_ALIVE: u8 = 0x18;
    /// All that a controller takes.
    pub const ALL: [u8; 7] =
        [GET_LOG_PAGE, IDENTIFY, ABORT, SET_FEATURES, GET_FEATURES, ASYNC_EVENT_REQUEST, KEEP_ALIVE];
    /// All that a discovery controller takes.
    pub const OF_DISCOVERY: [u8; 6] =
        [GET_LOG_PAGE, IDENTIFY, SET_FEATURES, GET_FEATURES, ASYNC_EVENT_REQUEST, KEEP_ALIVE];
}

/// Opcodes of I/O queues.
pub mod io {
    pub const FLUSH: u8 = 0x00;
    pub const WRITE: u8 = 0x01;
    pub const READ: u8 = 0x02;
    pub const COMPARE: u8 = 0x05;
    pub const WRITE_ZEROES: u8 = 0x08;
    pub const DATASET_MANAGEMENT: u8 = 0x09;
    pub const RESERVATION_REGISTER: u8 = 0x0D;
    pub const RESERVATION_REPORT: u8 = 0x0E;
    pub const RESERVATION_ACQUIRE: u8 = 0x11;
    pub const RESERVATION_RELEASE: u8 = 0x15;
    /// Those that change a reservation, and have data.
    pub const RESERVATIONS: [u8; 3] = [RESERVATION_REGISTER, RESERVATION_ACQUIRE, RESERVATION_RELEASE];
}

/// The opcode of all fabrics commands, and their types.
pub mod fabrics {
    pub const OPCODE: u8 = 0x7F;
    pub const PROPERTY_SET: u8 = 0x00;
    pub const CONNECT: u8 = 0x01;
    pub const PROPERTY_GET: u8 = 0x04;
    pub const AUTHENTICATION_SEND: u8 = 0x05;
    pub const AUTHENTICATION_RECEIVE: u8 = 0x06;
}

/// The namespace identifier that means all of them.
pub const ALL_NAMESPACES: u32 = u32::MAX;

/// A submission queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command(pub [u8; COMMAND_BYTES]);

/// The place of a command's data, which its first SGL descriptor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the capsule, at this offset.
    Capsule { offset: u64, length: u32 },
    /// In data PDUs.
    Transport { length: u32 },
    /// The descriptor is of a type that this transport does not have.
    Unknown,
}

impl Command {
    pub(crate) fn of(bytes: &[u8]) -> Command {
        Command(array_at(bytes, 0))
    }

    /// The opcode, which says the command among those of its queue.
    #[must_use]
    pub fn opcode(&self) -> u8 {
        self.0[0]
    }

    /// The command is the first or second half of a fused operation.
    pub(crate) fn is_fused(&self) -> bool {
        self.0[1] & 3 != 0
    }

    /// Data are described by SGLs, as fabrics want it.
    pub(crate) fn has_sgl(&self) -> bool {
        matches!(self.0[1] >> 6, 1)
    }

    /// The identifier that the host gave it.
    #[must_use]
    pub fn id(&self) -> u16 {
        u16_at(&self.0, 2)
    }

    /// The namespace that it is for.
    #[must_use]
    pub fn namespace(&self) -> u32 {
        u32_at(&self.0, 4)
    }

    /// The type of a fabrics command.
    pub(crate) fn fabrics_type(&self) -> u8 {
        self.0[4]
    }

    /// A command dword, from 10 to 15.
    pub(crate) fn dword(&self, number: usize) -> u32 {
        u32_at(&self.0, number * 4)
    }

    /// The command is an Authentication Send or Receive.
    pub(crate) fn authenticates(&self) -> bool {
        let kinds = [fabrics::AUTHENTICATION_SEND, fabrics::AUTHENTICATION_RECEIVE];
        self.opcode() == fabrics::OPCODE && kinds.contains(&self.fabrics_type())
    }

    /// The command is an Authentication Send.
    pub(crate) fn sends_authentication(&self) -> bool {
        self.fabrics_type() == fabrics::AUTHENTICATION_SEND
    }

    /// An Authentication Send or Receive names the protocol that there is, and a length in bytes.
    pub(crate) fn authentication_length(&self) -> Option<u32> {
        let [first, second, protocol] = [self.0[41], self.0[42], self.0[43]];
        let length = u32_at(&self.0, 44);
        (first == 1 && second == 1 && protocol == 0xE9 && (1..=MAX_MESSAGE_BYTES).contains(&length)).then_some(length)
    }

    /// The first logical block of a read, write or their kin.
    pub(crate) fn first_block(&self) -> u64 {
        u64_at(&self.0, 40)
    }

    /// The number of logical blocks of a read, write or their kin.
    pub(crate) fn blocks(&self) -> u32 {
        u32::from(u16_at(&self.0, 48)) + 1
    }

    pub(crate) fn place(&self) -> Place {
        let (address, length) = (u64_at(&self.0, 24), u32_at(&self.0, 32));
        match self.0[39] {
            // An SGL data block with an offset into the capsule.
            0x01 => Place::Capsule { offset: address, length },
            // A transport SGL data block.
            0x5A => Place::Transport { length },
            _ => Place::Unknown,
        }
    }

    /// The length of the data that the command names.
    pub(crate) fn data_length(&self) -> u32 {
        match self.place() {
            Place::Capsule { length, .. } | Place::Transport { length } => length,
            Place::Unknown => 0,
        }
    }
}
