//! The rights of a queue to namespaces.

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
}
