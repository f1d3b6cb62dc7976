//! NVM subsystems: one for each card that is served, and its namespaces.

use crate::nvme::status::Status;

/// The NQN of discovery services (NVMe Base 2.0, section 4.5.1).
pub const DISCOVERY_NQN: &str = "nqn.2014-08.org.nvmexpress.discovery";

/// Bytes of a card's name in the field.
pub type Uuid = [u8; 16];

/// A namespace of a subsystem: a card, or later a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceEntry {
    /// The namespace identifier, from 1 on.
    pub id: u32,
    /// The place of the card in the server's table.
    pub card: usize,
    /// The size in logical blocks of 4 KiB.
    pub blocks: u64,
    /// The name that no other namespace has, now or later.
    pub uuid: Uuid,
    /// It takes no writes.
    pub read_only: bool,
    /// There is a place where reservations survive a loss of power.
    pub keeps_reservations: bool,
    /// The number of times that the card behind it became another one: what was begun with the last one is void.
    pub backing: u64,
}

/// The state of all namespaces of a subsystem for asymmetric access, with the code that stands for it (NVMe Base 2.0,
/// section 8.1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Commands are carried out.
    #[default]
    Optimized = 0x1,
    /// They are carried out by another controller.
    Inaccessible = 0x3,
    /// They will be carried out in a moment, here or by another controller.
    Change = 0xF,
}

impl Access {
    /// Hosts are told when this state is entered (NVMe Base 2.2, section 8.1.1.9): a change is told of when it is over.
    pub(crate) fn is_told(self) -> bool {
        self != Access::Change
    }

    /// The status of a command that can't be carried out now.
    pub(crate) fn refusal(self) -> Option<Status> {
        match self {
            Access::Optimized => None,
            Access::Inaccessible => Some(Status::ACCESS_INACCESSIBLE),
            Access::Change => Some(Status::ACCESS_TRANSITION),
        }
    }
}

/// An NVM subsystem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subsystem {
    /// The NVMe qualified name.
    pub nqn: String,
    /// The serial number: at most 20 characters count.
    pub serial: String,
    /// The model number: at most 40 characters count.
    pub model: String,
    /// The firmware revision: at most 8 characters count.
    pub firmware: String,
    /// Writes may be answered before they are durable.
    pub has_write_cache: bool,
    /// Other servers have controllers of it as well.
    pub is_shared: bool,
    /// The state of its namespaces, on all controllers of this server.
    pub access: Access,
    /// The namespaces, ascending.
    pub namespaces: Vec<NamespaceEntry>,
}

/// The beginning of a name that is made of a UUID.
const NQN_OF_UUID: &str = "nqn.2014-08.org.nvmexpress:uuid:";

impl Subsystem {
    /// The name of a subsystem by its UUID: nobody needs to own a domain for it.
    #[must_use]
    pub fn nqn_of(uuid: &Uuid) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let parts = [&uuid[..4], &uuid[4..6], &uuid[6..8], &uuid[8..10], &uuid[10..]].map(hex);
        format!("{NQN_OF_UUID}{}", parts.join("-"))
    }

    /// The UUID that a name is made of, if it is.
    #[must_use]
    pub fn uuid_of(nqn: &str) -> Option<Uuid> {
        let text: String = nqn.strip_prefix(NQN_OF_UUID)?.split('-').collect();
        let uuid = u128::from_str_radix(&text, 16).ok()?.to_be_bytes();
        // The only spelling.
        (Subsystem::nqn_of(&uuid) == nqn).then_some(uuid)
    }

    /// Its namespaces can be reserved. Reservations of a card that is shared would not go with the card.
    pub(crate) fn takes_reservations(&self) -> bool {
        !self.is_shared
    }

    pub(crate) fn namespace(&self, id: u32) -> Option<&NamespaceEntry> {
        self.namespaces.iter().find(|namespace| namespace.id == id)
    }
}

/// The health of a card, in the words of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Smart {
    /// The bits of the critical warning.
    pub critical_warning: u8,
    /// Percent of the spare that is left.
    pub available_spare: u8,
    /// Percent of the spare below which there is a warning.
    pub available_spare_threshold: u8,
    /// Percent of the card's life that is used.
    pub percentage_used: u8,
    /// Thousands of 512 bytes that hosts read.
    pub data_units_read: u64,
    /// Thousands of 512 bytes that hosts wrote.
    pub data_units_written: u64,
    /// Reads that were answered.
    pub host_read_commands: u64,
    /// Writes that were answered.
    pub host_write_commands: u64,
    /// Minutes with requests in flight.
    pub controller_busy_time: u64,
    /// Times the card was started.
    pub power_cycles: u64,
    /// Hours with power.
    pub power_on_hours: u64,
    /// Starts after an end that was not in order.
    pub unsafe_shutdowns: u64,
    /// Sectors that could not be read.
    pub media_errors: u64,
}

/// The cards behind the namespaces, by their place in the server's table.
pub trait Cards {
    /// The health of a card; `None` while it has no power.
    fn smart(&self, card: usize) -> Option<Smart>;
    /// The logical blocks of a card that hold something.
    fn used_blocks(&self, card: usize) -> u64;
    /// Makes durable what is to be known of a card's reservations after a loss of power. `false`: it could not.
    fn keep_reservations(&self, card: usize, bytes: &[u8]) -> bool;
}
