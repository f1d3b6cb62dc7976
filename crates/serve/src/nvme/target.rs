//! All subsystems of a server, and the controllers that hosts have of them.
//!
//! The target is one for all connections. It is asked for what concerns more than one of them: Connect, properties, admin
//! commands. Reads and writes do not pass here.

use crate::nvme::answer::{Answer, Connected};
use crate::nvme::authentication::Names;
use crate::nvme::bytes::{array_at, text_at, u16_at};
use crate::nvme::command::{ALL_NAMESPACES, Command, admin, fabrics};
use crate::nvme::controller::{Controller, Turn, feature};
use crate::nvme::discovery;
use crate::nvme::identify::identify;
use crate::nvme::limits::{MAX_CONTROLLERS, MAX_LOG_BYTES, MAX_QUEUE_ENTRIES};
use crate::nvme::log_page::{self, Asked, page};
use crate::nvme::queue::Failed;
use crate::nvme::reservations::Reservations;
use crate::nvme::status::Status;
use crate::nvme::subsystem::{Access, Cards, DISCOVERY_NQN, NamespaceEntry, Subsystem, Uuid};
use crate::nvme::terms::{Namespace, Terms};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

/// Bytes of the data of a Connect.
const CONNECT_BYTES: usize = 1024;
/// Bytes of a name in it; the last one is a zero.
const NAME_BYTES: usize = 256;
/// The longest NQN, in bytes.
const MAX_NQN_BYTES: usize = 223;
/// The controller identifier of a host that does not care which one it gets.
const DYNAMIC: u16 = 0xFFFF;
/// Identifiers behind this one are reserved.
const MAX_CONTROLLER_ID: u16 = 0xFFEF;

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

/// The consequences of a change of reservations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The status of the command.
    pub status: Status,
    /// The terms of queues have changed.
    pub new_terms: bool,
    /// The connections of hosts that are to be told of it.
    pub woken: Vec<u64>,
    /// The command is answered when no command of a host is in flight that is kept out of this subsystem's namespaces
    /// ([`Target::keeps_out`]): also of one that was preempted before, or whose connections have ended.
    pub waits_in: Option<usize>,
}

impl Reserved {
    fn refused(status: Status) -> Reserved {
        Reserved { status, new_terms: false, woken: Vec::new(), waits_in: None }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Target {
    subsystems: Vec<Subsystem>,
    /// The reservations of each subsystem's namespaces, in their order.
    reservations: Vec<Vec<Reservations>>,
    controllers: BTreeMap<u16, Controller>,
    /// The identifiers that controllers of this server may have.
    ids: RangeInclusive<u16>,
    last_id: u16,
    /// The addresses of the other servers that have controllers of the same subsystems.
    peers: Vec<SocketAddr>,
    /// The times that subsystems came or went, and one more.
    generation: u64,
}

impl Target {
    /// A target whose subsystems have different names.
    #[must_use]
    pub fn new(subsystems: Vec<Subsystem>) -> Target {
        let none = |subsystem: &Subsystem| vec![Reservations::default(); subsystem.namespaces.len()];
        let reservations = subsystems.iter().map(none).collect();
        let (controllers, ids, last_id) = (BTreeMap::new(), 1..=MAX_CONTROLLER_ID, 0);
        Target { subsystems, reservations, controllers, ids, last_id, peers: Vec::new(), generation: 1 }
    }

    /// Discovery tells of these addresses as well, for subsystems that are shared.
    pub fn tell_of(&mut self, peers: Vec<SocketAddr>) {
        self.peers = peers;
    }

    /// This server is one of several that have controllers of the same subsystems: it has the identifiers of its number.
    pub fn number(&mut self, number: u8) {
        let first = u16::from(number) << 8;
        self.ids = first.max(1)..=(first | 0xFF).min(MAX_CONTROLLER_ID);
        self.last_id = self.ids.start() - 1;
    }

    /// From now on hosts may connect to one more subsystem.
    pub fn add(&mut self, subsystem: Subsystem) {
        self.reservations.push(vec![Reservations::default(); subsystem.namespaces.len()]);
        self.subsystems.push(subsystem);
        self.discovery_changed();
    }

    fn discovery_changed(&mut self) {
        self.generation += 1;
        let discovery = self.controllers.values_mut().filter(|controller| controller.is_discovery());
        discovery.for_each(Controller::note_discovery);
    }

    /// Hides the subsystem of a card that has gone: it keeps its place, and no host finds it any more.
    pub fn retire(&mut self, card: usize) {
        let mut has_changed = false;
        for (subsystem, reservations) in self.subsystems.iter_mut().zip(&mut self.reservations) {
            if subsystem.namespaces.iter().any(|namespace| namespace.card == card) {
                subsystem.namespaces.clear();
                reservations.clear();
                has_changed = true;
            }
        }
        if has_changed {
            self.discovery_changed();
        }
    }

    /// A card has another size from now on. Hosts that want to hear of it look at their namespaces again.
    pub fn resize(&mut self, card: usize, blocks: u64) {
        for (place, subsystem) in self.subsystems.iter_mut().enumerate() {
            let is_meant = |one: &&mut NamespaceEntry| one.card == card && one.blocks != blocks;
            for namespace in subsystem.namespaces.iter_mut().filter(is_meant) {
                namespace.blocks = blocks;
                let controllers = self.controllers.values_mut().filter(|one| one.subsystem == Some(place));
                controllers.for_each(|controller| controller.note_namespace(namespace.id));
            }
        }
    }

    /// A card is here from now on, or elsewhere. Hosts that want to hear of it look at the groups again. `backing` counts
    /// how often the card became another one.
    pub fn set_access(&mut self, card: usize, access: Access, backing: u64) {
        for (place, subsystem) in self.subsystems.iter_mut().enumerate() {
            let Some(namespace) = subsystem.namespaces.iter_mut().find(|one| one.card == card) else { continue };
            namespace.backing = backing;
            if std::mem::replace(&mut subsystem.access, access) != access {
                let controllers = self.controllers.values_mut().filter(|one| one.subsystem == Some(place));
                controllers.for_each(|controller| controller.note_access(access.is_told()));
            }
        }
    }

    /// The reservations of a card that have survived a loss of power.
    pub fn restore_reservations(&mut self, card: usize, kept: &Reservations) {
        for (subsystem, of_subsystem) in self.subsystems.iter().zip(&mut self.reservations) {
            for (namespace, reservations) in subsystem.namespaces.iter().zip(of_subsystem) {
                if namespace.card == card {
                    reservations.clone_from(kept);
                }
            }
        }
    }

    /// The subsystems that hosts may connect to.
    pub fn subsystems(&self) -> impl Iterator<Item = &Subsystem> {
        self.subsystems.iter().filter(|subsystem| !subsystem.namespaces.is_empty())
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
                let is_named = |one: &Subsystem| one.nqn == name && !one.namespaces.is_empty();
                let place = self.subsystems.iter().position(is_named);
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
        if self.controllers.len() >= MAX_CONTROLLERS.min(self.ids.len()) {
            return None;
        }
        loop {
            self.last_id = if self.last_id >= *self.ids.end() { *self.ids.start() } else { self.last_id + 1 };
            if !self.controllers.contains_key(&self.last_id) {
                return Some(self.last_id);
            }
        }
    }

    /// The terms of the I/O queues of a controller.
    #[must_use]
    pub fn terms(&self, controller: u16) -> Terms {
        let Some(controller) = self.controllers.get(&controller) else { return Terms::default() };
        let Some(place) = controller.subsystem else { return Terms::default() };
        let subsystem = &self.subsystems[place];
        let all = subsystem.namespaces.iter().zip(&self.reservations[place]);
        let namespaces = all.map(|(namespace, reservations)| {
            let (read_conflict, write_conflict) = reservations.conflicts(&controller.host_id);
            Namespace {
                id: namespace.id,
                card: namespace.card,
                blocks: namespace.blocks,
                read_only: namespace.read_only,
                read_conflict,
                write_conflict,
                takes_reservations: subsystem.takes_reservations(),
                access: subsystem.access,
                backing: namespace.backing,
            }
        });
        Terms { namespaces: namespaces.collect(), writes_through: controller.writes_through() }
    }

    /// The names of the host and the subsystem of a controller; `None` for discovery controllers.
    #[must_use]
    pub fn names(&self, controller: u16) -> Option<Names> {
        let controller = self.controllers.get(&controller)?;
        let subsystem = self.subsystems[controller.subsystem?].nqn.as_str().into();
        Some(Names { host: controller.host_nqn.clone(), subsystem })
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

    /// Carries out a Reservation Register, Acquire or Release of a queue.
    pub fn reserve(&mut self, id: u16, command: &Command, data: &[u8], cards: &dyn Cards) -> Reserved {
        let (Some(controller), Some((place, at))) = (self.controllers.get(&id), self.namespace_of(id, command)) else {
            return Reserved::refused(Status::INVALID_NAMESPACE);
        };
        let (host, namespace) = (controller.host_id, &self.subsystems[place].namespaces[at]);
        let reservations = &mut self.reservations[place][at];
        let before = reservations.clone();
        let change = match reservations.change(host, command, data, namespace.keeps_reservations) {
            Ok(change) => change,
            Err(status) => return Reserved::refused(status),
        };
        if change.to_keep && !cards.keep_reservations(namespace.card, &reservations.to_bytes()) {
            *reservations = before;
            return Reserved::refused(Status::INTERNAL_ERROR);
        }
        let mut reserved = Reserved { new_terms: change.new_terms, ..Reserved::refused(Status::SUCCESS) };
        for controller in self.controllers.values_mut().filter(|controller| controller.subsystem == Some(place)) {
            let host = controller.host_id;
            for (_, notice) in change.notices.iter().filter(|(of, _)| *of == host) {
                if controller.note_reservation(command.namespace(), *notice) {
                    reserved.woken.extend(controller.queues.get(&0));
                }
            }
        }
        reserved.waits_in = change.aborts.then_some(place);
        reserved
    }

    /// The subsystem of a controller, and its host; `None` for discovery controllers.
    #[must_use]
    pub fn host_of(&self, controller: u16) -> Option<(usize, Uuid)> {
        let controller = self.controllers.get(&controller)?;
        Some((controller.subsystem?, controller.host_id))
    }

    /// A host may not write to a namespace of a subsystem.
    #[must_use]
    pub fn keeps_out(&self, subsystem: usize, host: &Uuid) -> bool {
        self.reservations[subsystem].iter().any(|reservations| reservations.conflicts(host).1)
    }

    /// The place of the subsystem of a controller, and the one in it of the namespace of a command.
    fn namespace_of(&self, id: u16, command: &Command) -> Option<(usize, usize)> {
        let place = self.controllers.get(&id)?.subsystem?;
        let namespaces = &self.subsystems[place].namespaces;
        Some((place, namespaces.iter().position(|namespace| namespace.id == command.namespace())?))
    }

    /// Reservation Report, which comes on I/O queues and changes nothing.
    fn report(&self, id: u16, command: &Command) -> Answer {
        let Some((place, at)) = self.namespace_of(id, command) else { return Status::INVALID_NAMESPACE.into() };
        // Host identifiers have 128 bits, for which only the extended structure has room.
        if command.dword(11) & 1 == 0 {
            return Status::HOST_ID_FORMAT.into();
        }
        let bytes = (u64::from(command.dword(10)) + 1) * 4;
        if bytes > MAX_LOG_BYTES.into() {
            return Status::INVALID_FIELD.into();
        }
        let controllers = |host: &Uuid| {
            let of_host = |one: &&Controller| one.subsystem == Some(place) && one.host_id == *host;
            self.controllers.values().filter(of_host).map(|one| one.id).collect()
        };
        let mut page = self.reservations[place][at].report(controllers);
        page.resize(bytes as usize, 0);
        Answer::data(page)
    }

    /// The features of reservations, which belong to a namespace.
    fn reservation_feature(&mut self, id: u16, command: &Command, cards: &dyn Cards) -> Answer {
        let Some((place, at)) = self.namespace_of(id, command) else { return Status::INVALID_NAMESPACE.into() };
        let Some(controller) = self.controllers.get_mut(&id) else { return Status::INTERNAL_ERROR.into() };
        let (feature, value) = (command.dword(10) as u8, command.dword(11));
        if !self.subsystems[place].takes_reservations() {
            return Status::INVALID_FIELD.into();
        }
        let namespace = &self.subsystems[place].namespaces[at];
        let reservations = &mut self.reservations[place][at];
        let is_mask = feature == feature::RESERVATION_NOTICES;
        if command.opcode() == admin::GET_FEATURES {
            return match command.dword(10) >> 8 & 7 {
                0 if is_mask => Answer::value(controller.notice_mask(namespace.id).into()),
                0 => Answer::value(reservations.persists().into()),
                1 | 2 => Answer::value(0),
                // Changeable, and each namespace's own.
                3 => Answer::value(4 | 2),
                _ => Status::INVALID_FIELD.into(),
            };
        }
        if command.dword(10) >> 31 != 0 {
            return Status::NOT_SAVEABLE.into();
        }
        if is_mask {
            controller.set_notice_mask(namespace.id, value);
            return Answer::value(0);
        }
        let persists = value & 1 != 0;
        if persists && !namespace.keeps_reservations {
            return Status::INVALID_FIELD.into();
        }
        let before = reservations.clone();
        if reservations.set_persists(persists) && !cards.keep_reservations(namespace.card, &reservations.to_bytes()) {
            *reservations = before;
            return Status::INTERNAL_ERROR.into();
        }
        Answer::value(0)
    }

    /// Carries out a command of an admin queue that has reached the server at an address, or one of an I/O queue that asks
    /// for reservations.
    pub fn admin(
        &mut self,
        (id, queue): (u16, u16),
        command: &Command,
        cards: &dyn Cards,
        local: SocketAddr,
    ) -> Outcome {
        let on_io = queue > 0;
        if on_io {
            return self.report(id, command).into();
        }
        let is_feature = matches!(command.opcode(), admin::GET_FEATURES | admin::SET_FEATURES);
        let of_reservations = [feature::RESERVATION_NOTICES, feature::RESERVATION_PERSISTENCE];
        if is_feature
            && of_reservations.contains(&(command.dword(10) as u8))
            && self.controllers.get(&id).is_some_and(|controller| controller.is_ready() && !controller.is_discovery())
        {
            return self.reservation_feature(id, command, cards).into();
        }
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
        if let Some(refused) = subsystem.and_then(|subsystem| subsystem.access.refusal())
            && needs_access(command)
        {
            return Answer::refused(refused).into();
        }
        match command.opcode() {
            admin::IDENTIFY => identify(command, controller, subsystem, cards).into(),
            admin::GET_LOG_PAGE => {
                let discovered = || discovery::page(&self.subsystems, self.generation, local, &self.peers);
                log(command, controller, subsystem, cards, discovered).into()
            }
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

/// Admin commands for namespaces that can be reached (NVMe Base 2.2, section 8.1.1.10; NVM Command Set 1.2, section 5.1): features
/// that belong to namespaces, and features of all namespaces.
fn needs_access(command: &Command) -> bool {
    let is_of_namespaces = command.dword(10) as u8 == feature::ERROR_RECOVERY;
    match command.opcode() {
        admin::GET_FEATURES => is_of_namespaces,
        admin::SET_FEATURES => is_of_namespaces || command.namespace() == ALL_NAMESPACES,
        _ => false,
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
    subsystem: Option<&Subsystem>,
    cards: &dyn Cards,
    discovered: impl FnOnce() -> Vec<u8>,
) -> Answer {
    let asked = match Asked::of(command) {
        Ok(asked) => asked,
        Err(status) => return status.into(),
    };
    let errors = controller.error_count();
    let page = match (asked.page, subsystem) {
        (page::SUPPORTED, _) => log_page::supported(controller, subsystem),
        (page::ERRORS, _) => controller.error_log(),
        (page::DISCOVERY, None) => discovered(),
        (page::HEALTH, Some(subsystem)) => {
            let card = subsystem.namespaces.first().map(|namespace| namespace.card);
            match card.and_then(|card| cards.smart(card)) {
                Some(smart) => log_page::health(&smart, errors),
                None => return subsystem.access.refusal().unwrap_or(Status::NAMESPACE_NOT_READY).into(),
            }
        }
        (page::FIRMWARE, Some(subsystem)) => log_page::firmware(subsystem),
        (page::CHANGED_NAMESPACES, Some(_)) => controller.changed_namespaces(asked.clears),
        (page::COMMAND_EFFECTS, Some(subsystem)) => log_page::command_effects(subsystem),
        (page::ASYMMETRIC_ACCESS, Some(subsystem)) => {
            log_page::asymmetric_access(subsystem, controller.access_changes(), asked.parameter & 1 != 0)
        }
        (page::FEATURE_EFFECTS, Some(subsystem)) => log_page::features(subsystem),
        (page::RESERVATIONS, Some(subsystem)) if subsystem.takes_reservations() => {
            controller.reservation_log(asked.clears)
        }
        // There is no management interface, so none of its commands.
        (page::MANAGEMENT_EFFECTS, Some(_)) => log_page::identifiers([]),
        _ => return Status::INVALID_LOG_PAGE.into(),
    };
    if asked.clears {
        controller.log_page_was_read(asked.page);
        controller.tell_more_notices();
    }
    asked.part(&page)
}
