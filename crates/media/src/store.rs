//! A card on emulated flash as a folder with a file for each module.

use crate::flash::Flash;
use crate::image::{self, ImageError};
use crate::module::Module;
use crate::physics::Physics;
use format::Shape;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The highest number of slots of a card in a folder, because names have two digits.
const MAX_SLOTS: u32 = 100;

/// The reason why a folder holds no card.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum LoadError {
    /// A file can't be read.
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    /// A file is no image of a module.
    #[error("{path}: {source}")]
    Image { path: PathBuf, source: ImageError },
    /// Modules of one card have different shapes.
    #[error("{path}: this module is divided in another way than the one before it")]
    ShapeDiffers { path: PathBuf },
    /// The path names a file, not a folder.
    #[error("{path}: a card's modules lie in a folder, one file each; name the folder")]
    NoFolder { path: PathBuf },
    /// There is a module for a slot that the card does not have.
    #[error("{path}: the card has only {slots} slots")]
    NoSuchSlot { path: PathBuf, slots: u32 },
    /// The folder holds no modules.
    #[error("{dir}: no modules here (module-00.frm and so on)")]
    NoModules { dir: PathBuf },
}

fn path(dir: &Path, slot: u32) -> PathBuf {
    dir.join(format!("module-{slot:02}.frm"))
}

impl Flash {
    /// Writes each module to its file in a folder, and makes the folder if there is none. The files show the modules as
    /// they are seen now: with operations that are not synced, and without faults that still wait. Files of empty slots
    /// are removed. A file is replaced as a whole, or not at all.
    ///
    /// # Panics
    /// If the card has more than 100 slots.
    pub fn save(&self, dir: &Path) -> io::Result<()> {
        assert!(self.shape.modules <= MAX_SLOTS, "{} slots in a folder", self.shape.modules);
        fs::create_dir_all(dir)?;
        for slot in 0..MAX_SLOTS {
            let path = path(dir, slot);
            match (slot < self.shape.modules).then(|| self.module(slot)).flatten() {
                Some(module) => {
                    let beside = path.with_extension("new");
                    let mut file = BufWriter::new(File::create(&beside)?);
                    image::write(module, &mut file)?;
                    file.flush()?;
                    file.get_ref().sync_all()?;
                    fs::rename(&beside, &path)?;
                }
                None => match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                },
            }
        }
        File::open(dir)?.sync_all()
    }

    /// Loads the card of `slots` slots whose modules [`Flash::save`] wrote, with power on. Slots without a file are
    /// empty.
    ///
    /// # Panics
    /// If the card has more than 100 slots.
    pub fn load(dir: &Path, slots: u32, physics: Physics, seed: u64) -> Result<Flash, LoadError> {
        assert!(slots <= MAX_SLOTS, "{slots} slots in a folder");
        Flash::of_modules(dir, load_modules(dir)?, slots, physics, seed)
    }

    /// The card of `slots` slots with the modules that [`load_modules`] found in a folder, with power on.
    pub fn of_modules(
        dir: &Path,
        modules: Vec<(u32, Module)>,
        slots: u32,
        physics: Physics,
        seed: u64,
    ) -> Result<Flash, LoadError> {
        let mut flash: Option<Flash> = None;
        for (slot, module) in modules {
            if slot >= slots {
                return Err(LoadError::NoSuchSlot { path: path(dir, slot), slots });
            }
            let shape = Shape { modules: slots, ..*module.shape() };
            let flash = flash.get_or_insert_with(|| Flash::without_modules(shape, physics, seed));
            if flash.shape != shape {
                return Err(LoadError::ShapeDiffers { path: path(dir, slot) });
            }
            flash.insert(slot, module);
        }
        flash.ok_or_else(|| LoadError::NoModules { dir: dir.to_path_buf() })
    }
}

/// Loads the modules that [`Flash::save`] wrote to a folder, by slot, ascending. There is at least one.
pub fn load_modules(dir: &Path) -> Result<Vec<(u32, Module)>, LoadError> {
    match fs::metadata(dir) {
        Ok(found) if !found.is_dir() => return Err(LoadError::NoFolder { path: dir.to_path_buf() }),
        Ok(_) => {}
        Err(source) => return Err(LoadError::Io { path: dir.to_path_buf(), source }),
    }
    let mut modules = Vec::new();
    for slot in 0..MAX_SLOTS {
        let path = path(dir, slot);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(LoadError::Io { path, source }),
        };
        match image::parse(&bytes) {
            Ok(module) => modules.push((slot, module)),
            Err(source) => return Err(LoadError::Image { path, source }),
        }
    }
    if modules.is_empty() {
        return Err(LoadError::NoModules { dir: dir.to_path_buf() });
    }
    Ok(modules)
}
