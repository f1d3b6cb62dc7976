//! A controller: what one host and one subsystem have agreed on, with its properties, features and events.

use crate::nvme::answer::Answer;
use crate::nvme::bytes::{put_u16, put_u32, put_u64};
use crate::nvme::command::Command;
use crate::nvme::limits::{ERROR_ENTRIES, KEEP_ALIVE_UNIT_MS, MAX_EVENT_REQUESTS, MAX_IO_QUEUES, MAX_QUEUE_ENTRIES};
use crate::nvme::queue::Failed;
use crate::nvme::reservations::Notice;
use crate::nvme::status::Status;
use crate::nvme::subsystem::Uuid;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The version of the specification: 2.0.0.
pub const VERSION: u32 = 0x0002_0000;

/// The features that controllers have (NVMe Base 2.0, section 5.27.1).
pub mod feature {
    pub const ARBITRATION: u8 = 0x01;
    pub const POWER_MANAGEMENT: u8 = 0x02;
    pub const ERROR_RECOVERY: u8 = 0x05;
    pub const WRITE_CACHE: u8 = 0x06;
    pub const QUEUES: u8 = 0x07;
    pub const WRITE_ATOMICITY: u8 = 0x0A;
    pub const ASYNC_EVENTS: u8 = 0x0B;
    pub const KEEP_ALIVE: u8 = 0x0F;
    pub const HOST_IDENTIFIER: u8 = 0x81;
    pub const RESERVATION_NOTICES: u8 = 0x82;
    pub const RESERVATION_PERSISTENCE: u8 = 0x83;
}

/// Capabilities: 128 entries a queue, contiguous, 7.5 s to get ready, the NVM command set, pages of 4 KiB.
const CAPABILITIES: u64 = (MAX_QUEUE_ENTRIES as u64 - 1) | 1 << 16 | 15 << 24 | 1 << 37 | 1 << 43;

const ENABLE: u32 = 1;
const SHUTDOWN: u32 = 3 << 14;
const READY: u32 = 1;
const FATAL: u32 = 2;
const SHUTDOWN_STATUS: u32 = 3 << 2;
const SHUTDOWN_OCCURS: u32 = 1 << 2;
const SHUTDOWN_COMPLETE: u32 = 2 << 2;

/// Properties, by their offsets.
const CAP: u32 = 0x00;
const VS: u32 = 0x08;
const CC: u32 = 0x14;
const CSTS: u32 = 0x1C;

/// An entry of the error log.
#[derive(Clone, Copy, Debug)]
struct Error {
    count: u64,
    queue: u16,
    failed: Failed,
}

/// The consequence of a new controller configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// None for others.
    None,
    /// The controller was reset: its I/O queues end.
    Reset,
    /// The controller is shut down: what was answered is to be made durable, then [`Controller::shut_down`] is called.
    Shutdown,
}

/// A kind of asynchronous event, which is told once until its log page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The type, as the completion says it.
    pub kind: u8,
    /// The information, as the completion says it.
    pub information: u8,
    /// The log page that says more.
    pub log_page: u8,
}

impl Event {
    fn value(self) -> u32 {
        u32::from(self.kind) | u32::from(self.information) << 8 | u32::from(self.log_page) << 16
    }
}

/// The event of a notice of reservations.
const RESERVATION_EVENT: Event = Event { kind: 6, information: 0, log_page: 0x80 };
/// The event of a namespace that has another size.
const NAMESPACE_EVENT: Event = Event { kind: 2, information: 0, log_page: 0x04 };
/// The event of subsystems that come or go, for hosts of a discovery controller.
const DISCOVERY_EVENT: Event = Event { kind: 2, information: 0xF0, log_page: 0x70 };
/// The bit of such changes.
pub const DISCOVERY_EVENTS: u32 = 1 << 31;
/// The event of namespaces that are reached in another way.
const ACCESS_EVENT: Event = Event { kind: 2, information: 3, log_page: 0x0C };
/// The bit of the events that a host wants to hear of, and of those that there are: changes of asymmetric access.
pub const ACCESS_EVENTS: u32 = 1 << 11;
/// The bit of changes of namespaces.
pub const NAMESPACE_EVENTS: u32 = 1 << 8;
/// The most namespaces that a log of changes names.
const MAX_CHANGED: usize = 1024;
/// The most notices of reservations that wait; the oldest are lost, as a counter tells.
const MAX_NOTICES: usize = 255;

/// A notice of a reservation.
#[derive(Debug)]
struct Noticed {
    count: u64,
    namespace: u32,
    notice: Notice,
}

/// See the module.
#[derive(Debug)]
pub struct Controller {
    pub id: u16,
    /// The place of its subsystem in the table; `None` for discovery controllers.
    pub subsystem: Option<usize>,
    pub host_nqn: Box<str>,
    pub host_id: Uuid,
    /// The connections of its queues, by the identifier of the queue.
    pub queues: BTreeMap<u16, u64>,
    keep_alive_ms: u32,
    configuration: u32,
    status: u32,
    io_queues: u16,
    /// The values of features that are plain numbers.
    values: BTreeMap<u8, u32>,
    /// The asynchronous event requests that wait.
    requests: Vec<u16>,
    /// Events that are to be told.
    events: VecDeque<Event>,
    /// Events that were told, and whose log page was not read since.
    masked: Vec<Event>,
    errors: VecDeque<Error>,
    error_count: u64,
    /// Critical warnings that the host was told of.
    warned: u8,
    notices: VecDeque<Noticed>,
    notice_count: u64,
    /// The notices that the host does not want, by namespace, as the bits of the feature.
    notice_masks: BTreeMap<u32, u32>,
    /// The namespaces that have changed since the host read which.
    changed: BTreeSet<u32>,
    access_changes: u64,
}

impl Controller {
    pub fn new(id: u16, subsystem: Option<usize>, host_nqn: &str, host_id: Uuid) -> Controller {
        Controller {
            id,
            subsystem,
            host_nqn: host_nqn.into(),
            host_id,
            queues: BTreeMap::new(),
            keep_alive_ms: 0,
            configuration: 0,
            status: 0,
            io_queues: MAX_IO_QUEUES,
            values: BTreeMap::new(),
            requests: Vec::new(),
            events: VecDeque::new(),
            masked: Vec::new(),
            errors: VecDeque::new(),
            error_count: 0,
            warned: 0,
            notices: VecDeque::new(),
            notice_count: 0,
            notice_masks: BTreeMap::new(),
            changed: BTreeSet::new(),
            access_changes: 0,
        }
    }

    pub fn is_discovery(&self) -> bool {
        self.subsystem.is_none()
    }

    pub fn is_ready(&self) -> bool {
        self.configuration & ENABLE != 0 && self.status & READY != 0
    }

    /// The number of I/O queues that it may have.
    pub fn io_queues(&self) -> u16 {
        if self.is_discovery() { 0 } else { self.io_queues }
    }

    /// Milliseconds without any command after which the host counts as gone; 0: never.
    pub fn keep_alive_ms(&self) -> u32 {
        self.keep_alive_ms
    }

    /// Rounds up to whole units, as the Keep Alive Timer is defined.
    pub fn set_keep_alive(&mut self, ms: u32) {
        self.keep_alive_ms = ms.checked_next_multiple_of(KEEP_ALIVE_UNIT_MS).unwrap_or(u32::MAX);
    }

    /// Property Get (section 6.4 of NVMe Base 2.0).
    pub fn property(&self, command: &Command) -> Answer {
        let wide = command.0[40] & 7;
        let (value, size) = match command.dword(11) {
            CAP => (CAPABILITIES, 1),
            VS => (VERSION.into(), 0),
            CC => (self.configuration.into(), 0),
            CSTS => (self.status.into(), 0),
            _ => return Status::INVALID_FIELD.into(),
        };
        if wide == size { Answer::value(value) } else { Status::INVALID_FIELD.into() }
    }

    /// Property Set. Only the controller configuration may be set.
    pub fn set_property(&mut self, command: &Command) -> (Answer, Turn) {
        let (wide, value) = (command.0[40] & 7, command.dword(12));
        if command.dword(11) != CC || wide != 0 {
            return (Status::INVALID_FIELD.into(), Turn::None);
        }
        let before = std::mem::replace(&mut self.configuration, value);
        let mut turn = Turn::None;
        match (before & ENABLE != 0, value & ENABLE != 0) {
            (false, true) if self.takes(value) => self.status = READY,
            (false, true) => self.status = FATAL,
            (true, false) => {
                self.reset();
                turn = Turn::Reset;
            }
            _ => {}
        }
        if value & SHUTDOWN != 0 && before & SHUTDOWN == 0 {
            self.status = self.status & !SHUTDOWN_STATUS | SHUTDOWN_OCCURS;
            turn = Turn::Shutdown;
        } else if value & SHUTDOWN == 0 && before & SHUTDOWN != 0 {
            self.status &= !SHUTDOWN_STATUS;
        }
        (Answer::value(0), turn)
    }

    /// The shutdown that was asked for is complete.
    pub fn shut_down(&mut self) {
        if self.status & SHUTDOWN_STATUS == SHUTDOWN_OCCURS {
            self.status = self.status & !SHUTDOWN_STATUS | SHUTDOWN_COMPLETE;
        }
    }

    /// A configuration with which the controller can be enabled.
    fn takes(&self, configuration: u32) -> bool {
        let field = |at: u32, bits: u32| configuration >> at & ((1 << bits) - 1);
        let sizes = (field(16, 4), field(20, 4));
        // A discovery controller has no I/O queues, whose entries have sizes.
        let sizes_are_known = sizes == (6, 4) || self.is_discovery();
        // The NVM command set, or all sets that there are.
        matches!(field(4, 3), 0 | 6) && field(7, 4) == 0 && field(11, 3) == 0 && sizes_are_known
    }

    /// A controller level reset: features have their defaults again.
    fn reset(&mut self) {
        self.status = 0;
        self.values.clear();
        self.io_queues = MAX_IO_QUEUES;
        self.requests.clear();
        self.events.clear();
        self.masked.clear();
        self.notices.clear();
        self.notice_masks.clear();
        self.changed.clear();
        self.access_changes = 0;
    }

    /// A namespace has another size.
    pub fn note_namespace(&mut self, namespace: u32) {
        self.changed.insert(namespace);
        if self.wants_events() & NAMESPACE_EVENTS != 0 {
            self.note(NAMESPACE_EVENT);
        }
    }

    /// The discovery log page has changed.
    pub fn note_discovery(&mut self) {
        if self.wants_events() & DISCOVERY_EVENTS != 0 {
            self.note(DISCOVERY_EVENT);
        }
    }

    /// The namespaces are reached in another way than before, of which the host may be told.
    pub fn note_access(&mut self, is_told: bool) {
        self.access_changes += 1;
        if is_told && self.wants_events() & ACCESS_EVENTS != 0 {
            self.note(ACCESS_EVENT);
        }
    }

    /// The number of times that the log page of asymmetric access has changed since the last reset.
    pub fn access_changes(&self) -> u64 {
        self.access_changes
    }

    /// The log page of the namespaces that have changed since it was read.
    pub fn changed_namespaces(&mut self, clears: bool) -> Vec<u8> {
        let mut page = vec![0; 4 * MAX_CHANGED];
        if self.changed.len() > MAX_CHANGED {
            put_u32(&mut page, 0, u32::MAX);
        } else {
            self.changed.iter().enumerate().for_each(|(place, namespace)| put_u32(&mut page, 4 * place, *namespace));
        }
        if clears {
            self.changed.clear();
        }
        page
    }

    /// The notices of reservations that the host does not want, as the bits of the feature.
    pub fn notice_mask(&self, namespace: u32) -> u32 {
        self.notice_masks.get(&namespace).copied().unwrap_or(0)
    }

    pub fn set_notice_mask(&mut self, namespace: u32, mask: u32) {
        self.notice_masks.insert(namespace, mask);
    }

    /// A reservation has changed by another host's command. `true` if this host is to hear of it.
    pub fn note_reservation(&mut self, namespace: u32, notice: Notice) -> bool {
        if self.notice_mask(namespace) >> notice as u32 & 1 != 0 {
            return false;
        }
        self.notice_count += 1;
        self.notices.push_back(Noticed { count: self.notice_count, namespace, notice });
        if self.notices.len() > MAX_NOTICES {
            self.notices.pop_front();
        }
        self.note(RESERVATION_EVENT);
        true
    }

    /// The reservation notification log page: the oldest notice, which is gone when it was read.
    pub fn reservation_log(&mut self, clears: bool) -> Vec<u8> {
        let mut page = vec![0; 64];
        if let Some(Noticed { count, namespace, notice }) = self.notices.front() {
            put_u64(&mut page, 0, *count);
            page[8] = *notice as u8;
            page[9] = (self.notices.len() - 1) as u8;
            put_u32(&mut page, 12, *namespace);
        }
        if clears {
            self.notices.pop_front();
        }
        page
    }

    /// Its page was read, and there are more notices.
    pub fn tell_more_notices(&mut self) {
        if !self.notices.is_empty() {
            self.note(RESERVATION_EVENT);
        }
    }

    /// The write cache is switched off by the host.
    pub fn writes_through(&self) -> bool {
        self.values.get(&feature::WRITE_CACHE) == Some(&0)
    }

    fn default_of(&self, id: u8, has_write_cache: bool) -> Option<u32> {
        let queues = u32::from(self.io_queues) - 1;
        Some(match id {
            feature::KEEP_ALIVE => 0,
            feature::ASYNC_EVENTS => 0,
            _ if self.is_discovery() => return None,
            feature::ARBITRATION | feature::POWER_MANAGEMENT | feature::ERROR_RECOVERY | feature::WRITE_ATOMICITY => 0,
            feature::WRITE_CACHE if has_write_cache => 1,
            feature::QUEUES => queues | queues << 16,
            _ => return None,
        })
    }

    /// Get Features (section 5.15).
    pub fn feature(&self, command: &Command, has_write_cache: bool) -> Answer {
        let (id, select) = (command.dword(10) as u8, command.dword(10) >> 8 & 7);
        if id == feature::HOST_IDENTIFIER && !self.is_discovery() {
            return match (select, command.dword(11) & 1) {
                // Fabrics know the extended host identifier only.
                (0, 1) => Answer::data(self.host_id.to_vec()),
                (3, _) => Answer::value(0),
                _ => Status::INVALID_FIELD.into(),
            };
        }
        let Some(default) = self.default_of(id, has_write_cache) else { return Status::INVALID_FIELD.into() };
        let current = match id {
            feature::KEEP_ALIVE => self.keep_alive_ms,
            _ => self.values.get(&id).copied().unwrap_or(default),
        };
        match select {
            0 => Answer::value(current.into()),
            1 | 2 => Answer::value(default.into()),
            // Changeable; neither saveable nor a namespace's own.
            3 => Answer::value(4),
            _ => Status::INVALID_FIELD.into(),
        }
    }

    /// Set Features (section 5.27). `true` when the terms of the I/O queues have changed.
    pub fn set_feature(&mut self, command: &Command, has_write_cache: bool) -> (Answer, bool) {
        let (id, value) = (command.dword(10) as u8, command.dword(11));
        if command.dword(10) >> 31 != 0 {
            return (Status::NOT_SAVEABLE.into(), false);
        }
        if id == feature::HOST_IDENTIFIER && !self.is_discovery() {
            // It is set by Connect.
            return (Status::COMMAND_SEQUENCE_ERROR.into(), false);
        }
        if self.default_of(id, has_write_cache).is_none() {
            return (Status::INVALID_FIELD.into(), false);
        }
        match id {
            feature::KEEP_ALIVE => self.set_keep_alive(value),
            feature::QUEUES => return (self.set_queues(value), false),
            // There is one power state, and no recovery is limited.
            feature::POWER_MANAGEMENT if value & 0x1F != 0 => return (Status::INVALID_FIELD.into(), false),
            feature::ERROR_RECOVERY if value != 0 => return (Status::INVALID_FIELD.into(), false),
            feature::WRITE_CACHE => {
                let before = self.writes_through();
                self.values.insert(id, value & 1);
                return (Answer::value(0), before != self.writes_through());
            }
            _ => {
                self.values.insert(id, value);
            }
        }
        (Answer::value(0), false)
    }

    fn set_queues(&mut self, value: u32) -> Answer {
        let (submission, completion) = (value & 0xFFFF, value >> 16);
        if submission == 0xFFFF || completion == 0xFFFF {
            return Status::INVALID_FIELD.into();
        }
        if self.queues.keys().any(|queue| *queue > 0) {
            return Status::COMMAND_SEQUENCE_ERROR.into();
        }
        let queues = (submission.min(completion) + 1).min(MAX_IO_QUEUES.into());
        self.io_queues = queues as u16;
        let queues = u64::from(queues - 1);
        Answer::value(queues | queues << 16)
    }

    /// Takes an asynchronous event request; the answer if it is refused.
    pub fn await_event(&mut self, command: &Command) -> Option<Answer> {
        if self.requests.len() >= MAX_EVENT_REQUESTS {
            return Some(Status::EVENT_REQUEST_LIMIT.into());
        }
        self.requests.push(command.id());
        None
    }

    /// Takes back an asynchronous event request. `true` if it was waiting.
    pub fn abort_event_request(&mut self, id: u16) -> bool {
        let before = self.requests.len();
        self.requests.retain(|request| *request != id);
        self.requests.len() < before
    }

    /// The bits of the events that the host wants to hear of.
    pub fn wants_events(&self) -> u32 {
        self.values.get(&feature::ASYNC_EVENTS).copied().unwrap_or(0)
    }

    /// Something has happened.
    pub fn note(&mut self, event: Event) {
        if !self.events.contains(&event) && !self.masked.contains(&event) {
            self.events.push_back(event);
        }
    }

    /// A log page was read, so its events are told again.
    pub fn log_page_was_read(&mut self, log_page: u8) {
        self.masked.retain(|event| event.log_page != log_page);
    }

    /// Critical warnings as of now: the host hears of those that are new and that it wants to hear of.
    pub fn warn(&mut self, warnings: u8) {
        let fresh = warnings & !self.warned & self.wants_events() as u8;
        self.warned = warnings;
        for (bit, information) in [(0, 2), (1, 1), (2, 0), (3, 0)] {
            if fresh & 1 << bit != 0 {
                self.note(Event { kind: 1, information, log_page: 0x02 });
            }
        }
    }

    /// The next event that can be told: the command identifier of a request, and its value.
    pub fn next_event(&mut self) -> Option<(u16, u32)> {
        if self.requests.is_empty() {
            return None;
        }
        let event = self.events.pop_front()?;
        self.masked.push(event);
        Some((self.requests.remove(0), event.value()))
    }

    /// Keeps a failed command in the error log.
    pub fn keep_error(&mut self, queue: u16, failed: Failed) {
        self.error_count += 1;
        self.errors.push_front(Error { count: self.error_count, queue, failed });
        self.errors.truncate(ERROR_ENTRIES);
    }

    /// The number of errors since it was connected.
    pub fn error_count(&self) -> u64 {
        self.error_count
    }

    /// The error information log page.
    pub fn error_log(&self) -> Vec<u8> {
        let mut page = vec![0; ERROR_ENTRIES * 64];
        for (entry, error) in page.chunks_exact_mut(64).zip(&self.errors) {
            let command = &error.failed.command;
            put_u64(entry, 0, error.count);
            put_u16(entry, 8, error.queue);
            put_u16(entry, 10, command.id());
            put_u16(entry, 12, error.failed.status.field());
            // No particular parameter is at fault.
            put_u16(entry, 14, 0xFFFF);
            if error.queue > 0 {
                put_u64(entry, 16, command.first_block());
                put_u32(entry, 24, command.namespace());
            }
            // Transport type TCP.
            entry[29] = 3;
        }
        page
    }
}
