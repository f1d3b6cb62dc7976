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

/// Asks a shelf for its modules, in its order.
pub fn discover(shelf: &ShelfAddress, options: &RemoteOptions) -> Result<Vec<FoundModule>, RemoteError> {
    let Admin { mut link, .. } = Admin::open(shelf, DISCOVERY_NQN, options, 0)?;
    let (_, subsystems) = list(&mut link)?;
    let module = |subsystem| FoundModule { address: ModuleAddress { shelf: shelf.clone(), subsystem } };
    Ok(subsystems.into_iter().map(module).collect())
}

fn head(link: &mut Link) -> Result<DiscoveryPage, RemoteError> {
    let page = link.get("the list of its subsystems", &Ask::discovery(0, ENTRY_BYTES), &[])?.data;
    Ok(DiscoveryPage::of(&page)?)
}

/// The generation of the list of a discovery controller, which changes with it.
pub(crate) fn generation(link: &mut Link) -> Result<u64, RemoteError> {
    Ok(head(link)?.generation)
}

/// The subsystems that a discovery controller tells of, in its order, and the generation of that list. Those that it refers
/// to other ports are left out: they are another server's.
pub(crate) fn list(link: &mut Link) -> Result<(u64, Vec<Box<str>>), RemoteError> {
    let port = link.stream.peer_addr().map_err(|source| RemoteError::Lost { source })?;
    for _ in 0..TRIES {
        let before = head(link)?;
        let mut found = Vec::new();
        for at in 0..before.entries {
            let ask = Ask::discovery(u64::from(ENTRY_BYTES) * (at + 1), ENTRY_BYTES);
            let entry = Discovered::of(&link.get("the list of its subsystems", &ask, &[])?.data)?;
            let here = |entry: &Discovered| {
                entry.port == port.port()
                    && entry.address.parse() == Ok::<std::net::IpAddr, _>(port.ip().to_canonical())
            };
            found.extend(entry.filter(here).map(|entry| entry.subsystem));
        }
        if generation(link)? == before.generation {
            return Ok((before.generation, found));
        }
    }
    Err(RemoteError::NotReady)
}
