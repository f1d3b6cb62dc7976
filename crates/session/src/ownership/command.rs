//! The reservation commands that a module is asked, and its answers.

use super::key::Key;

/// The identifier of a host, which the modules tell controllers apart by: each start of a controller has one of its own.
pub type HostId = [u8; 16];

/// A command for one module. The reservation is of the type Exclusive Access: others neither write nor read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Reservation Report, with the extended structure.
    Report,
    /// Reservation Register: register this key, which survives a loss of power.
    Register {
        /// The new key.
        key: Key,
    },
    /// Reservation Register: replace this key with the next one.
    Replace {
        /// The key so far.
        old: Key,
        /// The next one.
        new: Key,
    },
    /// Reservation Acquire of a module that nobody holds.
    Acquire {
        /// The own key.
        key: Key,
    },
    /// Reservation Acquire: preempt and abort. It is answered when no command of a host that is kept out is in flight.
    Preempt {
        /// The own key.
        key: Key,
        /// The key that is preempted. The own one preempts nobody, and waits all the same.
        of: Key,
    },
}

/// The answer of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The command was carried out.
    Done,
    /// Reservation Conflict: the keys are not what they were thought to be.
    Conflict,
    /// The report that was asked for.
    Report(Report),
    /// It could not be carried out for another reason.
    Failed,
}

/// The reservations of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Times that a key or the holder was changed.
    pub generation: u32,
    /// The reservations survive a loss of power of the module.
    pub persists: bool,
    /// The hosts that are registered.
    pub registrants: Vec<(HostId, Key)>,
    /// The host that holds the module, with its key.
    pub holder: Option<(HostId, Key)>,
}

impl Report {
    /// The key of a host.
    #[must_use]
    pub fn key_of(&self, host: &HostId) -> Option<Key> {
        self.registrants.iter().find(|(of, _)| of == host).map(|(_, key)| *key)
    }
}
