//! The NVMe target that the connections of a server share, with its lock.

use crate::client_bell::ClientBell;
use crate::export::{Backing, Export};
use crate::exported::{Current, Exported};
use crate::kept::{self, KeptError};
use crate::nvme::{Access, Cards, NamespaceEntry, Smart, Subsystem, Target, Uuid};
use crate::registry::Registry;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How far an I/O queue is with the terms.
#[derive(Default)]
pub(crate) struct Standing {
    /// Commands that were checked may be in flight. Set before the terms are looked at.
    active: AtomicBool,
    /// The version of the terms with which all of its commands in flight were checked.
    seen: AtomicU64,
    /// The subsystem, and the host.
    of: Option<(usize, Uuid)>,
}

impl Standing {
    pub fn begin(&self) {
        self.active.store(true, Ordering::SeqCst);
    }

    pub fn seen(&self, terms: u64) {
        self.seen.store(terms, Ordering::SeqCst);
    }

    /// No command is in flight that was checked with older terms, and none will be.
    pub fn is_past(&self, terms: u64) -> bool {
        !self.active.load(Ordering::SeqCst) || self.seen.load(Ordering::SeqCst) >= terms
    }
}

pub(crate) struct Hub {
    target: Mutex<Target>,
    /// Changes when the terms of any queue do.
    terms: AtomicU64,
    /// Milliseconds from `began` to the last command of each controller.
    heard: Mutex<BTreeMap<u16, Arc<AtomicU64>>>,
    /// The I/O queues, by their connections.
    standings: Mutex<BTreeMap<u64, Arc<Standing>>>,
    /// Those that wait for commands of others to end.
    waiters: Mutex<BTreeMap<u64, Arc<ClientBell>>>,
    has_waiters: AtomicBool,
    began: Instant,
}

impl Hub {
    /// A subsystem for each card, with the reservations that have survived.
    pub fn new(exports: &[Export], number: Option<u8>, peers: Vec<SocketAddr>) -> Result<Hub, KeptError> {
        let mut target = Target::new(exports.iter().enumerate().map(subsystem).collect());
        number.into_iter().for_each(|number| target.number(number));
        target.tell_of(peers);
        for (card, path) in exports.iter().enumerate().filter_map(|(card, of)| Some((card, of.reservations.as_ref()?)))
        {
            if let Some(kept) = kept::read(path)? {
                target.restore_reservations(card, &kept);
            }
        }
        Ok(Hub {
            target: Mutex::new(target),
            terms: AtomicU64::new(0),
            heard: Mutex::default(),
            standings: Mutex::default(),
            waiters: Mutex::default(),
            has_waiters: AtomicBool::new(false),
            began: Instant::now(),
        })
    }

    /// Has hosts find the exports that have come, not those that have gone, the sizes of today, and which cards are here.
    /// A connection that has the target sees the exports that belong to it.
    pub fn exports_changed(&self, before: &Exported, now: Exported, current: &Current) -> Result<(), KeptError> {
        let fresh = || now.there().filter(|(place, _)| before.at(*place).is_none());
        let mut kept = Vec::new();
        for (place, path) in fresh().filter_map(|(place, export)| Some((place, export.reservations.as_ref()?))) {
            kept.extend(kept::read(path)?.map(|kept| (place, kept)));
        }
        let mut target = self.target.lock();
        for (place, export) in now.there() {
            if before.at(place).is_some() {
                target.resize(place, blocks_of(export));
                target.set_access(place, access_of(export), now.changes(place).unwrap_or(0));
            } else {
                target.add(subsystem((place, export)));
            }
        }
        kept.iter().for_each(|(place, kept)| target.restore_reservations(*place, kept));
        before.there().filter(|(place, _)| now.at(*place).is_none()).for_each(|(place, _)| target.retire(place));
        current.set(now);
        drop(target);
        self.terms_changed();
        Ok(())
    }

    /// The standing of an I/O queue that knows these terms: its subsystem, and its host.
    pub fn standing(&self, connection: u64, terms: u64, of: Option<(usize, Uuid)>) -> Arc<Standing> {
        let standing = Arc::new(Standing { active: AtomicBool::new(false), seen: AtomicU64::new(terms), of });
        self.standings.lock().insert(connection, Arc::clone(&standing));
        standing
    }

    /// The standings of all queues whose hosts are kept out of a subsystem. A queue has one until its last command has ended,
    /// though its controller be gone.
    pub fn kept_out(&self, target: &Target, subsystem: usize) -> Vec<Arc<Standing>> {
        let is_kept_out = |standing: &&Arc<Standing>| {
            standing.of.is_some_and(|(of, host)| of == subsystem && target.keeps_out(subsystem, &host))
        };
        self.standings.lock().values().filter(is_kept_out).map(Arc::clone).collect()
    }

    /// From now on a connection is woken when a queue has no older commands in flight.
    pub fn wait(&self, connection: u64, bell: &Arc<ClientBell>) {
        self.waiters.lock().insert(connection, Arc::clone(bell));
        self.has_waiters.store(true, Ordering::SeqCst);
    }

    pub fn stop_waiting(&self, connection: u64) {
        let mut waiters = self.waiters.lock();
        waiters.remove(&connection);
        self.has_waiters.store(!waiters.is_empty(), Ordering::SeqCst);
    }

    /// A queue has no commands in flight.
    pub fn rest(&self, standing: &Standing) {
        standing.active.store(false, Ordering::SeqCst);
        self.tell_waiters();
    }

    /// A queue goes on with new terms.
    pub fn tell_waiters(&self) {
        if self.has_waiters.load(Ordering::SeqCst) {
            self.waiters.lock().values().for_each(|bell| bell.wake());
        }
    }

    pub fn target(&self) -> MutexGuard<'_, Target> {
        self.target.lock()
    }

    /// The number of times that terms have changed.
    pub fn terms(&self) -> u64 {
        self.terms.load(Ordering::SeqCst)
    }

    pub fn terms_changed(&self) {
        self.terms.fetch_add(1, Ordering::SeqCst);
    }

    /// The clock of a controller, which all of its connections set.
    pub fn clock(&self, controller: u16) -> Clock {
        let heard = Arc::clone(self.heard.lock().entry(controller).or_default());
        let clock = Clock { heard, began: self.began };
        clock.heard(Instant::now());
        clock
    }

    /// Ends the queue of a connection, and what ends with it.
    pub fn leave(&self, controller: u16, queue: u16, connection: u64, registry: &Registry) {
        let ended = self.target.lock().leave(controller, queue, connection);
        self.standings.lock().remove(&connection);
        self.stop_waiting(connection);
        self.tell_waiters();
        if queue == 0 {
            self.heard.lock().remove(&controller);
        }
        registry.cut_off_some(&ended);
    }
}

/// The time of the last command of a controller, on any of its connections.
pub(crate) struct Clock {
    heard: Arc<AtomicU64>,
    began: Instant,
}

impl Clock {
    pub fn heard(&self, now: Instant) {
        let ms = now.saturating_duration_since(self.began).as_millis() as u64;
        if self.heard.load(Ordering::Relaxed) < ms {
            self.heard.store(ms, Ordering::Relaxed);
        }
    }

    pub fn last(&self) -> Instant {
        self.began + Duration::from_millis(self.heard.load(Ordering::Relaxed))
    }
}

fn subsystem((card, export): (usize, &Export)) -> Subsystem {
    let uuid: Uuid = export.id;
    let serial = uuid.iter().take(10).map(|byte| format!("{byte:02x}")).collect();
    Subsystem {
        nqn: Subsystem::nqn_of(&uuid),
        serial,
        model: format!("Flashrig {}", export.name),
        firmware: env!("CARGO_PKG_VERSION").into(),
        has_write_cache: export.has_volatile_cache(),
        is_shared: export.is_shared(),
        access: access_of(export),
        namespaces: vec![NamespaceEntry {
            id: 1,
            card,
            blocks: blocks_of(export),
            uuid,
            read_only: export.read_only,
            keeps_reservations: export.reservations.is_some(),
            backing: 0,
        }],
    }
}

fn access_of(export: &Export) -> Access {
    match &export.backing {
        Backing::Card { .. } | Backing::Disk(_) => Access::Optimized,
        Backing::Elsewhere(card) if card.is_changing => Access::Change,
        Backing::Elsewhere(_) => Access::Inaccessible,
    }
}

fn blocks_of(export: &Export) -> u64 {
    export.size_bytes() / u64::from(crate::nvme::BLOCK_BYTES)
}

/// The cards of a server, as the target asks for them.
pub(crate) struct OfExports<'a>(pub &'a Exported);

impl Cards for OfExports<'_> {
    fn smart(&self, card: usize) -> Option<Smart> {
        let health = self.0.at(card)?.card()?.health()?;
        Some(Smart {
            critical_warning: health.critical_warning.bits(),
            available_spare: health.available_spare,
            available_spare_threshold: health.available_spare_threshold,
            percentage_used: health.percentage_used,
            data_units_read: health.data_units_read,
            data_units_written: health.data_units_written,
            host_read_commands: health.host_read_commands,
            host_write_commands: health.host_write_commands,
            controller_busy_time: health.controller_busy_time,
            power_cycles: health.power_cycles,
            power_on_hours: health.power_on_hours,
            unsafe_shutdowns: health.unsafe_shutdowns,
            media_errors: health.media_errors,
        })
    }

    fn used_blocks(&self, card: usize) -> u64 {
        self.0.at(card).map_or(0, |export| export.used_bytes() / u64::from(crate::nvme::BLOCK_BYTES))
    }

    fn keep_reservations(&self, card: usize, bytes: &[u8]) -> bool {
        let Some(path) = self.0.at(card).and_then(|export| export.reservations.as_ref()) else { return true };
        kept::write(path, bytes)
            .inspect_err(|error| tracing::error!(path = %path.display(), %error, "reservations can't be kept"))
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvme::{COMMAND_BYTES, Command};

    struct NoCards;

    impl Cards for NoCards {
        fn smart(&self, _: usize) -> Option<Smart> {
            None
        }

        fn used_blocks(&self, _: usize) -> u64 {
            0
        }

        fn keep_reservations(&self, _: usize, _: &[u8]) -> bool {
            true
        }
    }

    /// A hub with one subsystem, and a host's controller with an I/O queue on the connection of its number.
    fn connect(hub: &Hub, number: u8) -> (u16, Arc<Standing>) {
        let mut data = vec![0; 1024];
        data[0..16].fill(number);
        data[16..18].fill(0xFF);
        let nqn = hub.target().subsystems().next().unwrap().nqn.clone();
        data[256..256 + nqn.len()].copy_from_slice(nqn.as_bytes());
        data[512..521].copy_from_slice(b"nqn.test.");
        let mut connect = [0; COMMAND_BYTES];
        (connect[0], connect[4], connect[44]) = (0x7F, 1, 31);
        let (connected, _) = hub.target().connect(&Command(connect), &data, 100 + u64::from(number)).unwrap();
        let of = hub.target().host_of(connected.controller);
        (connected.controller, hub.standing(number.into(), hub.terms(), of))
    }

    fn reserve(hub: &Hub, controller: u16, (opcode, dword): (u8, u32), keys: [u64; 2]) -> Vec<Arc<Standing>> {
        let mut command = [0; COMMAND_BYTES];
        (command[0], command[4]) = (opcode, 1);
        command[40..44].copy_from_slice(&dword.to_le_bytes());
        let reserved =
            hub.target().reserve(controller, &Command(command), &keys.map(u64::to_le_bytes).concat(), &NoCards);
        assert_eq!(reserved.status, crate::nvme::Status::SUCCESS);
        if reserved.new_terms {
            hub.terms_changed();
        }
        reserved.waits_in.map(|place| hub.kept_out(&hub.target(), place)).unwrap_or_default()
    }

    const REGISTER: (u8, u32) = (0x0D, 0);
    const ACQUIRE: (u8, u32) = (0x11, 2 << 8);
    const PREEMPT_AND_ABORT: (u8, u32) = (0x11, 2 << 8 | 2);

    fn hub() -> Hub {
        let hub = Hub::new(&[], None, Vec::new()).unwrap();
        let namespaces = vec![NamespaceEntry {
            id: 1,
            card: 0,
            blocks: 8,
            uuid: [9; 16],
            read_only: false,
            keeps_reservations: true,
            backing: 0,
        }];
        let nqn = Subsystem::nqn_of(&[9; 16]);
        let of = Subsystem { nqn, namespaces, ..Subsystem::default() };
        hub.target().add(of);
        hub
    }

    fn waits(hub: &Hub, standings: &[Arc<Standing>]) -> bool {
        !standings.iter().all(|standing| standing.is_past(hub.terms()))
    }

    #[test]
    fn a_preempt_waits_for_commands_whose_controller_has_ended() {
        let hub = hub();
        let (one, at_work) = connect(&hub, 1);
        reserve(&hub, one, REGISTER, [0, 0xA]);
        reserve(&hub, one, ACQUIRE, [0xA, 0]);
        at_work.begin();
        // Its admin queue has ended, and the controller with it; the last write is still carried out.
        hub.target().leave(one, 0, 101);
        let (two, _) = connect(&hub, 2);
        reserve(&hub, two, REGISTER, [0, 0xB]);
        let standings = reserve(&hub, two, PREEMPT_AND_ABORT, [0xB, 0xA]);
        assert!(waits(&hub, &standings));
        hub.rest(&at_work);
        assert!(!waits(&hub, &standings));
    }

    #[test]
    fn a_preempt_waits_for_commands_of_a_host_that_was_preempted_before() {
        let hub = hub();
        let [(one, at_work), (two, _), (three, _)] = [1, 2, 3].map(|number| connect(&hub, number));
        for (of, key) in [(one, 0xA), (two, 0xB), (three, 0xC)] {
            reserve(&hub, of, REGISTER, [0, key]);
        }
        reserve(&hub, one, ACQUIRE, [0xA, 0]);
        at_work.begin();
        assert!(waits(&hub, &reserve(&hub, two, PREEMPT_AND_ABORT, [0xB, 0xA])));
        let standings = reserve(&hub, three, PREEMPT_AND_ABORT, [0xC, 0xB]);
        assert!(waits(&hub, &standings));
        // Nor has one that preempts itself, to hear of the end of what it has lost the answer of.
        assert!(waits(&hub, &reserve(&hub, three, PREEMPT_AND_ABORT, [0xC, 0xC])));
        hub.rest(&at_work);
        assert!(!waits(&hub, &standings));
    }
}
