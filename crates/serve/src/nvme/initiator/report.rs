//! A report of reservations, in the extended form (NVMe Base 2.0, section 7.5.1).

use crate::nvme::bytes::{array_at, u16_at, u32_at, u64_at};
use crate::nvme::initiator::broken::Broken;
use crate::nvme::reservations::Kind;

/// Bytes of the head, and of each entry.
const ENTRY_BYTES: usize = 64;

/// A registered host, once for each of its controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The host identifier.
    pub host: [u8; 16],
    /// The key of the host.
    pub key: u64,
    /// The host holds the reservation.
    pub holds: bool,
    /// The controller of the host; `0xFFFF` if it is not connected.
    pub controller: u16,
}

/// The reservations of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Changes with each change of registrations.
    pub generation: u32,
    /// The type of the reservation, if there is one.
    pub held: Option<Kind>,
    /// The reservations survive a loss of power.
    pub persists: bool,
    /// The registered hosts, once for each of their controllers.
    pub registered: Vec<Registered>,
}

impl Report {
    /// The bytes of the whole report, of which at least the head was read.
    #[must_use]
    pub fn bytes(head: &[u8]) -> Option<u32> {
        (head.len() >= ENTRY_BYTES).then(|| (ENTRY_BYTES * (1 + usize::from(u16_at(head, 5)))) as u32)
    }

    /// Reads a report; more bytes may lie behind it.
    pub fn of(page: &[u8]) -> Result<Report, Broken> {
        let wrong = Broken::Structure { what: "reservation report" };
        let Some(entries) = Report::bytes(page).and_then(|bytes| page.get(ENTRY_BYTES..bytes as usize)) else {
            return Err(wrong);
        };
        let held = match page[4] {
            0 => None,
            code => Some(Kind::of(code.into()).ok_or(wrong)?),
        };
        let registered = |entry: &[u8]| Registered {
            controller: u16_at(entry, 0),
            holds: entry[2] & 1 != 0,
            key: u64_at(entry, 8),
            host: array_at(entry, 16),
        };
        let registered = entries.chunks_exact(ENTRY_BYTES).map(registered).collect();
        Ok(Report { generation: u32_at(page, 0), held, persists: page[9] & 1 != 0, registered })
    }

    /// The host that holds the reservation, and its key; of types that all registered hosts hold, the first.
    #[must_use]
    pub fn holder(&self) -> Option<&Registered> {
        self.held.and_then(|_| self.registered.iter().find(|registered| registered.holds))
    }
}
