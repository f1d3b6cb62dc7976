//! The things that arrive from a controller.

use crate::nvme::status::Status;
use std::ops::Range;

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot of the command, which is free again.
    pub slot: usize,
    /// The status of the command.
    pub status: Status,
    /// The command specific part: dwords 0 and 1.
    pub value: u64,
}

/// The next thing that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// No PDU is whole: receive more bytes behind those that were not consumed.
    Missing {
        /// The number of bytes that are certainly needed; more do no harm.
        at_least_bytes: usize,
    },
    /// The connection is initialized: commands may be sent.
    Initialized,
    /// Data of a read.
    Data {
        /// The slot of the command.
        slot: usize,
        /// Their offset among all data of the command.
        offset: usize,
        /// Their place in the parsed input.
        range: Range<usize>,
        /// The command has ended with them.
        completion: Option<Completion>,
    },
    /// The controller asks for data of a command: send them by
    /// [`HostQueue::send_data`](crate::nvme::initiator::HostQueue::send_data).
    Wants {
        /// The slot of the command.
        slot: usize,
        /// The tag of the request for data.
        tag: u16,
        /// The first byte.
        offset: u32,
        /// The number of bytes.
        length: u32,
    },
    /// A command has ended.
    Completed(Completion),
}
