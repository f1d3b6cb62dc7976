//! The files and devices that are named for the modules of a card, and what must be true of them before any is written.

use crate::error::{CardFailure, DeviceFailure, Failure, ShelfFailure, StreamFailure};
use crate::shelf_modules::{MODULE_MAGIC, ShelfModule};
use files::{Files, FilesError};
use identify::Identity;
use media::Shape;
use serve::remote::{ModuleAddress, RemoteOptions};
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The least number of modules of a card that is to survive the loss of one. A card of a single module promises no such
/// thing.
pub const MIN_MODULES: u32 = 3;

/// One place, whatever its name.
#[derive(Debug)]
enum Place {
    Device(Box<Identity>),
    /// A file by its file system and number there.
    File(u64, u64),
    /// A file that is to be made, by its folder.
    Future(u64, u64, std::ffi::OsString),
    /// A module on a shelf.
    Shelf(Box<ShelfModule>),
}

impl Place {
    fn of(path: &Path) -> Result<Place, Failure> {
        let meta = match fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == ErrorKind::NotFound => return Place::future(path),
            Err(source) => return Err(StreamFailure::Unreadable { path: path.into(), source }.into()),
        };
        match meta.file_type() {
            kind if kind.is_block_device() => Ok(Place::Device(Box::new(identify::block_device(path)?))),
            kind if kind.is_file() => Ok(Place::File(meta.dev(), meta.ino())),
            _ => Err(FilesError::Kind { path: path.into() }.into()),
        }
    }

    /// As [`Place::of`], of a place that may lie on a shelf.
    fn reached(path: &Path, shelves: &RemoteOptions) -> Result<Place, Failure> {
        match ModuleAddress::is_meant(path) {
            true => Ok(Place::Shelf(Box::new(ShelfModule::look(path, shelves)?))),
            false => Place::of(path),
        }
    }

    fn future(path: &Path) -> Result<Place, Failure> {
        let folder = folder_of(path)?;
        if let Err(error @ identify::IdentifyError::NoDevice { .. }) = identify::file(path) {
            return Err(error.into());
        }
        Ok(Place::Future(folder.dev(), folder.ino(), path.file_name().unwrap_or_default().to_owned()))
    }

    fn is(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::Device(one), Place::Device(other)) => one.is_same_device(other),
            (Place::File(dev, ino), Place::File(other_dev, other_ino)) => (dev, ino) == (other_dev, other_ino),
            (Place::Future(dev, ino, name), Place::Future(other_dev, other_ino, other_name)) => {
                (dev, ino, name) == (other_dev, other_ino, other_name)
            }
            (Place::Shelf(one), Place::Shelf(other)) => one.is(other),
            _ => false,
        }
    }
}

fn folder_of(path: &Path) -> Result<Metadata, Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::metadata(folder).map_err(|source| StreamFailure::Unwritable { path: path.into(), source }.into())
}

/// Refuses two names of one drive or file: the loss of it would be the loss of two modules.
fn apart(paths: &[PathBuf], places: &[Place]) -> Result<(), Failure> {
    for (at, place) in places.iter().enumerate() {
        if let Some(earlier) = places[..at].iter().position(|earlier| earlier.is(place)) {
            let (first, second) = (paths[earlier].clone(), paths[at].clone());
            return Err(CardFailure::SamePlace { first, second }.into());
        }
    }
    Ok(())
}

/// Refuses all that must not become a module, before any of it is written: places that are named twice, devices that
/// are in use or hold something, files that are there, and places that are too small.
pub fn may_be_made(
    shape: Shape,
    shards: u32,
    paths: &[PathBuf],
    overwrite: bool,
    shelves: &RemoteOptions,
) -> Result<(), Failure> {
    if (2..MIN_MODULES).contains(&shape.modules) {
        return Err(CardFailure::TooFewModules { modules: shape.modules, least: MIN_MODULES }.into());
    }
    let places: Vec<Place> = paths.iter().map(|path| Place::reached(path, shelves)).collect::<Result<_, _>>()?;
    apart(paths, &places)?;
    let mut permits = Vec::new();
    let mut needed: BTreeMap<u64, u64> = BTreeMap::new();
    for (path, place) in paths.iter().zip(&places) {
        match place {
            Place::Device(identity) => {
                // The reasons against it come before the question for permission, as in a review.
                permits.push(identify::may_be_overwritten(identity)?);
                given_away(path, identity, overwrite)?;
                let bytes = Files::module_bytes(shape, shards, path)?;
                if identity.size_bytes < bytes {
                    let size_bytes = identity.size_bytes;
                    return Err(CardFailure::TooSmall { path: path.clone(), size_bytes, bytes }.into());
                }
            }
            Place::Shelf(module) => {
                module.may_be_made(overwrite)?;
                let bytes = Files::module_bytes_of(shape, shards, path, module.block_bytes)?;
                if module.bytes < bytes {
                    return Err(CardFailure::TooSmall { path: path.clone(), size_bytes: module.bytes, bytes }.into());
                }
            }
            Place::File(..) if holds_module(path) => {
                return Err(CardFailure::HoldsModule { path: path.clone() }.into());
            }
            Place::File(..) => return Err(FilesError::Exists { path: path.clone() }.into()),
            Place::Future(file_system, ..) => {
                let bytes = needed.entry(*file_system).or_default();
                *bytes = bytes.saturating_add(Files::module_bytes(shape, shards, path)?);
                if free_bytes(path).is_some_and(|free| free < *bytes) {
                    return Err(FilesError::NoRoom { path: path.clone(), bytes: *bytes }.into());
                }
            }
        }
    }
    // Nobody could take one of the devices while the others were looked at.
    drop(permits);
    Ok(())
}

/// Refuses a device that is to become a new module of a card that runs, and that nobody has given away. The card's server
/// looks for everything else that speaks against it.
pub fn may_be_new(path: &Path, overwrite: bool) -> Result<(), Failure> {
    if ModuleAddress::is_meant(path) {
        let refused = || ShelfFailure::NotGivenAway { path: path.into() };
        return overwrite.then_some(()).ok_or_else(|| refused().into());
    }
    match Place::of(path)? {
        Place::Device(identity) => given_away(path, &identity, overwrite),
        _ => Ok(()),
    }
}

fn given_away(path: &Path, identity: &Identity, overwrite: bool) -> Result<(), Failure> {
    let refused = || DeviceFailure::NotGivenAway { path: path.into(), title: identity.title().into() };
    if overwrite { Ok(()) } else { Err(refused().into()) }
}

/// Refuses two names of one place among the modules that a card is to be started from.
pub fn are_apart(paths: &[PathBuf]) -> Result<(), Failure> {
    // A module that is missing, or can't be looked at, is an empty slot with a note of its own.
    let there: Vec<PathBuf> = paths.iter().filter(|path| path.exists()).cloned().collect();
    let looked_at = there.into_iter().filter_map(|path| Some((Place::of(&path).ok()?, path)));
    let (places, there): (Vec<Place>, Vec<PathBuf>) = looked_at.unzip();
    apart(&there, &places)
}

/// Turns the kernel's refusal of a device into the reasons for it, where there are any that can be told.
pub fn why_in_use(error: FilesError) -> Failure {
    if let FilesError::InUse { path } = &error
        && let Ok(Some(device)) = identify::block_device(path).map(|identity| identity.device)
    {
        let reasons = identify::users(&device);
        if !reasons.is_empty() {
            return DeviceFailure::InUse { path: path.clone(), reasons: reasons.into() }.into();
        }
    }
    error.into()
}

/// Both copies of the superblock are looked at: either makes a module of the file.
fn holds_module(path: &Path) -> bool {
    let Ok(file) = fs::File::open(path) else { return false };
    let pages = file.metadata().map_or(0, |meta| meta.len()) / files::PAGE_BYTES;
    let begins = |page: u64| {
        let mut magic = [0; MODULE_MAGIC.len()];
        file.read_exact_at(&mut magic, page * files::PAGE_BYTES).is_ok() && magic == *MODULE_MAGIC
    };
    pages > 0 && (begins(0) || begins(pages - 1))
}

fn free_bytes(path: &Path) -> Option<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    identify::file(folder.join("module")).ok()?.file_system?.free_bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn same(one: &Path, other: &Path) -> bool {
        Place::of(one).unwrap().is(&Place::of(other).unwrap())
    }

    #[test]
    fn a_file_is_the_same_under_each_of_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "x").unwrap();
        fs::write(at("other"), "x").unwrap();
        symlink(at("file"), at("link")).unwrap();
        fs::hard_link(at("file"), at("hard")).unwrap();
        symlink(dir.path(), at("folder")).unwrap();
        for name in ["file", "link", "hard", "folder/file", "folder/hard"] {
            assert!(same(&at("file"), &at(name)), "{name}");
        }
        assert!(!same(&at("file"), &at("other")));
        // And before it is there.
        assert!(same(&at("new"), &at("folder/new")) && same(&at("new"), &at("./new")));
        assert!(!same(&at("new"), &at("newer")) && !same(&at("new"), &at("file")));
    }

    #[test]
    fn a_file_is_a_module_by_either_copy_of_its_superblock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut bytes = vec![0; 3 * files::PAGE_BYTES as usize + 17];
        let last = 2 * files::PAGE_BYTES as usize;
        for (at, is_module) in [(None, false), (Some(0), true), (Some(last), true), (Some(64), false)] {
            bytes.fill(0);
            if let Some(at) = at {
                bytes[at..at + MODULE_MAGIC.len()].copy_from_slice(MODULE_MAGIC);
            }
            fs::write(&path, &bytes).unwrap();
            assert_eq!(holds_module(&path), is_module, "{at:?}");
        }
    }
}
