//! What an operator asks of a live card, and does to it.

use crate::ask::AskError;
use crate::engine::{Engine, State};
use crate::pace::Pace;
use crate::port::Live;
use crate::stats::Stats;
use crate::timing::Timing;
use card::{Card, Health, InsertError, OpenError};
use device::{Device, Rng, SECTOR_BYTES, Time};
use format::SlotState;
use ftl::Lba;
use media::{CutOutcome, Medium, Shape, UnderWay};
use serde::Serialize;

/// How a card stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// It has power.
    pub powered: bool,
    /// More is gone than parity stands for: it answers nothing but errors.
    pub stopped: bool,
    /// It takes no writes any more.
    pub read_only: bool,
    /// A module is missing or being rebuilt.
    pub degraded: bool,
    /// Bytes that can be asked for.
    pub size_bytes: u64,
    /// How long things take.
    pub timing: Timing,
    /// Whether the machine keeps up with that.
    pub pace: Pace,
    /// What was asked since the start.
    pub stats: Stats,
    /// Sectors that the host wrote since the start.
    pub host_sectors: u64,
    /// Sectors that garbage collection moved since the start.
    pub relocated_sectors: u64,
    /// Pages programmed for data over pages written by the host.
    pub write_amplification: f64,
    /// Bands that are erased.
    pub free_bands: u32,
    /// All bands.
    pub bands: u32,
    /// Share of the user capacity that holds something.
    pub fill: f64,
    /// Garbage collection is at work.
    pub collects: bool,
    /// Share of the scrub that is done, while there is one.
    pub scrub: Option<f64>,
    /// Share of the rebuild that is done, while there is one.
    pub rebuild: Option<f64>,
    /// Nanoseconds that the last start took to find the card on its media, as its own flash would have taken.
    pub recovery_ns: Option<u64>,
    /// Times the power was cut since the server started.
    pub power_cuts: u64,
}

/// A place for a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleStatus {
    /// The slot.
    pub slot: u32,
    /// There is a module in it.
    pub present: bool,
    /// `active`, `rebuilding`, `missing`.
    pub state: &'static str,
    /// The module's number within the card.
    pub module: Option<u32>,
    /// Blocks that are not used any more.
    pub bad_blocks: u64,
    /// Mean P/E cycles of its blocks.
    pub mean_cycles: u64,
    /// Of the most worn block.
    pub max_cycles: u32,
}

/// What is done to a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Take the module out of a slot, with the card at work.
    Pull {
        /// Which.
        slot: u32,
    },
    /// Put the module that was pulled back, or a new one.
    Insert {
        /// Where.
        slot: u32,
        /// A blank one.
        new: bool,
    },
    /// Power goes. What was not durable is lost, as on a real card.
    PowerCut,
    /// Power is back.
    PowerOn,
    /// Read all, and have emptied what can't be read.
    Scrub,
    /// Bytes that a rebuild may program in a second; `None`: as fast as it can.
    RebuildRate(Option<u64>),
}

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// There is no power.
    #[error("the card has no power; power on first")]
    NoPower,
    /// There is power.
    #[error("the card has power already")]
    HasPower,
    /// There is nothing to be pulled.
    #[error("slot {slot} is empty")]
    Empty {
        /// Which.
        slot: u32,
    },
    /// There is no module to be put back.
    #[error("no module was pulled from slot {slot}; insert a new one")]
    NothingPulled {
        /// Which.
        slot: u32,
    },
    /// There is no such slot.
    #[error("no slot {slot}: the card has {slots}")]
    NoSlot {
        /// Asked.
        slot: u32,
        /// Of the card.
        slots: u32,
    },
    /// The module is not taken.
    #[error(transparent)]
    Insert(#[from] InsertError),
    /// The card is not found on its modules any more.
    #[error("the card does not start: {0}")]
    Open(#[from] OpenError),
    /// The medium can't do this.
    #[error("{what} is not possible on this medium")]
    Medium {
        /// What was asked.
        what: &'static str,
    },
}

impl Live {
    /// How it stands.
    pub fn status(&self) -> Status {
        self.shared.lock().status()
    }

    /// Its modules, by slot.
    pub fn modules(&self) -> Vec<ModuleStatus> {
        self.shared.lock().modules()
    }

    /// Its health, while it has power.
    pub fn health(&self) -> Option<Health> {
        match &self.shared.lock().state {
            State::On(card) => Some(card.health()),
            _ => None,
        }
    }

    /// Does something to it.
    pub fn act(&self, action: Action) -> Result<(), ControlError> {
        let mut engine = self.shared.lock();
        let done = engine.act(action);
        self.shared.release(engine);
        // What it begins may be due at once.
        self.shared.wake();
        done
    }
}

impl Engine {
    fn status(&mut self) -> Status {
        let wall_ns = self.wall_ns();
        let pace = self.lateness.pace(wall_ns);
        let size_bytes = self.start.config.ftl.user_sectors * SECTOR_BYTES;
        let none = Status {
            powered: false,
            stopped: false,
            read_only: false,
            degraded: false,
            size_bytes,
            timing: self.start.timing,
            pace,
            stats: self.recorders.stats(),
            host_sectors: 0,
            relocated_sectors: 0,
            write_amplification: 1.0,
            free_bands: 0,
            bands: self.start.config.bands,
            fill: 0.0,
            collects: false,
            scrub: None,
            rebuild: None,
            recovery_ns: self.scan.as_ref().map(|scan| self.running.scan_ns(scan)),
            power_cuts: self.cuts,
        };
        let State::On(card) = &self.state else { return none };
        let counters = card.ftl().counters();
        Status {
            powered: true,
            stopped: card.is_halted(),
            read_only: card.is_read_only(),
            degraded: card.health().critical_warning.reliability_degraded,
            host_sectors: counters.host_sectors,
            relocated_sectors: counters.relocated_sectors,
            write_amplification: counters.waf(),
            free_bands: card.ftl().free_bands(),
            fill: card.ftl().valid_sectors() as f64 / card.ftl().user_sectors() as f64,
            collects: card.collects(),
            scrub: card.scrub_progress().map(|scrub| scrub.share()),
            rebuild: card.rebuild_progress().map(|rebuild| rebuild.share()),
            ..none
        }
    }

    fn modules(&self) -> Vec<ModuleStatus> {
        let (medium, card) = match &self.state {
            State::On(card) => (card.medium(), Some(card)),
            State::Off(medium) => (Some(medium), None),
            State::Gone => (None, None),
        };
        let Some(medium) = medium else { return Vec::new() };
        let shape = *medium.shape();
        (0..shape.modules).map(|slot| module_status(medium, card.map(|card| &**card), &shape, slot)).collect()
    }

    fn act(&mut self, action: Action) -> Result<(), ControlError> {
        match action {
            Action::PowerCut => self.power_cut(),
            Action::PowerOn => self.power_on(),
            Action::Pull { slot } => self.pull(slot),
            Action::Insert { slot, new } => self.insert(slot, new),
            Action::Scrub => self.with_card(|card, now, done| card.begin_scrub(now, done)).ok_or(ControlError::NoPower),
            Action::RebuildRate(rate) => {
                self.with_card(|card, _, _| card.set_rebuild_rate(rate)).ok_or(ControlError::NoPower)
            }
        }
    }

    fn slots(&self) -> u32 {
        self.start.config.nand.geometry.modules
    }

    fn pull(&mut self, slot: u32) -> Result<(), ControlError> {
        if slot >= self.slots() {
            return Err(ControlError::NoSlot { slot, slots: self.slots() });
        }
        let flash = match &mut self.state {
            State::On(card) => card.media_contents_mut(),
            State::Off(medium) => medium.flash_mut(),
            State::Gone => None,
        };
        let flash = flash.ok_or(ControlError::Medium { what: "pulling a module" })?;
        let module = flash.pull(slot).ok_or(ControlError::Empty { slot })?;
        self.pulled.insert(slot, module);
        self.with_card(|card, now, done| card.module_went(now, slot, done));
        Ok(())
    }

    fn insert(&mut self, slot: u32, new: bool) -> Result<(), ControlError> {
        if slot >= self.slots() {
            return Err(ControlError::NoSlot { slot, slots: self.slots() });
        }
        let physics = match &mut self.state {
            State::On(card) => card.media_contents_mut().map(|flash| (*flash.physics(), *media::Media::shape(flash))),
            State::Off(medium) => medium.flash().map(|flash| (*flash.physics(), *media::Media::shape(flash))),
            State::Gone => None,
        };
        let (physics, shape) = physics.ok_or(ControlError::Medium { what: "inserting a module" })?;
        let module = match new {
            true => {
                let serial = Rng::stream(self.wall_ns(), "serial of a new module").bits();
                media::Module::blank(&Shape { modules: 1, ..shape }, &physics, serial)
            }
            false => self.pulled.remove(&slot).ok_or(ControlError::NothingPulled { slot })?,
        };
        if let State::Off(medium) = &mut self.state {
            let flash = medium.flash_mut().expect("looked at");
            if media::Media::has_module(flash, slot) {
                self.pulled.insert(slot, module);
                return Err(InsertError::SlotTaken { slot }.into());
            }
            flash.insert(slot, module);
            return Ok(());
        }
        match self.with_card(|card, now, done| card.insert_module(now, slot, module, done)) {
            Some(Ok(_)) => Ok(()),
            Some(Err(refused)) => {
                let (error, module) = *refused;
                if !new {
                    self.pulled.insert(slot, module);
                }
                Err(error.into())
            }
            None => Err(ControlError::NoPower),
        }
    }

    fn power_cut(&mut self) -> Result<(), ControlError> {
        let wall_ns = self.wall_ns();
        let State::On(card) = &mut self.state else { return Err(ControlError::NoPower) };
        let mut now = self.last.max(Time(wall_ns).min(card.next_event()));
        let mut answered = Vec::new();
        // What the capacitors do takes no part in the clock's time.
        card.power_fails(now);
        while !card.is_drained() && card.next_event() != Time::NEVER {
            now = card.next_event();
            card.advance(now, &mut answered);
        }
        self.last = now;
        let under_way = card.under_way();
        let State::On(card) = std::mem::replace(&mut self.state, State::Gone) else { unreachable!("looked at") };
        let mut medium = card.into_medium().expect("a live card has contents");
        self.cuts += 1;
        if let Some(flash) = medium.flash_mut() {
            let mut rng = Rng::stream(self.start.seed.wrapping_add(self.cuts), "power cuts");
            flash.power_cut(&under_way, &mut |_, operation| end_of(operation, &mut rng));
        }
        self.state = State::Off(medium);
        self.give_up(AskError::NoPower, None, &mut Vec::new());
        Ok(())
    }

    fn power_on(&mut self) -> Result<(), ControlError> {
        let State::Off(_) = &self.state else { return Err(ControlError::HasPower) };
        let State::Off(mut medium) = std::mem::replace(&mut self.state, State::Gone) else { unreachable!("looked at") };
        if let Some(flash) = medium.flash_mut() {
            flash.power_on();
        }
        // Its name is known by now.
        match Engine::open(medium, &self.start) {
            Ok((card, scan)) => {
                self.state = State::On(Box::new(card));
                self.scan = Some(scan);
                let wall_ns = self.wall_ns();
                self.last = self.last.max(Time(wall_ns));
                self.with_card(|card, now, done| card.start_up(now, done));
                Ok(())
            }
            Err(failed) => {
                let (error, medium) = *failed;
                self.state = State::Off(medium);
                Err(error.into())
            }
        }
    }

    /// Writes what is only in the buffer, and says in the headers that all of it is there.
    pub fn shut_down(&mut self) {
        let wall_ns = self.wall_ns();
        self.give_up(AskError::NoPower, None, &mut Vec::new());
        if let State::On(card) = &mut self.state
            && !card.is_halted()
        {
            let now = self.last.max(Time(wall_ns).min(card.next_event()));
            self.last = card.shut_down(now, &mut Vec::new());
        }
        if let State::On(card) = std::mem::replace(&mut self.state, State::Gone)
            && let Some(medium) = card.into_medium()
        {
            self.state = State::Off(medium);
        }
    }

    /// See [`crate::Port::extents`].
    pub fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        let end_bytes = offset_bytes + len_bytes;
        let State::On(card) = &self.state else { return vec![(len_bytes, true)] };
        let ftl = card.ftl();
        let mut extents: Vec<(u64, bool)> = Vec::new();
        let (mut at, limit) = (offset_bytes, offset_bytes.saturating_add(MOST_LOOKED_AT * SECTOR_BYTES));
        while at < end_bytes.min(limit) {
            let sector = at / SECTOR_BYTES;
            let to = ((sector + 1) * SECTOR_BYTES).min(end_bytes);
            let is_written = ftl.lookup(Lba(sector as u32)).is_some();
            let found = extents.len();
            match extents.last_mut() {
                Some((len, last)) if *last == is_written => *len += to - at,
                _ if found == most => break,
                _ => extents.push((to - at, is_written)),
            }
            at = to;
        }
        extents
    }
}

/// Sectors that are looked at for one answer at most: a few milliseconds.
const MOST_LOOKED_AT: u64 = 1 << 18;

/// How an operation ends that power was cut from.
fn end_of(operation: &UnderWay, rng: &mut Rng) -> CutOutcome {
    match (operation, rng.below(4)) {
        (_, 0) => CutOutcome::NotBegun,
        (_, 1) => CutOutcome::Done,
        (UnderWay::Program { .. }, 2) => CutOutcome::Torn { good: rng.bits(), blank: 0, spoil_earlier: false },
        (UnderWay::Program { .. }, _) => CutOutcome::Garbage { spoil_earlier: false },
        (UnderWay::Erase { .. }, 2) => CutOutcome::PartlyErased,
        (UnderWay::Erase { .. }, _) => CutOutcome::Weak,
    }
}

fn module_status(medium: &Medium, card: Option<&Card>, shape: &Shape, slot: u32) -> ModuleStatus {
    let present = medium.has_module(slot);
    let module = card.and_then(|card| card.slots()?.iter().position(|of| *of == Some(slot))).map(|at| at as u32);
    let is_rebuilt =
        module.is_some_and(|module| card.and_then(|card| card.module_state(module)) == Some(SlotState::Rebuilding));
    let (mut bad_blocks, mut cycles, mut max_cycles, mut blocks) = (0, 0u64, 0, 0u64);
    if present {
        for die in 0..shape.dies_per_module {
            for block in 0..shape.blocks_per_die {
                let at = media::BlockAt { module: slot, die, block };
                let of_block = medium.cycles(at);
                bad_blocks += u64::from(medium.is_bad(at));
                cycles += u64::from(of_block);
                max_cycles = max_cycles.max(of_block);
                blocks += 1;
            }
        }
    }
    ModuleStatus {
        slot,
        present,
        state: match (card, module) {
            (None, _) => "no power",
            (Some(_), None) => "missing",
            (Some(_), Some(_)) if is_rebuilt => "rebuilding",
            (Some(_), Some(_)) => "active",
        },
        module,
        bad_blocks,
        mean_cycles: cycles / blocks.max(1),
        max_cycles,
    }
}
