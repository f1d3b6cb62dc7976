//! Reservations of a namespace (NVMe Base 2.0, sections 7.2 to 7.5 and 8.19): the hosts that are registered, and the one that
//! holds it.
//!
//! A decision is made on the whole state at once and then holds, so two hosts that preempt each other get an order.

use crate::nvme::bytes::{array_at, put, put_u16, put_u32, put_u64, u16_at, u32_at, u64_at};
use crate::nvme::command::{Command, io};
use crate::nvme::status::Status;
use crate::nvme::subsystem::Uuid;

/// The highest number of registered hosts of a namespace.
pub const MAX_REGISTRANTS: usize = 128;

/// A registered host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registrant {
    pub host: Uuid,
    pub key: u64,
}

/// A type of reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the specification")]
pub enum Kind {
    WriteExclusive = 1,
    ExclusiveAccess = 2,
    WriteExclusiveRegistrants = 3,
    ExclusiveAccessRegistrants = 4,
    WriteExclusiveAll = 5,
    ExclusiveAccessAll = 6,
}

impl Kind {
    pub(crate) fn of(code: u32) -> Option<Kind> {
        Some(match code {
            1 => Kind::WriteExclusive,
            2 => Kind::ExclusiveAccess,
            3 => Kind::WriteExclusiveRegistrants,
            4 => Kind::ExclusiveAccessRegistrants,
            5 => Kind::WriteExclusiveAll,
            6 => Kind::ExclusiveAccessAll,
            _ => return None,
        })
    }

    /// All registered hosts hold it.
    fn is_of_all(self) -> bool {
        matches!(self, Kind::WriteExclusiveAll | Kind::ExclusiveAccessAll)
    }

    /// Registered hosts may do what the holder may.
    fn admits_registrants(self) -> bool {
        !matches!(self, Kind::WriteExclusive | Kind::ExclusiveAccess)
    }

    fn keeps_from_reading(self) -> bool {
        matches!(self, Kind::ExclusiveAccess | Kind::ExclusiveAccessRegistrants | Kind::ExclusiveAccessAll)
    }
}

/// A change that a host hears of, by the reservation notification log page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    RegistrationPreempted = 1,
    ReservationReleased = 2,
    ReservationPreempted = 3,
}

/// The consequences of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Hosts may do more or less than before.
    pub new_terms: bool,
    /// The state that survives a loss of power has changed.
    pub to_keep: bool,
    /// The hosts that hear of something.
    pub notices: Vec<(Uuid, Notice)>,
    /// Commands in flight of hosts that are kept out have to end before this command is answered.
    pub aborts: bool,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reservations {
    generation: u32,
    registrants: Vec<Registrant>,
    /// The type, and the holder; of types that all registrants hold, the host that acquired it.
    held: Option<(Kind, Uuid)>,
    persists: bool,
}

const REGISTER: u32 = 0;
const UNREGISTER: u32 = 1;
const REPLACE: u32 = 2;
const ACQUIRE: u32 = 0;
const PREEMPT: u32 = 1;
const PREEMPT_AND_ABORT: u32 = 2;
const RELEASE: u32 = 0;
const CLEAR: u32 = 1;

impl Reservations {
    /// The bytes that a command's data have at least.
    pub fn data_bytes(opcode: u8) -> u32 {
        if opcode == io::RESERVATION_RELEASE { 8 } else { 16 }
    }

    fn key_of(&self, host: &Uuid) -> Option<u64> {
        self.registrants.iter().find(|registrant| registrant.host == *host).map(|registrant| registrant.key)
    }

    /// A host holds the reservation.
    fn holds(&self, host: &Uuid) -> bool {
        match self.held {
            Some((kind, _)) if kind.is_of_all() => self.key_of(host).is_some(),
            Some((_, holder)) => holder == *host,
            None => false,
        }
    }

    /// Whether a host is kept from reading, and from writing.
    pub fn conflicts(&self, host: &Uuid) -> (bool, bool) {
        let Some((kind, _)) = self.held else { return (false, false) };
        let admitted = self.holds(host) || kind.admits_registrants() && self.key_of(host).is_some();
        (!admitted && kind.keeps_from_reading(), !admitted)
    }

    /// The state survives a loss of power.
    pub fn persists(&self) -> bool {
        self.persists
    }

    /// Says whether the state is to survive a loss of power. `true` if that has changed.
    pub fn set_persists(&mut self, persists: bool) -> bool {
        std::mem::replace(&mut self.persists, persists) != persists
    }

    /// Carries out a Register, Acquire or Release. `may_persist` says whether there is a place for what is to survive.
    pub fn change(&mut self, host: Uuid, command: &Command, data: &[u8], may_persist: bool) -> Result<Change, Status> {
        let action = command.dword(10) & 7;
        let ignores_key = command.dword(10) >> 3 & 1 != 0;
        let key = u64_at(data, 0);
        let before = self.clone();
        let mut change = match command.opcode() {
            io::RESERVATION_REGISTER => {
                let persist = command.dword(10) >> 30;
                if persist == 1 || persist == 3 && !may_persist {
                    return Err(Status::INVALID_FIELD);
                }
                let new_key = u64_at(data, 8);
                let change = self.register(host, action, ignores_key, key, new_key)?;
                self.persists = if persist == 0 { self.persists } else { persist == 3 };
                change
            }
            io::RESERVATION_ACQUIRE => {
                let kind = Kind::of(command.dword(10) >> 8 & 0xFF).ok_or(Status::INVALID_FIELD)?;
                self.proves(&host, ignores_key, key)?;
                self.acquire(host, action, kind, u64_at(data, 8))?
            }
            _ => {
                self.proves(&host, ignores_key, key)?;
                self.release(host, action, command.dword(10) >> 8 & 0xFF)?
            }
        };
        change.new_terms = self.registrants != before.registrants || self.held != before.held;
        change.to_keep = (self.persists || before.persists) && *self != before;
        Ok(change)
    }

    /// The host is registered, and knows its key.
    fn proves(&self, host: &Uuid, ignores_key: bool, key: u64) -> Result<(), Status> {
        match self.key_of(host) {
            // Since revision 1.3 only a Register may ignore the key.
            _ if ignores_key => Err(Status::INVALID_FIELD),
            Some(own) if own == key => Ok(()),
            _ => Err(Status::RESERVATION_CONFLICT),
        }
    }

    fn register(
        &mut self,
        host: Uuid,
        action: u32,
        ignores_key: bool,
        key: u64,
        new_key: u64,
    ) -> Result<Change, Status> {
        let mut change = Change::default();
        match (action, self.key_of(&host)) {
            (REGISTER, None) if self.registrants.len() >= MAX_REGISTRANTS => return Err(Status::RESERVATION_CONFLICT),
            (REGISTER, None) => self.registrants.push(Registrant { host, key: new_key }),
            // The same key again changes nothing.
            (REGISTER, Some(own)) if own == new_key => {}
            (REPLACE, Some(own)) if own == key || ignores_key => {
                let mine = self.registrants.iter_mut().find(|registrant| registrant.host == host);
                mine.expect("it has a key").key = new_key;
            }
            (UNREGISTER, Some(own)) if own == key || ignores_key => self.remove(host, &mut change),
            (REGISTER | UNREGISTER | REPLACE, _) => return Err(Status::RESERVATION_CONFLICT),
            _ => return Err(Status::INVALID_FIELD),
        }
        self.generation = self.generation.wrapping_add(1);
        Ok(change)
    }

    /// Takes a host off the list, and its reservation with it.
    fn remove(&mut self, host: Uuid, change: &mut Change) {
        let held = self.holds(&host);
        self.registrants.retain(|registrant| registrant.host != host);
        match self.held {
            // The last one of those that hold it.
            Some((kind, _)) if kind.is_of_all() && self.registrants.is_empty() => self.held = None,
            Some((kind, _)) if held && !kind.is_of_all() => {
                self.held = None;
                if kind.admits_registrants() {
                    self.tell_others(host, Notice::ReservationReleased, change);
                }
            }
            _ => {}
        }
    }

    fn tell_others(&self, host: Uuid, notice: Notice, change: &mut Change) {
        let others = self.registrants.iter().filter(|registrant| registrant.host != host);
        change.notices.extend(others.map(|registrant| (registrant.host, notice)));
    }

    fn acquire(&mut self, host: Uuid, action: u32, kind: Kind, preempted: u64) -> Result<Change, Status> {
        match action {
            ACQUIRE => match self.held {
                None => {
                    self.held = Some((kind, host));
                    Ok(Change::default())
                }
                // The holder may ask again for what it has.
                Some((own, _)) if self.holds(&host) && own == kind => Ok(Change::default()),
                Some(_) => Err(Status::RESERVATION_CONFLICT),
            },
            PREEMPT | PREEMPT_AND_ABORT => self.preempt(host, kind, preempted, action == PREEMPT_AND_ABORT),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    fn preempt(&mut self, host: Uuid, kind: Kind, key: u64, aborts: bool) -> Result<Change, Status> {
        let mut change = Change::default();
        let of_all = self.held.is_some_and(|(kind, _)| kind.is_of_all());
        // The key 0 names all registrants, where all of them hold the reservation.
        let takes_over = match self.held {
            None => false,
            Some(_) if of_all => key == 0,
            Some((_, holder)) => self.key_of(&holder) == Some(key),
        };
        if key == 0 && !of_all {
            return Err(Status::INVALID_FIELD);
        }
        let is_meant = |registrant: &Registrant| key == 0 && of_all || registrant.key == key;
        if !self.registrants.iter().any(is_meant) {
            return Err(Status::RESERVATION_CONFLICT);
        }
        let gone: Vec<Registrant> =
            self.registrants.iter().copied().filter(|one| one.host != host && is_meant(one)).collect();
        self.registrants.retain(|one| one.host == host || !is_meant(one));
        if takes_over {
            let (before, _) = self.held.replace((kind, host)).expect("it was held");
            // Those that keep their registration hear of a type that is another one.
            if before.admits_registrants() && before != kind {
                self.tell_others(host, Notice::ReservationReleased, &mut change);
            }
        }
        change.notices.extend(gone.iter().map(|registrant| (registrant.host, Notice::RegistrationPreempted)));
        change.aborts = aborts;
        self.generation = self.generation.wrapping_add(1);
        Ok(change)
    }

    fn release(&mut self, host: Uuid, action: u32, kind: u32) -> Result<Change, Status> {
        let mut change = Change::default();
        match action {
            RELEASE => match self.held {
                Some((own, _)) if self.holds(&host) => {
                    if own as u32 != kind {
                        return Err(Status::INVALID_FIELD);
                    }
                    self.held = None;
                    if own.admits_registrants() {
                        self.tell_others(host, Notice::ReservationReleased, &mut change);
                    }
                }
                // A host that holds nothing has nothing to release.
                _ => {}
            },
            CLEAR => {
                self.tell_others(host, Notice::ReservationPreempted, &mut change);
                (self.registrants, self.held) = (Vec::new(), None);
                self.generation = self.generation.wrapping_add(1);
            }
            _ => return Err(Status::INVALID_FIELD),
        }
        Ok(change)
    }

    /// The extended reservation status (section 7.5.1). `controller` finds the controllers of a host.
    pub fn report(&self, controller: impl Fn(&Uuid) -> Vec<u16>) -> Vec<u8> {
        let mut entries = Vec::new();
        for registrant in &self.registrants {
            let mut ids = controller(&registrant.host);
            if ids.is_empty() {
                // The host is registered, and not connected.
                ids.push(0xFFFF);
            }
            entries.extend(ids.into_iter().map(|id| (id, registrant)));
        }
        let mut page = vec![0; 64 + entries.len() * 64];
        put_u32(&mut page, 0, self.generation);
        page[4] = self.held.map_or(0, |(kind, _)| kind as u8);
        put_u16(&mut page, 5, entries.len() as u16);
        page[9] = u8::from(self.persists);
        for (entry, (id, registrant)) in page[64..].chunks_exact_mut(64).zip(entries) {
            put_u16(entry, 0, id);
            entry[2] = u8::from(self.holds(&registrant.host));
            put_u64(entry, 8, registrant.key);
            put(entry, 16, &registrant.host);
        }
        page
    }
}

/// The reservations that survive a loss of power, as they lie in a file.
///
/// ```text
///  0          4         8            12     13     14..16   16            32 + 24 n
/// ┌──────────┬─────────┬────────────┬──────┬──────┬────────┬─────────────┬─────────────────────────────┬────────┐
/// │ "FRSV"   │ version │ generation │ type │ kept │ n      │ holder      │ n times: host (16), key (8) │ CRC32C │
/// └──────────┴─────────┴────────────┴──────┴──────┴────────┴─────────────┴─────────────────────────────┴────────┘
/// ```
impl Reservations {
    const MAGIC: [u8; 4] = *b"FRSV";
    const VERSION: u32 = 1;
    const HEAD_BYTES: usize = 32;

    /// The bytes for the file. Nothing is kept of reservations that do not survive.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let none = Reservations::default();
        let kept = if self.persists { self } else { &none };
        let mut bytes = vec![0; Self::HEAD_BYTES + kept.registrants.len() * 24];
        put(&mut bytes, 0, &Self::MAGIC);
        put_u32(&mut bytes, 4, Self::VERSION);
        put_u32(&mut bytes, 8, kept.generation);
        let (kind, holder) = kept.held.map_or((0, [0; 16]), |(kind, holder)| (kind as u8, holder));
        (bytes[12], bytes[13]) = (kind, u8::from(kept.persists));
        put_u16(&mut bytes, 14, kept.registrants.len() as u16);
        put(&mut bytes, 16, &holder);
        for (entry, registrant) in bytes[Self::HEAD_BYTES..].chunks_exact_mut(24).zip(&kept.registrants) {
            put(entry, 0, &registrant.host);
            put_u64(entry, 16, registrant.key);
        }
        let sum = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The reservations in a file; `None` if it holds none that a server has written.
    #[must_use]
    pub fn of_bytes(whole: &[u8]) -> Option<Reservations> {
        let bytes = whole;
        let body = bytes.len().checked_sub(4).filter(|body| *body >= Self::HEAD_BYTES)?;
        let sum = u32_at(bytes, body);
        let bytes = &bytes[..body];
        if crc32c::crc32c(bytes) != sum || bytes[..4] != Self::MAGIC || u32_at(bytes, 4) != Self::VERSION {
            return None;
        }
        let count = usize::from(u16_at(bytes, 14));
        if bytes.len() != Self::HEAD_BYTES + count * 24 || count > MAX_REGISTRANTS || bytes[13] > 1 {
            return None;
        }
        let entries = bytes[Self::HEAD_BYTES..].chunks_exact(24);
        let registrants: Vec<Registrant> =
            entries.map(|entry| Registrant { host: array_at(entry, 0), key: u64_at(entry, 16) }).collect();
        let held = match bytes[12] {
            0 => None,
            code => Some((Kind::of(code.into())?, array_at(bytes, 16))),
        };
        let holder_is_registered = held.is_none_or(|(kind, holder): (Kind, Uuid)| {
            let mut hosts = registrants.iter().map(|registrant| registrant.host);
            if kind.is_of_all() { hosts.next().is_some() } else { hosts.any(|host| host == holder) }
        });
        let persists = bytes[13] == 1;
        let found = Reservations { generation: u32_at(bytes, 8), registrants, held, persists };
        (holder_is_registered && found.to_bytes() == whole).then_some(found)
    }
}
