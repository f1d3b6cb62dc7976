//! A module, asked for its reservations: one command follows the other, and each waits for its answer.

use crate::nvme::ReservationKind;
use crate::nvme::initiator::{Ask, Report};
use crate::remote::address::ModuleAddress;
use crate::remote::error::RemoteError;
use crate::remote::session::{RemoteOptions, Session};

/// The first bytes of a report, which hold those of most modules.
const REPORT_BYTES: u32 = 4096;

/// A connection of its own to a module. An error of [`RemoteError::Conflict`] and [`RemoteError::Refused`] is the answer of
/// the module; after each other the connection is of no use, and a new one is to be made.
#[derive(Debug)]
pub struct ModuleClient {
    session: Session,
}

impl ModuleClient {
    /// Connects to a module. The host of `options` is the one that registrations are of.
    pub fn connect(address: &ModuleAddress, options: &RemoteOptions) -> Result<ModuleClient, RemoteError> {
        let session = Session::open(address, options, 0)?;
        if !session.controller.can_reserve || !session.namespace.keeps_reservations {
            return Err(RemoteError::Unfit { what: "has no reservations that survive a loss of power" });
        }
        Ok(ModuleClient { session })
    }

    /// The UUID of the module; zeroes if it has none.
    #[must_use]
    pub fn guid(&self) -> [u8; 16] {
        self.session.namespace.guid
    }

    /// Registers this host with a key. The same key again changes nothing.
    pub fn register(&mut self, key: u64) -> Result<(), RemoteError> {
        self.change("the registration", Ask::register(self.session.namespace_id, key))
    }

    /// Ends the registration of this host, and its reservation.
    pub fn unregister(&mut self, key: u64) -> Result<(), RemoteError> {
        self.change("the end of the registration", Ask::unregister(self.session.namespace_id, key))
    }

    /// Replaces the key of this host.
    pub fn replace(&mut self, old: u64, new: u64) -> Result<(), RemoteError> {
        self.change("the new key", Ask::replace(self.session.namespace_id, old, new))
    }

    /// Takes the reservation, if nobody holds it.
    pub fn acquire(&mut self, key: u64, kind: ReservationKind) -> Result<(), RemoteError> {
        self.change("the reservation", Ask::acquire(self.session.namespace_id, key, kind))
    }

    /// Takes registration and reservation from the host that has the key `preempted`. When this returns, no command of it
    /// is under way any more.
    pub fn preempt_and_abort(&mut self, key: u64, preempted: u64, kind: ReservationKind) -> Result<(), RemoteError> {
        self.change("the preemption", Ask::preempt_and_abort(self.session.namespace_id, key, preempted, kind))
    }

    /// Releases the reservation; the registration stays.
    pub fn release(&mut self, key: u64, kind: ReservationKind) -> Result<(), RemoteError> {
        self.change("the release", Ask::release(self.session.namespace_id, key, kind))
    }

    /// The registrations, the holder, and the generation, which changes with each change of a registration.
    pub fn report(&mut self) -> Result<Report, RemoteError> {
        let namespace = self.session.namespace_id;
        let mut bytes = REPORT_BYTES;
        loop {
            let page = self.session.io.get("the report", &Ask::report(namespace, bytes), &[])?.data;
            match Report::bytes(&page) {
                // It has grown beyond what was asked for.
                Some(whole) if whole > bytes => bytes = whole,
                _ => return Ok(Report::of(&page)?),
            }
        }
    }

    /// Reads blocks of 4 KiB or what the module's are, for those who want to see what lies there.
    pub fn read(&mut self, first: u64, count: u32) -> Result<Vec<u8>, RemoteError> {
        let (namespace, block_bytes) = (self.session.namespace_id, self.session.namespace.block_bytes);
        Ok(self.session.io.get("a read", &Ask::read(namespace, first, count, block_bytes), &[])?.data)
    }

    /// The number of blocks, and bytes of each.
    #[must_use]
    pub fn size(&self) -> (u64, u32) {
        (self.session.namespace.blocks, self.session.namespace.block_bytes)
    }

    fn change(&mut self, what: &'static str, (ask, data): (Ask, Vec<u8>)) -> Result<(), RemoteError> {
        self.session.io.get(what, &ask, &data).map(drop)
    }
}
