//! The discovery log page, as a host reads it (NVMe Base 2.0, section 5.16.1.23).

use crate::nvme::bytes::{text_at, u64_at};
use crate::nvme::initiator::broken::Broken;

/// Bytes of the head of the page, and of each entry.
pub const ENTRY_BYTES: u32 = 1024;
/// The most entries that are read.
const MAX_ENTRIES: u64 = 4096;

/// A subsystem that a discovery controller tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovered {
    /// The NQN of the subsystem.
    pub subsystem: Box<str>,
    /// The address at which it is reached, in numbers.
    pub address: Box<str>,
    /// The port there.
    pub port: u16,
}

/// The head of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscoveryPage {
    /// Changes with each change of the page.
    pub generation: u64,
    /// The number of entries.
    pub entries: u64,
}

impl DiscoveryPage {
    /// Reads the head.
    pub fn of(head: &[u8]) -> Result<DiscoveryPage, Broken> {
        if head.len() != ENTRY_BYTES as usize {
            return Err(Broken::Structure { what: "discovery log page" });
        }
        let (generation, entries) = (u64_at(head, 0), u64_at(head, 8));
        match entries {
            ..=MAX_ENTRIES => Ok(DiscoveryPage { generation, entries }),
            _ => Err(Broken::Structure { what: "discovery log page" }),
        }
    }
}

impl Discovered {
    /// Reads an entry; `None` if it is of another transport, or no NVM subsystem.
    pub fn of(entry: &[u8]) -> Result<Option<Discovered>, Broken> {
        let wrong = Broken::Structure { what: "discovery log entry" };
        if entry.len() != ENTRY_BYTES as usize {
            return Err(wrong);
        }
        // TCP, over IPv4 or IPv6, and no other discovery service.
        if entry[0] != 3 || !matches!(entry[1], 1 | 2) || entry[2] != 2 {
            return Ok(None);
        }
        let spaced = |at: usize, length: usize| {
            let text = std::str::from_utf8(&entry[at..at + length]).ok()?;
            Some(text.trim_end_matches([' ', '\0']).to_owned())
        };
        let port = spaced(32, 32).and_then(|port| port.parse().ok());
        let (Some(subsystem), Some(address), Some(port)) = (text_at(entry, 256, 256), spaced(512, 256), port) else {
            return Err(wrong);
        };
        if subsystem.chars().any(|c| c.is_control() || c == '/') || address.parse::<std::net::IpAddr>().is_err() {
            return Err(wrong);
        }
        Ok(Some(Discovered { subsystem: subsystem.into(), address: address.into(), port }))
    }
}
