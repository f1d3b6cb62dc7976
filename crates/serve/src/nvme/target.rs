//! All subsystems of a server, and the controllers that hosts have of them.
//!
//! The target is one for all connections. It is asked for what concerns more than one of them: Connect, properties, admin
//! commands. Reads and writes do not pass here.

use crate::nvme::answer::{Answer, Connected};
use crate::nvme::bytes::{array_at, text_at, u16_at};
use crate::nvme::command::{Command, admin, fabrics};
use crate::nvme::controller::{Controller, Turn};
use crate::nvme::discovery;
use crate::nvme::identify::identify;
use crate::nvme::limits::{MAX_CONTROLLERS, MAX_QUEUE_ENTRIES};
use crate::nvme::log_page::{self, Asked, page};
use crate::nvme::queue::Failed;
use crate::nvme::status::Status;
use crate::nvme::subsystem::{Cards, DISCOVERY_NQN, Subsystem};
use crate::nvme::terms::{Namespace, Terms};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Bytes of the data of a Connect.
const CONNECT_BYTES: usize = 1024;
/// Bytes of a name in it; the last one is a zero.
const NAME_BYTES: usize = 256;
/// The longest NQN, in bytes.
const MAX_NQN_BYTES: usize = 223;
/// The controller identifier of a host that does not care which one it gets.
const DYNAMIC: u16 = 0xFFFF;

/// Offsets of parameters in a Connect, and in its data.
mod parameter {
    pub const QUEUE: u16 = 42;
    pub const SIZE: u16 = 44;
    pub const HOST_ID: u16 = 0;
    pub const CONTROLLER: u16 = 16;
    pub const SUBSYSTEM_NQN: u16 = 256;
    pub const HOST_NQN: u16 = 512;
}

/// The consequences of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The answer; an asynchronous event request gets none yet.
    pub answer: Option<Answer>,
    /// The connections that end, without the one that has asked.
    pub ended: Vec<u64>,
    /// The driver makes durable what was answered, and then calls [`Target::shut_down`].
    pub shuts_down: bool,
    /// The terms of the controller's queues have changed.
    pub new_terms: bool,
    /// An asynchronous event request that was aborted.
    pub aborted: Option<u16>,
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Outcome {
        Outcome { answer: Some(answer), ..Outcome::default() }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Target {
    subsystems: Vec<Subsystem>,
    controllers: BTreeMap<u16, Controller>,
    last_id: u16,
}

impl Target {
    /// A target whose subsystems have different names.
    #[must_use]
    pub fn new(subsystems: Vec<Subsystem>) -> Target {
        Target { subsystems, controllers: BTreeMap::new(), last_id: 0 }
    }

    /// The subsystems that hosts may connect to.
    #[must_use]
    pub fn subsystems(&self) -> &[Subsystem] {
        &self.subsystems
    }

    /// The number of controllers.
    #[must_use]
    pub fn controllers(&self) -> usize {
        self.controllers.len()
    }

    /// Connects a queue (NVMe Base 2.0, section 6.3): on success the queue, and the value of the completion.
    pub fn connect(&mut self, command: &Command, data: &[u8], connection: u64) -> Result<(Connected, u64), Answer> {
        let (format, queue) = (u16_at(&command.0, 40), u16_at(&command.0, 42));
        let (size, attributes) = (u16_at(&command.0, 44), command.0[46]);
        if format != 0 {
            return Err(Status::INCOMPATIBLE_FORMAT.into());
        }
        if data.len() != CONNECT_BYTES {
            return Err(Status::DATA_LENGTH_INVALID.into());
        }
        if size == 0 || size >= MAX_QUEUE_ENTRIES {
            return Err(Answer::invalid_parameter(parameter::SIZE, false));
        }
        let subsystem = match text_at(data, usize::from(parameter::SUBSYSTEM_NQN), NAME_BYTES) {
            Some(DISCOVERY_NQN) => None,
            Some(name) => {
                let place = self.subsystems.iter().position(|subsystem| subsystem.nqn == name);
                Some(place.ok_or(Answer::invalid_parameter(parameter::SUBSYSTEM_NQN, true))?)
            }
            None => return Err(Answer::invalid_parameter(parameter::SUBSYSTEM_NQN, true)),
        };
        let host_nqn = text_at(data, usize::from(parameter::HOST_NQN), NAME_BYTES)
            .filter(|name| name.starts_with("nqn.") && name.len() <= MAX_NQN_BYTES)
            .ok_or(Answer::invalid_parameter(parameter::HOST_NQN, true))?;
        let host_id = array_at(data, usize::from(parameter::HOST_ID));
        if host_id == [0; 16] {
            return Err(Answer::invalid_parameter(parameter::HOST_ID, true));
        }
        let asked = u16_at(data, usize::from(parameter::CONTROLLER));
        let id = if queue == 0 {
            if asked != DYNAMIC {
                return Err(Answer::invalid_parameter(parameter::CONTROLLER, true));
            }
            let id = self.new_controller().ok_or(Answer::refused(Status::CONTROLLER_BUSY))?;
            let mut controller = Controller::new(id, subsystem, host_nqn, host_id);
            controller.set_keep_alive(command.dword(12));
            self.controllers.insert(id, controller);
            id
        } else {
            let controller = self
                .controllers
                .get(&asked)
                .filter(|controller| controller.subsystem == subsystem)
                .ok_or(Answer::invalid_parameter(parameter::CONTROLLER, true))?;
            if *controller.host_nqn != *host_nqn {
                return Err(Answer::invalid_parameter(parameter::HOST_NQN, true));
            }
            if controller.host_id != host_id {
                return Err(Answer::invalid_parameter(parameter::HOST_ID, true));
            }
            if queue > controller.io_queues() {
                return Err(Answer::invalid_parameter(parameter::QUEUE, false));
            }
            if !controller.is_ready() || controller.queues.contains_key(&queue) {
                return Err(Status::COMMAND_SEQUENCE_ERROR.into());
            }
            asked
        };
        let controller = self.controllers.get_mut(&id).expect("it was just found, or made");
        controller.queues.insert(queue, connection);
        let no_flow_control = attributes & 1 << 2 != 0;
        Ok((Connected { controller: id, queue, entries: size + 1, no_flow_control }, id.into()))
    }

    /// An identifier that no controller has: the next one, so that a late message of an old host finds none.
    fn new_controller(&mut self) -> Option<u16> {
        if self.controllers.len() >= MAX_CONTROLLERS {
            return None;
        }
        loop {
            // Identifiers from FFF0h on are reserved.
            self.last_id = if self.last_id >= 0xFFEF { 1 } else { self.last_id + 1 };
            if !self.controllers.contains_key(&self.last_id) {
                return Some(self.last_id);
            }
        }
    }

    /// The terms of the I/O queues of a controller.
    #[must_use]
    pub fn terms(&self, controller: u16) -> Terms {
        let Some(controller) = self.controllers.get(&controller) else { return Terms::default() };
        let Some(subsystem) = controller.subsystem.map(|place| &self.subsystems[place]) else {
            return Terms::default();
        };
        let namespaces = subsystem.namespaces.iter().map(|namespace| Namespace {
            id: namespace.id,
            card: namespace.card,
            blocks: namespace.blocks,
            read_only: namespace.read_only,
            read_conflict: false,
            write_conflict: false,
        });
        Terms { namespaces: namespaces.collect(), writes_through: controller.writes_through() }
    }

    /// The name of the subsystem of a controller; `None` for discovery controllers.
    #[must_use]
    pub fn subsystem_of(&self, controller: u16) -> Option<&Subsystem> {
        self.controllers.get(&controller)?.subsystem.map(|place| &self.subsystems[place])
    }

    /// Milliseconds without any command after which a host counts as gone; 0: never.
    #[must_use]
    pub fn keep_alive_ms(&self, controller: u16) -> u32 {
        self.controllers.get(&controller).map_or(0, Controller::keep_alive_ms)
    }

    /// Carries out a command of an admin queue that has reached the server at an address.
    pub fn admin(&mut self, id: u16, command: &Command, cards: &dyn Cards, local: SocketAddr) -> Outcome {
        // Its controller has ended, and the connection will.
        let Some(controller) = self.controllers.get_mut(&id) else {
            return Answer::refused(Status::INTERNAL_ERROR).into();
        };
        if command.opcode() == fabrics::OPCODE {
            return match command.fabrics_type() {
                fabrics::PROPERTY_GET => controller.property(command).into(),
                fabrics::PROPERTY_SET => {
                    let (answer, turn) = controller.set_property(command);
                    let mut outcome = Outcome::from(answer);
                    match turn {
                        Turn::None => {}
                        Turn::Reset => outcome.ended = take_io_queues(controller),
                        Turn::Shutdown => outcome.shuts_down = true,
                    }
                    outcome
                }
                _ => Answer::refused(Status::INVALID_FIELD).into(),
            };
        }
        let known: &[u8] = if controller.is_discovery() { &admin::OF_DISCOVERY } else { &admin::ALL };
        if !known.contains(&command.opcode()) {
            return Answer::refused(Status::INVALID_OPCODE).into();
        }
        if !controller.is_ready() {
            return Answer::refused(Status::COMMAND_SEQUENCE_ERROR).into();
        }
        let subsystem = controller.subsystem.map(|place| &self.subsystems[place]);
        let has_write_cache = subsystem.is_some_and(|subsystem| subsystem.has_write_cache);
        match command.opcode() {
            admin::IDENTIFY => identify(command, controller, subsystem, cards).into(),
            admin::GET_LOG_PAGE => log(command, controller, &self.subsystems, cards, local).into(),
            admin::GET_FEATURES => controller.feature(command, has_write_cache).into(),
            admin::SET_FEATURES => {
                let (answer, new_terms) = controller.set_feature(command, has_write_cache);
                Outcome { answer: Some(answer), new_terms, ..Outcome::default() }
            }
            admin::ASYNC_EVENT_REQUEST => Outcome { answer: controller.await_event(command), ..Outcome::default() },
            admin::ABORT => {
                let (queue, id) = (command.dword(10) as u16, (command.dword(10) >> 16) as u16);
                // Other commands are done soon: none is found that could still be aborted, which is said by a 1.
                let aborted = queue == 0 && controller.abort_event_request(id);
                let answer = Some(Answer::value(u64::from(!aborted)));
                Outcome { answer, aborted: aborted.then_some(id), ..Outcome::default() }
            }
            _ => Answer::value(0).into(),
        }
    }

    /// The shutdown of a controller is complete.
    pub fn shut_down(&mut self, controller: u16) {
        if let Some(controller) = self.controllers.get_mut(&controller) {
            controller.shut_down();
        }
    }

    /// Notes the critical warnings of the cards, and takes the events that a host can be told: the identifiers of its
    /// requests, and their values.
    pub fn events(&mut self, id: u16, cards: &dyn Cards) -> Vec<(u16, u32)> {
        let Some(controller) = self.controllers.get_mut(&id) else { return Vec::new() };
        let subsystem = controller.subsystem.map(|place| &self.subsystems[place]);
        if let Some(smart) = subsystem.and_then(|subsystem| smart(subsystem, cards)) {
            controller.warn(smart);
        }
        std::iter::from_fn(|| controller.next_event()).collect()
    }

    /// Keeps failed commands of a queue in the error log.
    pub fn keep_errors(&mut self, controller: u16, queue: u16, failures: Vec<Failed>) {
        if let Some(controller) = self.controllers.get_mut(&controller) {
            failures.into_iter().for_each(|failed| controller.keep_error(queue, failed));
        }
    }

    /// A connection has ended, and its queue with it: the connections that end as well, because their controller does.
    pub fn leave(&mut self, id: u16, queue: u16, connection: u64) -> Vec<u64> {
        let Some(controller) = self.controllers.get_mut(&id) else { return Vec::new() };
        if controller.queues.get(&queue) == Some(&connection) {
            controller.queues.remove(&queue);
        }
        if queue == 0 { self.end(id) } else { Vec::new() }
    }

    /// Ends a controller, as when its host is silent for too long: the connections of its queues.
    pub fn end(&mut self, id: u16) -> Vec<u64> {
        self.controllers.remove(&id).map_or_else(Vec::new, |controller| controller.queues.into_values().collect())
    }
}

fn take_io_queues(controller: &mut Controller) -> Vec<u64> {
    let admin = controller.queues.remove(&0);
    let ended = std::mem::take(&mut controller.queues).into_values().collect();
    controller.queues.extend(admin.map(|connection| (0, connection)));
    ended
}

/// The critical warnings of a subsystem's cards.
fn smart(subsystem: &Subsystem, cards: &dyn Cards) -> Option<u8> {
    let warnings = subsystem.namespaces.iter().map(|namespace| Some(cards.smart(namespace.card)?.critical_warning));
    warnings.reduce(|all, one| Some(all? | one?)).flatten()
}

fn log(
    command: &Command,
    controller: &mut Controller,
    subsystems: &[Subsystem],
    cards: &dyn Cards,
    local: SocketAddr,
) -> Answer {
    let asked = match Asked::of(command) {
        Ok(asked) => asked,
        Err(status) => return status.into(),
    };
    let subsystem = controller.subsystem.map(|place| &subsystems[place]);
    let errors = controller.error_count();
    let page = match (asked.page, subsystem) {
        (page::SUPPORTED, _) => log_page::supported(controller),
        (page::ERRORS, _) => controller.error_log(),
        (page::DISCOVERY, None) => discovery::page(subsystems, 1, local),
        (page::HEALTH, Some(subsystem)) => {
            let card = subsystem.namespaces.first().map(|namespace| namespace.card);
            match card.and_then(|card| cards.smart(card)) {
                Some(smart) => log_page::health(&smart, errors),
                None => return Status::NAMESPACE_NOT_READY.into(),
            }
        }
        (page::FIRMWARE, Some(subsystem)) => log_page::firmware(subsystem),
        // Namespaces do not change while a server runs.
        (page::CHANGED_NAMESPACES, Some(_)) => vec![0; 4096],
        (page::COMMAND_EFFECTS, Some(_)) => log_page::command_effects(),
        (page::ASYMMETRIC_ACCESS, Some(subsystem)) => log_page::asymmetric_access(subsystem, asked.parameter & 1 != 0),
        (page::FEATURE_EFFECTS, Some(subsystem)) => log_page::features(subsystem.has_write_cache),
        // There is no management interface, so none of its commands.
        (page::MANAGEMENT_EFFECTS, Some(_)) => log_page::identifiers([]),
        _ => return Status::INVALID_LOG_PAGE.into(),
    };
    if asked.clears {
        controller.log_page_was_read(asked.page);
    }
    asked.part(&page)
}
