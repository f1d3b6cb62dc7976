//! An array with one parity, as its owner runs it: what it does for a host is what the card does in effect.
//!
//! A stripe has a unit on each module. It can be read while all units but one can, so a write is durable when all modules
//! have it, or all but one that the headers of the others name as lacking something.

use super::flaw::Flaw;
use super::history::NOTHING;
use super::met::Met;
use super::words::{Ask, Contents, Request, SECTORS, SLOTS, Set, Stamp, Stripe};
use session::ownership::Claim;

/// An act of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A message for a module's data connection.
    Send { module: usize, id: u32, ask: Ask },
    /// Recovery is over.
    Opened,
    /// A write is durable.
    Written(Request),
    /// Fewer modules are left than can be read with.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Recovery,
    Repair,
    Header,
    Write(Stamp),
    Clear,
    Rebuild,
}

#[derive(Clone, Debug)]
enum State {
    Reading(Vec<Option<Box<Contents>>>),
    Repairing,
    Running,
    /// A module is filled again; writes wait.
    Rebuilding(usize),
    Failed,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    request: Request,
    slot: u8,
    stripe: Stripe,
    left: Set,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Array {
    modules: usize,
    claim: Claim,
    number: u32,
    /// Modules that lack something, or that can't be asked.
    stale: Set,
    /// Modules that have not taken the last header yet: until then nothing counts without the stale ones.
    header_left: Set,
    state: State,
    /// The newest durable stripe of each sector, and its place.
    current: [Option<(u8, Stripe)>; SECTORS],
    issued: [u32; SECTORS],
    writes: Vec<Write>,
    queued: Vec<Request>,
    wanted: Option<usize>,
    pending: Vec<(u32, usize, Purpose)>,
    next_id: u32,
    flaw: Option<Flaw>,
    pub acts: Vec<Act>,
}

impl Array {
    /// Opens the array under a claim, with the modules that can be asked.
    pub fn open(modules: usize, claim: Claim, at_hand: Set, flaw: Option<Flaw>) -> Array {
        let mut array = Array {
            modules,
            claim,
            number: 0,
            stale: ((1 << modules) - 1) & !at_hand,
            header_left: 0,
            state: State::Reading(vec![None; modules]),
            current: Default::default(),
            issued: Default::default(),
            writes: Vec::new(),
            queued: Vec::new(),
            wanted: None,
            pending: Vec::new(),
            next_id: 0,
            flaw,
            acts: Vec::new(),
        };
        if array.too_few() {
            array.fail();
        } else {
            array.counted().for_each(|module| array.send(module, Ask::Read, Purpose::Recovery));
        }
        array
    }

    fn counted(&self) -> impl Iterator<Item = usize> + use<> {
        let (stale, modules) = (self.stale, self.modules);
        (0..modules).filter(move |module| stale >> module & 1 == 0)
    }

    fn too_few(&self) -> bool {
        self.stale.count_ones() > 1
    }

    fn fail(&mut self) {
        if !self.has_failed() {
            self.state = State::Failed;
            self.acts.push(Act::Failed);
        }
    }

    fn has_failed(&self) -> bool {
        matches!(self.state, State::Failed)
    }

    fn send(&mut self, module: usize, ask: Ask, purpose: Purpose) {
        self.next_id += 1;
        self.pending.push((self.next_id, module, purpose));
        self.acts.push(Act::Send { module, id: self.next_id, ask });
    }

    fn stamp(&mut self) -> Stamp {
        self.number += 1;
        Stamp { claim: self.claim, number: self.number }
    }

    fn write_header(&mut self, stale: Set) {
        let stamp = self.stamp();
        self.stale = stale;
        self.header_left = 0;
        for module in self.counted() {
            self.header_left |= 1 << module;
            self.send(module, Ask::Header { stamp, stale }, Purpose::Header);
        }
    }

    /// Nothing is in flight, and no request waits.
    pub fn is_idle(&self) -> bool {
        self.has_failed() || self.pending.is_empty() && self.writes.is_empty() && self.queued.is_empty()
    }

    /// A module can't be asked any more, and what is in flight to it may have been done or not.
    pub fn lost(&mut self, module: usize, met: &mut Met) {
        self.pending.retain(|one| one.1 != module);
        let bit = 1 << module;
        if matches!(self.state, State::Rebuilding(of) if of == module) {
            self.state = State::Running;
        }
        if self.stale & bit == 0 && !self.has_failed() {
            if self.stale != 0 {
                return self.fail();
            }
            met.gone += 1;
            for write in &mut self.writes {
                write.left &= !bit;
            }
            match &self.state {
                State::Reading(_) => self.stale = bit,
                _ if self.flaw == Some(Flaw::GoneUnmarked) => (self.stale, self.header_left) = (bit, 0),
                _ => self.write_header(bit),
            }
        }
        self.go_on(met);
    }

    /// A module has done what it was asked.
    pub fn done(&mut self, module: usize, id: u32, contents: Option<Box<Contents>>, met: &mut Met) {
        let Some(at) = self.pending.iter().position(|one| (one.0, one.1) == (id, module)) else { return };
        let (_, _, purpose) = self.pending.swap_remove(at);
        let bit = 1 << module;
        match purpose {
            Purpose::Recovery => {
                if let State::Reading(read) = &mut self.state {
                    read[module] = contents;
                }
            }
            // A later header is on its way as long as another answer of this module is awaited.
            Purpose::Header => {
                let is_header = |one: &&(u32, usize, Purpose)| one.1 == module && one.2 == Purpose::Header;
                if !self.pending.iter().any(|one| is_header(&one)) {
                    self.header_left &= !bit;
                }
            }
            Purpose::Write(stamp) => {
                if let Some(write) = self.writes.iter_mut().find(|write| write.stripe.stamp == stamp) {
                    write.left &= !bit;
                }
            }
            Purpose::Clear => {
                for (slot, stripe) in self.current.into_iter().flatten() {
                    self.send(module, Ask::Write { slot, stripe }, Purpose::Rebuild);
                }
            }
            Purpose::Repair | Purpose::Rebuild => {}
        }
        self.go_on(met);
    }

    /// A write of a host.
    pub fn write(&mut self, request: Request, met: &mut Met) {
        self.queued.push(request);
        self.go_on(met);
    }

    /// The value that a read returns now.
    pub fn read(&self, sector: u8) -> u32 {
        let sector = usize::from(sector);
        if self.flaw == Some(Flaw::UndurableRead) {
            self.issued[sector]
        } else {
            self.current[sector].map_or(NOTHING, |(_, stripe)| stripe.value)
        }
    }

    /// A module that was gone is held and can be asked: it is to be filled again.
    pub fn insert(&mut self, module: usize, met: &mut Met) {
        if self.stale >> module & 1 != 0 {
            self.wanted = Some(module);
            self.go_on(met);
        }
    }

    fn is_pending(&self, purpose: Purpose) -> bool {
        self.pending.iter().any(|one| one.2 == purpose)
    }

    fn go_on(&mut self, met: &mut Met) {
        match &self.state {
            State::Failed => return,
            State::Reading(read) => {
                if self.counted().all(|module| read[module].is_some()) && !self.is_pending(Purpose::Recovery) {
                    self.recover(met);
                }
                return;
            }
            State::Repairing => {
                if self.is_pending(Purpose::Repair) || self.header_left != 0 {
                    return;
                }
                self.state = State::Running;
                self.acts.push(Act::Opened);
            }
            State::Rebuilding(_) => {
                if self.is_pending(Purpose::Rebuild) || self.is_pending(Purpose::Clear) {
                    return;
                }
                met.rebuilt += 1;
                self.state = State::Running;
                self.write_header(0);
            }
            State::Running => {}
        }
        self.settle();
        if let Some(module) = self.wanted.filter(|_| self.writes.is_empty() && self.header_left == 0) {
            self.wanted = None;
            if self.stale == 1 << module {
                self.state = State::Rebuilding(module);
                self.send(module, Ask::Clear, Purpose::Clear);
            }
        }
        if matches!(self.state, State::Running) && self.wanted.is_none() {
            for request in std::mem::take(&mut self.queued) {
                self.begin(request);
            }
        }
    }

    fn begin(&mut self, request: Request) {
        let durable = self.current.iter().flatten().map(|(slot, _)| *slot);
        let taken: Vec<u8> = self.writes.iter().map(|write| write.slot).chain(durable).collect();
        let Some(slot) = (0..SLOTS as u8).find(|slot| !taken.contains(slot)) else {
            return self.queued.push(request);
        };
        let stamp = self.stamp();
        self.issued[usize::from(request.sector)] = request.number;
        let stripe = Stripe { stamp, sector: request.sector, value: request.number };
        let mut left = 0;
        for module in self.counted() {
            left |= 1 << module;
            self.send(module, Ask::Write { slot, stripe }, Purpose::Write(stamp));
        }
        self.writes.push(Write { request, slot, stripe, left });
    }

    /// Answers the writes that are durable.
    fn settle(&mut self) {
        if self.header_left != 0 {
            return;
        }
        let most_left = if self.flaw == Some(Flaw::AcknowledgedEarly) { 2 } else { 0 };
        for write in std::mem::take(&mut self.writes) {
            if write.left.count_ones() > most_left {
                self.writes.push(write);
                continue;
            }
            let current = &mut self.current[usize::from(write.request.sector)];
            if current.is_none_or(|(_, stripe)| stripe.stamp < write.stripe.stamp) {
                *current = Some((write.slot, write.stripe));
            }
            self.acts.push(Act::Written(write.request));
        }
    }

    /// Decides what counts, from what the modules have.
    fn recover(&mut self, met: &mut Met) {
        let State::Reading(read) = std::mem::replace(&mut self.state, State::Repairing) else { return };
        let at_hand: Vec<(usize, Box<Contents>)> =
            self.counted().filter_map(|module| Some((module, read[module].clone()?))).collect();
        let newest = at_hand.iter().map(|(_, contents)| contents.header).max().unwrap_or_default();
        self.stale |= newest.1;
        if self.too_few() {
            met.refused += 1;
            return self.fail();
        }
        met.opened_without_one += u64::from(self.stale != 0);
        let counted: Vec<&(usize, Box<Contents>)> =
            at_hand.iter().filter(|(module, _)| self.stale >> module & 1 == 0).collect();
        let mut stripes: Vec<(Stripe, u8)> = Vec::new();
        for (_, contents) in &counted {
            let units = contents.slots.iter().zip(0..).filter_map(|(unit, slot)| Some((unit.as_ref().copied()?, slot)));
            stripes.extend(units);
        }
        stripes.sort_unstable_by(|a, b| b.cmp(a));
        stripes.dedup();
        let mut repairs = Vec::new();
        for (stripe, slot) in stripes {
            let current = &mut self.current[usize::from(stripe.sector)];
            if current.is_some() {
                continue;
            }
            let lacks = |contents: &Contents| contents.slots[usize::from(slot)] != Some(stripe);
            let lacking: Vec<usize> =
                counted.iter().filter(|(_, contents)| lacks(contents)).map(|(module, _)| *module).collect();
            if counted.len() - lacking.len() >= self.modules - 1 {
                met.completed += u64::from(!lacking.is_empty());
                repairs.extend(lacking.into_iter().map(|module| (module, Ask::Write { slot, stripe })));
                *current = Some((slot, stripe));
                self.issued[usize::from(stripe.sector)] = stripe.value;
            } else {
                // It was never answered.
                met.discarded += 1;
            }
        }
        for (module, ask) in repairs {
            self.send(module, ask, Purpose::Repair);
        }
        self.write_header(self.stale);
    }
}
