//! The card as a subject of lives.

use crate::powered::Powered;
use crate::sim::met::LogMet;
use crate::sim::{
    Activity, Ask, Chooser, CutOutcome, Done, Durability, FaultSpec, HostOp, Impact, NotRecovered, OpError, OpId,
    Outcome, PARTS, RecoveryReport, Refusal, Sector, Stamp, Subject, What,
};
use crate::tiny::PAYLOAD_BYTES;
use card::{CardConfig, OpenError, StorageCard, shape};
use device::{Completion, Device, Operation, SECTOR_BYTES, Time};
use format::CardId;
use ftl::recover::{AssembleError, ScanError};
use media::{Flash, Media, MediaError, Module, Physics, RequestData, SectorData};
use session::{ClientId, Limits, Reply, ReplyError, Session};
use std::sync::Arc;

/// Pieces of requests that the card has at once; more wait in the session.
pub(crate) const MAX_IN_FLIGHT: u32 = 32;
/// A session that several clients share divides more, and has less room: so small a card has small trims.
const SHARED: Limits =
    Limits { max_in_flight: 6, max_waiting: 4, max_trim_bytes: 4 * SECTOR_BYTES, max_zeroes_bytes: 2 * SECTOR_BYTES };
pub(crate) const CARD: CardId = CardId(*b"card under test ");

/// A card with contents on emulated flash.
#[derive(Clone, Debug)]
pub struct CardUnderTest {
    config: CardConfig,
    /// While there is power.
    pub(crate) card: Option<StorageCard>,
    /// While there is none.
    pub(crate) media: Option<Flash>,
    pub(crate) now: Time,
    session: Session<RequestData>,
    /// By their numbers in the script.
    clients: Vec<ClientId>,
    /// Completions that the session has not heard of.
    pub(crate) completions: Vec<Completion<RequestData>>,
    replies: Vec<Reply<RequestData>>,
    next_op: u64,
    seed: u64,
    /// The modules as they were when the card was started last.
    pub(crate) earlier: Vec<Option<Arc<Module>>>,
    /// Modules that were taken out, by the slot that they were in.
    pub(crate) parked: Vec<Option<Module>>,
    refused: u64,
    /// The events of the logs of the cards before this one.
    pub(crate) log: LogMet,
    /// Power was cut again before the last start was over.
    pub(crate) start_was_cut: bool,
}

impl CardUnderTest {
    /// A fresh card.
    ///
    /// # Panics
    /// When the configuration is no card.
    pub fn new(config: CardConfig, physics: Physics, seed: u64) -> CardUnderTest {
        let flash = Flash::new(shape(&config), physics, seed);
        let modules = flash.shape().modules;
        let mut card = StorageCard::format(&config, flash, CARD, MAX_IN_FLIGHT, seed).expect("the card can be made");
        // Where time went adds up in every life: the card checks that.
        card.explain_requests();
        let mut session = Session::new(Limits { max_in_flight: MAX_IN_FLIGHT, ..Limits::default() });
        CardUnderTest {
            clients: vec![session.connect()],
            session,
            replies: Vec::new(),
            config,
            card: Some(card),
            media: None,
            now: Time::ZERO,
            completions: Vec::new(),
            next_op: 0,
            seed,
            earlier: vec![None; modules as usize],
            parked: vec![None; modules as usize],
            refused: 0,
            log: LogMet::default(),
            start_was_cut: false,
        }
    }

    /// The card, shared by so many clients; with none it has one that asks for nothing but whole sectors.
    pub fn shared_by(mut self, clients: u32) -> CardUnderTest {
        if clients > 0 {
            self.session = Session::new(SHARED);
            self.clients = (0..clients).map(|_| self.session.connect()).collect();
        }
        self
    }

    /// The configuration that the card was made from.
    pub fn config(&self) -> &CardConfig {
        &self.config
    }

    /// The media, with power or without.
    pub fn flash(&self) -> &Flash {
        match (&self.card, &self.media) {
            (Some(card), _) => card.media_contents().expect("it has contents"),
            (None, Some(media)) => media,
            (None, None) => unreachable!("the media are somewhere"),
        }
    }

    /// The media, to do them harm.
    pub(crate) fn flash_mut(&mut self) -> &mut Flash {
        match (&mut self.card, &mut self.media) {
            (Some(card), _) => card.media_contents_mut().expect("it has contents"),
            (None, Some(media)) => media,
            (None, None) => unreachable!("the media are somewhere"),
        }
    }

    /// Requests that failed as a whole.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Shuts the card down in order, once nothing is in flight: power is away from then on.
    ///
    /// # Panics
    /// When requests are in flight, or there is no power.
    pub fn shut_down(&mut self) {
        let mut card = self.card.take().expect("there is power");
        self.now = card.shut_down(self.now, &mut self.completions);
        assert!(self.completions.is_empty(), "requests were in flight");
        self.note_gone(&card);
        let mut media = card.into_media().expect("it has contents");
        media.power_cut(&[], &mut |_, _| media::CutOutcome::Done);
        self.media = Some(media);
    }

    /// Saves the media, as they are now, as a folder of images (`docs/media-image.md`).
    pub fn save_image(&self, dir: &std::path::Path) -> std::io::Result<()> {
        self.flash().save(dir)
    }

    /// The card, while there is power.
    pub fn card(&self) -> Option<&StorageCard> {
        self.card.as_ref()
    }

    /// The card, while there is power, to be asked for more than a host can ask.
    pub fn card_mut(&mut self) -> Option<&mut StorageCard> {
        self.card.as_mut()
    }

    /// The card has stopped for good: more is gone than it can do without.
    fn has_stopped(&self) -> bool {
        self.card.as_ref().is_some_and(StorageCard::is_halted)
    }

    /// They are never answered.
    fn forget_requests(&mut self) {
        self.completions.clear();
        self.replies.clear();
        // A client that was in line looks again whether there is room.
        self.clients.iter().for_each(|client| self.session.stop_waiting(*client));
        let (session, mut backend) = self.parts();
        session.give_up(&mut backend, ReplyError::NoPower, &mut Vec::new());
    }

    /// The session and what it drives.
    fn parts(&mut self) -> (&mut Session<RequestData>, Powered<'_>) {
        let backend = Powered { size_bytes: self.config.ftl.user_sectors * SECTOR_BYTES, card: self.card.as_mut() };
        (&mut self.session, backend)
    }

    /// Brings the session to `now`, with at most one event of the card.
    fn step_session(&mut self, now: Time) -> bool {
        let mut replies = std::mem::take(&mut self.replies);
        self.session.completions().append(&mut self.completions);
        let (session, mut backend) = self.parts();
        let stepped = session.step(&mut backend, now, &mut replies);
        self.replies = replies;
        stepped
    }

    fn answer(&mut self, done: &mut Vec<Done>) {
        for reply in self.replies.drain(..) {
            self.refused += u64::from(reply.result.is_err_and(is_refusal));
            let outcome = outcome(reply.operation, reply.result, reply.data.into_sectors());
            done.push(Done { id: OpId(reply.tag), outcome });
        }
    }

    /// The replies that have come, with the script's numbers of the clients they are for.
    pub(crate) fn take_replies(&mut self) -> Vec<(usize, Reply<RequestData>)> {
        let clients = &self.clients;
        let of_client = |reply: Reply<RequestData>| {
            let client = clients.iter().position(|client| *client == reply.client)?;
            Some((client, reply))
        };
        self.replies.drain(..).filter_map(of_client).collect()
    }

    /// Takes a request of a client, which has a name of its own.
    pub(crate) fn submit_request(&mut self, client: u32, request: &session::Request) {
        let client = self.clients[client as usize];
        let now = self.now;
        let mut replies = std::mem::take(&mut self.replies);
        let (session, mut backend) = self.parts();
        session.submit(&mut backend, client, request, now, &mut replies);
        self.replies = replies;
    }

    /// Brings the card's time to `now`, up to which nothing is due, and does what can be done then. `false`: nothing.
    pub(crate) fn step_at(&mut self, now: Time) -> bool {
        self.now = self.now.max(now);
        !self.replies.is_empty() || self.step_session(self.now)
    }

    /// Brings the card's time to `now`, up to which nothing is due.
    pub(crate) fn at_least_at(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// When something happens by itself next.
    pub(crate) fn next_event(&self) -> Time {
        self.card.as_ref().filter(|card| !card.is_halted()).map_or(Time::NEVER, |card| card.next_event())
    }
}

/// A request that the card did not carry out, though it goes on.
fn is_refusal(error: ReplyError) -> bool {
    error != ReplyError::Halted
}

/// The outcome of a request, with the sectors that a read has brought.
pub(crate) fn outcome(operation: Operation, result: Result<(), ReplyError>, sectors: Vec<SectorData>) -> Outcome {
    let is_read = operation == Operation::Read;
    match result {
        Ok(()) if !is_read => Outcome::Ok,
        Ok(()) => Outcome::Values(sectors.into_iter().map(value).collect()),
        // Each sector says for itself whether it was lost.
        Err(ReplyError::Unreadable { .. }) if is_read => Outcome::Values(sectors.into_iter().map(value).collect()),
        Err(error) => Outcome::Failed(op_error(error)),
    }
}

fn op_error(error: ReplyError) -> OpError {
    match error {
        ReplyError::ReadOnly => OpError::ReadOnly,
        ReplyError::Unreadable { .. } => OpError::Unreadable,
        ReplyError::Halted | ReplyError::NoPower => OpError::Io,
        ReplyError::OutOfRange => unreachable!("lives stay within the card"),
        ReplyError::NoSpace => unreachable!("lives have no volumes"),
    }
}

/// Bytes of a payload that stand for an eighth of a sector.
const PART_BYTES: usize = (PAYLOAD_BYTES / PARTS) as usize;

/// A payload that is nothing but its stamp, again and again.
fn payload(stamp: Stamp, bytes: usize) -> impl Iterator<Item = u8> {
    stamp.0.to_le_bytes().into_iter().cycle().take(bytes)
}

fn value(data: SectorData) -> Sector {
    let Some(payload) = data.payload() else {
        return if data == SectorData::Zero { Sector::Zero } else { Sector::Error };
    };
    let mut parts = [0; PARTS as usize];
    for (part, bytes) in parts.iter_mut().zip(payload.chunks_exact(PART_BYTES)) {
        let (first, _) = bytes.split_first_chunk::<8>().expect("a part has a stamp");
        if bytes.chunks_exact(8).any(|chunk| chunk != first) {
            return Sector::Mixed;
        }
        *part = u64::from_le_bytes(*first);
    }
    match parts[0] {
        _ if parts.iter().any(|part| *part != parts[0]) => Sector::Parts(parts),
        0 => Sector::Zero,
        stamp => Sector::Value(Stamp(stamp)),
    }
}

/// The payload of a write, as the card holds it.
pub(crate) fn payload_of(op: &HostOp) -> Vec<u8> {
    let stamped = |bytes| op.stamps.iter().flat_map(|stamp| payload(*stamp, bytes)).collect();
    match op.ask {
        Ask::Write { .. } => stamped(PAYLOAD_BYTES as usize),
        Ask::WriteParts { .. } => stamped(PART_BYTES),
        _ => Vec::new(),
    }
}

/// The request of a client.
pub(crate) fn request_of<'a>(tag: u64, ask: &Ask, bytes: &'a [u8]) -> session::Request<'a> {
    let at = |lba: crate::sim::Lba, first: u32| u64::from(lba.0) * SECTOR_BYTES + u64::from(first) * SECTOR_BYTES / 8;
    let sectors = |count: u32| count * SECTOR_BYTES as u32;
    let parts = |count: u32| count * (SECTOR_BYTES as u32 / PARTS);
    // A payload stands for more bytes than it has.
    let write = |offset_bytes, len_bytes| {
        let range = device::ByteRange { offset_bytes, len_bytes };
        session::Request { range, ..session::Request::write(tag, 0, bytes) }
    };
    match *ask {
        Ask::Write { lba, count, fua } => write(at(lba, 0), sectors(count)).with_fua(fua),
        Ask::WriteParts { lba, first, parts: count, fua } => write(at(lba, first), parts(count)).with_fua(fua),
        Ask::Trim { lba, count } => session::Request::trim(tag, at(lba, 0), sectors(count)),
        Ask::TrimParts { lba, first, parts: count } => session::Request::trim(tag, at(lba, first), parts(count)),
        Ask::WriteZeroes { lba, count, fua } => {
            session::Request::write_zeroes(tag, at(lba, 0), sectors(count), false).with_fua(fua)
        }
        Ask::ZeroParts { lba, first, parts: count, keeps_room, fua } => {
            session::Request::write_zeroes(tag, at(lba, first), parts(count), keeps_room).with_fua(fua)
        }
        Ask::Flush => session::Request::flush(tag),
        Ask::Read { lba, count } => session::Request::read(tag, at(lba, 0), sectors(count)),
    }
}

impl Subject for CardUnderTest {
    fn sectors(&self) -> u32 {
        self.config.ftl.user_sectors as u32
    }

    fn durability(&self) -> Durability {
        if self.config.power_loss_protection { Durability::OnAck } else { Durability::OnFlush }
    }

    fn slots(&self) -> u32 {
        self.flash().shape().modules
    }

    fn now(&self) -> Time {
        self.now
    }

    fn submit(&mut self, op: HostOp) -> OpId {
        self.submit_as(0, op)
    }

    fn submit_as(&mut self, client: u32, op: HostOp) -> OpId {
        let id = OpId(self.next_op);
        self.next_op += 1;
        self.note_for_log(&op.ask);
        let bytes = payload_of(&op);
        self.submit_request(client, &request_of(id.0, &op.ask, &bytes));
        id
    }

    fn admits(&mut self, client: u32) -> bool {
        let client = self.clients[client as usize];
        let admits = self.session.admits(client);
        if !admits {
            self.session.wait_for_room(client);
        }
        admits
    }

    fn disconnect(&mut self, client: u32) -> bool {
        let gone = std::mem::replace(&mut self.clients[client as usize], self.session.connect());
        self.session.disconnect(gone);
        self.replies.retain(|reply| reply.client != gone);
        true
    }

    fn has_orphans(&self) -> bool {
        self.session.has_orphans()
    }

    fn trim_sectors(&self) -> u64 {
        self.session.limits().max_trim_bytes / SECTOR_BYTES
    }

    fn step(&mut self, until: Time, done: &mut Vec<Done>) -> bool {
        if !self.replies.is_empty() {
            self.answer(done);
            return true;
        }
        if self.step_session(self.now) {
            self.answer(done);
            return true;
        }
        let Some(card) = &self.card else { return false };
        let next = self.next_event();
        if next > until || next == Time::NEVER {
            if until != Time::NEVER && !card.is_halted() {
                self.now = self.now.max(until);
            }
            return false;
        }
        self.now = next;
        self.step_session(next);
        self.answer(done);
        true
    }

    fn idle(&self) -> bool {
        let nothing_waits = self.completions.is_empty() && self.replies.is_empty() && self.session.is_idle();
        let rests = |card: &StorageCard| card.in_flight() == 0 && card.next_event() == Time::NEVER;
        nothing_waits && (self.has_stopped() || self.card.as_ref().is_some_and(rests))
    }

    fn activity(&self) -> Activity {
        match &self.card {
            None => Activity::Recovery,
            Some(card) if card.rebuild_progress().is_some() => Activity::Rebuild,
            Some(card) if card.writes_checkpoint() => Activity::Checkpoint,
            Some(card) if card.scrub_progress().is_some() => Activity::Scrub,
            Some(card) if card.collects() => Activity::Gc,
            Some(card) if card.programs() => Activity::HostWrite,
            Some(_) => Activity::Idle,
        }
    }

    fn media_ops(&self) -> u64 {
        self.flash().ops()
    }

    fn power_cut(&mut self, how: CutOutcome, chooser: &mut dyn Chooser) -> bool {
        let cut = self.cut_power(how, chooser);
        if cut {
            self.forget_requests();
        }
        cut
    }

    fn cut_within(&mut self, after: u64, chooser: &mut dyn Chooser) -> bool {
        let cut = self.cut_power_within(after, chooser);
        if cut {
            self.forget_requests();
        }
        cut
    }

    fn state_without_power(&self) -> Option<u64> {
        self.media.as_ref().map(|media| media.state())
    }

    fn recover(&mut self, cut_after: Option<u64>, chooser: &mut dyn Chooser) -> Result<RecoveryReport, NotRecovered> {
        let mut media = self.media.take().expect("there is no power");
        let slots = media.shape().modules;
        self.earlier = (0..slots).map(|slot| media.shared_module(slot)).collect();
        media.power_on();
        let (ops, begun) = (media.ops(), self.now);
        if let Some(after) = cut_after {
            let outcome = crate::ends::header_end(chooser);
            media.cut_at(ops + after, outcome);
        }
        let opened = StorageCard::open(&self.config, media, Some(CARD), MAX_IN_FLIGHT, self.seed);
        let (mut card, _report) = match opened {
            Ok(opened) => opened,
            Err(failed) => {
                let (error, media) = *failed;
                let media = media.into_flash().expect("it was emulated flash");
                let had_power = media.has_power();
                self.media = Some(media);
                if !had_power {
                    self.start_was_cut = true;
                    return Err(NotRecovered::Cut);
                }
                if self.flash_mut().come_within_reach() {
                    return self.recover(cut_after, chooser);
                }
                return Err(refusal(&error).into());
            }
        };
        if let Some(media) = card.media_contents_mut() {
            // Operations from here on can be cut as any work of the card.
            media.never_cut();
        }
        card.explain_requests();
        self.note_opened(&card);
        let mut done = Vec::new();
        card.start_up(self.now, &mut done);
        while !card.is_ready() {
            let ops_done = card.media_contents().expect("it has contents").ops() - ops;
            if cut_after.is_some_and(|after| ops_done >= after) && !card.under_way().is_empty() {
                self.card = Some(card);
                self.cut_power(CutOutcome::Any, chooser);
                self.start_was_cut = true;
                return Err(NotRecovered::Cut);
            }
            let next = card.next_event();
            if next == Time::NEVER {
                break;
            }
            self.now = next;
            card.advance(next, &mut done);
        }
        let media_ops = card.media_contents().expect("it has contents").ops() - ops;
        self.card = Some(card);
        if self.flash_mut().come_within_reach() && self.has_stopped() {
            self.cut_power(CutOutcome::Any, chooser);
            return self.recover(cut_after, chooser);
        }
        Ok(RecoveryReport { media_ops, took_ns: self.now - begun })
    }

    fn inject(&mut self, fault: &FaultSpec) -> Option<Impact> {
        self.do_harm(fault)
    }

    fn pull(&mut self, slot: u32) -> Option<Impact> {
        self.pull_module(slot)
    }

    fn insert(&mut self, slot: u32, what: What) -> Option<Impact> {
        self.insert_module(slot, what)
    }

    fn permute(&mut self, order: &[u32]) -> bool {
        self.permute_modules(order)
    }

    fn scrub(&mut self) {
        if let Some(card) = &mut self.card {
            card.begin_scrub(self.now, &mut self.completions);
        }
    }

    fn harmed(&self) -> Vec<u32> {
        let flash = self.flash();
        let in_use = self.card.as_ref().map(StorageCard::slots);
        let is_harmed = |slot: &u32| {
            flash.module(*slot).is_none_or(Module::is_harmed)
                || flash.host_fails_for_ever(*slot)
                || in_use.is_some_and(|in_use| !in_use.contains(&Some(*slot)))
        };
        (0..flash.shape().modules).filter(is_harmed).collect()
    }

    fn log_met(&self) -> LogMet {
        self.log_until_now()
    }

    fn trace(&self) -> u64 {
        self.flash().trace() ^ self.now.0.rotate_left(32) ^ self.next_op
    }
}

fn refusal(error: &OpenError) -> Refusal {
    match error {
        OpenError::Header { error: MediaError::Fenced, .. } => Refusal::Fenced,
        OpenError::Assemble(AssembleError::Foreign { .. } | AssembleError::Others { .. }) => Refusal::ForeignModule,
        OpenError::Assemble(AssembleError::Cloned { .. }) => Refusal::ClonedModule,
        OpenError::Assemble(AssembleError::TooFew { .. } | AssembleError::NoCard) => Refusal::MissingModules,
        OpenError::Assemble(AssembleError::NewerVersion { .. } | AssembleError::OlderVersion { .. }) => {
            Refusal::FormatVersion
        }
        OpenError::Scan(ScanError::NoAnswer { .. }) => Refusal::MissingModules,
        _ => Refusal::Damaged,
    }
}
