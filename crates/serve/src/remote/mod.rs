//! How does a module on a shelf become a place like a file?
//!
//! The sockets of the initiator in [`crate::nvme::initiator`]. [`ModuleDisks`] are the disks of a card some of whose modules
//! lie on shelves; [`ModuleClient`] asks one module for reservations; [`discover`] asks a shelf for its modules.
//!
//! A request is sent by the thread that has the card, straight to the module's socket, and the socket is what that thread
//! sleeps on: no thread lies between the card and the shelf, because handing a request over and back costs more than a
//! local network does. A thread per module asks for signs of life on the admin queue, and cuts the connection of a shelf
//! that gives none. So a slow drive is waited for, and a lost shelf is not.

mod address;
mod asker;
mod boot_clock;
mod channel;
mod client;
mod contender;
mod disks;
mod error;
mod host_name;
mod keeper;
mod link;
mod peers;
mod session;
mod shelves;
mod watch;

pub use ::session::ownership::{Claim, End, Standing};
pub use address::{ModuleAddress, ModuleAddressError, ShelfAddress};
pub use client::ModuleClient;
pub use contender::{Contender, ContenderStatus, Decision, OwnerLease};
pub use disks::ModuleDisks;
pub use error::RemoteError;
pub use host_name::{HostName, HostNames};
pub use peers::{PeerExport, Peers};
pub use session::RemoteOptions;
pub use shelves::{FoundModule, discover};
pub use watch::{Loss, Watch};
