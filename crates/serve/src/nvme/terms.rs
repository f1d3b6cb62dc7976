//! The rights of a queue to namespaces.

use crate::nvme::status::Status;
use crate::nvme::subsystem::Access;

/// A namespace as a queue sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// The namespace identifier.
    pub id: u32,
    /// The place of the card in the server's table.
    pub card: usize,
    /// The size in logical blocks.
    pub blocks: u64,
    /// It takes no writes at all.
    pub read_only: bool,
    /// A reservation of another host keeps this one from reading.
    pub read_conflict: bool,
    /// A reservation of another host keeps this one from writing.
    pub write_conflict: bool,
    /// It can be reserved.
    pub takes_reservations: bool,
    /// The state for asymmetric access.
    pub access: Access,
    /// The number of times that the card behind it became another one.
    pub backing: u64,
}

/// The terms of a controller, for its I/O queues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The namespaces, ascending.
    pub namespaces: Vec<Namespace>,
    /// The host has switched the volatile write cache off: each write is durable when it is answered.
    pub writes_through: bool,
}

impl Terms {
    pub(crate) fn namespace(&self, id: u32) -> Option<&Namespace> {
        self.namespaces.iter().find(|namespace| namespace.id == id)
    }

    /// The status of a command for all namespaces, if one of them can't be reached here.
    pub(crate) fn refusal(&self) -> Option<Status> {
        self.namespaces.iter().find_map(|namespace| namespace.access.refusal())
    }
}
