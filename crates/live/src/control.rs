//! Operator actions on a live card: modules are pulled and put in, power is cut, settings change.

use crate::engine::Engine;
use crate::error::ControlError;
use crate::extents::{cut, joined};
use crate::live::Live;
use crate::on_files::insert_pulled_in_all;
use crate::settings::Change;
use crate::shared::Shared;
use crate::state::State;
use card::{InsertError, PullCost};
use device::{Device, Rng, SECTOR_BYTES, Time};
use ftl::Lba;
use media::{CutOutcome, Module, Physics, Shape, UnderWay};
use parking_lot::MutexGuard;
use session::ReplyError;
use std::path::Path;

/// An operator's action on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Action {
    /// Take the module out of a slot, with the card at work.
    Pull {
        slot: u32,
        /// Also when more are missing then than parity stands for ([`Live::cost_of_pull`]).
        force: bool,
    },
    /// Put the module that was pulled back, or a new one.
    Insert {
        slot: u32,
        /// Puts in a blank module instead of the pulled one.
        new: bool,
    },
    /// Power goes. Data that was not durable is lost, as on a real card.
    PowerCut,
    /// Power is back.
    PowerOn,
    /// Read all, and have emptied what can't be read.
    Scrub,
    /// Work otherwise from now on.
    Set(Change),
}

impl Live {
    /// Does something to it.
    pub fn act(&self, action: Action) -> Result<(), ControlError> {
        if let Action::Insert { slot, new } = action
            && self.with_engine(|engine| engine.files_mut().is_some())
        {
            return match new {
                true => Err(ControlError::NewWithoutFile { slot }),
                false => self.with_engines(|engines| insert_pulled_in_all(engines, slot)),
            };
        }
        self.with_engines(|engines| {
            // Under the locks: of two that pull at once the second one sees what the first has done.
            if let Action::Pull { slot, force: false } = action
                && let Some(cost) = cost_of_pull(engines, slot)
            {
                return Err(ControlError::BeyondParity { slot, cost });
            }
            match engines {
                [engine] => engine.act(action),
                engines => act_on_all(engines, action),
            }
        })
    }

    /// The price of pulling the module in a slot; `None` while parity stands for all that would be missing, or there is
    /// no power.
    pub fn cost_of_pull(&self, slot: u32) -> Option<PullCost> {
        self.with_engines(|engines| cost_of_pull(engines, slot))
    }

    /// Does something to all shards, while no client has any of them.
    pub(crate) fn with_engines<T>(&self, act: impl FnOnce(&mut [&mut Engine]) -> T) -> T {
        let mut engines: Vec<MutexGuard<'_, Engine>> = self.shards.iter().map(|shard| shard.shared.lock()).collect();
        let done = act(&mut engines.iter_mut().map(|engine| &mut **engine).collect::<Vec<_>>());
        for (engine, shard) in engines.into_iter().zip(&self.shards) {
            shard.shared.release(engine);
            shard.shared.wake();
        }
        done
    }

    /// Refuses what a card of several shards can't do.
    pub(crate) fn is_whole(&self, what: &'static str) -> Result<(), ControlError> {
        if self.shards.len() > 1 { Err(ControlError::Medium { what }) } else { Ok(()) }
    }

    /// Puts a module into a slot whose image was saved in a file: one of another card is refused, and so is one of
    /// another shape.
    pub fn insert_image(&self, slot: u32, path: &Path) -> Result<(), ControlError> {
        if self.with_engine(|engine| engine.files_mut().is_some()) {
            return self.insert_file(slot, path);
        }
        self.is_whole("inserting an image into a card of several shards")?;
        self.with_engine(|engine| engine.takes_images(slot))?;
        // Nobody waits for the card while it is read.
        let image = std::fs::read(path).map_err(|source| ControlError::Unreadable { path: path.into(), source })?;
        let module = media::image::parse(&image).map_err(|source| ControlError::Image { path: path.into(), source })?;
        drop(image);
        self.with_engine(|engine| engine.put_in(slot, module).map_err(|refused| refused.0))
    }

    /// Does something to the first shard.
    pub(crate) fn with_engine<T>(&self, act: impl FnOnce(&mut Engine) -> T) -> T {
        with_engine(&self.shards[0].shared, act)
    }
}

/// Does the same to all shards. An action that fails in one of them is undone in the others.
fn act_on_all(engines: &mut [&mut Engine], action: Action) -> Result<(), ControlError> {
    let shards = engines.len() as u32;
    let results: Vec<Result<(), ControlError>> = std::thread::scope(|scope| {
        // A start reads much, and no shard waits for another.
        let engines = (0..).zip(engines.iter_mut());
        let begun: Vec<_> = engines
            .map(|(shard, engine)| {
                let action = of_shard(action, shard, shards);
                scope.spawn(move || engine.act(action))
            })
            .collect();
        begun.into_iter().map(|done| done.join().expect("an action does not panic")).collect()
    });
    let is_done = results.iter().any(Result::is_ok);
    // A module may be missing in one shard alone, and is pulled from the others.
    let fails = |result: &Result<(), ControlError>| match (action, result) {
        (Action::Pull { .. }, Err(ControlError::Empty { .. })) => !is_done,
        (_, result) => result.is_err(),
    };
    if !results.iter().any(fails) {
        return Ok(());
    }
    for (engine, _) in engines.iter_mut().zip(&results).filter(|(_, result)| result.is_ok()) {
        engine.undo(action);
    }
    results.into_iter().find(fails).expect("one of them fails")
}

fn cost_of_pull(engines: &[&mut Engine], slot: u32) -> Option<PullCost> {
    let costs = engines.iter().filter_map(|engine| match &engine.device.state {
        State::On(card) => card.cost_of_pull(slot),
        _ => None,
    });
    costs.reduce(|sum, cost| PullCost {
        lacking: sum.lacking.max(cost.lacking),
        lost_sectors: sum.lost_sectors + cost.lost_sectors,
        ..sum
    })
}

fn with_engine<T>(shared: &Shared, act: impl FnOnce(&mut Engine) -> T) -> T {
    let mut engine = shared.lock();
    let done = act(&mut engine);
    shared.release(engine);
    // Events that `act` has brought about may be due at once.
    shared.wake();
    done
}

/// The action on one of several shards: of rates and of free bands each has its share.
fn of_shard(action: Action, shard: u32, shards: u32) -> Action {
    let Action::Set(change) = action else { return action };
    let share = |rate: u64| {
        let (each, more) = (rate / u64::from(shards), rate % u64::from(shards));
        // A rate of 0 is refused by each; a share of 0 would never end.
        if rate == 0 { 0 } else { (each + u64::from(u64::from(shard) < more)).max(1) }
    };
    let rebuild_bytes_per_s = change.rebuild_bytes_per_s.map(|rate| rate.map(share));
    let target_free_bands = change.target_free_bands.map(|bands| bands.div_ceil(shards));
    Action::Set(Change { rebuild_bytes_per_s, target_free_bands, ..change })
}

impl Engine {
    fn act(&mut self, action: Action) -> Result<(), ControlError> {
        match action {
            Action::PowerCut => self.power_cut(),
            Action::PowerOn => self.power_on(),
            Action::Pull { slot, .. } => self.pull(slot),
            Action::Insert { slot, new } => self.insert(slot, new),
            Action::Scrub => {
                self.is_at_work()?;
                self.with_card(|card, now, done| card.begin_scrub(now, done)).ok_or(ControlError::NoPower)
            }
            Action::Set(change) => self.change(change),
        }
    }

    /// Undoes what another shard could not do: a module is in all of them or in none, and so is power.
    fn undo(&mut self, action: Action) {
        // It was done just now, so it can be undone.
        let _ = match action {
            Action::PowerOn => self.power_cut(),
            Action::Insert { slot, .. } => self.pull(slot),
            Action::Pull { slot, .. } => match self.pulled.files.get(&slot).cloned() {
                Some(path) => self.take_file(slot, &path),
                None => self.insert(slot, false),
            },
            Action::PowerCut | Action::Scrub | Action::Set(_) => Ok(()),
        };
    }

    /// It has power, and has not stopped.
    pub fn is_at_work(&self) -> Result<(), ControlError> {
        match &self.device.state {
            State::On(card) if card.is_halted() => Err(ControlError::Stopped),
            State::On(_) => Ok(()),
            State::Disks(_) => Err(ControlError::Medium { what: "this" }),
            State::Off(_) | State::Gone => Err(ControlError::NoPower),
        }
    }

    pub fn slots(&self) -> u32 {
        self.of_card.as_ref().map_or(0, |card| card.start.config.nand.geometry.modules)
    }

    fn pull(&mut self, slot: u32) -> Result<(), ControlError> {
        if slot >= self.slots() {
            return Err(ControlError::NoSlot { slot, slots: self.slots() });
        }
        if self.files_mut().is_some() {
            return self.pull_file(slot);
        }
        let flash = match &mut self.device.state {
            State::On(card) => card.media_contents_mut(),
            State::Off(medium) => medium.flash_mut(),
            State::Disks(_) | State::Gone => None,
        };
        let flash = flash.ok_or(ControlError::Medium { what: "pulling a module" })?;
        let module = flash.pull(slot).ok_or(ControlError::Empty { slot })?;
        self.pulled.modules.insert(slot, module);
        self.with_card(|card, now, done| card.module_went(now, slot, done));
        Ok(())
    }

    fn insert(&mut self, slot: u32, new: bool) -> Result<(), ControlError> {
        if slot >= self.slots() {
            return Err(ControlError::NoSlot { slot, slots: self.slots() });
        }
        let (physics, shape) = self.flash().ok_or(ControlError::Medium { what: "inserting a module" })?;
        self.is_free(slot)?;
        let module = match new {
            true => {
                let serial = Rng::stream(self.wall_ns(), "serial of a new module").bits();
                media::Module::blank(&Shape { modules: 1, ..shape }, &physics, serial)
            }
            false => self.pulled.modules.remove(&slot).ok_or(ControlError::NothingPulled { slot })?,
        };
        self.put_in(slot, module).map_err(|refused| {
            let (error, module) = *refused;
            if !new {
                self.pulled.modules.insert(slot, module);
            }
            error
        })
    }

    /// Images of modules can be put into a slot, as far as the medium goes.
    fn takes_images(&self, slot: u32) -> Result<(), ControlError> {
        if slot >= self.slots() {
            return Err(ControlError::NoSlot { slot, slots: self.slots() });
        }
        self.flash().ok_or(ControlError::Medium { what: "inserting the image of a module" })?;
        self.is_free(slot)
    }

    /// There is no module in a slot.
    fn is_free(&self, slot: u32) -> Result<(), ControlError> {
        let is_taken = match &self.device.state {
            State::On(card) => card.medium().has_module(slot),
            State::Off(medium) => medium.has_module(slot),
            State::Disks(_) | State::Gone => false,
        };
        if is_taken { Err(InsertError::SlotTaken { slot }.into()) } else { Ok(()) }
    }

    /// The physics and the shape of the flash, if the medium is emulated.
    fn flash(&self) -> Option<(Physics, Shape)> {
        let flash = match &self.device.state {
            State::On(card) => card.media_contents(),
            State::Off(medium) => medium.flash(),
            State::Disks(_) | State::Gone => None,
        }?;
        Some((*flash.physics(), *media::Media::shape(flash)))
    }

    /// Puts a module of emulated flash into a slot, or hands it back.
    fn put_in(&mut self, slot: u32, module: Module) -> Result<(), Box<(ControlError, Module)>> {
        if let State::Off(medium) = &mut self.device.state {
            let shape = *medium.shape();
            let refused = if medium.has_module(slot) {
                Some(InsertError::SlotTaken { slot })
            } else if *module.shape() != (Shape { modules: 1, ..shape }) {
                Some(InsertError::Shape { slot })
            } else {
                None
            };
            return match (refused, medium.flash_mut()) {
                (Some(error), _) => Err(Box::new((error.into(), module))),
                (None, Some(flash)) => {
                    flash.insert(slot, module);
                    Ok(())
                }
                (None, None) => Err(Box::new((ControlError::Medium { what: "inserting a module" }, module))),
            };
        }
        let mut module = Some(module);
        let inserted =
            self.with_card(|card, now, done| card.insert_module(now, slot, module.take().expect("asked once"), done));
        match (inserted, module) {
            (Some(Ok(_)), _) => Ok(()),
            (Some(Err(refused)), _) => {
                let (error, module) = *refused;
                Err(Box::new((error.into(), module)))
            }
            (None, module) => Err(Box::new((ControlError::NoPower, module.expect("nobody took it")))),
        }
    }

    fn power_cut(&mut self) -> Result<(), ControlError> {
        let wall_ns = self.wall_ns();
        if let State::Disks(_) = &self.device.state {
            return Err(ControlError::Medium { what: "a power cut" });
        }
        let State::On(card) = &mut self.device.state else { return Err(ControlError::NoPower) };
        let mut now = self.session.time().max(Time(wall_ns).min(card.next_event()));
        let mut answered = Vec::new();
        // The capacitors' work takes no part in the clock's time.
        card.power_fails(now);
        while !card.is_drained() && card.next_event() != Time::NEVER {
            now = card.next_event();
            card.advance(now, &mut answered);
        }
        self.session.passed(now);
        let under_way = card.under_way();
        let State::On(card) = std::mem::replace(&mut self.device.state, State::Gone) else { unreachable!("looked at") };
        let mut medium = card.into_medium();
        self.cuts += 1;
        if let Some(flash) = medium.flash_mut() {
            let seed = self.of_card.as_ref().map_or(0, |card| card.start.seed);
            let mut rng = Rng::stream(seed.wrapping_add(self.cuts), "power cuts");
            flash.power_cut(&under_way, &mut |_, operation| end_of(operation, &mut rng));
        }
        self.device.state = State::Off(medium);
        self.give_up(ReplyError::NoPower);
        Ok(())
    }

    fn power_on(&mut self) -> Result<(), ControlError> {
        let State::Off(_) = &self.device.state else { return Err(ControlError::HasPower) };
        let State::Off(mut medium) = std::mem::replace(&mut self.device.state, State::Gone) else {
            unreachable!("looked at")
        };
        let start = &self.of_card.as_ref().expect("disks have power").start;
        if let Some(flash) = medium.flash_mut() {
            flash.power_on();
        }
        // The start has not read anything yet.
        medium.take_read_count();
        // Its name is known by now.
        match Engine::open(medium, start) {
            Ok((card, scan)) => {
                self.device.state = State::On(Box::new(card));
                self.scan = Some(scan);
                self.restore_settings();
                let wall_ns = self.wall_ns();
                self.session.passed(Time(wall_ns));
                self.start_up();
                Ok(())
            }
            Err(failed) => {
                let (error, medium) = *failed;
                self.device.state = State::Off(medium);
                Err(error.into())
            }
        }
    }

    /// Writes what is only in the buffer, and says in the headers that all of it is there.
    pub fn shut_down(&mut self) {
        let wall_ns = self.wall_ns();
        self.give_up(ReplyError::NoPower);
        if let State::On(card) = &mut self.device.state
            && !card.is_halted()
        {
            let now = self.session.time().max(Time(wall_ns).min(card.next_event()));
            let ended = card.shut_down(now, &mut Vec::new());
            self.session.passed(ended);
        }
        if let State::Disks(_) = &self.device.state {
            // Answered writes are in a cache with a battery, and the disks are gone with the server.
            return;
        }
        if let State::On(card) = std::mem::replace(&mut self.device.state, State::Gone) {
            self.device.state = State::Off(card.into_medium());
        }
    }

    /// Finds the parts of a range that hold something, for [`crate::Port::extents`].
    pub fn extents(&self, offset_bytes: u64, len_bytes: u64, most: usize) -> Vec<(u64, bool)> {
        let end_bytes = offset_bytes + len_bytes;
        let card = match &self.device.state {
            State::On(card) => card,
            State::Disks(disks) => return disks.extents(offset_bytes, len_bytes, most),
            State::Off(_) | State::Gone => return vec![(len_bytes, true)],
        };
        let ftl = card.ftl();
        let limit = offset_bytes.saturating_add(MOST_LOOKED_AT * SECTOR_BYTES);
        let pieces = cut(offset_bytes, end_bytes.min(limit), SECTOR_BYTES);
        joined(pieces.map(|(at, len)| (len, ftl.lookup(Lba((at / SECTOR_BYTES) as u32)).is_some())), most)
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
        (UnderWay::Log { .. }, _) => CutOutcome::Garbage { spoil_earlier: false },
        (UnderWay::Erase { .. }, 2) => CutOutcome::PartlyErased,
        (UnderWay::Erase { .. }, _) => CutOutcome::Weak,
    }
}

#[cfg(test)]
mod tests;
