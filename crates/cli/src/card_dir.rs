//! A card in a folder: what it was made from, and where its modules are.

use crate::error::{CardFailure, DescriptionError, Failure, ServeFailure, StreamFailure, WayOut};
use crate::module_places;
use crate::shards::usual_shards;
use crate::shelf_modules::SecretFiles;
use card::{CardConfig, OpenError};
use device::SECTOR_BYTES;
use files::{Disks, Files, FilesError, Options};
use format::CardId;
use fsck::Described;
use live::{CHUNK_BYTES, Division, Live, LiveError, Start, Timing, id_of_shard, on_files};
use media::Medium;
use profile::Profile;
use serde::{Deserialize, Serialize};
use serve::remote::{ModuleAddress, ModuleDisks, RemoteOptions, Watch};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Name of the description in the folder.
const DESCRIPTION: &str = "card.toml";
/// The time for which modules that another process has are asked for again, and the time between.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
const LOCK_AGAIN: Duration = Duration::from_millis(10);
/// The description's own version.
const VERSION: u32 = 1;

/// The contents of `card.toml`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    version: u32,
    /// The card's name, in hexadecimal.
    id: String,
    /// The name of the profile.
    name: String,
    user_bytes: u64,
    /// The shards that the card is divided over.
    #[serde(default = "one_shard", skip_serializing_if = "is_one_shard")]
    shards: u32,
    settings: Vec<String>,
    /// The card is divided into volumes, whose table lies on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    volumes: bool,
    /// The file of the secret that shelves ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shelf_secret: Option<PathBuf>,
    /// The file of the secret by which shelves prove themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shelf_controller_secret: Option<PathBuf>,
    /// By slot; relative to the folder, or addresses of modules on shelves.
    modules: Vec<PathBuf>,
    /// Text of the profile.
    profile: String,
}

fn one_shard() -> u32 {
    1
}

fn is_one_shard(shards: &u32) -> bool {
    *shards == one_shard()
}

/// A card in a folder.
pub struct CardDir {
    /// The folder of the card, as it was named.
    pub dir: PathBuf,
    /// The profile that the card was made from.
    pub profile: Profile,
    /// Bytes that a host sees.
    pub user_bytes: u64,
    /// The number of shards that the card is divided over.
    pub shards: u32,
    /// The configuration that lies on the modules, of each shard.
    pub config: CardConfig,
    /// Files or devices of its modules, by slot.
    pub modules: Vec<PathBuf>,
    /// The card is divided into volumes.
    pub has_volumes: bool,
    /// The word of its disks on shelves, since the card runs.
    pub watch: Watch,
    id: CardId,
    secret_files: SecretFiles,
    /// The options of connections to its shelves.
    pub shelves: Arc<RemoteOptions>,
}

/// The profile of a new card.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// A built-in card's name, or the path of a file.
    Named(&'a str),
    /// The text of a file that is nowhere yet.
    Text {
        /// The name of the card.
        name: &'a str,
        /// The contents of the file.
        text: &'a str,
    },
}

impl Source<'_> {
    fn read(self) -> Result<(Profile, String), Failure> {
        match self {
            Source::Text { name, text } => Ok((Profile::parse(text, &format!("{name}.toml"))?, text.to_owned())),
            Source::Named(card) => {
                // A name that is none has its own message.
                let profile = Profile::open(card)?;
                let text = match Profile::builtin_text(card) {
                    Some(text) => text.to_owned(),
                    None => {
                        let path = Path::new(card);
                        std::fs::read_to_string(path)
                            .map_err(|source| StreamFailure::Unreadable { path: path.into(), source })?
                    }
                };
                Ok((profile, text))
            }
        }
    }
}

/// The options of a new card.
pub struct New<'a> {
    /// The profile that it is made from.
    pub source: Source<'a>,
    /// Settings that differ from the profile.
    pub settings: &'a [String],
    /// Bytes that a host sees; `None`: as many as the card has.
    pub user_bytes: Option<u64>,
    /// The shards that it is divided over; `None`: as [`usual_shards`] says.
    pub shards: Option<u32>,
    /// Devices or files for the modules, by slot; none: files in the folder.
    pub modules: &'a [PathBuf],
    /// The contents of the devices may be destroyed.
    pub overwrite: bool,
    /// The files of the secrets of the shelves that modules lie on.
    pub secret_files: SecretFiles,
}

/// The size of a card, and the configuration of each of its shards.
pub fn divided(profile: &Profile, user_bytes: Option<u64>, shards: u32) -> Result<(u64, CardConfig), Failure> {
    if shards == 1 {
        let config = on_files(&profile.with_contents(user_bytes)?);
        return Ok((config.ftl.user_sectors * SECTOR_BYTES, config));
    }
    let user_bytes = match user_bytes {
        Some(bytes) => bytes.next_multiple_of(SECTOR_BYTES),
        None => profile.with_contents(None)?.ftl.user_sectors * SECTOR_BYTES,
    };
    let most = user_bytes / CHUNK_BYTES;
    if u64::from(shards) > most {
        return Err(ServeFailure::TooManyShards { shards, most }.into());
    }
    let config = profile.with_contents(Some(Live::shard_bytes(user_bytes, shards)))?;
    Ok((user_bytes, on_files(&config)))
}

/// The place that a word names, whatever folder is the current one later.
pub fn absolute(path: &Path) -> PathBuf {
    match ModuleAddress::is_meant(path) {
        true => path.into(),
        false => std::path::absolute(path).unwrap_or_else(|_| path.into()),
    }
}

/// Is it the folder of a card?
pub fn is_card(path: &Path) -> bool {
    path.join(DESCRIPTION).is_file()
}

/// The first name in a folder, apart from those of modules; `None` where there is no folder.
fn something_in(dir: &Path, modules: &[PathBuf]) -> Option<PathBuf> {
    let absolute = |path: &Path| std::path::absolute(path).ok();
    let modules: Vec<PathBuf> = modules.iter().filter_map(|path| absolute(path)).collect();
    let entries = std::fs::read_dir(dir).ok()?.filter_map(Result::ok);
    let others = entries.filter(|entry| absolute(&entry.path()).is_none_or(|path| !modules.contains(&path)));
    others.map(|entry| PathBuf::from(entry.file_name())).min()
}

impl CardDir {
    /// Refuses a folder that holds a card, or anything but the modules that are to become one.
    pub fn may_be_made(dir: &Path, modules: &[PathBuf]) -> Result<(), Failure> {
        if is_card(dir) {
            return Err(CardFailure::CardExists { dir: dir.into() }.into());
        }
        match something_in(dir, modules) {
            Some(found) => Err(CardFailure::FolderNotEmpty { dir: dir.into(), found }.into()),
            None => Ok(()),
        }
    }

    /// Makes the folder of a card, if it is not there.
    pub fn make_folder(dir: &Path) -> Result<(), Failure> {
        Ok(std::fs::create_dir_all(dir).map_err(|source| StreamFailure::Unwritable { path: dir.into(), source })?)
    }

    /// Makes a card in a folder, which is made as well. Beside it: bytes of its smallest module.
    pub fn create(dir: &Path, new: &New) -> Result<(CardDir, u64), Failure> {
        CardDir::may_be_made(dir, new.modules)?;
        let (mut profile, text) = new.source.read()?;
        for setting in new.settings {
            profile.set(setting)?;
        }
        let shards = match (new.shards, new.user_bytes) {
            (Some(shards), _) => shards,
            (None, Some(bytes)) => usual_shards(bytes),
            (None, None) => usual_shards(divided(&profile, None, 1)?.0),
        };
        let (user_bytes, config) = divided(&profile, new.user_bytes, shards)?;
        let shape = card::shape(&config);
        let modules: Vec<PathBuf> = match new.modules {
            [] => (0..shape.modules).map(|slot| format!("module-{slot:02}").into()).collect(),
            named => named.iter().map(|path| absolute(path)).collect(),
        };
        if modules.len() != shape.modules as usize {
            return Err(CardFailure::ModuleCount { found: modules.len(), modules: shape.modules }.into());
        }
        let made_dir = !dir.exists();
        CardDir::make_folder(dir)?;
        let (dir, id, has_volumes) = (PathBuf::from(dir), new_card_id()?, false);
        let (secret_files, watch) = (new.secret_files.clone(), Watch::default());
        let shelves = Arc::new(secret_files.options()?);
        let made = CardDir {
            dir,
            profile,
            user_bytes,
            shards,
            config,
            modules,
            has_volumes,
            watch,
            id,
            secret_files,
            shelves,
        };
        let written = made.write(new, text);
        if written.is_err() && made_dir {
            // Only if nothing else has come to lie in it.
            let _ = std::fs::remove_dir(&made.dir);
        }
        written.map(|module_bytes| (made, module_bytes))
    }

    /// Writes the card. Bytes of its smallest module.
    fn write(&self, new: &New, text: String) -> Result<u64, Failure> {
        let shape = card::shape(&self.config);
        let options = Options { overwrite: new.overwrite, ..Options::default() };
        module_places::may_be_made(shape, self.shards, &self.paths(), new.overwrite, &self.shelves)?;
        let files = Files::create_shards_on(self.disks()?, shape, &self.paths(), &options)?;
        let layouts = (0..shape.modules).filter_map(|slot| files[0].layout(slot));
        let module_bytes = layouts.map(|layout| layout.module_bytes()).min().unwrap_or(0);
        let named = self.dir.display().to_string();
        let media = files.into_iter().map(|files| Medium::Outside(Box::new(files)));
        let live = Live::format_shards(media.collect(), &self.start(1), self.user_bytes)
            .map_err(|source| CardFailure::Live { card: named.into(), source }.into());
        let described = live.and_then(|mut live| {
            live.shut_down();
            self.describe(new, text)
        });
        if described.is_err() && new.modules.is_empty() {
            self.paths().iter().for_each(|path| drop(std::fs::remove_file(path)));
        }
        described.map(|()| module_bytes)
    }

    fn describe(&self, new: &New, text: String) -> Result<(), Failure> {
        let description = Description {
            version: VERSION,
            id: self.id.0.iter().map(|byte| format!("{byte:02x}")).collect(),
            name: self.profile.name().into(),
            user_bytes: self.user_bytes,
            shards: self.shards,
            settings: new.settings.to_vec(),
            volumes: false,
            shelf_secret: self.secret_files.host.clone(),
            shelf_controller_secret: self.secret_files.controller.clone(),
            modules: self.modules.clone(),
            profile: text,
        };
        let text = described(&description);
        let path = self.dir.join(DESCRIPTION);
        let write = || {
            let mut file = std::fs::File::create_new(&path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::File::open(&self.dir)?.sync_all()
        };
        Ok(write().map_err(|source| StreamFailure::Unwritable { path: path.clone(), source })?)
    }

    /// Writes down that the card is divided into volumes from now on.
    pub fn divide(&mut self) -> Result<(), Failure> {
        let path = self.dir.join(DESCRIPTION);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| StreamFailure::Unreadable { path: path.clone(), source })?;
        let bad = |error: toml::de::Error| CardFailure::BadCard {
            path: path.clone(),
            why: DescriptionError::Toml(error.into()),
        };
        let description = Description { volumes: true, ..toml::from_str(&text).map_err(bad)? };
        let new = path.with_extension("toml.new");
        let write = || {
            let mut file = std::fs::File::create(&new)?;
            file.write_all(described(&description).as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&new, &path)?;
            std::fs::File::open(&self.dir)?.sync_all()
        };
        write().map_err(|source| StreamFailure::Unwritable { path: path.clone(), source })?;
        self.has_volumes = true;
        Ok(())
    }

    /// The card in a folder.
    pub fn open(dir: &Path) -> Result<CardDir, Failure> {
        let path = dir.join(DESCRIPTION);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| StreamFailure::Unreadable { path: path.clone(), source })?;
        let bad = |why| CardFailure::BadCard { path: path.clone(), why };
        let description: Description =
            toml::from_str(&text).map_err(|error| bad(DescriptionError::Toml(error.into())))?;
        if description.version > VERSION {
            return Err(bad(DescriptionError::TooNew { version: description.version, known: VERSION }).into());
        }
        let id = parse_id(&description.id).ok_or_else(|| bad(DescriptionError::NoId))?;
        let mut profile = Profile::parse(&description.profile, &format!("{}.toml", description.name))?;
        for setting in &description.settings {
            profile.set(setting)?;
        }
        if !(1..=live::MAX_SHARDS).contains(&description.shards) {
            return Err(bad(DescriptionError::Shards { shards: description.shards }).into());
        }
        let (user_bytes, config) = divided(&profile, Some(description.user_bytes), description.shards)?;
        let slots = config.nand.geometry.modules;
        if description.modules.len() != slots as usize {
            return Err(CardFailure::ModuleCount { found: description.modules.len(), modules: slots }.into());
        }
        let Description { shards, modules, volumes: has_volumes, .. } = description;
        let secret_files =
            SecretFiles { host: description.shelf_secret, controller: description.shelf_controller_secret };
        let shelves = Arc::new(secret_files.options()?);
        Ok(CardDir {
            dir: dir.into(),
            profile,
            user_bytes,
            shards,
            config,
            modules,
            has_volumes,
            watch: Watch::default(),
            id,
            secret_files,
            shelves,
        })
    }

    /// The disks on which its modules lie, for each shard.
    fn disks(&self) -> Result<Vec<Box<dyn Disks>>, FilesError> {
        ModuleDisks::of_shards(self.shards, &self.shelves, &self.watch)
    }

    /// Opens the places of modules to be looked at.
    fn look_at(&self, places: &[Option<PathBuf>], shard: u32) -> Result<Files, FilesError> {
        match places.iter().flatten().any(|path| ModuleAddress::is_meant(path)) {
            true => Files::look_shard_on(ModuleDisks::read_only(&self.shelves)?, (shard, self.shards), places),
            false => Files::look_shard(places, shard, self.shards),
        }
    }

    /// The name that people give it: that of its folder.
    pub fn name(&self) -> String {
        let absolute = std::path::absolute(&self.dir).ok();
        let of_dir = absolute.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        of_dir.unwrap_or_else(|| self.profile.name().into())
    }

    /// Returns the paths of the modules.
    pub fn paths(&self) -> Vec<PathBuf> {
        let place = |path: &PathBuf| match ModuleAddress::is_meant(path) {
            true => path.clone(),
            false => self.dir.join(path),
        };
        self.modules.iter().map(place).collect()
    }

    /// Returns the parameters of the start of each of its shards.
    pub fn start(&self, seed: u64) -> Start {
        Start { config: self.config, timing: Timing::None, id: Some(self.id), seed, explains: false }
    }

    /// The division of its addresses over its shards.
    pub fn division(&self) -> Division {
        Division::new(self.shards, CHUNK_BYTES, self.user_bytes)
    }

    /// The description of a shard, as a start and an examination hold it against the modules.
    pub fn described(&self, shard: u32) -> Described {
        Described { config: self.config, id: Some(id_of_shard(self.id, shard)) }
    }

    /// The regions of its modules that a shard has, but for those of the slots that are left out, to be looked at and not
    /// changed. The note gets each fault of a single module.
    pub fn look(&self, shard: u32, without: &[u32], note: impl FnMut(String)) -> Result<Files, Failure> {
        let places = self.places(without)?;
        module_places::are_apart(&places.iter().flatten().cloned().collect::<Vec<_>>())?;
        let looked = look_patiently(|| self.look_at(&places, shard));
        let files = looked.map_err(|error| self.no_files(error, without))?;
        notes(&files).into_iter().for_each(note);
        Ok(files)
    }

    /// The places of its modules by slot; those that are left out have none, and so are never opened.
    fn places(&self, without: &[u32]) -> Result<Vec<Option<PathBuf>>, Failure> {
        let shape = card::shape(&self.config);
        if let Some(slot) = without.iter().copied().find(|slot| *slot >= shape.modules) {
            return Err(FilesError::NoSlot { slot, modules: shape.modules }.into());
        }
        let of_slot = |(slot, path)| (!without.contains(&slot)).then_some(path);
        let places: Vec<Option<PathBuf>> = (0..).zip(self.paths()).map(of_slot).collect();
        let left_out = places.iter().filter(|place| place.is_none()).count();
        let spared = card::spared_modules(&self.config);
        if !card::can_do_without(&self.config, |slot| without.contains(&slot)) {
            return Err(CardFailure::TooManyLeftOut { left_out, spared }.into());
        }
        Ok(places)
    }

    fn no_files(&self, error: FilesError, without: &[u32]) -> Failure {
        if let FilesError::Shape { path, .. } = &error {
            let slot = (0..).zip(self.paths()).find(|(_, of_slot)| of_slot == path).map(|(slot, _)| slot);
            let way_out = self.way_out(slot, without);
            return CardFailure::Stranger { source: error, way_out }.into();
        }
        module_places::why_in_use(error)
    }

    /// The way past a module that is in the way of a start, if the card starts without it.
    pub fn way_out(&self, slot: Option<u32>, without: &[u32]) -> WayOut {
        let starts = |slot: &u32| {
            let without = [without, &[*slot]].concat();
            let Ok(places) = self.places(&without) else { return false };
            (0..self.shards).all(|shard| {
                let looked = self.look_at(&places, shard);
                looked.is_ok_and(|mut files| self.examine(shard, &mut files).is_ok())
            })
        };
        WayOut { dir: self.dir.clone(), slot: slot.filter(starts) }
    }

    /// Refuses what a start of a shard refuses before it has written anything.
    fn examine(&self, shard: u32, files: &mut Files) -> Result<(), OpenError> {
        card::examine(&self.config, files, Some(id_of_shard(self.id, shard))).map(drop)
    }

    fn not_started(&self, source: OpenError, without: &[u32]) -> Failure {
        let slot = match &source {
            OpenError::Assemble(error) => error.slot_in_the_way(),
            _ => None,
        };
        CardFailure::NotStarted { dir: self.dir.clone(), source, way_out: self.way_out(slot, without) }.into()
    }

    /// Starts it without the modules of the slots that are left out; `discards` tells drives which bands were erased.
    /// The note gets each fault of a single module.
    pub fn run(
        &self,
        start: Start,
        discards: bool,
        without: &[u32],
        note: impl FnMut(String),
    ) -> Result<Live, Failure> {
        // To open a module is to write to it: what a start refuses is refused while modules are only read.
        for shard in 0..self.shards {
            let mut looked = self.look(shard, without, |_| {})?;
            self.examine(shard, &mut looked).map_err(|error| self.not_started(error, without))?;
        }
        let places = self.places(without)?;
        let opened = self.disks().and_then(|disks| Files::open_shards_on(disks, &places));
        let mut files = opened.map_err(|error| self.no_files(error, without))?;
        files.iter_mut().for_each(|files| files.set_discards(discards));
        // Most are true of the module in all shards.
        let said: BTreeSet<String> = files.iter().flat_map(notes).collect();
        said.into_iter().for_each(note);
        let media = files.into_iter().map(|files| Medium::Outside(Box::new(files)));
        let opened = Live::open_shards(media.collect(), &start, self.user_bytes);
        let mut live = opened.map_err(|source| match source {
            LiveError::Open(source) => self.not_started(source, without),
            source => CardFailure::Live { card: self.dir.display().to_string().into(), source }.into(),
        })?;
        if self.has_volumes {
            live.load_volumes(self.id)
                .map_err(|source| CardFailure::Volumes { dir: self.dir.clone(), source: source.into() })?;
        }
        Ok(live)
    }
}

/// The text of a description.
fn described(description: &Description) -> String {
    let text = toml::to_string(description).expect("texts and numbers");
    format!("# A card of Flashrig: flashrig serve serves it. The modules know the rest.\n\n{text}")
}

fn notes(files: &Files) -> Vec<String> {
    files.notes().iter().map(|found| format!("slot {}: {}", found.slot, found.text)).collect()
}

/// Looks at modules, with some patience for those that another process has: the kernel may have the files of a server
/// that was killed a little longer than the server.
fn look_patiently(look: impl Fn() -> Result<Files, FilesError>) -> Result<Files, FilesError> {
    let began = Instant::now();
    loop {
        match look() {
            Err(FilesError::InUse { .. }) if began.elapsed() < LOCK_PATIENCE => std::thread::sleep(LOCK_AGAIN),
            looked => return looked,
        }
    }
}

fn parse_id(text: &str) -> Option<CardId> {
    let bytes: Vec<u8> = text
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect::<Option<_>>()?;
    Some(CardId(bytes.try_into().ok()?))
}

/// A name that no other card has.
pub fn new_card_id() -> Result<CardId, StreamFailure> {
    let mut id = [0; 16];
    let random = Path::new("/dev/urandom");
    std::fs::File::open(random)
        .and_then(|mut file| file.read_exact(&mut id))
        .map_err(|source| StreamFailure::Unreadable { path: random.into(), source })?;
    Ok(CardId(id))
}
