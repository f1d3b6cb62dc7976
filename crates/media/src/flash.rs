//! Emulated flash: modules in slots, power, and the operations.
//!
//! Every failure was injected or follows from the seed, so the same calls always have the same results.
//!
//! Copies share memory until they differ ([`crate::Module`]), so copying a card and recovering it takes only the memory
//! that the recovery writes.

use crate::error::MediaError;
use crate::fault::{Armed, HostFault, HostTrouble};
use crate::hash::{hash, purpose};
use crate::media::{Media, ReadReport};
use crate::module::{Claim, Erased, Header, Module, Put};
use crate::outcome::{CacheLoss, CutOutcome, coin};
use crate::payload::Payload;
use crate::physics::Physics;
use crate::place::{BlockAt, HEADER_COPIES, LogArea, UnitAt};
use crate::sectors::Freed;
use crate::slot::Slot;
use crate::unit::Unit;
use format::{HEADER_BYTES, Shape};
use std::sync::Arc;

/// A card's modules on emulated flash.
#[derive(Clone, Debug)]
pub struct Flash {
    pub(crate) shape: Shape,
    pub(crate) physics: Physics,
    pub(crate) seed: u64,
    pub(crate) slots: Vec<Option<Slot>>,
    pub(crate) powered: bool,
    controller: u64,
    /// The number of operations that change the medium.
    ops: u64,
    reads: u64,
    /// The number of operations of all kinds.
    pub(crate) calls: u64,
    trace: u64,
    /// Whether operations are hashed into `trace`.
    traces: bool,
    pub(crate) cuts: u64,
    pub(crate) cut: Option<(u64, CutOutcome)>,
    /// The number of changing operations that are neither programs nor erases.
    records: u64,
    pub(crate) cut_record: Option<(u64, CutOutcome)>,
    pub(crate) cache_loss: CacheLoss,
    pub(crate) host_faults: Vec<HostFault>,
    pub(crate) freed: Freed,
}

/// The kinds of operations in the trace.
pub(crate) mod traced {
    pub(super) const SETTLED: u64 = 7;
    pub(crate) const PROGRAM: u64 = 1;
    pub(crate) const ERASE: u64 = 2;
    pub(crate) const HEADER: u64 = 3;
    pub(crate) const MARK_BAD: u64 = 4;
    pub(crate) const LOG: u64 = 8;
    pub(super) const SYNC: u64 = 5;
    pub(super) const CLAIM: u64 = 6;
}

impl Flash {
    /// A card with a blank module in each slot, with power on.
    ///
    /// # Panics
    /// If the shape has a unit of more than 64 sectors, or a dimension of 0.
    pub fn new(shape: Shape, physics: Physics, seed: u64) -> Flash {
        let mut flash = Flash::without_modules(shape, physics, seed);
        for slot in 0..shape.modules {
            let module = Module::blank(&shape, &physics, hash(&[seed, purpose::SERIAL, u64::from(slot)]));
            flash.slots[slot as usize] = Some(Slot::new(module, physics.volatile_cache));
        }
        flash
    }

    /// A card with empty slots, with power on.
    pub fn without_modules(shape: Shape, physics: Physics, seed: u64) -> Flash {
        Flash {
            shape,
            physics,
            seed,
            slots: vec![None; shape.modules as usize],
            powered: true,
            controller: 0,
            ops: 0,
            reads: 0,
            calls: 0,
            trace: 0,
            traces: true,
            cuts: 0,
            cut: None,
            records: 0,
            cut_record: None,
            cache_loss: CacheLoss::Seeded,
            host_faults: Vec::new(),
            freed: Freed::default(),
        }
    }

    /// The quality of the flash.
    pub fn physics(&self) -> &Physics {
        &self.physics
    }

    /// The number of operations so far that change the medium: programs, erases, header writes, marks of bad blocks,
    /// also those that failed. Operations without power don't count.
    pub fn ops(&self) -> u64 {
        self.ops
    }

    /// The number of header writes and marks of bad blocks among [`Flash::ops`].
    pub fn records(&self) -> u64 {
        self.records
    }

    /// A hash of everything that a start depends on: media with the same beginning and equal hashes start equally.
    pub fn state(&self) -> u64 {
        // Faults of the host wait for a number of calls.
        if self.host_faults.is_empty() { self.trace } else { hash(&[self.trace, self.calls]) }
    }

    /// The number of reads of units so far, also those that failed.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// A hash of all changing operations so far, with their contents and results.
    pub fn trace(&self) -> u64 {
        self.trace
    }

    /// Keeps no trace from now on, because hashing the programmed bytes costs more than programming them.
    pub fn without_trace(mut self) -> Flash {
        self.traces = false;
        self
    }

    /// The controller that makes the calls.
    pub fn controller(&self) -> u64 {
        self.controller
    }

    /// Sets the controller that makes the next calls.
    pub fn set_controller(&mut self, controller: u64) {
        self.controller = controller;
    }

    /// Lets time pass for all modules in slots.
    pub fn advance_time(&mut self, days: f64) {
        for slot in self.slots.iter_mut().flatten() {
            slot.physical(|module| module.advance_time(days));
        }
    }

    /// Counts so many reads of a block.
    pub fn disturb(&mut self, at: BlockAt, reads: u32) {
        if let Some(slot) = &mut self.slots[at.module as usize] {
            slot.physical(|module| module.disturb(at.die, at.block, reads));
        }
    }

    /// Takes a module out. Its unsynced operations are lost as in a power cut.
    pub fn pull(&mut self, slot: u32) -> Option<Module> {
        let mut module = self.slots[slot as usize].take()?;
        // The file or drive of the module goes with it.
        self.host_faults.retain(|fault| fault.module != Some(slot));
        module.lose(slot, &mut coin(self.cache_loss, self.seed, self.cuts, slot));
        self.cuts += 1;
        Some(module.into_module())
    }

    /// Puts a module into an empty slot.
    ///
    /// # Panics
    /// If there is a module in the slot, or the module has another shape than the card.
    pub fn insert(&mut self, slot: u32, module: Module) {
        assert!(self.slots[slot as usize].is_none(), "slot {slot} is not empty");
        assert_eq!(*module.shape(), Shape { modules: 1, ..self.shape }, "a module of another shape");
        self.slots[slot as usize] = Some(Slot::new(module, self.physics.volatile_cache));
    }

    /// The module in a slot, as it is seen now.
    pub fn module(&self, slot: u32) -> Option<&Module> {
        self.slots[slot as usize].as_ref().map(|slot| &*slot.live)
    }

    /// The module in a slot, as it is now, without later writes.
    pub fn shared_module(&self, slot: u32) -> Option<Arc<Module>> {
        self.slots[slot as usize].as_ref().map(|slot| Arc::clone(&slot.live))
    }

    #[inline]
    fn slot(&self, module: u32) -> Result<&Slot, MediaError> {
        assert!(module < self.shape.modules, "illegal address: module {module} of {:?}", self.shape);
        self.slots[module as usize].as_ref().ok_or(MediaError::NoModule)
    }

    /// Fails if the caller may not change the module, or if the module or die does not answer.
    pub(crate) fn writable(&self, module: u32, die: Option<u32>) -> Result<(), MediaError> {
        let slot = self.slot(module)?;
        slot.live.answers(die)?;
        match slot.live.claim {
            Some(claim) if self.physics.fencing && claim.controller != self.controller => Err(MediaError::Fenced),
            _ => Ok(()),
        }
    }

    /// Begins a changing operation. Returns the outcome if power goes during it.
    #[inline]
    fn begin(&mut self) -> Result<Option<CutOutcome>, MediaError> {
        if !self.powered {
            return Err(MediaError::NoPower);
        }
        let number = self.ops;
        self.ops += 1;
        Ok(self.cut.filter(|(at, _)| *at == number).map(|(_, outcome)| outcome))
    }

    /// Begins a header write or the marking of a block.
    fn begin_record(&mut self) -> Result<Option<CutOutcome>, MediaError> {
        let cut = self.begin()?;
        let number = self.records;
        self.records += 1;
        Ok(cut.or(self.cut_record.filter(|(at, _)| *at == number).map(|(_, outcome)| outcome)))
    }

    fn no_fault_waits(&self) -> bool {
        self.host_faults.is_empty() && self.slots.iter().flatten().all(|slot| slot.live.armed.is_empty())
    }

    /// Adds the outcome of an operation in a power cut to the trace.
    pub(crate) fn note_settled(&mut self, kind: u64, place: [u64; 2], contents: u32, outcome: CutOutcome) {
        let how = match outcome {
            CutOutcome::NotBegun => return,
            // The operation counts as reported, unless a fault waits for it.
            CutOutcome::Done if self.no_fault_waits() => return self.note(kind, place, contents, &Ok(())),
            CutOutcome::Done => [1, 0, 0],
            CutOutcome::Torn { good, blank, spoil_earlier } => [2 + u64::from(spoil_earlier), good, blank],
            CutOutcome::Garbage { spoil_earlier } => [2 + u64::from(spoil_earlier), 0, 0],
            CutOutcome::PartlyErased => [4, 0, 0],
            CutOutcome::Weak => [5, 0, 0],
        };
        let [a, b, c] = how;
        self.trace = hash(&[self.trace, traced::SETTLED | kind << 8, place[0], place[1], u64::from(contents), a, b, c]);
    }

    #[inline]
    fn note(&mut self, kind: u64, place: [u64; 2], contents: u32, result: &Result<(), MediaError>) {
        let ended = match result {
            Ok(()) => 0,
            Err(error) => 1 + *error as u64,
        };
        self.trace = hash(&[self.trace, kind << 8 | ended, place[0], place[1], u64::from(contents)]);
    }

    fn try_program(&mut self, at: UnitAt, unit: &Unit) -> Result<(), MediaError> {
        let BlockAt { module, die, block } = at.block;
        match self.host_trouble(module, true) {
            None => {}
            Some(HostTrouble::Error) => return Err(MediaError::Host),
            Some(HostTrouble::NoSpace) => return Err(MediaError::NoSpace),
            Some(HostTrouble::Short) => {
                self.settle_program(at, unit, CutOutcome::prefix(self.shape.unit_sectors / 2));
                return Err(MediaError::Host);
            }
        }
        self.writable(module, Some(die))?;
        let physics = self.physics;
        let Some(slot) = &mut self.slots[module as usize] else { return Err(MediaError::NoModule) };
        let state = *slot.live.block(die, block);
        if state.bad || state.broken {
            return Err(MediaError::Failed);
        }
        slot.live.assert_legal(die, block, at.row);
        let put = Put { die, block, row: at.row, good: u64::MAX, blank: 0, commanded: true };
        if !slot.live.armed.is_empty() {
            let meets = |armed: &Armed| match *armed {
                Armed::FailPrograms { die: d, block: b, .. } => d == die && b.is_none_or(|b| b == block),
                Armed::Lose { die: d } | Armed::Misdirect { die: d, .. } | Armed::Duplicate { die: d, .. } => d == die,
                Armed::FailErases { .. } | Armed::FailSync { .. } => false,
            };
            match slot.live_mut().take_armed(meets) {
                Some(Armed::FailPrograms { .. }) => {
                    slot.put(Put { good: 0, ..put }, unit.contents());
                    return Err(MediaError::Failed);
                }
                Some(Armed::Lose { .. }) => return Ok(()),
                Some(Armed::Misdirect { to_block, to_row, .. }) => {
                    slot.put(Put { block: to_block, row: to_row, commanded: false, ..put }, unit.contents());
                    return Ok(());
                }
                Some(Armed::Duplicate { to_block, to_row, .. }) => {
                    slot.put(Put { block: to_block, row: to_row, commanded: false, ..put }, unit.contents());
                }
                Some(Armed::FailErases { .. } | Armed::FailSync { .. }) | None => {}
            }
        }
        if slot.live.program_fails(die, block, at.row, &physics) {
            slot.put(Put { good: 0, ..put }, unit.contents());
            slot.physical(|module| module.block_mut(die, block).broken = true);
            return Err(MediaError::Failed);
        }
        slot.put(put, unit.contents());
        Ok(())
    }

    fn try_erase(&mut self, at: BlockAt) -> Result<(), MediaError> {
        let BlockAt { module, die, block } = at;
        match self.host_trouble(module, true) {
            None => {}
            Some(HostTrouble::Error) => return Err(MediaError::Host),
            Some(HostTrouble::NoSpace) => return Err(MediaError::NoSpace),
            Some(HostTrouble::Short) => {
                self.settle_erase(at, CutOutcome::PartlyErased);
                return Err(MediaError::Host);
            }
        }
        self.writable(module, Some(die))?;
        let physics = self.physics;
        let Some(slot) = &mut self.slots[module as usize] else { return Err(MediaError::NoModule) };
        let state = *slot.live.block(die, block);
        if state.broken {
            return Err(MediaError::Failed);
        }
        if !slot.live.armed.is_empty() {
            let meets = |armed: &Armed| matches!(*armed, Armed::FailErases { die: d, block: b, .. } if d == die && b.is_none_or(|b| b == block));
            if slot.live_mut().take_armed(meets).is_some() {
                slot.erase(die, block, Erased::Partly, &mut self.freed.0);
                return Err(MediaError::Failed);
            }
        }
        if slot.live.erase_fails(die, block, &physics) {
            slot.erase(die, block, Erased::Partly, &mut self.freed.0);
            slot.physical(|module| module.block_mut(die, block).broken = true);
            return Err(MediaError::Failed);
        }
        slot.erase(die, block, Erased::Fully, &mut self.freed.0);
        Ok(())
    }

    fn try_write_header(&mut self, module: u32, copy: u32, bytes: &[u8]) -> Result<(), MediaError> {
        match self.host_trouble(module, true) {
            None => {}
            Some(HostTrouble::Error) => return Err(MediaError::Host),
            Some(HostTrouble::NoSpace) => return Err(MediaError::NoSpace),
            Some(HostTrouble::Short) => {
                self.settle_header(module, copy, bytes, CutOutcome::PartlyErased);
                return Err(MediaError::Host);
            }
        }
        self.writable(module, None)?;
        self.settle_header(module, copy, bytes, CutOutcome::Done);
        Ok(())
    }

    fn try_mark_bad(&mut self, at: BlockAt) -> Result<(), MediaError> {
        match self.host_trouble(at.module, true) {
            None => {}
            Some(HostTrouble::NoSpace) => return Err(MediaError::NoSpace),
            Some(HostTrouble::Error | HostTrouble::Short) => return Err(MediaError::Host),
        }
        self.writable(at.module, None)?;
        let Some(slot) = &mut self.slots[at.module as usize] else { return Err(MediaError::NoModule) };
        slot.physical(|module| module.block_mut(at.die, at.block).bad = true);
        Ok(())
    }

    fn try_sync(&mut self, module: u32) -> Result<(), MediaError> {
        if self.sync_trouble(module).is_some() {
            return Err(MediaError::Host);
        }
        self.slot(module)?.live.answers(None)?;
        let Some(slot) = &mut self.slots[module as usize] else { return Err(MediaError::NoModule) };
        if !slot.live.armed.is_empty()
            && let Some(Armed::FailSync { drops, .. }) =
                slot.live_mut().take_armed(|armed| matches!(armed, Armed::FailSync { .. }))
        {
            if drops {
                slot.drop_pending();
            }
            return Err(MediaError::Host);
        }
        slot.sync();
        Ok(())
    }

    fn try_claim(&mut self, module: u32, generation: u64) -> Result<(), MediaError> {
        if self.host_trouble(module, false).is_some() {
            return Err(MediaError::Host);
        }
        let (fencing, controller) = (self.physics.fencing, self.controller);
        self.slot(module)?.live.answers(None)?;
        let Some(slot) = &mut self.slots[module as usize] else { return Err(MediaError::NoModule) };
        let present = slot.live.claim;
        if let Some(present) = present
            && fencing
            && generation <= present.generation
            && controller != present.controller
        {
            return Err(MediaError::Fenced);
        }
        let generation = generation.max(present.map_or(0, |claim| claim.generation));
        slot.physical(|module| module.claim = Some(Claim { generation, controller }));
        Ok(())
    }
}

pub(crate) fn place(at: BlockAt, row: u32) -> [u64; 2] {
    [u64::from(at.module) << 32 | u64::from(at.die), u64::from(at.block) << 32 | u64::from(row)]
}

impl Media for Flash {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn read(&mut self, at: UnitAt, unit: &mut Unit) -> Result<ReadReport, MediaError> {
        if !self.powered {
            return Err(MediaError::NoPower);
        }
        self.reads += 1;
        if self.host_trouble(at.block.module, false).is_some() {
            return Err(MediaError::Host);
        }
        self.slot(at.block.module)?.live.answers(Some(at.block.die))?;
        let Some(slot) = &mut self.slots[at.block.module as usize] else { return Err(MediaError::NoModule) };
        // Reads are counted only if needed, because counting makes copies of the card differ and costs their shared
        // memory.
        if self.physics.errors.disturb_read > 0.0 {
            slot.live_mut().disturb(at.block.die, at.block.block, 1);
        }
        Ok(slot.live.read(at.block, at.row, &self.physics, unit))
    }

    /// Flash with a volatile cache stands for files, which keep spare areas apart.
    fn read_spares(&mut self, at: UnitAt, unit: &mut Unit) -> Result<bool, MediaError> {
        self.read(at, unit)?;
        if self.physics.volatile_cache {
            (0..unit.sectors()).for_each(|sector| unit.zero_payload(sector));
        }
        Ok(!self.physics.volatile_cache)
    }

    fn program(&mut self, at: UnitAt, unit: &Unit) -> Result<(), MediaError> {
        let cut = self.begin()?;
        unit.assert_shape(self.shape.unit_sectors as usize, self.shape.payload_bytes as usize);
        let result = match cut {
            Some(outcome) => {
                self.settle_program(at, unit, outcome);
                self.lose_power();
                Err(MediaError::NoPower)
            }
            None => self.try_program(at, unit),
        };
        if self.traces {
            self.note(traced::PROGRAM, place(at.block, at.row), unit.contents().crc(), &result);
        }
        result
    }

    fn erase(&mut self, at: BlockAt) -> Result<(), MediaError> {
        let result = match self.begin()? {
            Some(outcome) => {
                self.settle_erase(at, outcome);
                self.lose_power();
                Err(MediaError::NoPower)
            }
            None => self.try_erase(at),
        };
        // Two bands are read and written at a time, so more memory than theirs is given back.
        let Shape { rows_per_block, unit_sectors, .. } = self.shape;
        let most = 2 * self.shape.dies() as usize * rows_per_block as usize * unit_sectors as usize;
        self.freed.0.truncate(most);
        self.note(traced::ERASE, place(at, 0), 0, &result);
        result
    }

    fn sync(&mut self, module: u32) -> Result<(), MediaError> {
        if !self.powered {
            return Err(MediaError::NoPower);
        }
        let result = self.try_sync(module);
        self.note(traced::SYNC, [u64::from(module), 0], 0, &result);
        result
    }

    fn is_volatile(&self) -> bool {
        self.physics.volatile_cache
    }

    /// Flash with a volatile cache stands for drives.
    fn reads_beside_programs(&self) -> bool {
        self.physics.volatile_cache
    }

    fn is_bad(&self, at: BlockAt) -> bool {
        self.slots[at.module as usize].as_ref().is_some_and(|slot| slot.live.block(at.die, at.block).bad)
    }

    fn mark_bad(&mut self, at: BlockAt) -> Result<(), MediaError> {
        let result = match self.begin_record()? {
            Some(outcome) => {
                if outcome != CutOutcome::NotBegun {
                    let _unknown_to_the_caller = self.try_mark_bad(at);
                    self.note_settled(traced::MARK_BAD, place(at, 0), 0, CutOutcome::Done);
                }
                self.lose_power();
                Err(MediaError::NoPower)
            }
            None => self.try_mark_bad(at),
        };
        self.note(traced::MARK_BAD, place(at, 0), 0, &result);
        result
    }

    fn cycles(&self, at: BlockAt) -> u32 {
        self.slots[at.module as usize].as_ref().map_or(0, |slot| slot.live.block(at.die, at.block).cycles)
    }

    fn read_header(&mut self, module: u32, copy: u32) -> Result<Option<Vec<u8>>, MediaError> {
        if !self.powered {
            return Err(MediaError::NoPower);
        }
        if self.host_trouble(module, false).is_some() {
            return Err(MediaError::Host);
        }
        let slot = self.slot(module)?;
        slot.live.answers(None)?;
        Ok(match &slot.live.headers[copy as usize] {
            Header::Written(bytes) => Some(bytes.to_vec()),
            Header::Blank | Header::Unreadable => None,
        })
    }

    fn write_header(&mut self, module: u32, copy: u32, bytes: &[u8]) -> Result<(), MediaError> {
        let cut = self.begin_record()?;
        assert_eq!(bytes.len(), HEADER_BYTES, "a header of another length");
        assert!(copy < HEADER_COPIES, "illegal address: header copy {copy}");
        let result = match cut {
            Some(outcome) => {
                self.settle_header(module, copy, bytes, outcome);
                let place = [u64::from(module), u64::from(copy)];
                self.note_settled(traced::HEADER, place, crc32c::crc32c(bytes), outcome);
                self.lose_power();
                Err(MediaError::NoPower)
            }
            None => self.try_write_header(module, copy, bytes),
        };
        self.note(traced::HEADER, [u64::from(module), u64::from(copy)], crc32c::crc32c(bytes), &result);
        result
    }

    fn log_area(&self) -> Option<LogArea> {
        self.area_of_log()
    }

    fn read_log(&mut self, module: u32) -> Result<Vec<u8>, MediaError> {
        if !self.powered {
            return Err(MediaError::NoPower);
        }
        self.try_read_log(module)
    }

    fn write_log(&mut self, module: u32, offset_bytes: u64, bytes: &[u8]) -> Result<(), MediaError> {
        let cut = self.begin_record()?;
        let result = self.write_log_or_cut(module, offset_bytes, bytes, cut);
        self.note(traced::LOG, [u64::from(module), offset_bytes], crc32c::crc32c(bytes), &result);
        result
    }

    fn claim(&mut self, module: u32, generation: u64) -> Result<(), MediaError> {
        if !self.powered {
            return Err(MediaError::NoPower);
        }
        let result = self.try_claim(module, generation);
        self.note(traced::CLAIM, [u64::from(module), generation], 0, &result);
        result
    }

    fn has_module(&self, slot: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(Option::is_some)
    }

    fn retries(&self, at: UnitAt) -> u32 {
        let answers = |slot: &&Slot| self.powered && slot.live.answers(Some(at.block.die)).is_ok();
        let slot = self.slots[at.block.module as usize].as_ref().filter(answers);
        match slot {
            Some(slot) if self.physics.read_retries > 0 => {
                slot.live.look(at.block, at.row, &self.physics, |_, _| {}).retries
            }
            _ => 0,
        }
    }

    fn take_payload(&mut self) -> Option<Payload> {
        self.freed.0.pop()
    }

    fn is_stuck(&self, module: u32) -> bool {
        self.slots[module as usize].as_ref().is_some_and(|slot| slot.live.stuck)
    }

    fn slow_percent(&self, module: u32) -> u32 {
        self.slots[module as usize].as_ref().map_or(100, |slot| slot.live.slow_percent)
    }
}
