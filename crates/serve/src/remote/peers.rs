//! The exports of a shared card, as the controller that owns it shows them to hosts.
//!
//! A controller that does not own a card can't read which volumes it has: only the owner reads the modules. But hosts need a
//! path through both before one of them goes. So it asks the other controllers what they would tell any host, in discovery
//! and Identify, and takes the word of the one that serves the card itself.

use crate::nvme::initiator::{ACCESS_BYTES, Ask, is_optimized};
use crate::nvme::{DISCOVERY_NQN, Subsystem, Uuid};
use crate::remote::address::ShelfAddress;
use crate::remote::error::RemoteError;
use crate::remote::session::{Admin, Facts, RemoteOptions};
use crate::remote::shelves::{generation, list};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The time between two looks at a controller.
const LOOKS: Duration = Duration::from_secs(1);
/// The time after which a controller is asked for everything again: the size of a volume is not in the list.
const LOOKS_AT_ALL: Duration = Duration::from_secs(60);
/// The time after which a controller that does not own the card is asked again whether it does.
const LOOKS_FOR_OWNER: Duration = Duration::from_secs(5);
/// The beginning of the model, before the name of the export.
const MODEL: &str = "Flashrig ";

/// An export of another controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerExport {
    /// Its name, of which the end may be cut off.
    pub name: Box<str>,
    /// The name that no other export has.
    pub id: Uuid,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// It takes no writes.
    pub read_only: bool,
}

/// See the module. The thread ends after this is dropped: nobody waits for a controller that gives no answer.
pub struct Peers {
    news: Receiver<Vec<PeerExport>>,
    _stop: Sender<()>,
}

impl Peers {
    /// Asks the controllers at these addresses again and again.
    pub fn start(addresses: &[ShelfAddress], options: &RemoteOptions) -> io::Result<Peers> {
        let ((tell, news), (stop, stops)) = (channel(), channel());
        let looked = |address: &ShelfAddress| Look {
            address: address.clone(),
            options: options.clone(),
            discovery: None,
            seen: None,
            again_at: Instant::now(),
        };
        let mut looks: Vec<Look> = addresses.iter().map(looked).collect();
        let run = move || {
            while stops.recv_timeout(LOOKS) == Err(RecvTimeoutError::Timeout) {
                let of_owner = looks.iter_mut().find_map(|look| match look.look() {
                    Ok(exports) => exports,
                    Err(error) => {
                        tracing::debug!(controller = %look.address, %error, "another controller can't be asked");
                        (look.discovery, look.seen) = (None, None);
                        None
                    }
                });
                if of_owner.is_some_and(|exports| tell.send(exports).is_err()) {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("peers".into()).stack_size(256 << 10).spawn(run)?;
        Ok(Peers { news, _stop: stop })
    }

    /// The exports of the owner, if they were looked at since the last time.
    pub fn news(&self) -> Option<Vec<PeerExport>> {
        self.news.try_iter().last()
    }
}

/// A controller that is looked at.
struct Look {
    address: ShelfAddress,
    options: RemoteOptions,
    /// A connection to its discovery controller, which says when the list changes.
    discovery: Option<Admin>,
    /// The generation of the list that was seen last, when that was the owner's.
    seen: Option<u64>,
    /// When it is asked for everything again.
    again_at: Instant,
}

impl Look {
    /// Its exports, if it owns the card and they may have changed.
    fn look(&mut self) -> Result<Option<Vec<PeerExport>>, RemoteError> {
        if self.seen.is_none() && Instant::now() < self.again_at {
            return Ok(None);
        }
        let Look { address, options, discovery, .. } = self;
        let admin = match discovery {
            Some(admin) => admin,
            None => discovery.insert(Admin::open(address, DISCOVERY_NQN, options, 0)?),
        };
        if self.seen == Some(generation(&mut admin.link)?) && Instant::now() < self.again_at {
            return Ok(None);
        }
        (self.seen, self.again_at) = (None, Instant::now() + LOOKS_FOR_OWNER);
        let (generation, subsystems) = list(&mut admin.link)?;
        let mut exports = Vec::new();
        for subsystem in subsystems {
            match export(address, options, &subsystem)? {
                Some(export) => exports.push(export),
                None => return Ok(None),
            }
        }
        (self.seen, self.again_at) = (Some(generation), Instant::now() + LOOKS_AT_ALL);
        Ok((!exports.is_empty()).then_some(exports))
    }
}

/// An export by its subsystem; `None` if the controller does not own the card.
fn export(address: &ShelfAddress, options: &RemoteOptions, subsystem: &str) -> Result<Option<PeerExport>, RemoteError> {
    let mut admin = Admin::open(address, subsystem, options, 0)?;
    let page = admin.link.get("to tell who owns the card", &Ask::asymmetric_access(ACCESS_BYTES), &[])?.data;
    if !is_optimized(&page)? {
        return Ok(None);
    }
    let Facts { controller, namespace, .. } = admin.facts(subsystem)?;
    let unfit = RemoteError::Unfit { what: "is none of a flashrig" };
    let (Some(id), Some(name)) = (Subsystem::uuid_of(subsystem), controller.model.strip_prefix(MODEL)) else {
        return Err(unfit);
    };
    Ok(Some(PeerExport {
        name: name.into(),
        id,
        size_bytes: namespace.blocks * u64::from(namespace.block_bytes),
        read_only: namespace.read_only,
    }))
}
