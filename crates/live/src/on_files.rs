//! Cards whose modules lie in files.
//!
//! A process that holds a buffer is no capacitor: what a card on files has acknowledged is durable when it is flushed.

use crate::engine::Engine;
use crate::error::ControlError;
use crate::live::Live;
use crate::state::State;
use card::{CardConfig, InsertError};
use files::{Files, FilesError, Options};
use format::ModuleHeader;
use ftl::recover::JoinError;
use media::{HEADER_COPIES, Media};
use std::path::{Path, PathBuf};

/// A module in a file that has not answered for so long counts as gone: drives take their time, and operating systems
/// try again.
const MODULE_TIMEOUT_NS: u64 = 30_000_000_000;

/// The card as its modules in files can keep its promises.
pub fn on_files(config: &CardConfig) -> CardConfig {
    let mut config = *config;
    config.power_loss_protection = false;
    config.capacitors = None;
    config.care.module_timeout_ns = MODULE_TIMEOUT_NS;
    if let Some(persistence) = &mut config.ftl.persistence {
        // Files don't share cells.
        persistence.cell_rows = 1;
    }
    config
}

impl Live {
    /// The files or devices of the modules, by slot; of a card in memory, and of an empty slot, `None`.
    pub fn module_paths(&self) -> Vec<Option<PathBuf>> {
        let mut paths: Vec<Option<PathBuf>> = Vec::new();
        for shard in &self.shards {
            let of_shard = shard.shared.lock().module_paths();
            paths.resize(paths.len().max(of_shard.len()), None);
            // A module may be missing in one shard alone.
            paths.iter_mut().zip(of_shard).for_each(|(path, of_shard)| *path = path.take().or(of_shard));
        }
        paths
    }

    /// Puts the module in a file into an empty slot; where there is no file, a new module is made.
    pub fn insert_file(&self, slot: u32, path: &Path) -> Result<(), ControlError> {
        self.with_engines(|engines| insert_in_all(engines, slot, path, false))
    }

    /// Makes a new module in a file that is not there, or of a block device, whose contents are lost, and puts it into an
    /// empty slot.
    pub fn insert_new(&self, slot: u32, path: &Path) -> Result<(), ControlError> {
        self.with_engines(|engines| insert_in_all(engines, slot, path, true))
    }
}

/// Puts a module into the same slot of all shards: into all of them, or into none.
fn insert_in_all(engines: &mut [&mut Engine], slot: u32, path: &Path, new: bool) -> Result<(), ControlError> {
    let is_there = engines[0].files_mut().map_or_else(|| path.exists(), |files| files.is_there(path));
    let is_made = new || !is_there;
    for engine in engines.iter_mut() {
        engine.has_room_for_file(slot)?;
        if !is_made {
            // Before any of them has locked it.
            engine.belongs_here(slot, path)?;
        }
    }
    if is_made {
        // It has a region for each of them.
        let files = engines[0].files_mut().expect("there is room for a file");
        files.create_module(path, &Options { overwrite: new, ..Options::default() })?;
    }
    for at in 0..engines.len() {
        if let Err(error) = engines[at].take_file(slot, path) {
            engines[..at].iter_mut().for_each(|engine| engine.give_file_back(slot));
            return Err(error);
        }
    }
    engines.iter_mut().for_each(|engine| drop(engine.pulled.files.remove(&slot)));
    Ok(())
}

/// Puts the module back into the slot of all shards that it was pulled from.
pub(crate) fn insert_pulled_in_all(engines: &mut [&mut Engine], slot: u32) -> Result<(), ControlError> {
    let slots = engines[0].slots();
    if slot >= slots {
        return Err(ControlError::NoSlot { slot, slots });
    }
    let path = engines.iter().find_map(|engine| engine.pulled.files.get(&slot).cloned());
    insert_in_all(engines, slot, &path.ok_or(ControlError::NothingPulled { slot })?, false)
}

impl Engine {
    /// The files that the card lies in, if it does.
    pub fn files_mut(&mut self) -> Option<&mut Files> {
        match &mut self.device.state {
            State::On(card) => card.medium_mut().outside_mut(),
            State::Off(medium) => medium.outside_mut(),
            State::Disks(_) | State::Gone => None,
        }
    }

    /// Takes the module of a slot out.
    pub fn pull_file(&mut self, slot: u32) -> Result<(), ControlError> {
        let files = self.files_mut().expect("the card lies in files");
        let path = files.path(slot).map(Path::to_owned);
        if !files.pull(slot) {
            return Err(ControlError::Empty { slot });
        }
        self.pulled.files.extend(path.map(|path| (slot, path)));
        self.with_card(|card, now, done| card.module_went(now, slot, done));
        Ok(())
    }

    fn module_paths(&mut self) -> Vec<Option<PathBuf>> {
        let slots = self.slots();
        let files = self.files_mut();
        files.map_or_else(Vec::new, |files| (0..slots).map(|slot| files.path(slot).map(PathBuf::from)).collect())
    }

    /// Refuses a slot that has a module.
    fn has_room_for_file(&mut self, slot: u32) -> Result<(), ControlError> {
        let slots = self.slots();
        if slot >= slots {
            return Err(ControlError::NoSlot { slot, slots });
        }
        let files = self.files_mut().ok_or(ControlError::Medium { what: "inserting a file" })?;
        if files.has_module(slot) {
            return Err(card::InsertError::SlotTaken { slot }.into());
        }
        files.let_go();
        Ok(())
    }

    /// Puts the module of a file into a slot that has room for it.
    pub fn take_file(&mut self, slot: u32, path: &Path) -> Result<(), ControlError> {
        let files = self.files_mut().expect("there is room for a file");
        files.insert(slot, path)?;
        let taken = self.with_card(|card, now, done| card.module_came(now, slot, done));
        if let Some(Err(error)) = taken {
            let files = self.files_mut().expect("as before");
            files.pull(slot);
            return Err(error.into());
        }
        Ok(())
    }

    /// Takes out what [`Engine::take_file`] has put into a slot, as if it had never been there.
    fn give_file_back(&mut self, slot: u32) {
        let files = self.files_mut().expect("it has taken one");
        files.pull(slot);
        self.with_card(|card, now, done| card.module_went(now, slot, done));
    }

    /// Refuses a module of another card while it is only read: to open it is to write to it.
    fn belongs_here(&mut self, slot: u32, path: &Path) -> Result<(), ControlError> {
        let mut places = vec![None; self.slots() as usize];
        places[slot as usize] = Some(path.to_owned());
        let files = self.files_mut().expect("the card lies in files");
        let mut looked = match files.look_beside(&places) {
            Ok(looked) => looked,
            Err(FilesError::Nothing(error)) => return Err((*error).into()),
            Err(FilesError::Count { .. }) => return Err(InsertError::Shape { slot }.into()),
            Err(error) => return Err(error.into()),
        };
        let files = self.files_mut().expect("the card lies in files");
        if looked.shape() != files.shape() {
            return Err(InsertError::Shape { slot }.into());
        }
        let Some(card) = self.of_card.as_ref().and_then(|card| card.start.id) else { return Ok(()) };
        for copy in 0..HEADER_COPIES {
            let Ok(Some(bytes)) = looked.read_header(slot, copy) else { continue };
            let Ok(header) = ModuleHeader::decode(&bytes) else { continue };
            if header.card != card {
                let foreign = JoinError::Foreign { slot, module: header.module, found: header.card, card };
                return Err(InsertError::from(foreign).into());
            }
        }
        Ok(())
    }
}
