//! The engine: the card, who asks it, and what is under way. Whoever holds it drives it; it knows no thread.

use crate::ask::{Ask, AskError, Done, Op, ReadData};
use crate::disks::Disks;
use crate::pace::Lateness;
use crate::stats::{Kind, Recorders};
use crate::timing::{Timing, without_timing};
use card::{CardConfig, OpenError, StorageCard};
use device::{ByteRange, Completion, Device, Request, RequestError, RequestId, SECTOR_BYTES, Time};
use disk::{ArrayConfig, DiskError};
use format::CardId;
use ftl::recover::ScanReport;
use media::{Ended, Medium, Module, RequestData, SectorData};
use slab::Slab;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Requests that the card takes at once; the rest waits here.
const AT_ONCE: u32 = 1024;
/// Asks that wait here for room on the card at most; who asks for more waits itself.
const MOST_WAITING: usize = 4096;
/// Events after which whoever drives the engine lets others have it: some hundred microseconds.
const EVENTS_AT_ONCE: u32 = 1024;
/// A part of a trim: so that a trim of everything holds nobody up.
const TRIM_BYTES: u64 = 64 << 20;

/// How a card is started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The card, with its own timing.
    pub config: CardConfig,
    /// How long things take.
    pub timing: Timing,
    /// Which card; `None`: whichever lies on the medium.
    pub id: Option<CardId>,
    /// What its random decisions are drawn from.
    pub seed: u64,
}

/// The card, or what is left of it without power; or disks.
pub(crate) enum State {
    On(Box<StorageCard>),
    Disks(Box<Disks>),
    Off(Medium),
    /// Its medium was given away.
    Gone,
}

/// Something that was asked.
struct Asked {
    port: u64,
    tag: u64,
    kind: Kind,
    bytes: u64,
    asked_ns: u64,
    /// Parts that are not done, and one while it is divided.
    parts_left: u32,
    error: Option<AskError>,
    data: ReadData,
}

/// A part of it that the card works on.
#[derive(Clone, Copy, Debug)]
struct Part {
    asked: usize,
    kind: PartKind,
    fua: bool,
    offset_bytes: u64,
    len_bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartKind {
    Read,
    Write,
    Trim,
    Flush,
}

impl Part {
    fn first(&self) -> u64 {
        self.offset_bytes / SECTOR_BYTES
    }
    fn end(&self) -> u64 {
        (self.offset_bytes + u64::from(self.len_bytes)).div_ceil(SECTOR_BYTES)
    }
    /// It writes a part of a sector.
    fn is_ragged(&self) -> bool {
        let end = self.offset_bytes + u64::from(self.len_bytes);
        self.kind == PartKind::Write
            && !(self.offset_bytes.is_multiple_of(SECTOR_BYTES) && end.is_multiple_of(SECTOR_BYTES))
    }
    fn overlaps(&self, other: &Part) -> bool {
        let changes = |part: &Part| matches!(part.kind, PartKind::Write | PartKind::Trim);
        changes(self) && changes(other) && self.first() < other.end() && other.first() < self.end()
    }
}

/// Who asks.
pub(crate) struct Asker {
    pub completed: Vec<Done>,
    pub bell: Arc<dyn crate::port::Bell>,
    /// Something was completed since it was last told.
    pub ring: bool,
}

/// See the module.
pub(crate) struct Engine {
    pub state: State,
    /// Bytes that can be asked for.
    pub size_bytes: u64,
    pub timing: Timing,
    /// How a card was started; disks were not.
    pub of_card: Option<OfCard>,
    began: Instant,
    /// The card's time.
    pub last: Time,
    asked: Slab<Asked>,
    parts: Vec<Option<Part>>,
    free: Vec<u32>,
    /// Parts that wait for a free request, or for the end of one that writes to the same sector.
    waiting: VecDeque<(Part, Vec<u8>)>,
    /// What the last start found is whole again: until then all parts wait.
    is_ready: bool,
    /// Parts under way that write a part of a sector.
    ragged: u32,
    /// By number; no number is given twice.
    pub askers: BTreeMap<u64, Asker>,
    pub next_asker: u64,
    pub recorders: Recorders,
    pub lateness: Lateness,
    /// Modules of emulated flash that were pulled, by slot.
    pub pulled: BTreeMap<u32, Module>,
    /// Files of modules that were pulled, by slot.
    pub pulled_files: BTreeMap<u32, PathBuf>,
    pub scan: Option<ScanReport>,
    /// Bytes that a rebuild may program in a second.
    pub rebuild_rate: Option<u64>,
    pub cuts: u64,
    done: Vec<Completion<RequestData>>,
    ended: Vec<Ended>,
}

/// How a card was started.
pub(crate) struct OfCard {
    pub start: Start,
    /// What it runs with.
    pub running: CardConfig,
}

/// What a card runs with.
pub(crate) fn running(start: &Start) -> CardConfig {
    match start.timing {
        Timing::None => without_timing(&start.config),
        Timing::Model => start.config,
    }
}

impl Engine {
    pub fn around(card: StorageCard, start: Start, scan: Option<ScanReport>) -> Engine {
        let size_bytes = card.capacity_bytes();
        let mut engine = Engine::of(State::On(Box::new(card)), size_bytes, start.timing);
        engine.of_card = Some(OfCard { running: running(&start), start });
        engine.scan = scan;
        engine.start_up();
        engine
    }

    /// Begins what a card has to do after a start.
    pub fn start_up(&mut self) {
        self.is_ready = false;
        self.with_card(|card, now, done| card.start_up(now, done));
    }

    fn is_ready(&mut self) -> bool {
        self.is_ready |= match &self.state {
            State::On(card) => card.is_ready(),
            State::Disks(_) | State::Off(_) | State::Gone => true,
        };
        self.is_ready
    }

    /// Disks, with their own timing.
    pub fn around_disks(config: ArrayConfig, size_bytes: u64, seed: u64) -> Result<Engine, DiskError> {
        let disks = Disks::new(config, AT_ONCE, seed)?;
        Ok(Engine::of(State::Disks(Box::new(disks)), size_bytes, Timing::Model))
    }

    fn of(state: State, size_bytes: u64, timing: Timing) -> Engine {
        Engine {
            state,
            size_bytes,
            timing,
            of_card: None,
            began: Instant::now(),
            last: Time::ZERO,
            asked: Slab::new(),
            parts: vec![None; AT_ONCE as usize],
            free: (0..AT_ONCE).rev().collect(),
            waiting: VecDeque::new(),
            is_ready: false,
            ragged: 0,
            askers: BTreeMap::new(),
            next_asker: 0,
            recorders: Recorders::new(),
            lateness: Lateness::default(),
            pulled: BTreeMap::new(),
            pulled_files: BTreeMap::new(),
            scan: None,
            rebuild_rate: None,
            cuts: 0,
            done: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// A fresh card.
    pub fn format(medium: Medium, start: &Start) -> Result<StorageCard, OpenError> {
        let id = start.id.expect("a fresh card is given its name");
        StorageCard::format(&running(start), medium, id, AT_ONCE, start.seed)
    }

    /// The card that lies on a medium.
    pub fn open(medium: Medium, start: &Start) -> Result<(StorageCard, ScanReport), Box<(OpenError, Medium)>> {
        StorageCard::open(&running(start), medium, start.id, AT_ONCE, start.seed)
    }

    pub fn wall_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// The card's time: the clock's, but not later than what is due.
    fn now(&mut self, wall_ns: u64) -> Time {
        let next = match &self.state {
            State::On(card) => card.next_event(),
            State::Disks(disks) => disks.next_event(),
            State::Off(_) | State::Gone => return self.last,
        };
        self.last = self.last.max(Time(wall_ns).min(next));
        self.last
    }

    /// When something is due by itself.
    pub fn next_event(&self) -> Time {
        match &self.state {
            State::On(card) if !card.is_halted() => card.next_event(),
            State::Disks(disks) => disks.next_event(),
            _ => Time::NEVER,
        }
    }

    /// Asks the card something on its own account, and goes on with what follows.
    pub fn with_card<T>(
        &mut self,
        ask: impl FnOnce(&mut StorageCard, Time, &mut Vec<Completion<RequestData>>) -> T,
    ) -> Option<T> {
        let wall_ns = self.wall_ns();
        let now = self.now(wall_ns);
        let State::On(card) = &mut self.state else { return None };
        let mut done = std::mem::take(&mut self.done);
        let answer = ask(card, now, &mut done);
        self.done = done;
        self.go_on(wall_ns, None, &mut Vec::new());
        Some(answer)
    }

    /// Whether there is room for another ask.
    pub fn has_room(&self) -> bool {
        self.waiting.len() < MOST_WAITING
    }

    /// Takes an ask; when all were taken, [`Engine::go_on`] has to follow. Answers of `port` are appended to `done`, others are kept for their askers.
    pub fn take(&mut self, port: u64, ask: &Ask, wall_ns: u64, done: &mut Vec<Done>) {
        // Nothing begins before what was due: it would be over sooner than it can be.
        if self.next_event() <= Time(wall_ns) {
            self.go_on(wall_ns, Some(port), done);
        }
        let len = u64::from(ask.len_bytes);
        let refused = match &self.state {
            State::Off(_) | State::Gone => Some(AskError::NoPower),
            State::On(card) if card.is_halted() => Some(AskError::Stopped),
            State::On(_) | State::Disks(_) if ask.op != Op::Flush => {
                let fits = ask.offset_bytes.checked_add(len).is_some_and(|end| end <= self.size_bytes);
                (!fits).then_some(AskError::OutOfRange)
            }
            State::On(_) | State::Disks(_) => None,
        };
        if let Some(error) = refused {
            self.recorders.errors += 1;
            done.push(Done { tag: ask.tag, result: Err(error) });
            return;
        }
        let asked = self.asked.insert(Asked {
            port,
            tag: ask.tag,
            kind: Kind::of(&ask.op),
            bytes: len,
            asked_ns: wall_ns,
            parts_left: 1,
            error: None,
            data: ReadData { sectors: Vec::new(), before: (ask.offset_bytes % SECTOR_BYTES) as usize, len: 0 },
        });
        let part = |kind| Part { asked, kind, fua: ask.fua, offset_bytes: ask.offset_bytes, len_bytes: ask.len_bytes };
        match ask.op {
            Op::Read => {
                self.asked[asked].data.len = len as usize;
                self.begin(part(PartKind::Read), &[], wall_ns);
            }
            Op::Write(bytes) => self.begin(part(PartKind::Write), bytes, wall_ns),
            Op::Flush => {
                self.begin(Part { offset_bytes: 0, len_bytes: 0, ..part(PartKind::Flush) }, &[], wall_ns);
            }
            Op::Trim => self.trim(asked, ask, false, wall_ns),
            Op::WriteZeroes { allocate: false } => self.trim(asked, ask, true, wall_ns),
            Op::WriteZeroes { allocate: true } => self.write_zeroes(asked, ask, wall_ns),
        }
        self.part_done(asked, Some(port), done);
        self.go_on_without_medium(wall_ns, Some(port), done);
    }

    /// Trims whole sectors in pieces; the edges are written where they have to read as zeroes.
    fn trim(&mut self, asked: usize, ask: &Ask, zero_edges: bool, wall_ns: u64) {
        let end = ask.offset_bytes + u64::from(ask.len_bytes);
        let first_whole = ask.offset_bytes.next_multiple_of(SECTOR_BYTES).min(end);
        let end_whole = (end - end % SECTOR_BYTES).max(first_whole);
        if zero_edges {
            for (from, to) in [(ask.offset_bytes, first_whole), (end_whole, end)] {
                if from < to {
                    self.write_zeroes_part(asked, ask.fua, from, to, wall_ns);
                }
            }
        }
        let mut from = first_whole;
        while from < end_whole {
            let to = (from + TRIM_BYTES).min(end_whole);
            let (offset_bytes, len_bytes) = (from, (to - from) as u32);
            let part = Part { asked, kind: PartKind::Trim, fua: ask.fua, offset_bytes, len_bytes };
            self.begin(part, &[], wall_ns);
            from = to;
        }
    }

    fn write_zeroes(&mut self, asked: usize, ask: &Ask, wall_ns: u64) {
        const PIECE_BYTES: u64 = 1 << 20;
        let end = ask.offset_bytes + u64::from(ask.len_bytes);
        let mut from = ask.offset_bytes;
        while from < end {
            let to = (from / PIECE_BYTES * PIECE_BYTES + PIECE_BYTES).min(end);
            self.write_zeroes_part(asked, ask.fua, from, to, wall_ns);
            from = to;
        }
    }

    fn write_zeroes_part(&mut self, asked: usize, fua: bool, from: u64, to: u64, wall_ns: u64) {
        let len_bytes = (to - from) as u32;
        let part = Part { asked, kind: PartKind::Write, fua, offset_bytes: from, len_bytes };
        self.begin(part, &vec![0; len_bytes as usize], wall_ns);
    }

    /// Begins a part of an ask, or lines it up.
    fn begin(&mut self, part: Part, bytes: &[u8], wall_ns: u64) {
        self.asked[part.asked].parts_left += 1;
        if !self.is_ready() || self.free.is_empty() || !self.waiting.is_empty() || self.has_to_wait(&part) {
            self.waiting.push_back((part, bytes.to_vec()));
        } else {
            self.submit(part, bytes, wall_ns);
        }
    }

    /// Another part that writes to the same sector is under way, and one of the two writes only a part of it.
    fn has_to_wait(&self, part: &Part) -> bool {
        if self.ragged == 0 && !part.is_ragged() {
            return false;
        }
        self.parts.iter().flatten().any(|other| (part.is_ragged() || other.is_ragged()) && part.overlaps(other))
    }

    fn submit(&mut self, part: Part, bytes: &[u8], wall_ns: u64) {
        let now = self.now(wall_ns);
        let id = RequestId(self.free.pop().expect("looked at"));
        self.ragged += u32::from(part.is_ragged());
        self.parts[id.0 as usize] = Some(part);
        let operation = match part.kind {
            PartKind::Read => device::Operation::Read,
            PartKind::Write => device::Operation::Write,
            PartKind::Trim => device::Operation::Trim,
            PartKind::Flush => device::Operation::Flush,
        };
        let range = ByteRange { offset_bytes: part.offset_bytes, len_bytes: part.len_bytes };
        let request = Request { operation, range, fua: part.fua, data: () };
        match &mut self.state {
            State::On(card) => {
                let data = match part.kind {
                    PartKind::Write => card.pack((part.offset_bytes % SECTOR_BYTES) as usize, bytes),
                    _ => RequestData::none(),
                };
                card.submit(now, id, request.with(data), &mut self.done);
            }
            State::Disks(disks) => {
                match part.kind {
                    PartKind::Write => disks.write(part.offset_bytes, bytes),
                    PartKind::Trim => disks.discard(part.offset_bytes, part.len_bytes.into()),
                    PartKind::Read | PartKind::Flush => {}
                }
                disks.submit(now, id, request, &mut self.done);
            }
            State::Off(_) | State::Gone => unreachable!("asks are refused without power"),
        }
    }

    /// Goes on as far as time has come, answers what is done, and begins what waited. Answers of `port` go to `done`.
    pub fn go_on(&mut self, wall_ns: u64, port: Option<u64>, done: &mut Vec<Done>) {
        self.go_on_and(wall_ns, port, done, true);
    }

    /// As [`Engine::go_on`], but what was begun on a slow medium waits for more, until somebody goes on.
    fn go_on_without_medium(&mut self, wall_ns: u64, port: Option<u64>, done: &mut Vec<Done>) {
        self.go_on_and(wall_ns, port, done, false);
    }

    fn go_on_and(&mut self, wall_ns: u64, port: Option<u64>, done: &mut Vec<Done>, hears: bool) {
        let mut events = 0;
        loop {
            self.answer(port, done);
            self.begin_waiting(wall_ns);
            let next = match &self.state {
                State::On(card) if card.is_halted() => return self.give_up(AskError::Stopped, port, done),
                State::On(card) => card.next_event(),
                State::Disks(disks) => disks.next_event(),
                State::Off(_) | State::Gone => return,
            };
            if next > Time(wall_ns) || events == EVENTS_AT_ONCE {
                if self.done.is_empty() && (events == EVENTS_AT_ONCE || !hears || !self.hear_medium(wall_ns)) {
                    break;
                }
                continue;
            }
            self.last = self.last.max(next);
            self.lateness.note(wall_ns, wall_ns - next.0);
            match &mut self.state {
                State::On(card) => card.advance(next, &mut self.done),
                State::Disks(disks) => disks.advance(next, &mut self.done),
                State::Off(_) | State::Gone => unreachable!("looked at"),
            }
            events += 1;
        }
    }

    /// Goes on as far as time, and the medium, have come.
    pub fn poll(&mut self) {
        let wall_ns = self.wall_ns();
        self.hear_medium(wall_ns);
        self.go_on(wall_ns, None, &mut Vec::new());
    }

    /// Hands the medium what was begun, and hears what has ended; false: nothing has.
    fn hear_medium(&mut self, wall_ns: u64) -> bool {
        let State::On(card) = &mut self.state else { return false };
        let medium @ Medium::Outside(_) = card.medium_mut() else { return false };
        medium.submit();
        let mut ended = std::mem::take(&mut self.ended);
        medium.take_ended(&mut ended);
        let has_ended = !ended.is_empty();
        let now = self.now(wall_ns);
        if let State::On(card) = &mut self.state {
            for what in ended.drain(..) {
                match what {
                    Ended::Die { module, die } => card.answered(now, module, die),
                    Ended::Sync { .. } => card.answered_sync(now, &mut self.done),
                }
            }
        }
        self.ended = ended;
        has_ended
    }

    fn answer(&mut self, port: Option<u64>, answers: &mut Vec<Done>) {
        while let Some(Completion { id, result, data, .. }) = self.done.pop() {
            let part = self.parts[id.0 as usize].take().expect("it was submitted");
            self.free.push(id.0);
            self.ragged -= u32::from(part.is_ragged());
            match &mut self.state {
                State::On(_) => {}
                State::Disks(disks) => {
                    if part.kind == PartKind::Read {
                        let found = disks.read(part.offset_bytes, part.len_bytes.into());
                        self.asked[part.asked].data.sectors = found;
                    }
                    self.part_done(part.asked, port, answers);
                    continue;
                }
                State::Off(_) | State::Gone => unreachable!("it has just completed something"),
            }
            let error = result.err().map(|error| match error {
                RequestError::ReadOnly => AskError::ReadOnly,
                RequestError::EdgeUnreadable => {
                    AskError::Unreadable { offset_bytes: part.offset_bytes / SECTOR_BYTES * SECTOR_BYTES }
                }
            });
            let asked = &mut self.asked[part.asked];
            asked.error = asked.error.or(error);
            if part.kind == PartKind::Read && error.is_none() {
                asked.data.sectors = data.into_sectors();
                let bad = asked.data.sectors.iter().position(|sector| *sector == SectorData::Unreadable);
                if let Some(bad) = bad {
                    asked.error =
                        Some(AskError::Unreadable { offset_bytes: (part.first() + bad as u64) * SECTOR_BYTES });
                }
            }
            self.part_done(part.asked, port, answers);
        }
    }

    fn part_done(&mut self, index: usize, port: Option<u64>, answers: &mut Vec<Done>) {
        let asked = &mut self.asked[index];
        asked.parts_left -= 1;
        if asked.parts_left > 0 {
            return;
        }
        let asked = self.asked.remove(index);
        let result = match asked.error {
            Some(error) => {
                self.recorders.errors += 1;
                Err(error)
            }
            None => {
                let ns = self.began.elapsed().as_nanos() as u64 - asked.asked_ns;
                self.recorders.note(asked.kind, ns, asked.bytes);
                Ok(asked.data)
            }
        };
        let done = Done { tag: asked.tag, result };
        if port == Some(asked.port) {
            answers.push(done);
        } else if let Some(asker) = self.askers.get_mut(&asked.port) {
            asker.completed.push(done);
            asker.ring = true;
        }
    }

    fn begin_waiting(&mut self, wall_ns: u64) {
        if self.waiting.is_empty() || !self.is_ready() {
            return;
        }
        while let Some((part, _)) = self.waiting.front()
            && !self.free.is_empty()
            && !self.has_to_wait(part)
        {
            let (part, bytes) = self.waiting.pop_front().expect("looked at");
            self.submit(part, &bytes, wall_ns);
        }
    }

    /// Nothing of what was asked will be done.
    pub fn give_up(&mut self, error: AskError, port: Option<u64>, answers: &mut Vec<Done>) {
        self.done.clear();
        self.ragged = 0;
        let under_way: Vec<usize> = self.parts.iter_mut().filter_map(Option::take).map(|part| part.asked).collect();
        let waiting: Vec<usize> = self.waiting.drain(..).map(|(part, _)| part.asked).collect();
        self.free = (0..AT_ONCE).rev().collect();
        for asked in under_way.into_iter().chain(waiting) {
            self.asked[asked].error = Some(error);
            self.part_done(asked, port, answers);
        }
    }

    /// Those who have to be told of answers.
    pub fn bells(&mut self, bells: &mut Vec<Arc<dyn crate::port::Bell>>) {
        for asker in self.askers.values_mut() {
            if std::mem::take(&mut asker.ring) {
                bells.push(Arc::clone(&asker.bell));
            }
        }
    }

    /// Nothing that was asked is under way.
    pub fn is_idle(&self) -> bool {
        self.asked.is_empty()
    }
}
