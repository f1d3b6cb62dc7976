//! Cuts and starts of the fake card.

use super::module::{Content, Entry, Module, State};
use super::{Bug, CARD, Fake, Home, Memory};
use std::collections::BTreeMap;
use torture::sim::{Chooser, CutOutcome, Durability, Lba, NotRecovered, RecoveryReport, Refusal, Stamp};

/// How one program ends.
#[derive(Clone, Copy)]
enum End {
    NotBegun,
    Torn,
    Done,
}

const ENDS: [End; 3] = [End::NotBegun, End::Torn, End::Done];

impl Fake {
    pub(super) fn cut(&mut self, how: CutOutcome, chooser: &mut dyn Chooser) -> bool {
        let programs = self.memory.programs.len();
        let on_ack = self.durability == Durability::OnAck;
        let forced = match how {
            CutOutcome::Any | CutOutcome::AnySubset | CutOutcome::WeakErase => None,
            CutOutcome::NotBegun => Some(End::NotBegun),
            CutOutcome::DoneUnreported => Some(End::Done),
            CutOutcome::SharedCells | CutOutcome::CacheLost => return false,
            _ => Some(End::Torn),
        };
        let possible = match how {
            CutOutcome::Any => true,
            CutOutcome::DoneUnreported => programs > 0,
            CutOutcome::WeakErase => !self.memory.erases.is_empty(),
            CutOutcome::AnySubset => !on_ack && programs > 1,
            _ => !on_ack && programs > 0,
        };
        if !possible {
            return false;
        }
        if on_ack {
            self.drain();
        } else {
            for (i, program) in std::mem::take(&mut self.memory.programs).into_iter().enumerate() {
                for slot in 0..2 {
                    let end = match forced {
                        Some(end) if i == 0 => end,
                        _ => ENDS[chooser.choose(3) as usize],
                    };
                    self.end(slot, program.entry, end);
                }
            }
        }
        for erase in std::mem::take(&mut self.memory.erases) {
            if how == CutOutcome::WeakErase || chooser.choose(2) == 1 {
                for module in self.slots.iter_mut().flatten() {
                    module.log.retain(|s| s.id != erase.segment);
                }
            }
        }
        self.mix(self.media_ops);
        self.memory = Memory::new(self.sectors);
        self.powered = false;
        true
    }

    /// Capacitors carry the buffer to flash.
    fn drain(&mut self) {
        let mut buffer = std::mem::take(&mut self.memory.buffer);
        if self.has(Bug::BufferLost) {
            buffer.pop();
        }
        for b in buffer {
            self.programmed(Entry { seq: b.seq, lba: b.lba, content: b.content, state: State::Good });
        }
    }

    fn end(&mut self, slot: usize, entry: Entry, end: End) {
        let open = self.memory.open;
        let Some(module) = &mut self.slots[slot] else { return };
        match end {
            End::NotBegun => {}
            End::Done => module.append(open, entry),
            End::Torn => {
                let old = module.entries().filter(|e| e.lba == entry.lba).max_by_key(|e| e.seq).map(|e| e.content);
                module.append(open, Entry { content: mixed(old, entry.content), state: State::Torn, ..entry });
            }
        }
    }

    pub(super) fn start(
        &mut self,
        cut_after: Option<u64>,
        chooser: &mut dyn Chooser,
    ) -> Result<RecoveryReport, NotRecovered> {
        assert!(!self.powered);
        self.assembles()?;
        let media_ops = self.rebuild(cut_after, chooser)?;
        self.recoveries += 1;
        self.media_ops += media_ops;
        self.now += 1_000_000 + media_ops * super::PROGRAM_NS;
        self.powered = true;
        self.mix(media_ops);
        self.pump();
        Ok(RecoveryReport { media_ops, took_ns: media_ops * super::PROGRAM_NS })
    }

    fn assembles(&self) -> Result<(), Refusal> {
        if self.has(Bug::SpuriousRefusal) && self.recoveries == 2 {
            return Err(Refusal::Damaged);
        }
        let modules: Vec<&Module> = self.slots.iter().flatten().collect();
        match modules[..] {
            [] => Err(Refusal::MissingModules),
            _ if modules.iter().any(|m| m.card != CARD) => Err(Refusal::ForeignModule),
            [a, b] if a.uid == b.uid => Err(Refusal::ClonedModule),
            _ => Ok(()),
        }
    }

    /// Restores memory and the mirror; the number of operations that it took.
    fn rebuild(&mut self, cut_after: Option<u64>, chooser: &mut dyn Chooser) -> Result<u64, NotRecovered> {
        let generations = self.slots.iter().flatten().map(|m| m.generation);
        let newest = generations.clone().max().expect("it assembles");
        let trusted = if self.has(Bug::StaleTrusted) { generations.min().expect("it assembles") } else { newest };
        let mut ops = Ops { done: 0, cut_after };
        for slot in 0..2 {
            let Some(module) = &mut self.slots[slot] else { continue };
            if module.generation != trusted {
                ops.next()?;
                module.log.clear();
            }
        }
        let last = self.last_versions();
        let mut memory = Memory::new(self.sectors);
        memory.open = 1 + self.slots.iter().flatten().flat_map(|m| &m.log).map(|s| s.id).max().unwrap_or(0);
        memory.next_seq = 1 + self.slots.iter().flatten().flat_map(|m| m.entries()).map(|e| e.seq).max().unwrap_or(0);
        self.memory = memory;
        if self.has(Bug::RecoveryNotRestartable) {
            ops.next()?;
            self.slots.iter_mut().flatten().for_each(|m| m.log.clear());
        }
        for (&lba, &entry) in &last {
            self.memory.newest[lba.0 as usize] = entry.seq;
            let complete = self.home(lba, entry.seq).is_some();
            if !complete && !self.has(Bug::MirrorsDiffer) {
                let entry = Entry { state: State::Good, ..entry };
                for slot in 0..2 {
                    if self.slots[slot].is_none() {
                        continue;
                    }
                    if ops.next().is_err() {
                        self.end(slot, entry, ENDS[chooser.choose(3) as usize]);
                        return Err(NotRecovered::Cut);
                    }
                    self.end(slot, entry, End::Done);
                }
            }
            let segment = self.home(lba, entry.seq).unwrap_or(0);
            self.memory.homes[lba.0 as usize] = Home { seq: entry.seq, segment };
        }
        self.memory.open += 1;
        for slot in 0..2 {
            let Some(module) = &mut self.slots[slot] else { continue };
            let earlier = module.clone();
            if ops.next().is_err() {
                if chooser.choose(2) == 1 {
                    module.generation = newest + 1;
                }
                return Err(NotRecovered::Cut);
            }
            module.generation = newest + 1;
            self.earlier[slot] = earlier;
        }
        Ok(ops.done)
    }

    /// The last segment in which all modules can read a version: a cut relocation may have left others.
    fn home(&self, lba: Lba, seq: u64) -> Option<u64> {
        let good = |e: &Entry| e.lba == lba && e.seq == seq && e.state == State::Good;
        let holds = |m: &Module, id: u64| m.log.iter().any(|s| s.id == id && s.entries.iter().any(good));
        let modules: Vec<&Module> = self.slots.iter().flatten().collect();
        let ids = modules[0].log.iter().map(|s| s.id);
        ids.filter(|&id| modules.iter().all(|m| holds(m, id))).max()
    }

    /// The last version of each sector that lies on a module.
    fn last_versions(&self) -> BTreeMap<Lba, Entry> {
        let mut last: BTreeMap<Lba, Entry> = BTreeMap::new();
        for &entry in self.slots.iter().flatten().flat_map(|m| m.entries()) {
            match entry.state {
                State::Torn if !self.has(Bug::TornTrusted) => continue,
                State::Bad if self.has(Bug::ErrorForgotten) => continue,
                _ => {}
            }
            let content = if entry.state == State::Bad { Content::Lost } else { entry.content };
            let entry = Entry { content, ..entry };
            let better = last.get(&entry.lba).is_none_or(|&best| {
                let newer = entry.seq > best.seq && !self.has(Bug::SequenceIgnored);
                newer || (entry.seq == best.seq && best.state != State::Good)
            });
            if better {
                last.insert(entry.lba, entry);
            }
        }
        if self.has(Bug::RecoveryNotIdempotent) && self.recoveries % 2 == 1 {
            let latest = last.values().max_by_key(|e| e.seq).map(|e| (e.lba, e.seq));
            if let Some((lba, seq)) = latest {
                let all = self.slots.iter().flatten().flat_map(|m| m.entries());
                match all.filter(|e| e.lba == lba && e.seq < seq && e.state == State::Good).max_by_key(|e| e.seq) {
                    Some(&entry) => last.insert(lba, entry),
                    None => last.remove(&lba),
                };
            }
        }
        last
    }
}

/// Operations of a recovery.
struct Ops {
    done: u64,
    cut_after: Option<u64>,
}

impl Ops {
    fn next(&mut self) -> Result<(), NotRecovered> {
        if self.cut_after == Some(self.done) {
            return Err(NotRecovered::Cut);
        }
        self.done += 1;
        Ok(())
    }
}

/// Half of the one and half of the other.
fn mixed(old: Option<Content>, new: Content) -> Content {
    let bits = |c| if let Content::Value(stamp) = c { stamp.0 } else { 0 };
    let (old, new) = (old.map_or(0, bits), bits(new));
    Content::Value(Stamp(old & 0xffff_ffff | new & !0xffff_ffff))
}
