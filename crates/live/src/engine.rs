//! The engine: a session and its device, by the clock. It knows no thread: whoever holds it drives it.

use crate::disks::Disks;
use crate::inbox::Posted;
use crate::listening::Listening;
use crate::packing;
use crate::reply::{Bell, ReadData, Reply};
use crate::state::{Powered, State};
use crate::timing::{Timing, without_timing};
use card::{CardConfig, OpenError, StorageCard};
use device::{Completion, Device, Operation, Time};
use disk::{ArrayConfig, DiskError};
use format::CardId;
use ftl::recover::ScanReport;
use media::{Ended, Medium, Module, RequestData};
use session::{Backend, ClientId, Condition, Limits, MAX_IN_FLIGHT, ReplyError, Request, Session};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Events after which whoever drives the engine lets others have it: some hundred microseconds.
const MAX_EVENTS: u32 = 1024;

/// How a card is started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The card, with its own timing.
    pub config: CardConfig,
    /// How long things take.
    pub timing: Timing,
    /// The card to start; `None`: the one that lies on the medium, whichever it is.
    pub id: Option<CardId>,
    /// The seed that its random decisions are drawn from.
    pub seed: u64,
    /// Keep where the time of each request goes.
    pub explains: bool,
}

/// Replies to a client, until it takes them.
struct Mailbox {
    replies: Vec<Reply>,
    bell: Arc<dyn Bell>,
    /// Something has come since it was last told.
    ring: bool,
}

/// How a card was started.
pub(crate) struct OfCard {
    pub start: Start,
    /// The configuration that it runs with: see [`running`].
    pub running: CardConfig,
}

/// Modules that were pulled, by slot.
#[derive(Default)]
pub(crate) struct Pulled {
    /// Modules of emulated flash.
    pub modules: BTreeMap<u32, Module>,
    /// Files of modules.
    pub files: BTreeMap<u32, PathBuf>,
}

/// See the module.
pub(crate) struct Engine {
    pub session: Session<RequestData>,
    pub device: Powered,
    pub timing: Timing,
    /// How a card was started; disks were not.
    pub of_card: Option<OfCard>,
    mailboxes: BTreeMap<ClientId, Mailbox>,
    replies: Vec<session::Reply<RequestData>>,
    pub pulled: Pulled,
    pub scan: Option<ScanReport>,
    /// A card that was found does not answer hosts yet.
    is_starting: bool,
    /// Bytes that a rebuild may program in a second.
    pub rebuild_rate: Option<u64>,
    pub cuts: u64,
    pub listening: Listening,
    ended: Vec<Ended>,
}

/// The configuration that a card runs with: without its own timing where time is as the medium takes it.
pub(crate) fn running(start: &Start) -> CardConfig {
    match start.timing {
        Timing::None => without_timing(&start.config),
        Timing::Model => start.config,
    }
}

/// A card that has done nothing yet, and keeps where the time of requests goes if it is asked to.
fn explaining(mut card: StorageCard, start: &Start) -> StorageCard {
    if start.explains {
        card.explain_requests();
    }
    card
}

impl Engine {
    pub fn around(card: StorageCard, start: Start, scan: Option<ScanReport>) -> Engine {
        let size_bytes = card.capacity_bytes();
        let mut engine = Engine::of(State::On(Box::new(card)), size_bytes, start.timing);
        engine.device.explains = start.explains;
        engine.of_card = Some(OfCard { running: running(&start), start });
        engine.scan = scan;
        engine.start_up();
        engine
    }

    /// Writes may be answered before they are durable. With capacitors those in the buffer are.
    pub fn has_volatile_cache(&self) -> bool {
        if self.session.writes_through() {
            return false;
        }
        match (&self.of_card, &self.device.state) {
            (Some(card), _) => !card.running.power_loss_protection,
            (None, State::Disks(disks)) => disks.has_volatile_cache(),
            (None, _) => true,
        }
    }

    /// Begins what a card has to do after a start.
    pub fn start_up(&mut self) {
        self.session.starts();
        self.is_starting = self.scan.is_some();
        self.with_card(|card, now, done| card.start_up(now, done));
    }

    /// Disks, with their own timing.
    pub fn around_disks(config: ArrayConfig, size_bytes: u64, seed: u64) -> Result<Engine, DiskError> {
        let disks = Disks::new(config, MAX_IN_FLIGHT, seed)?;
        let mut engine = Engine::of(State::Disks(Box::new(disks)), size_bytes, Timing::Model);
        engine.device.explains = true;
        Ok(engine)
    }

    fn of(state: State, size_bytes: u64, timing: Timing) -> Engine {
        Engine {
            session: Session::new(Limits::default()),
            device: Powered::new(state, size_bytes),
            timing,
            of_card: None,
            mailboxes: BTreeMap::new(),
            replies: Vec::new(),
            pulled: Pulled::default(),
            scan: None,
            is_starting: false,
            rebuild_rate: None,
            cuts: 0,
            listening: Listening::default(),
            ended: Vec::new(),
        }
    }

    /// A fresh card.
    pub fn format(medium: Medium, start: &Start) -> Result<StorageCard, OpenError> {
        let id = start.id.expect("a fresh card is given its name");
        let card = StorageCard::format(&running(start), medium, id, MAX_IN_FLIGHT, start.seed)?;
        Ok(explaining(card, start))
    }

    /// The card that lies on a medium.
    pub fn open(medium: Medium, start: &Start) -> Result<(StorageCard, ScanReport), Box<(OpenError, Medium)>> {
        let (card, report) = StorageCard::open(&running(start), medium, start.id, MAX_IN_FLIGHT, start.seed)?;
        Ok((explaining(card, start), report))
    }

    pub fn wall_ns(&self) -> u64 {
        self.device.clock_ns()
    }

    /// When something is due by itself: at once where the medium has ended something that its bell does not ring for.
    pub fn next_event(&self) -> Time {
        match self.device.condition() {
            Condition::Serving if self.has_ended() => Time::ZERO,
            Condition::Serving => self.device.next_event(),
            Condition::Halted | Condition::NoPower => Time::NEVER,
        }
    }

    /// Another client, and the bell that is rung when there are replies for it.
    pub fn connect(&mut self, bell: Arc<dyn Bell>) -> ClientId {
        let client = self.session.connect();
        self.mailboxes.insert(client, Mailbox { replies: Vec::new(), bell, ring: false });
        client
    }

    pub fn disconnect(&mut self, client: ClientId) {
        self.session.disconnect(client);
        self.listening.leave(client);
        self.mailboxes.remove(&client);
    }

    /// Appends the replies that a client has not taken.
    pub fn take_replies(&mut self, client: ClientId, replies: &mut Vec<Reply>) {
        let mailbox = self.mailboxes.get_mut(&client).expect("until it disconnects");
        replies.append(&mut mailbox.replies);
        mailbox.ring = false;
    }

    /// Has the card do something on its own account, and handles what follows.
    pub fn with_card<T>(
        &mut self,
        work: impl FnOnce(&mut StorageCard, Time, &mut Vec<Completion<RequestData>>) -> T,
    ) -> Option<T> {
        let wall_ns = self.wall_ns();
        let now = self.session.device_time(&self.device, Time(wall_ns));
        let completions = self.session.completions();
        let answer = self.device.with_card(completions, |card, done| work(card, now, done))?;
        self.advance(wall_ns, None, &mut Vec::new());
        Some(answer)
    }

    /// Takes a request of a client that was admitted; after the last one, [`Engine::advance`] has to follow. Replies to
    /// `client` are appended, others are kept.
    pub fn submit(&mut self, client: ClientId, request: &Request, wall_ns: u64, replies: &mut Vec<Reply>) {
        // Nothing begins before what was due: it would be over sooner than it can be.
        if self.next_event() <= Time(wall_ns) {
            self.advance(wall_ns, Some(client), replies);
        }
        self.session.submit(&mut self.device, client, request, Time(wall_ns), &mut self.replies);
        // Operations begun on a slow medium wait for more, and are handed over together.
        self.step_until(wall_ns, MAX_EVENTS);
        self.deliver(Some(client), replies);
    }

    /// Takes a write that a client has posted, and was admitted. Its client hears of it by its bell.
    pub fn submit_posted(&mut self, posted: Posted) {
        let wall_ns = self.wall_ns();
        if self.next_event() <= Time(wall_ns) {
            self.advance(wall_ns, None, &mut Vec::new());
        }
        let Posted { client, request, data, since } = posted;
        // This thread hears the medium for it from now on.
        self.listening.client_waits(client, false);
        let submitted = Time(wall_ns.saturating_sub(since.elapsed().as_nanos() as u64));
        self.session.submit_packed(&mut self.device, client, &request, data, submitted, &mut self.replies);
        self.step_until(wall_ns, MAX_EVENTS);
        self.deliver(None, &mut Vec::new());
        self.hand_over();
    }

    /// The medium is slow, and clients may leave long writes to the card's own thread.
    pub fn takes_posted(&self) -> bool {
        matches!(&self.device.state, State::On(card) if packing::packs(card))
    }

    /// Handles what is due, and some of what has come from the medium: while there is more, its bell goes on ringing.
    /// Replies to `client` are appended, others are kept.
    pub fn advance(&mut self, wall_ns: u64, client: Option<ClientId>, replies: &mut Vec<Reply>) {
        let events = self.step_until(wall_ns, MAX_EVENTS);
        if events < MAX_EVENTS && self.hear_medium(wall_ns) {
            self.step_until(wall_ns, MAX_EVENTS - events);
            self.hand_over();
        }
        if self.is_starting {
            self.note_end_of_start();
        }
        self.deliver(client, replies);
    }

    /// When hosts are answered, the start is over, and has cost what it has read until now.
    fn note_end_of_start(&mut self) {
        let State::On(card) = &mut self.device.state else { return };
        if card.is_ready() {
            self.is_starting = false;
            let rescue = card.medium_mut().take_read_count();
            self.scan.iter_mut().for_each(|scan| scan.start_reads.rescue = rescue);
        }
    }

    /// Hands the medium what was begun on it.
    pub fn hand_over(&mut self) {
        if let State::On(card) = &mut self.device.state {
            card.medium_mut().submit();
        }
    }

    fn step_until(&mut self, wall_ns: u64, max_events: u32) -> u32 {
        self.device.wall_ns = wall_ns;
        self.session.advance(&mut self.device, Time(wall_ns), max_events, &mut self.replies)
    }

    /// Handles what is due, and what has come from the medium, whoever waits for it.
    pub fn poll(&mut self) {
        self.advance(self.wall_ns(), None, &mut Vec::new());
    }

    /// Hands the medium what was begun, and hears what has ended; false: nothing has.
    fn hear_medium(&mut self, wall_ns: u64) -> bool {
        let State::On(card) = &mut self.device.state else { return false };
        let medium @ Medium::Outside(_) = card.medium_mut() else { return false };
        medium.submit();
        let mut ended = std::mem::take(&mut self.ended);
        medium.take_ended(&mut ended);
        let has_ended = !ended.is_empty();
        if has_ended {
            let now = self.session.device_time(&self.device, Time(wall_ns));
            self.device.with_card(self.session.completions(), |card, done| {
                for what in ended.drain(..) {
                    match what {
                        Ended::Die { module, die } => card.answered(now, module, die),
                        Ended::Sectors { tag } => card.answered_sectors(now, tag, done),
                        Ended::Sync { .. } => card.answered_sync(now, done),
                        Ended::Log { .. } => card.answered_log(now, done),
                    }
                }
            });
        }
        self.ended = ended;
        has_ended
    }

    fn has_ended(&self) -> bool {
        let State::On(card) = &self.device.state else { return false };
        card.medium().has_ended()
    }

    /// Operations are in flight on a slow medium, and nobody would hear of their end.
    pub fn lacks_listener(&self) -> bool {
        let State::On(card) = &self.device.state else { return false };
        !self.listening.is_heard() && card.medium().has_in_flight()
    }

    /// Hands out replies.
    fn deliver(&mut self, client: Option<ClientId>, replies: &mut Vec<Reply>) {
        for reply in self.replies.drain(..) {
            let session::Reply { client: to, tag, is_part, operation, range, result, data, .. } = reply;
            let result = result.map(|()| match operation {
                Operation::Read => ReadData::new(data.into_sectors(), range),
                Operation::Write | Operation::Flush | Operation::Trim => ReadData::default(),
            });
            let reply = Reply { tag, result, is_part };
            if client == Some(to) {
                replies.push(reply);
            } else if let Some(mailbox) = self.mailboxes.get_mut(&to) {
                mailbox.replies.push(reply);
                mailbox.ring = true;
            }
        }
    }

    /// Nothing of what is outstanding will be done.
    pub fn give_up(&mut self, error: ReplyError) {
        self.session.completions().clear();
        self.session.give_up(&mut self.device, error, &mut self.replies);
        self.deliver(None, &mut Vec::new());
    }

    /// Those who have to be told of replies.
    pub fn bells(&mut self, bells: &mut Vec<Arc<dyn Bell>>) {
        for mailbox in self.mailboxes.values_mut() {
            if std::mem::take(&mut mailbox.ring) {
                bells.push(Arc::clone(&mailbox.bell));
            }
        }
    }

    /// No request is outstanding.
    pub fn is_idle(&self) -> bool {
        self.session.outstanding() == 0
    }
}
