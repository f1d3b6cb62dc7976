//! Requests to the card that commands are made of.

use std::ops::Range;

/// The bytes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A range of the parsed input.
    Input(Range<usize>),
    /// Bytes that were put together of several PDUs.
    Own(Vec<u8>),
}

impl Payload {
    /// The bytes, which may lie in the parsed input.
    #[must_use]
    pub fn of<'a>(&'a self, input: &'a [u8]) -> &'a [u8] {
        match self {
            Payload::Input(range) => &input[range.clone()],
            Payload::Own(bytes) => bytes,
        }
    }
}

/// The kind of a request to the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Read, for a Read command.
    Read,
    /// Read, and hold against the data of a Compare command.
    Compare,
    /// Write the payload.
    Write,
    /// Make durable all that was answered.
    Flush,
    /// Declare a range unused.
    Trim,
    /// Make a range read as zeroes.
    Zero {
        /// Its room is not given back.
        keeps_room: bool,
    },
}

/// The name of a request, which says all that is to be known when it is answered. It fits a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag(pub u64);

impl Tag {
    pub(crate) fn new(slot: u8, piece: u16, operation: Operation, length: u32) -> Tag {
        let code = match operation {
            Operation::Read => 0,
            Operation::Compare => 1,
            Operation::Write => 2,
            Operation::Flush => 3,
            Operation::Trim => 4,
            Operation::Zero { keeps_room } => 5 + u64::from(keeps_room),
        };
        Tag(u64::from(slot) | code << 8 | u64::from(piece) << 16 | u64::from(length) << 32)
    }

    /// The slot of its command.
    #[must_use]
    pub fn slot(self) -> usize {
        (self.0 & 0xFF) as usize
    }

    /// The number of the request among those of its command.
    #[must_use]
    pub fn piece(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The length of its range, in bytes.
    #[must_use]
    pub fn length_bytes(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// It is a read whose data the host gets.
    #[must_use]
    pub fn is_read(self) -> bool {
        self.0 >> 8 & 0xFF == 0
    }

    /// It is a read whose data are compared.
    #[must_use]
    pub fn is_compare(self) -> bool {
        self.0 >> 8 & 0xFF == 1
    }

    /// It is a write of data.
    #[must_use]
    pub fn is_write(self) -> bool {
        self.0 >> 8 & 0xFF == 2
    }

    /// The bytes of memory that its data take until it is answered.
    #[must_use]
    pub fn memory_bytes(self) -> u64 {
        let length = u64::from(self.length_bytes());
        match self.0 >> 8 & 0xFF {
            0 | 2 => length,
            1 => 2 * length,
            _ => 0,
        }
    }
}

/// A request to the card.
#[derive(Debug, PartialEq, Eq)]
pub struct Work {
    /// The name by which its reply is reported.
    pub tag: Tag,
    /// The place of the namespace in the table.
    pub namespace: usize,
    /// The kind of request.
    pub operation: Operation,
    /// The first byte of its range.
    pub offset_bytes: u64,
    /// The length of its range, which is that of its payload, if it has one.
    pub length_bytes: u32,
    /// It is durable when it is answered.
    pub fua: bool,
    /// The data of a write; empty for all others.
    pub payload: Payload,
}

/// The reason why the card did not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It reaches beyond the end of the card.
    OutOfRange,
    /// The card takes no more writes.
    ReadOnly,
    /// A thin volume would need room that the card does not have.
    NoSpace,
    /// A sector can't be read.
    Unreadable,
    /// A sector can't be written, or not be made durable.
    NotWritten,
    /// The card has no power, or has stopped.
    NotReady,
}
