//! The card as a subject of lives.

use crate::sim::{
    Activity, Chooser, CutOutcome, Done, Durability, FaultSpec, HostOp, Impact, NotRecovered, OpError, OpId, Outcome,
    RecoveryReport, Refusal, Sector, Stamp, Subject, What,
};
use crate::tiny::PAYLOAD_BYTES;
use card::{CardConfig, OpenError, StorageCard, shape};
use device::{Completion, Device, Operation, Request, RequestError, RequestId, SECTOR_BYTES, Time};
use format::CardId;
use ftl::recover::{AssembleError, ScanError};
use media::{Flash, Media, MediaError, Module, Physics, RequestData, SectorData};
use std::collections::VecDeque;
use std::sync::Arc;

/// Requests that the card is given at once; more wait at the host.
pub(crate) const AT_ONCE: u32 = 32;
pub(crate) const CARD: CardId = CardId(*b"card under test ");

/// A request that the card has.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    op: OpId,
    is_read: bool,
}

/// A card with contents on emulated flash.
#[derive(Clone, Debug)]
pub struct CardUnderTest {
    config: CardConfig,
    /// While there is power.
    pub(crate) card: Option<StorageCard>,
    /// While there is none.
    pub(crate) media: Option<Flash>,
    pub(crate) now: Time,
    outstanding: Vec<Option<Outstanding>>,
    waiting: VecDeque<(OpId, HostOp)>,
    pub(crate) completions: Vec<Completion<RequestData>>,
    next_op: u64,
    seed: u64,
    /// The modules as they were when the card was started last.
    pub(crate) earlier: Vec<Option<Arc<Module>>>,
    /// Modules that were taken out, by the slot that they were in.
    pub(crate) parked: Vec<Option<Module>>,
    refused: u64,
}

impl CardUnderTest {
    /// A fresh card.
    ///
    /// # Panics
    /// When the configuration is no card.
    pub fn new(config: CardConfig, physics: Physics, seed: u64) -> CardUnderTest {
        let flash = Flash::new(shape(&config), physics, seed);
        let modules = flash.shape().modules;
        let card = StorageCard::format(&config, flash, CARD, AT_ONCE, seed).expect("the card can be made");
        CardUnderTest {
            config,
            card: Some(card),
            media: None,
            now: Time::ZERO,
            outstanding: vec![None; AT_ONCE as usize],
            waiting: VecDeque::new(),
            completions: Vec::new(),
            next_op: 0,
            seed,
            earlier: vec![None; modules as usize],
            parked: vec![None; modules as usize],
            refused: 0,
        }
    }

    /// What the card was made from.
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

    /// Whoever drives a card that has stopped answers for it.
    fn fail_all(&mut self, done: &mut Vec<Done>) -> bool {
        let given = self.outstanding.iter_mut().filter_map(Option::take).map(|outstanding| outstanding.op);
        let failed: Vec<OpId> = given.chain(self.waiting.drain(..).map(|(op, _)| op)).collect();
        done.extend(failed.iter().map(|id| Done { id: *id, outcome: Outcome::Failed(OpError::Io) }));
        !failed.is_empty()
    }

    /// They are never answered.
    fn forget_requests(&mut self) {
        self.outstanding.fill(None);
        self.waiting.clear();
        self.completions.clear();
    }

    fn hand_over(&mut self) {
        if self.has_stopped() {
            return;
        }
        while let Some((op, _)) = self.waiting.front() {
            let op = *op;
            let Some(id) = self.outstanding.iter().position(|o| o.is_none()) else { return };
            let (_, host_op) = self.waiting.pop_front().expect("looked at");
            let Some(card) = &mut self.card else { return };
            let id32 = RequestId(id as u32);
            let bytes =
                |lba: crate::sim::Lba, count: u32| (u64::from(lba.0) * SECTOR_BYTES, count * SECTOR_BYTES as u32);
            let mut data = RequestData::none();
            let request = match host_op {
                HostOp::Write { lba, stamps, fua } => {
                    let payloads: Vec<u8> = stamps.iter().flat_map(|stamp| payload(*stamp)).collect();
                    data = card.pack(0, &payloads);
                    let (offset_bytes, len_bytes) = bytes(lba, stamps.len() as u32);
                    Request { fua, ..Request::write(offset_bytes, len_bytes) }
                }
                HostOp::Trim { lba, count } => {
                    let (offset_bytes, len_bytes) = bytes(lba, count);
                    Request::trim(offset_bytes, len_bytes)
                }
                HostOp::WriteZeroes { lba, count, fua } => {
                    let (offset_bytes, len_bytes) = bytes(lba, count);
                    Request { fua, ..Request::trim(offset_bytes, len_bytes) }
                }
                HostOp::Flush => Request::flush(),
                HostOp::Read { lba, count } => {
                    let (offset_bytes, len_bytes) = bytes(lba, count);
                    Request::read(offset_bytes, len_bytes)
                }
            };
            self.outstanding[id] = Some(Outstanding { op, is_read: request.operation == Operation::Read });
            card.submit(self.now, id32, request.with(data), &mut self.completions);
        }
    }

    fn answer(&mut self, done: &mut Vec<Done>) {
        for completion in self.completions.drain(..) {
            let slot = &mut self.outstanding[completion.id.0 as usize];
            let Outstanding { op, is_read } = slot.take().expect("it was asked for");
            let outcome = if let Err(error) = completion.result {
                self.refused += 1;
                Outcome::Failed(op_error(error))
            } else if is_read {
                Outcome::Values(completion.data.into_sectors().into_iter().map(value).collect())
            } else {
                Outcome::Ok
            };
            done.push(Done { id: op, outcome });
        }
    }
}

fn op_error(error: RequestError) -> crate::sim::OpError {
    match error {
        RequestError::ReadOnly => crate::sim::OpError::ReadOnly,
        RequestError::EdgeUnreadable => unreachable!("lives write whole sectors"),
    }
}

/// A payload that is nothing but its stamp, again and again.
fn payload(stamp: Stamp) -> impl Iterator<Item = u8> {
    stamp.0.to_le_bytes().into_iter().cycle().take(PAYLOAD_BYTES as usize)
}

fn value(data: SectorData) -> Sector {
    match data {
        SectorData::Zero => Sector::Zero,
        SectorData::Unreadable | SectorData::Pending => Sector::Error,
        SectorData::Data(bytes) => {
            let (first, _) = bytes.split_first_chunk::<8>().expect("a payload has a stamp");
            if bytes.chunks_exact(8).all(|chunk| chunk == first) {
                Sector::Value(Stamp(u64::from_le_bytes(*first)))
            } else {
                Sector::Mixed
            }
        }
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
        let id = OpId(self.next_op);
        self.next_op += 1;
        self.waiting.push_back((id, op));
        self.hand_over();
        id
    }

    fn step(&mut self, until: Time, done: &mut Vec<Done>) -> bool {
        if !self.completions.is_empty() {
            self.answer(done);
            self.hand_over();
            return true;
        }
        if self.has_stopped() {
            return self.fail_all(done);
        }
        let Some(card) = &mut self.card else { return false };
        let next = card.next_event();
        if next > until || next == Time::NEVER {
            if until != Time::NEVER {
                self.now = self.now.max(until);
            }
            return false;
        }
        self.now = next;
        card.advance(next, &mut self.completions);
        self.answer(done);
        self.hand_over();
        true
    }

    fn idle(&self) -> bool {
        let nothing_waits = self.completions.is_empty() && self.waiting.is_empty();
        if self.has_stopped() {
            return nothing_waits && self.outstanding.iter().all(Option::is_none);
        }
        nothing_waits
            && self.card.as_ref().is_some_and(|card| card.in_flight() == 0 && card.next_event() == Time::NEVER)
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
            let outcome = crate::cut::header_end(chooser);
            media.cut_at(ops + after, outcome);
        }
        let opened = StorageCard::open(&self.config, media, Some(CARD), AT_ONCE, self.seed);
        let (mut card, _report) = match opened {
            Ok(opened) => opened,
            Err(failed) => {
                let (error, media) = *failed;
                let media = media.into_flash().expect("it was emulated flash");
                let had_power = media.has_power();
                self.media = Some(media);
                if !had_power {
                    return Err(NotRecovered::Cut);
                }
                return Err(refusal(&error).into());
            }
        };
        if let Some(media) = card.media_contents_mut() {
            // What comes now can be cut as any work of the card.
            media.never_cut();
        }
        let mut done = Vec::new();
        card.start_up(self.now, &mut done);
        while !card.is_ready() {
            let ops_done = card.media_contents().expect("it has contents").ops() - ops;
            if cut_after.is_some_and(|after| ops_done >= after) && !card.under_way().is_empty() {
                self.card = Some(card);
                self.cut_power(CutOutcome::Any, chooser);
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

    fn trace(&self) -> u64 {
        self.flash().trace() ^ self.now.0.rotate_left(32) ^ self.next_op
    }
}

fn refusal(error: &OpenError) -> Refusal {
    match error {
        OpenError::Header { error: MediaError::Fenced, .. } => Refusal::Fenced,
        OpenError::Assemble(AssembleError::Foreign { .. }) => Refusal::ForeignModule,
        OpenError::Assemble(AssembleError::Cloned { .. }) => Refusal::ClonedModule,
        OpenError::Assemble(AssembleError::TooFew { .. } | AssembleError::NoCard) => Refusal::MissingModules,
        OpenError::Assemble(AssembleError::NewerVersion { .. } | AssembleError::OlderVersion { .. }) => {
            Refusal::FormatVersion
        }
        OpenError::Scan(ScanError::NoAnswer { .. }) => Refusal::MissingModules,
        _ => Refusal::Damaged,
    }
}
