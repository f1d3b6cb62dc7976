//! What does an NVMe host say over TCP, and what is the right answer?
//!
//! Both sides of NVMe over Fabrics on TCP as state machines without sockets, threads or clocks; [`initiator`] is the host's. A
//! [`Queue`] is
//! one connection: it gets the received bytes and returns the next action ([`Step`]). A [`Target`] is all that connections
//! share: subsystems and controllers. `docs/nvme.md` lists the commands, and the sections of the specifications.
//!
//! # The way of data
//!
//! A PDU is looked at when all of it lies in the receive buffer: none is longer than [`MAX_PDU_BYTES`]. Data of a write are
//! a range of that buffer ([`Payload::Input`]) and go to the card from there, each PDU's as a request of its own. Data
//! that end within a sector are kept until the rest of it has come, because a sector is written whole or not at all.
//!
//! # Invariants
//!
//! - This module imports nothing from the rest of the crate.
//! - No bytes of a host cause a panic. A length is held against its limit before more bytes are waited for, and all limits
//!   stand in `limits.rs`.
//! - The same bytes give the same output and steps, however they are cut into pieces.
//! - Each command is answered once, when the card has answered all of its requests.
//! - A request to the card lies within its namespace.
//! - A host is asked for data only for a command that was checked, and for no more than the command has.

mod answer;
mod authentication;
mod bytes;
mod close;
mod command;
mod controller;
mod discovery;
mod frame;
mod group;
mod identify;
pub mod initiator;
mod io;
mod limits;
mod log_page;
mod pdu;
mod queue;
mod reservations;
mod secret;
mod slots;
mod status;
mod step;
mod subsystem;
mod target;
mod terms;
mod work;

pub use answer::{Answer, Connected};
pub use authentication::{Dialog, Names, RANDOM_BYTES, Secrets};
pub use close::{Close, Field};
pub use command::{COMMAND_BYTES, Command};
pub use limits::{
    BLOCK_BYTES, MAX_CAPSULE_DATA_BYTES, MAX_CONTROLLERS, MAX_EVENT_REQUESTS, MAX_H2C_DATA_BYTES, MAX_IO_QUEUES,
    MAX_PDU_BYTES, MAX_QUEUE_ENTRIES, MAX_TRANSFER_BYTES,
};
pub use queue::{Failed, Queue};
pub use reservations::{Kind as ReservationKind, MAX_REGISTRANTS, Reservations};
pub use secret::{Secret, SecretError};
pub use status::Status;
pub use step::Step;
pub use subsystem::{Access, Cards, DISCOVERY_NQN, NamespaceEntry, Smart, Subsystem, Uuid};
pub use target::{Outcome, Reserved, Target};
pub use terms::{Namespace, Terms};
pub use work::{Failure, Operation, Payload, Tag, Work};
