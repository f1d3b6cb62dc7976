//! Commands to zones that are under way.

use device::RequestId;
use ftl::{BandId, ZonePadding};

/// A command to a zone, beside reads and writes at addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneCommand {
    /// Sectors are written where the zone's write pointer is when the command has come.
    Append {
        /// The number of sectors.
        sectors: u32,
    },
    /// The zone is empty again.
    Reset,
    /// The zone takes no more.
    Finish,
    /// The zone is opened for writes to come.
    Open,
    /// The zone gives back its open resource.
    Close,
}

/// The work that a zone's command waits for.
#[derive(Clone, Debug)]
pub enum ZoneWait {
    /// Bands are erased.
    Erases(Vec<BandId>),
    /// Padding is programmed.
    Padding(ZonePadding),
}

/// The commands, by their requests.
#[derive(Clone, Debug)]
pub struct ZoneCommands {
    /// By request: the zone and the command, of those that go down.
    commands: Vec<Option<(u32, ZoneCommand)>>,
    /// Requests that wait; at most as many as there are.
    pub waiting: Vec<(RequestId, ZoneWait)>,
}

impl ZoneCommands {
    /// No command, for so many requests at once.
    pub fn new(max_requests: u32) -> ZoneCommands {
        ZoneCommands { commands: vec![None; max_requests as usize], waiting: Vec::new() }
    }

    /// A request is such a command.
    pub fn begin(&mut self, id: RequestId, zone: u32, command: ZoneCommand) {
        self.commands[id.0 as usize] = Some((zone, command));
    }

    /// The command that a request is.
    pub fn of(&self, id: RequestId) -> Option<(u32, ZoneCommand)> {
        self.commands[id.0 as usize]
    }

    /// A request has come; the command that it is.
    pub fn take(&mut self, id: RequestId) -> Option<(u32, ZoneCommand)> {
        self.commands[id.0 as usize].take()
    }
}
