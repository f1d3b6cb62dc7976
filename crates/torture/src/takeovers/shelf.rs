//! A module on a shelf: the reservations of the NVMe target, and bytes that are durable when a write is answered.

use super::flaw::Flaw;
use super::words::{Ask, Contents, Told};
use serve::nvme;
use session::ownership::{Answer, Command, HostId, Key, Report};

/// Reservation commands, as they come over the wire (NVMe Base 2.0, section 7).
mod wire {
    pub const REGISTER: u8 = 0x0D;
    pub const ACQUIRE: u8 = 0x11;
    /// The type Exclusive Access.
    pub const KIND: u32 = 2;
    pub const PREEMPT_AND_ABORT: u32 = 2;
    pub const REPLACE: u32 = 2;
    /// The state survives a loss of power.
    pub const PERSISTS: u32 = 3 << 30;
}

/// A command that was accepted and has not ended.
#[derive(Clone, Debug)]
struct Running {
    number: u64,
    connection: usize,
    host: HostId,
    request: u32,
    ask: Ask,
    /// Its connection has ended: it is carried out all the same, and nobody is told.
    is_cut: bool,
}

/// A preempt that waits for commands.
#[derive(Clone, Debug)]
struct Waiting {
    connection: usize,
    request: u32,
    left: Vec<u64>,
}

/// An answer for a connection.
pub struct Answered {
    pub connection: usize,
    pub request: u32,
    pub told: Told,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Shelf {
    pub is_powered: bool,
    pub reservations: nvme::Reservations,
    pub contents: Contents,
    running: Vec<Running>,
    waiting: Vec<Waiting>,
    next: u64,
    /// The command that was accepted last.
    pub accepted: Option<u64>,
    /// Preempts that had to wait, commands that met a reservation, and writes of cut connections that were carried out.
    pub waited: u64,
    pub kept_out: u64,
    pub carried_out_late: u64,
}

impl Shelf {
    pub fn new() -> Shelf {
        Shelf { is_powered: true, ..Shelf::default() }
    }

    /// A message has arrived. The answer, if there is one at once; otherwise a command was accepted, or a preempt waits.
    pub fn arrive(
        &mut self,
        connection: usize,
        host: HostId,
        request: u32,
        ask: Ask,
        flaw: Option<Flaw>,
    ) -> Option<Told> {
        self.accepted = None;
        let command = match ask {
            Ask::Reserve(command) => command,
            _ => {
                let (reads, writes) = self.reservations.conflicts(&host);
                if if ask == Ask::Read { reads } else { writes } {
                    self.kept_out += 1;
                    return Some(Told::Conflict);
                }
                let number = self.next;
                self.next += 1;
                self.running.push(Running { number, connection, host, request, ask, is_cut: false });
                self.accepted = Some(number);
                return None;
            }
        };
        if command == Command::Report {
            return Some(Told::Reserved(Answer::Report(self.report())));
        }
        let (bytes, data) = encoded(command);
        let meant = match (command, flaw) {
            (Command::Preempt { of, .. }, Some(Flaw::AbortWaitsForItsOwn)) => {
                self.report().registrants.into_iter().filter(|(_, key)| *key == of).collect()
            }
            _ => Vec::new(),
        };
        match self.reservations.change(host, &bytes, &data, true) {
            Ok(_) => {}
            Err(nvme::Status::RESERVATION_CONFLICT) => return Some(Told::Reserved(Answer::Conflict)),
            Err(_) => return Some(Told::Reserved(Answer::Failed)),
        }
        if let Command::Preempt { .. } = command {
            let is_waited_for = |one: &&Running| match flaw {
                Some(Flaw::AbortDoesNotWait) => false,
                Some(Flaw::AbortWaitsForItsOwn) => {
                    one.host != host && meant.iter().any(|(meant, _)| *meant == one.host)
                }
                Some(Flaw::CutConnectionsForgotten) => self.reservations.conflicts(&one.host).1 && !one.is_cut,
                _ => self.reservations.conflicts(&one.host).1,
            };
            let left: Vec<u64> = self.running.iter().filter(is_waited_for).map(|one| one.number).collect();
            if !left.is_empty() {
                self.waited += 1;
                self.waiting.push(Waiting { connection, request, left });
                return None;
            }
        }
        Some(Told::Reserved(Answer::Done))
    }

    /// A command ends. The answers that can be given now.
    pub fn end(&mut self, number: u64) -> Vec<Answered> {
        let Some(at) = self.running.iter().position(|one| one.number == number) else { return Vec::new() };
        let one = self.running.remove(at);
        self.apply(one.ask);
        let mut answers = Vec::new();
        if one.is_cut {
            self.carried_out_late += 1;
        } else {
            let told = match one.ask {
                Ask::Read => Told::Contents(Box::new(self.contents.clone())),
                _ => Told::Done,
            };
            answers.push(Answered { connection: one.connection, request: one.request, told });
        }
        self.waiting.iter_mut().for_each(|waiting| waiting.left.retain(|left| *left != number));
        self.waiting.retain(|waiting| {
            let told = Told::Reserved(Answer::Done);
            if waiting.left.is_empty() {
                answers.push(Answered { connection: waiting.connection, request: waiting.request, told });
            }
            !waiting.left.is_empty()
        });
        answers
    }

    fn apply(&mut self, ask: Ask) {
        match ask {
            Ask::Write { slot, stripe } => self.contents.slots[usize::from(slot)] = Some(stripe),
            Ask::Header { stamp, stale } => self.contents.header = self.contents.header.max((stamp, stale)),
            Ask::Clear => self.contents.slots = Default::default(),
            Ask::Read | Ask::Reserve(_) => {}
        }
    }

    /// A connection has ended.
    pub fn close(&mut self, connection: usize) {
        self.waiting.retain(|waiting| waiting.connection != connection);
        for one in self.running.iter_mut().filter(|one| one.connection == connection) {
            one.is_cut = true;
        }
    }

    /// Power is cut. `is_done` says of each write in flight whether it has reached the medium.
    pub fn cut(&mut self, mut is_done: impl FnMut() -> bool, flaw: Option<Flaw>) {
        self.is_powered = false;
        for one in std::mem::take(&mut self.running) {
            if is_done() {
                self.apply(one.ask);
            }
        }
        self.waiting.clear();
        let kept = self.reservations.to_bytes();
        self.reservations = nvme::Reservations::of_bytes(&kept).expect("a module reads what it has written");
        if flaw == Some(Flaw::ReservationsLost) {
            self.reservations = nvme::Reservations::default();
        }
    }

    fn report(&self) -> Report {
        let page = self.reservations.report(|_| Vec::new());
        let u64_at = |at: usize| u64::from_le_bytes(page[at..at + 8].try_into().expect("eight bytes"));
        let count = usize::from(u16::from_le_bytes([page[5], page[6]]));
        let entry = |number: usize| {
            let at = 64 * (number + 1);
            let host: HostId = page[at + 16..at + 32].try_into().expect("sixteen bytes");
            (host, Key(u64_at(at + 8)), page[at + 2] & 1 != 0)
        };
        let entries = (0..count).map(entry);
        Report {
            generation: u64_at(0) as u32,
            persists: page[9] & 1 != 0,
            registrants: entries.clone().map(|(host, key, _)| (host, key)).collect(),
            holder: entries.clone().find(|entry| entry.2).map(|(host, key, _)| (host, key)),
        }
    }
}

/// A command as the target takes it.
fn encoded(command: Command) -> (nvme::Command, [u8; 16]) {
    let (opcode, dword, first, second) = match command {
        Command::Report => unreachable!("a report changes nothing"),
        Command::Register { key } => (wire::REGISTER, wire::PERSISTS, 0, key.0),
        Command::Replace { old, new } => (wire::REGISTER, wire::REPLACE, old.0, new.0),
        Command::Acquire { key } => (wire::ACQUIRE, wire::KIND << 8, key.0, 0),
        Command::Preempt { key, of } => (wire::ACQUIRE, wire::KIND << 8 | wire::PREEMPT_AND_ABORT, key.0, of.0),
    };
    let mut bytes = [0; nvme::COMMAND_BYTES];
    bytes[0] = opcode;
    bytes[40..44].copy_from_slice(&dword.to_le_bytes());
    let mut data = [0; 16];
    data[..8].copy_from_slice(&first.to_le_bytes());
    data[8..].copy_from_slice(&second.to_le_bytes());
    (nvme::Command(bytes), data)
}
