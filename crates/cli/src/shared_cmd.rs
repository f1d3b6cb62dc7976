//! `flashrig serve --controller`: a controller of a card that others serve as well. It shows the card to hosts all the time,
//! and serves it while it owns it.

use crate::args::ServeArgs;
use crate::cancel;
use crate::card_dir::CardDir;
use crate::error::{Failure, ServeFailure};
use crate::server_log;
use crate::serving::{
    Doors, Operators, Running, can_look, explains, operators, tell_addresses, tell_volumes, tells_start, timing,
};
use crate::shared_card::SharedCard;
use crate::ublk_disks::UblkDisks;
use crate::units::capacity;
use control::{ControlServer, Controller, Ownership, Part};
use format::CardId;
use live::{Live, Start};
use parking_lot::Mutex;
use serve::remote::{Claim, Contender, Decision, End, PeerExport, Peers, RemoteOptions, ShelfAddress, Standing};
use serve::{Backing, Elsewhere, Export, Server, Services};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// How often it is looked whether the server is to end, or to release the card, and whether the card has stopped.
const LOOKS: Duration = Duration::from_millis(50);
/// The time that another controller has to take a card that an operator wants to be elsewhere, and the time after which a
/// card that could not be opened, or a module that could not be put in, is tried again.
const AFTER_RELEASE: Duration = Duration::from_secs(5);
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// The time for requests in flight to be answered at an orderly end; their clients are cut off then.
const LAST_ANSWERS: Duration = Duration::from_secs(10);
/// The time between two looks at whether any connection has the card.
const LOOKS_AT_LAST: Duration = Duration::from_millis(2);

pub fn serve(args: &ServeArgs, dir: &Path, number: u8) -> Result<ExitCode, Failure> {
    let card = SharedCard::new(CardDir::open(dir)?, number)?;
    let mut doors = Doors::of(args)?;
    doors.services = Services { controller_number: Some(number), peers: args.peer.clone(), ..doors.services };
    // The first owner would find out only when it begins to own the card.
    can_look(args, &doors)?;
    cancel::listen()?;
    server_log::begin(&args.log);
    let start = Start { timing: timing(args), explains: explains(args), ..card.dir.start(args.seed) };
    let whole = Export {
        name: card.dir.name(),
        id: start.id.unwrap_or(CardId([0; 16])).0,
        // Those of hosts would not be known to the next owner.
        reservations: None,
        description: card.dir.profile.title().into(),
        backing: elsewhere(card.dir.user_bytes, false),
        read_only: args.read_only,
        lease: Some(Arc::new(NoLease)),
    };
    // Only the card itself says which volumes it has.
    let known = if card.dir.has_volumes { Vec::new() } else { vec![whole.clone()] };
    let server = Arc::new(Server::start(known.clone(), &doors.services, doors.security.clone(), doors.limits)?);
    eprintln!(
        "flashrig: {}: {}, {}, controller {number} of a shared card of {} modules",
        whole.name,
        whole.description,
        capacity(card.dir.user_bytes),
        card.modules()
    );
    tell_addresses(&server, &known);
    let socket = args.control.clone().unwrap_or_else(|| dir.join(control::SOCKET_IN_DIR));
    let part = Arc::new(PartOfThis {
        number,
        modules: card.modules(),
        contender: Mutex::default(),
        is_to_release: AtomicBool::new(false),
    });
    let disks = Arc::new(UblkDisks::default());
    let mut shared = Shared {
        args,
        card,
        start,
        doors,
        whole,
        known,
        server,
        disks,
        socket,
        part,
        peers: None,
        standby: None,
        owned: None,
    };
    eprintln!("flashrig: flashrig ctl {} ownership", shared.socket.display());
    let ended = shared.run();
    // Nothing is answered any more, whatever has happened.
    shared.lose();
    shared.server.stop();
    ended.map(|()| ExitCode::SUCCESS)
}

fn elsewhere(size_bytes: u64, is_changing: bool) -> Backing {
    Backing::Elsewhere(Elsewhere { size_bytes, has_volatile_cache: false, is_changing })
}

/// Exports as hosts see them while the card is elsewhere.
fn as_elsewhere(exports: &[Export]) -> Vec<Export> {
    let of_export = |export: &Export| Export {
        backing: elsewhere(export.size_bytes(), false),
        lease: Some(Arc::new(NoLease)),
        ..export.clone()
    };
    exports.iter().map(of_export).collect()
}

/// The lease of a card that is elsewhere.
struct NoLease;

impl serve::Lease for NoLease {
    fn may_answer(&self) -> bool {
        false
    }
}

/// The part of this controller, for operators.
struct PartOfThis {
    number: u8,
    modules: u32,
    contender: Mutex<Option<Contender>>,
    /// An operator wants another controller to own the card.
    is_to_release: AtomicBool,
}

impl PartOfThis {
    /// Tells the contender something, if there is one now.
    fn tell(&self, what: impl FnOnce(&Contender)) {
        if let Some(contender) = &*self.contender.lock() {
            what(contender);
        }
    }
}

impl Controller for PartOfThis {
    fn ownership(&self) -> Ownership {
        let status = self.contender.lock().as_ref().map(Contender::status);
        let highest = status.map(|status| status.highest).filter(|highest| *highest != Claim::default());
        Ownership {
            controller: self.number,
            part: match status.map(|status| status.standing) {
                None | Some(Standing::Standby | Standing::Ended(_)) => Part::Standby,
                Some(Standing::Claiming(_)) => Part::Claiming,
                Some(Standing::Opening(_)) => Part::Opening,
                Some(Standing::Owner(_)) => Part::Owner,
                Some(Standing::Releasing(_)) => Part::Releasing,
            },
            generation: highest.map_or(0, |highest| highest.generation),
            claimant: highest.map(|highest| highest.controller),
            modules: self.modules,
            reached: status.map_or(0, |status| status.reached as u32),
            held: status.map_or(0, |status| status.held as u32),
            lease_left_ms: status.map_or(0, |status| status.lease_left.as_millis() as u64),
        }
    }

    fn take_over(&self) {
        self.tell(Contender::take_over);
    }

    fn release(&self) {
        self.is_to_release.store(true, Ordering::SeqCst);
    }
}

/// The card, while this controller owns it.
struct Owned {
    running: Running,
    operators: Option<Operators>,
    told_start: bool,
    /// Modules that are held and could not be put in, and when that is tried again.
    to_insert: BTreeSet<usize>,
    insert_at: Instant,
}

struct Shared<'a> {
    args: &'a ServeArgs,
    card: SharedCard,
    start: Start,
    doors: Doors,
    /// The export of the whole card, as it is elsewhere.
    whole: Export,
    /// The exports, as far as they are known while the card is elsewhere.
    known: Vec<Export>,
    server: Arc<Server>,
    /// None: a disk of this machine would stay here when the card goes.
    disks: Arc<UblkDisks>,
    socket: PathBuf,
    part: Arc<PartOfThis>,
    /// The other controllers, one of which may own the card, while this one does not.
    peers: Option<Peers>,
    standby: Option<ControlServer>,
    owned: Option<Owned>,
}

impl Shared<'_> {
    /// Contends for the card again and again, until the server is to end.
    fn run(&mut self) -> Result<(), Failure> {
        loop {
            self.look_on()?;
            let (contender, decisions) = self.card.contend()?;
            *self.part.contender.lock() = Some(contender);
            let wait = self.term(&decisions)?;
            // A contender that is dropped waits for its threads, and operators may ask meanwhile.
            let ended = self.part.contender.lock().take();
            drop(ended);
            self.look_on()?;
            let until = Instant::now() + wait;
            while !cancel::requested() && Instant::now() < until {
                std::thread::sleep(LOOKS);
            }
            if cancel::requested() {
                return Ok(());
            }
        }
    }

    /// Answers operators as one that does not own the card.
    fn look_on(&mut self) -> Result<(), Failure> {
        if self.standby.is_none() {
            let part: Arc<dyn Controller> = Arc::clone(&self.part) as Arc<dyn Controller>;
            self.standby = Some(control::serve_standby(part, &self.socket, self.doors.access)?);
        }
        if self.peers.is_none() {
            let addresses: Vec<ShelfAddress> =
                self.args.peer.iter().filter_map(|peer| peer.to_string().parse().ok()).collect();
            let options = RemoteOptions { secrets: self.doors.services.secrets.clone(), ..RemoteOptions::default() };
            let peers = Peers::start(&addresses, &options).map_err(|source| ServeFailure::Contend { source })?;
            self.peers = Some(peers);
        }
        Ok(())
    }

    /// One contender, from its beginning to its end; the time after which there may be another.
    fn term(&mut self, decisions: &Receiver<Decision>) -> Result<Duration, Failure> {
        let (mut ends, mut has_failed) = (false, false);
        self.part.is_to_release.store(false, Ordering::SeqCst);
        loop {
            if (cancel::requested() || self.part.is_to_release.load(Ordering::SeqCst)) && !ends {
                ends = true;
                eprintln!("flashrig: ending: what is under way is answered, and another controller may take the card");
                // Requests in flight are answered while the lease runs, so the card is closed before it is released.
                self.close()?;
                self.part.tell(Contender::release);
            }
            match decisions.recv_timeout(LOOKS).ok() {
                None => self.look_at_card(),
                Some(Decision::Open { claim, without }) => {
                    if let Err(error) = self.open(claim, &without) {
                        has_failed = true;
                        eprintln!("flashrig: {}: {error}", self.whole.name);
                        self.part.tell(Contender::give_up);
                    }
                }
                Some(Decision::Serve) => self.serve()?,
                Some(Decision::Insert { module }) => self.insert(module),
                // It was closed before it was to be released.
                Some(Decision::Close) => self.part.tell(Contender::closed),
                Some(Decision::Ended(end)) => {
                    self.lose();
                    let text = match end {
                        End::Superseded => "another controller owns the card",
                        End::Released => "the card is released",
                        End::GivenUp => "the card is given up",
                        End::Exhausted => "the card has had as many owners as can be counted",
                    };
                    eprintln!("flashrig: {}: {text}", self.whole.name);
                    let wait = if has_failed { AFTER_FAILURE } else { Duration::ZERO };
                    return Ok(if ends { AFTER_RELEASE } else { wait });
                }
            }
        }
    }

    fn open(&mut self, claim: Claim, without: &[usize]) -> Result<(), Failure> {
        eprintln!("flashrig: {}: opening, {claim}", self.whole.name);
        self.peers = None;
        self.show(true)?;
        let without: Vec<u32> = without.iter().map(|module| *module as u32).collect();
        let live = self.card.open(self.start.clone(), !self.args.no_discard, &without)?;
        let lease = self.part.contender.lock().as_ref().map(Contender::lease);
        let export = Export {
            backing: Backing::Card { live: Arc::clone(&live), volume: None },
            lease: lease.map(|lease| lease as Arc<dyn serve::Lease>),
            ..self.whole.clone()
        };
        let running = Running {
            export,
            live,
            card: self.card.dir.profile.name().into(),
            socket: Some(self.socket.clone()),
            controller: Some(Arc::clone(&self.part) as Arc<dyn Controller>),
        };
        self.owned = Some(Owned {
            running,
            operators: None,
            told_start: false,
            to_insert: BTreeSet::new(),
            insert_at: Instant::now(),
        });
        self.part.tell(Contender::opened);
        Ok(())
    }

    /// The lease begins.
    fn serve(&mut self) -> Result<(), Failure> {
        let Some(owned) = &mut self.owned else { return Ok(()) };
        let exports = owned.running.exports();
        self.server.set_exports(exports.clone())?;
        self.known = as_elsewhere(&exports);
        eprintln!("flashrig: {}: this controller owns the card", self.whole.name);
        tell_volumes(&self.whole.name, &owned.running.live);
        // There is one control socket.
        self.standby = None;
        let cards = std::slice::from_ref(&owned.running);
        let operators = owned.operators.insert(operators(self.args, cards, (&self.server, &self.disks), &self.doors)?);
        if let Err(error) = operators.show(self.args, &self.doors) {
            // Hosts matter more than those who look at them.
            eprintln!("flashrig: {}: {error}", self.whole.name);
        }
        Ok(())
    }

    /// Puts in a module that is held again. One that can't be put in is tried again: its shelf may have gone meanwhile.
    fn insert(&mut self, module: usize) {
        let Some(owned) = &mut self.owned else { return };
        match self.card.insert(&owned.running.live, module) {
            Ok(()) => {
                owned.to_insert.remove(&module);
                eprintln!("flashrig: {}: slot {module}: the module is back", self.whole.name);
            }
            Err(error) => {
                if owned.to_insert.insert(module) {
                    eprintln!("flashrig: {}: {error}", self.whole.name);
                }
                owned.insert_at = Instant::now() + AFTER_FAILURE;
            }
        }
    }

    /// Shows the card as elsewhere, or on its way here.
    fn show(&self, is_changing: bool) -> Result<(), Failure> {
        let shown = |export: &Export| Export { backing: elsewhere(export.size_bytes(), is_changing), ..export.clone() };
        Ok(self.server.set_exports(self.known.iter().map(shown).collect())?)
    }

    /// Shows hosts what the owner shows them, so that they have a path through here before they need it.
    fn follow(&mut self) {
        let Some(exports) = self.peers.as_ref().and_then(Peers::news) else { return };
        let shown: Vec<Export> = exports.iter().map(|export| self.elsewhere_as(export)).collect();
        let facts = |all: &[Export]| -> Vec<_> {
            all.iter().map(|export| (export.id, export.size_bytes(), export.read_only)).collect()
        };
        if facts(&shown) == facts(&self.known) {
            return;
        }
        let before = std::mem::replace(&mut self.known, shown);
        if let Err(error) = self.show(false) {
            tracing::warn!(card = self.whole.name, %error, "the exports of the owner can't be shown here");
            self.known = before;
        }
    }

    /// An export of the owner. Its name is cut off there when it is long.
    fn elsewhere_as(&self, export: &PeerExport) -> Export {
        let known = self.known.iter().chain([&self.whole]).find(|known| known.id == export.id);
        Export {
            name: known.map_or_else(|| export.name.to_string(), |known| known.name.clone()),
            id: export.id,
            backing: elsewhere(export.size_bytes, false),
            read_only: export.read_only,
            ..self.whole.clone()
        }
    }

    /// A card that has stopped is another controller's to try.
    fn look_at_card(&mut self) {
        let Some(owned) = &mut self.owned else { return self.follow() };
        owned.told_start = owned.told_start || tells_start(&owned.running);
        if owned.running.live.has_stopped() {
            eprintln!("flashrig: {}: the card has stopped here", self.whole.name);
            self.part.tell(Contender::give_up);
        } else if Instant::now() >= owned.insert_at
            && let Some(module) = owned.to_insert.first().copied()
        {
            self.insert(module);
        }
    }

    /// Ends in order: what is in flight is answered, what is in memory only is written.
    fn close(&mut self) -> Result<(), Failure> {
        let Some(owned) = self.owned.take() else { return Ok(()) };
        // Volumes that were made meanwhile are known to hosts too.
        self.known = as_elsewhere(&owned.running.exports());
        self.show(true)?;
        self.end(owned, LAST_ANSWERS);
        self.show(false)
    }

    /// Answers nothing more, and lets the card go as it is.
    fn lose(&mut self) {
        let Some(owned) = self.owned.take() else { return };
        self.known = as_elsewhere(&owned.running.exports());
        self.server.cut_off_clients();
        if let Err(error) = self.show(false) {
            eprintln!("flashrig: {}: {error}", self.whole.name);
        }
        self.end(owned, Duration::ZERO);
    }

    /// Waits until no connection has the card, and shuts it down.
    fn end(&self, owned: Owned, patience: Duration) {
        let Owned { running: Running { export, live, .. }, operators, .. } = owned;
        drop((export, operators));
        let deadline = Instant::now() + patience;
        let mut was_cut = patience.is_zero();
        while Arc::strong_count(&live) > 1 {
            if !was_cut && Instant::now() >= deadline {
                was_cut = true;
                self.server.cut_off_clients();
            }
            std::thread::sleep(LOOKS_AT_LAST);
        }
        drop::<Arc<Live>>(live);
    }
}
