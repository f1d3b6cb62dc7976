//! The next action of the driver of a connection.

use crate::nvme::close::Close;
use crate::nvme::command::Command;
use crate::nvme::work::{Payload, Work};

/// The next action of the driver.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Receive more bytes behind those that were not consumed.
    NeedMore {
        /// The number of bytes that are certainly needed; more do no harm.
        at_least_bytes: usize,
    },
    /// Continue parsing; the output may have a response.
    Replied,
    /// Let the target connect the queue, then call [`Queue::connected`](crate::nvme::Queue::connected) or
    /// [`Queue::answer`](crate::nvme::Queue::answer).
    Connect {
        /// The Connect command.
        command: Command,
        /// The hosts' and the subsystem's names, in the parsed input.
        data: Payload,
    },
    /// Let the target carry out an admin or property command, and call [`Queue::answer`](crate::nvme::Queue::answer).
    Admin {
        /// The command as the host sent it.
        command: Command,
        /// The data that came with it.
        data: Payload,
    },
    /// Let the target change the reservations of a namespace, and call
    /// [`Queue::answer_reserve`](crate::nvme::Queue::answer_reserve) when the commands that it aborts have ended.
    Reserve {
        /// The slot of the command.
        slot: u8,
        /// The command as the host sent it.
        command: Command,
        /// The keys that came with it.
        data: Payload,
    },
    /// Carry the command out on the connection's [`Dialog`](crate::nvme::Dialog), call
    /// [`Queue::answer`](crate::nvme::Queue::answer), and [`Queue::unlock`](crate::nvme::Queue::unlock) once the host is
    /// authenticated.
    Authenticate {
        /// The command as the host sent it.
        command: Command,
        /// The message that came with it.
        data: Payload,
    },
    /// Ask the card, and report each reply by [`Queue::complete`](crate::nvme::Queue::complete) or
    /// [`Queue::complete_read`](crate::nvme::Queue::complete_read).
    Work(Work),
    /// Report a reply before parsing continues, because the queue is full.
    Busy,
    /// Send the output, as far as the host takes it, and close the connection.
    Close(Close),
}
