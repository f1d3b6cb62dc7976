//! The modules of a shelf, as its discovery controller tells of them.

use crate::nvme::DISCOVERY_NQN;
use crate::nvme::initiator::{Ask, Discovered, DiscoveryPage};
use crate::remote::address::{ModuleAddress, ShelfAddress};
use crate::remote::error::RemoteError;
use crate::remote::link::Link;
use crate::remote::session::{Admin, RemoteOptions};

/// Bytes of the head of the page, and of each entry.
const ENTRY_BYTES: u32 = 1024;
/// The page may change while it is read; then it is read again, so often.
const TRIES: u32 = 4;

/// A module of a shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundModule {
    /// The address of the module, at the shelf that was asked.
    pub address: ModuleAddress,
}

/// Asks a shelf for its modules, in its order. Those that it refers to other ports are left out: they are another
/// shelf's.
pub fn discover(shelf: &ShelfAddress, options: &RemoteOptions) -> Result<Vec<FoundModule>, RemoteError> {
    let Admin { mut link, .. } = Admin::open(shelf, DISCOVERY_NQN, options, 0)?;
    let port = link.stream.peer_addr().map_err(|source| RemoteError::Lost { source })?;
    let head = |link: &mut Link| {
        let page = link.get("the list of its modules", &Ask::discovery(0, ENTRY_BYTES), &[])?.data;
        Ok::<_, RemoteError>(DiscoveryPage::of(&page)?)
    };
    for _ in 0..TRIES {
        let before = head(&mut link)?;
        let mut found = Vec::new();
        for at in 0..before.entries {
            let ask = Ask::discovery(u64::from(ENTRY_BYTES) * (at + 1), ENTRY_BYTES);
            let entry = Discovered::of(&link.get("the list of its modules", &ask, &[])?.data)?;
            let here = |entry: &Discovered| {
                entry.port == port.port()
                    && entry.address.parse() == Ok::<std::net::IpAddr, _>(port.ip().to_canonical())
            };
            found.extend(entry.filter(here).map(|entry| FoundModule {
                address: ModuleAddress { shelf: shelf.clone(), subsystem: entry.subsystem },
            }));
        }
        if head(&mut link)?.generation == before.generation {
            return Ok(found);
        }
    }
    Err(RemoteError::NotReady)
}
