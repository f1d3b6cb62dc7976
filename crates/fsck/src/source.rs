//! The sources of a card's media. Only this file knows them.

use format::ModuleHeader;
use media::{Flash, HEADER_COPIES, LoadError, Module, Physics, load_modules};
use std::path::{Path, PathBuf};

/// A source of a card's media.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A folder with an image of each module (`docs/media-image.md`), as [`Flash::save`] writes it.
    Image(PathBuf),
}

/// The reason why a source has no media.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The folder holds no card's images, or a damaged one.
    #[error(transparent)]
    Image(#[from] LoadError),
}

impl Source {
    /// The source that a path names.
    pub fn of(path: &Path) -> Source {
        Source::Image(path.to_path_buf())
    }

    /// Opens the media, read-only. Images don't tell how good their flash is, so its error correction is that of
    /// [`Physics::IDEAL`], and no time has passed since they were saved.
    pub fn open(&self) -> Result<Flash, SourceError> {
        match self {
            Source::Image(dir) => {
                let modules = load_modules(dir)?;
                let slots = slots(&modules);
                Ok(Flash::of_modules(dir, modules, slots, Physics::IDEAL, 0)?)
            }
        }
    }
}

/// The number of slots of the card: as many as a header says, and enough for every module.
fn slots(modules: &[(u32, Module)]) -> u32 {
    let highest = modules.iter().map(|(slot, _)| slot + 1).max().unwrap_or(0);
    let headers = modules.iter().flat_map(|(_, module)| (0..HEADER_COPIES).filter_map(|copy| module.header(copy)));
    let said = headers.filter_map(|bytes| ModuleHeader::decode(bytes).ok()).map(|header| header.shape.modules).max();
    highest.max(said.unwrap_or(0))
}
