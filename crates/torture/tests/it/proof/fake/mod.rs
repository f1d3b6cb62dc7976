//! A card of two mirrored modules with a log each, a write buffer, garbage collection and recovery by scanning: simple
//! enough to be right, and made wrong in one place at a time.

mod bug;
mod module;
mod power;

pub use bug::Bug;
use device::{Rng, Time};
use module::{Content, Entry, Module, SEGMENT_ENTRIES, State};
use std::collections::BTreeMap;
use torture::sim::plan::{Flips, HostError, Metadata};
use torture::sim::{
    Activity, Ask, Chooser, CutOutcome, Done, Durability, FaultKind, FaultSpec, HostOp, Impact, Lba, Lost,
    NotRecovered, OpError, OpId, Outcome, RecoveryReport, Sector, Subject, What,
};

const CARD: u32 = 1;
const PROGRAMS_AT_ONCE: usize = 2;
const PROGRAM_NS: u64 = 100_000;
const ERASE_NS: u64 = 1_000_000;

/// A version that is not on flash yet.
#[derive(Clone, Copy, Debug)]
struct Buffered {
    seq: u64,
    lba: Lba,
    content: Content,
    started: bool,
}

#[derive(Clone, Copy, Debug)]
struct Program {
    entry: Entry,
    due: Time,
    relocates: bool,
}

#[derive(Clone, Copy, Debug)]
struct Erase {
    segment: u64,
    due: Time,
}

/// Where the last version on flash lies.
#[derive(Clone, Copy, Debug, Default)]
struct Home {
    seq: u64,
    segment: u64,
}

/// State that a cut leaves nothing of.
#[derive(Clone, Debug)]
struct Memory {
    requests: BTreeMap<OpId, (HostOp, Time)>,
    /// Last version of each sector, on flash or not.
    newest: Vec<u64>,
    /// Sectors that only memory knows to be zero.
    forgotten: BTreeMap<Lba, u64>,
    buffer: Vec<Buffered>,
    programs: Vec<Program>,
    erases: Vec<Erase>,
    homes: Vec<Home>,
    /// Requests that wait until these versions are on flash.
    waiting: Vec<(OpId, Vec<u64>)>,
    next_seq: u64,
    open: u64,
    /// A write that failed and comes back.
    ghosts: Vec<(Lba, Content)>,
}

impl Memory {
    fn new(sectors: u32) -> Memory {
        Memory {
            requests: BTreeMap::new(),
            newest: vec![0; sectors as usize],
            forgotten: BTreeMap::new(),
            buffer: Vec::new(),
            programs: Vec::new(),
            erases: Vec::new(),
            homes: vec![Home::default(); sectors as usize],
            waiting: Vec::new(),
            next_seq: 1,
            open: 1,
            ghosts: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Fake {
    bug: Option<Bug>,
    durability: Durability,
    sectors: u32,
    rng: Rng,
    now: Time,
    powered: bool,
    slots: Vec<Option<Module>>,
    /// Modules that were taken out.
    parked: Vec<Option<Module>>,
    /// Modules as they were before the last start.
    earlier: Vec<Module>,
    memory: Memory,
    next_id: u64,
    media_ops: u64,
    recoveries: u64,
    reads: u64,
    slow: u64,
    fail_flush: bool,
    fail_write: bool,
    trace: u64,
}

impl Fake {
    pub fn new(seed: u64, sectors: u32, durability: Durability, bug: Option<Bug>) -> Fake {
        let module = |uid, generation| Module::new(CARD, uid, generation);
        Fake {
            bug,
            durability,
            sectors,
            rng: Rng::stream(seed, "fake card"),
            now: Time::ZERO,
            powered: true,
            slots: vec![Some(module(1, 1)), Some(module(2, 1))],
            parked: vec![None, None],
            earlier: vec![module(1, 0), module(2, 0)],
            memory: Memory::new(sectors),
            next_id: 0,
            media_ops: 0,
            recoveries: 0,
            reads: 0,
            slow: 1,
            fail_flush: false,
            fail_write: false,
            trace: 0,
        }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn mix(&mut self, word: u64) {
        self.trace = (self.trace.rotate_left(9) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn present(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    fn segments(&self) -> usize {
        self.slots.iter().flatten().map(|m| m.log.len()).max().unwrap_or(0)
    }

    fn wants_gc(&self) -> bool {
        self.segments() > 2 * (self.sectors as usize).div_ceil(SEGMENT_ENTRIES) + 2
    }

    fn next_due(&self) -> Time {
        let memory = &self.memory;
        let requests = memory.requests.values().map(|r| r.1);
        let programs = memory.programs.iter().map(|p| p.due);
        let erases = memory.erases.iter().map(|e| e.due);
        requests.chain(programs).chain(erases).min().unwrap_or(Time::NEVER)
    }

    fn arrive(&mut self, id: OpId, op: HostOp, done: &mut Vec<Done>) {
        let outcome = match op.ask {
            Ask::WriteParts { .. } | Ask::ZeroParts { .. } | Ask::TrimParts { .. } => {
                unreachable!("the host writes whole sectors")
            }
            Ask::Read { lba, count } => Some(Outcome::Values(lba.run(count).map(|lba| self.read(lba)).collect())),
            Ask::Flush if std::mem::take(&mut self.fail_flush) => Some(Outcome::Failed(OpError::Io)),
            Ask::Flush if self.durability == Durability::OnAck || self.has(Bug::FlushIgnored) => Some(Outcome::Ok),
            Ask::Flush => {
                let mut seqs: Vec<u64> = self.memory.buffer.iter().map(|b| b.seq).collect();
                if self.has(Bug::FlushCoversOne) {
                    seqs.truncate(1);
                }
                self.memory.waiting.push((id, seqs));
                None
            }
            Ask::Write { lba, .. } if std::mem::take(&mut self.fail_write) => {
                self.memory.ghosts.extend(lba.run(1).map(|lba| (lba, Content::Value(op.stamps[0]))));
                Some(Outcome::Failed(OpError::Io))
            }
            Ask::Write { lba, count, fua } => {
                let stored = count - u32::from(self.has(Bug::ShortWrite) && count > 5);
                let contents = lba.run(stored).zip(op.stamps.iter().map(|&s| Content::Value(s)));
                let contents: Vec<(Lba, Content)> = contents.collect();
                self.write(id, contents, fua)
            }
            Ask::Trim { count, .. } if self.has(Bug::Panics) && count > 20 => panic!("too long"),
            Ask::Trim { lba, count } => self.zero(id, lba, count, false, Bug::TrimForgotten),
            Ask::WriteZeroes { lba, count, fua } => self.zero(id, lba, count, fua, Bug::ZeroesForgotten),
        };
        if let Some(outcome) = outcome {
            self.answer(id, outcome, done);
        }
    }

    fn answer(&mut self, id: OpId, outcome: Outcome, done: &mut Vec<Done>) {
        self.mix(id.0);
        if self.has(Bug::AnswerLost) && id.0 % 97 == 96 {
            return;
        }
        done.push(Done { id, outcome });
    }

    fn zero(&mut self, id: OpId, lba: Lba, count: u32, fua: bool, forgets: Bug) -> Option<Outcome> {
        if self.has(forgets) {
            for lba in lba.run(count) {
                self.memory.forgotten.insert(lba, self.memory.newest[lba.0 as usize]);
            }
            return Some(Outcome::Ok);
        }
        self.write(id, lba.run(count).map(|lba| (lba, Content::Zero)).collect(), fua)
    }

    fn write(&mut self, id: OpId, contents: Vec<(Lba, Content)>, fua: bool) -> Option<Outcome> {
        let ghosts = std::mem::take(&mut self.memory.ghosts);
        let mut seqs = Vec::new();
        for (lba, content) in contents {
            seqs.push(self.memory.next_seq);
            self.store(lba, content);
        }
        if self.has(Bug::FailedWriteReturns) {
            ghosts.into_iter().for_each(|(lba, content)| self.store(lba, content));
        }
        if fua && !self.has(Bug::FuaIgnored) {
            self.memory.waiting.push((id, seqs));
            return None;
        }
        Some(Outcome::Ok)
    }

    fn store(&mut self, lba: Lba, content: Content) {
        let seq = self.memory.next_seq;
        self.memory.next_seq += 1;
        self.memory.newest[lba.0 as usize] = seq;
        self.memory.buffer.push(Buffered { seq, lba, content, started: false });
    }

    fn read(&mut self, lba: Lba) -> Sector {
        self.reads += 1;
        if self.has(Bug::SpuriousError) && self.reads % 503 == 502 {
            return Sector::Error;
        }
        let newest = self.memory.newest[lba.0 as usize];
        if self.memory.forgotten.get(&lba) == Some(&newest) {
            return Sector::Zero;
        }
        let mut seq = newest;
        if self.has(Bug::BufferNotRead) {
            seq = self.memory.homes[lba.0 as usize].seq;
        }
        if let Some(buffered) = self.memory.buffer.iter().find(|b| b.seq == seq) {
            return sector(buffered.content);
        }
        if self.has(Bug::MirrorsDiffer) {
            let turn = self.reads as usize % 2;
            let module = self.slots[turn].as_ref().or(self.slots[1 - turn].as_ref()).expect("a module is there");
            let last = module.entries().filter(|e| e.lba == lba && e.state == State::Good).max_by_key(|e| e.seq);
            return last.map_or(Sector::Zero, |e| sector(e.content));
        }
        if seq == 0 {
            return Sector::Zero;
        }
        sector(self.on_flash(lba, seq))
    }

    fn on_flash(&self, lba: Lba, seq: u64) -> Content {
        let mut modules = self.slots.iter().flatten();
        if self.has(Bug::FlipsBelieved) {
            let flipped = |m: &Module| m.entries().find(|e| e.lba == lba && e.seq == seq).copied();
            if let Some(Entry { state: State::Bad, content: Content::Value(stamp), .. }) =
                modules.clone().find_map(flipped)
            {
                return Content::Value(torture::sim::Stamp(stamp.0 ^ 0x40));
            }
        }
        modules.find_map(|m| m.good(lba, seq)).unwrap_or(Content::Lost)
    }

    /// Starts what can be started.
    fn pump(&mut self) {
        while self.memory.programs.len() < PROGRAMS_AT_ONCE {
            let Some(buffered) = self.memory.buffer.iter_mut().find(|b| !b.started) else { break };
            buffered.started = true;
            let Buffered { seq, lba, content, .. } = *buffered;
            self.program(Entry { seq, lba, content, state: State::Good }, false);
        }
        if !self.wants_gc() || !self.memory.erases.is_empty() {
            return;
        }
        let Some(victim) = self.slots.iter().flatten().flat_map(|m| &m.log).map(|s| s.id).min() else { return };
        let live = (0..self.sectors).map(Lba).find(|lba| self.memory.homes[lba.0 as usize].segment == victim);
        match live {
            Some(lba) if self.memory.programs.len() < PROGRAMS_AT_ONCE => {
                let seq = self.memory.homes[lba.0 as usize].seq;
                if !self.memory.programs.iter().any(|p| p.relocates && p.entry.lba == lba) {
                    let from = if self.has(Bug::NeighbourRelocated) { Lba(lba.0 ^ 1) } else { lba };
                    let from_seq = self.memory.homes[from.0 as usize].seq;
                    let content = if from_seq == 0 { Content::Zero } else { self.on_flash(from, from_seq) };
                    self.program(Entry { seq, lba, content, state: State::Good }, true);
                    if self.has(Bug::ErasedEarly) {
                        self.memory.erases.push(Erase { segment: victim, due: self.now + 1 });
                    }
                }
            }
            None if victim != self.memory.open => {
                self.media_ops += 1;
                self.memory.erases.push(Erase { segment: victim, due: self.now + ERASE_NS });
            }
            _ => {}
        }
    }

    fn program(&mut self, entry: Entry, relocates: bool) {
        self.media_ops += 1;
        let due = self.now + (PROGRAM_NS + self.rng.below(PROGRAM_NS)) * self.slow;
        self.memory.programs.push(Program { entry, due, relocates });
    }

    /// An entry is on flash.
    fn programmed(&mut self, entry: Entry) {
        let open = self.memory.open;
        for module in self.slots.iter_mut().flatten() {
            module.append(open, entry);
        }
        let home = &mut self.memory.homes[entry.lba.0 as usize];
        if entry.seq >= home.seq {
            *home = Home { seq: entry.seq, segment: open };
        }
        let full = |m: &Module| m.log.iter().any(|s| s.id == open && s.entries.len() >= SEGMENT_ENTRIES);
        if self.slots.iter().flatten().any(full) {
            self.memory.open += 1;
        }
    }

    fn settle_waiting(&mut self, done: &mut Vec<Done>) {
        let buffer = &self.memory.buffer;
        let (ready, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.memory.waiting)
            .into_iter()
            .partition(|(_, seqs)| !buffer.iter().any(|b| seqs.contains(&b.seq)));
        self.memory.waiting = waiting;
        for (id, _) in ready {
            self.answer(id, Outcome::Ok, done);
        }
    }

    /// A version that is on flash in both modules and on both readable.
    fn mirrored(&self, rng: &mut Rng) -> Option<(Lba, u64)> {
        if self.present() < 2 || !self.powered {
            return None;
        }
        let candidates: Vec<(Lba, u64)> = (0..self.sectors)
            .map(|l| (Lba(l), self.memory.homes[l as usize].seq))
            .filter(|&(lba, seq)| seq > 0 && self.slots.iter().flatten().all(|m| m.good(lba, seq).is_some()))
            .collect();
        (!candidates.is_empty()).then(|| candidates[rng.below(candidates.len() as u64) as usize])
    }

    /// A module is gone: the other one says so in its header.
    fn lose(&mut self, slot: usize) -> Option<Module> {
        if self.present() < 2 || !self.powered {
            return None;
        }
        let module = self.slots[slot].take();
        for survivor in self.slots.iter_mut().flatten() {
            survivor.generation += 1;
        }
        module
    }
}

fn sector(content: Content) -> Sector {
    match content {
        Content::Value(stamp) => Sector::Value(stamp),
        Content::Zero => Sector::Zero,
        Content::Lost => Sector::Error,
    }
}

impl Subject for Fake {
    fn sectors(&self) -> u32 {
        self.sectors
    }

    fn durability(&self) -> Durability {
        self.durability
    }

    fn slots(&self) -> u32 {
        2
    }

    fn now(&self) -> Time {
        self.now
    }

    fn submit(&mut self, op: HostOp) -> OpId {
        assert!(self.powered);
        let id = OpId(self.next_id);
        self.next_id += 1;
        // Requests overtake each other.
        let due = self.now + 5_000 + self.rng.below(60_000);
        self.memory.requests.insert(id, (op, due));
        id
    }

    fn step(&mut self, until: Time, done: &mut Vec<Done>) -> bool {
        let due = self.next_due();
        if self.has(Bug::NeverRests) && due == Time::NEVER && until == Time::NEVER {
            self.now += 1_000_000;
            return true;
        }
        if due > until || due == Time::NEVER {
            if until != Time::NEVER {
                self.now = until;
            }
            return false;
        }
        self.now = due;
        self.mix(due.0);
        if let Some(i) = self.memory.programs.iter().position(|p| p.due == due) {
            let program = self.memory.programs.remove(i);
            self.programmed(program.entry);
            if !program.relocates {
                self.memory.buffer.retain(|b| b.seq != program.entry.seq);
            }
        } else if let Some(i) = self.memory.erases.iter().position(|e| e.due == due) {
            let erase = self.memory.erases.remove(i);
            for module in self.slots.iter_mut().flatten() {
                module.log.retain(|s| s.id != erase.segment);
            }
        } else {
            let id = *self.memory.requests.iter().find(|r| r.1.1 == due).expect("something is due").0;
            let (op, _) = self.memory.requests.remove(&id).expect("just found");
            self.arrive(id, op, done);
        }
        self.settle_waiting(done);
        self.pump();
        true
    }

    fn idle(&self) -> bool {
        !self.has(Bug::NeverRests) && self.next_due() == Time::NEVER && self.memory.waiting.is_empty()
    }

    fn activity(&self) -> Activity {
        if !self.powered {
            Activity::Recovery
        } else if !self.memory.erases.is_empty() || self.memory.programs.iter().any(|p| p.relocates) {
            Activity::Gc
        } else if !self.memory.programs.is_empty() {
            Activity::HostWrite
        } else {
            Activity::Idle
        }
    }

    fn media_ops(&self) -> u64 {
        self.media_ops
    }

    fn power_cut(&mut self, how: CutOutcome, chooser: &mut dyn Chooser) -> bool {
        self.cut(how, chooser)
    }

    fn recover(&mut self, cut_after: Option<u64>, chooser: &mut dyn Chooser) -> Result<RecoveryReport, NotRecovered> {
        self.start(cut_after, chooser)
    }

    fn inject(&mut self, fault: &FaultSpec) -> Option<Impact> {
        let mut rng = fault.chooser("fake card");
        let repaired = Some(Impact::default());
        match fault.kind {
            FaultKind::DeadModule | FaultKind::StuckModule => {
                self.lose(rng.below(2) as usize)?;
                repaired
            }
            FaultKind::ProgramFailure => {
                self.memory.programs.first_mut()?.due += PROGRAM_NS;
                repaired
            }
            FaultKind::BitFlips { flips: Flips::Below | Flips::At, .. } | FaultKind::OtherController => repaired,
            FaultKind::BitFlips { .. }
            | FaultKind::ReadDisturb
            | FaultKind::Retention
            | FaultKind::Miscorrection
            | FaultKind::Damaged(Metadata::Spare) => {
                let (lba, seq) = self.mirrored(&mut rng)?;
                self.slots[rng.below(2) as usize].as_mut()?.spoil(lba, seq);
                repaired
            }
            FaultKind::LatentError => {
                if self.present() != 1 || !self.powered {
                    return None;
                }
                let start = rng.below(u64::from(self.sectors)) as u32;
                let lbas = (0..self.sectors).map(|l| (l + start) % self.sectors);
                let lba = Lba(lbas.into_iter().find(|&l| self.memory.homes[l as usize].seq > 0)?);
                let seq = self.memory.homes[lba.0 as usize].seq;
                self.slots.iter_mut().flatten().for_each(|m| m.spoil(lba, seq));
                Some(Impact { lost: Lost::These([lba].into()), ..Impact::default() })
            }
            FaultKind::SlowModule => {
                self.slow = 10;
                repaired
            }
            FaultKind::Host { error: HostError::FailedSync, lasting: false } => {
                self.fail_flush = true;
                Some(Impact { may_fail: true, ..Impact::default() })
            }
            FaultKind::Host { error: HostError::Eio, lasting: false } => {
                self.fail_write = true;
                Some(Impact { may_fail: true, ..Impact::default() })
            }
            _ => None,
        }
    }

    fn pull(&mut self, slot: u32) -> Option<Impact> {
        let module = self.lose(slot as usize)?;
        self.parked[slot as usize] = Some(module);
        Some(Impact::default())
    }

    fn insert(&mut self, slot: u32, what: What) -> Option<Impact> {
        let (slot, other) = (slot as usize, 1 - slot as usize);
        if self.powered {
            return None;
        }
        if what == What::Same {
            if let Some(module) = self.parked[slot].take() {
                self.slots[slot] = Some(module);
            }
            return Some(Impact::default());
        }
        let other = self.slots[other].clone()?;
        let may_refuse = matches!(what, What::Foreign | What::Cloned);
        let module = match what {
            What::Same => unreachable!("put back above"),
            What::Stale => self.earlier[slot].clone(),
            What::Blank => Module::new(CARD, 100 + self.recoveries as u32, 0),
            What::Foreign => Module::new(CARD + 1, 1, 9),
            What::Cloned => other,
        };
        if let Some(out) = self.slots[slot].replace(module) {
            self.parked[slot] = Some(out);
        }
        Some(Impact { may_refuse, ..Impact::default() })
    }

    fn permute(&mut self, order: &[u32]) -> bool {
        if self.powered {
            return false;
        }
        if order == [1, 0] {
            self.slots.swap(0, 1);
            self.parked.swap(0, 1);
            self.earlier.swap(0, 1);
        }
        true
    }

    fn scrub(&mut self) {
        for lba in (0..self.sectors).map(Lba) {
            let seq = self.memory.homes[lba.0 as usize].seq;
            let good = self.slots.iter().flatten().find_map(|m| m.good(lba, seq));
            if let Some(content) = good {
                self.slots.iter_mut().flatten().for_each(|m| m.mend(lba, seq, content));
            }
        }
    }

    fn harmed(&self) -> Vec<u32> {
        (0..2).filter(|&slot| self.slots[slot as usize].is_none()).collect()
    }

    fn trace(&self) -> u64 {
        self.trace
    }
}
