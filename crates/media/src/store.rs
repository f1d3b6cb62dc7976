//! A card on emulated flash as a folder: a file for each module.

use crate::image::{self, ImageError};
use crate::{Flash, Module, Physics, Shape};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Most slots of a card in a folder: names have two digits.
const MAX_SLOTS: u32 = 100;

/// Why a folder is no card.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file can't be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is no image of a module.
    #[error("{path}: {source}")]
    Image {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ImageError,
    },
    /// Modules of one card have different shapes.
    #[error("{path}: this module is divided in another way than the one before it")]
    ShapeDiffers {
        /// File of the later one.
        path: PathBuf,
    },
    /// It is a file, not a folder.
    #[error("{path}: a card's modules lie in a folder, one file each; name the folder")]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// There is a module for a slot that the card does not have.
    #[error("{path}: the card has only {slots} slots")]
    NoSuchSlot {
        /// Its file.
        path: PathBuf,
        /// Slots of the card.
        slots: u32,
    },
    /// There are no modules.
    #[error("{dir}: no modules here (module-00.frm and so on)")]
    NoModules {
        /// The folder.
        dir: PathBuf,
    },
}

fn path(dir: &Path, slot: u32) -> PathBuf {
    dir.join(format!("module-{slot:02}.frm"))
}

impl Flash {
    /// Writes each module to its file in a folder, which is made where there is none, as it is seen now: with what is
    /// not synced, without faults that still wait. Files of empty slots are removed. A file is there whole, or as it was.
    ///
    /// # Panics
    /// When the card has more than 100 slots.
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

    /// The card of `slots` slots whose modules [`Flash::save`] wrote, powered. Slots without a file are empty.
    ///
    /// # Panics
    /// When the card has more than 100 slots.
    pub fn load(dir: &Path, slots: u32, physics: Physics, seed: u64) -> Result<Flash, LoadError> {
        assert!(slots <= MAX_SLOTS, "{slots} slots in a folder");
        Flash::of_modules(dir, load_modules(dir)?, slots, physics, seed)
    }

    /// The card of `slots` slots with the modules that [`load_modules`] found in a folder, powered.
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

/// The modules in a folder that [`Flash::save`] wrote, by slot, ascending. At least one.
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
