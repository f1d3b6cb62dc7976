//! A card in a folder: what it was made from, and where its modules are.

use crate::error::{CardFailure, DescriptionError, Failure, StreamFailure, WayOut};
use crate::module_places;
use card::{CardConfig, OpenError};
use files::{Files, FilesError, Options};
use format::CardId;
use fsck::Described;
use live::{Live, LiveError, Start, Timing, on_files};
use profile::Profile;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
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
    settings: Vec<String>,
    /// By slot; relative to the folder.
    modules: Vec<PathBuf>,
    /// Text of the profile.
    profile: String,
}

/// A card in a folder.
pub struct CardDir {
    /// The folder of the card, as it was named.
    pub dir: PathBuf,
    /// The profile that the card was made from.
    pub profile: Profile,
    /// The configuration that lies on the modules.
    pub config: CardConfig,
    /// Files or devices of its modules, by slot.
    pub modules: Vec<PathBuf>,
    id: CardId,
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
    /// Devices or files for the modules, by slot; none: files in the folder.
    pub modules: &'a [PathBuf],
    /// The contents of the devices may be destroyed.
    pub overwrite: bool,
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
        let config = on_files(&profile.with_contents(new.user_bytes)?);
        let shape = card::shape(&config);
        let modules: Vec<PathBuf> = match new.modules {
            [] => (0..shape.modules).map(|slot| format!("module-{slot:02}").into()).collect(),
            named => named.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone())).collect(),
        };
        if modules.len() != shape.modules as usize {
            return Err(CardFailure::ModuleCount { found: modules.len(), modules: shape.modules }.into());
        }
        let made_dir = !dir.exists();
        CardDir::make_folder(dir)?;
        let made = CardDir { dir: dir.into(), profile, config, modules, id: new_card_id()? };
        let written = made.write(new, text);
        if written.is_err() && made_dir {
            // Only if nothing else has come to lie in it.
            let _ = std::fs::remove_dir(dir);
        }
        written.map(|module_bytes| (made, module_bytes))
    }

    /// Writes the card. Bytes of its smallest module.
    fn write(&self, new: &New, text: String) -> Result<u64, Failure> {
        let shape = card::shape(&self.config);
        let options = Options { overwrite: new.overwrite, ..Options::default() };
        module_places::may_be_made(shape, &self.paths(), new.overwrite)?;
        let files = Files::create(shape, &self.paths(), &options)?;
        let layouts = (0..shape.modules).filter_map(|slot| files.layout(slot));
        let module_bytes = layouts.map(|layout| layout.total_bytes()).min().unwrap_or(0);
        let named = self.dir.display().to_string();
        let live = Live::format(media::Medium::Outside(Box::new(files)), self.start(1))
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
            user_bytes: self.config.ftl.user_sectors * device::SECTOR_BYTES,
            settings: new.settings.to_vec(),
            modules: self.modules.clone(),
            profile: text,
        };
        let text = toml::to_string(&description).expect("texts and numbers");
        let path = self.dir.join(DESCRIPTION);
        let write = || {
            let mut file = std::fs::File::create_new(&path)?;
            file.write_all(b"# A card of Flashrig: flashrig serve serves it. The modules know the rest.\n\n")?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::File::open(&self.dir)?.sync_all()
        };
        Ok(write().map_err(|source| StreamFailure::Unwritable { path: path.clone(), source })?)
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
        let config = on_files(&profile.with_contents(Some(description.user_bytes))?);
        let slots = config.nand.geometry.modules;
        if description.modules.len() != slots as usize {
            return Err(CardFailure::ModuleCount { found: description.modules.len(), modules: slots }.into());
        }
        Ok(CardDir { dir: dir.into(), profile, config, modules: description.modules, id })
    }

    /// Returns the paths of the modules.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.modules.iter().map(|path| self.dir.join(path)).collect()
    }

    /// Returns the parameters of its start.
    pub fn start(&self, seed: u64) -> Start {
        Start { config: self.config, timing: Timing::None, id: Some(self.id), seed }
    }

    /// Its description, as a start and an examination hold it against the modules.
    pub fn described(&self) -> Described {
        Described { config: self.config, id: Some(self.id) }
    }

    /// Its modules but those of the slots that are left out, to be looked at and not changed. The note gets each fault
    /// of a single module.
    pub fn look(&self, without: &[u32], note: impl FnMut(String)) -> Result<Files, Failure> {
        let places = self.places(without)?;
        module_places::are_apart(&places.iter().flatten().cloned().collect::<Vec<_>>())?;
        let files = look_patiently(&places).map_err(|error| self.no_files(error, without))?;
        say(&files, note);
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
        if left_out > spared as usize {
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
            let looked = self.places(&without).ok().and_then(|places| Files::look(&places).ok());
            looked.is_some_and(|mut files| card::examine(&self.config, &mut files, Some(self.id)).is_ok())
        };
        WayOut { dir: self.dir.clone(), slot: slot.filter(starts) }
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
        let mut looked = self.look(without, |_| {})?;
        card::examine(&self.config, &mut looked, Some(self.id)).map_err(|error| self.not_started(error, without))?;
        drop(looked);
        let mut files = Files::open(&self.places(without)?).map_err(|error| self.no_files(error, without))?;
        files.set_discards(discards);
        say(&files, note);
        Live::open(media::Medium::Outside(Box::new(files)), start).map_err(|source| match source {
            LiveError::Open(source) => self.not_started(source, without),
            source => CardFailure::Live { card: self.dir.display().to_string().into(), source }.into(),
        })
    }
}

/// Looks at modules, with some patience for those that another process has: the kernel may have the files of a server
/// that was killed a little longer than the server.
fn look_patiently(places: &[Option<PathBuf>]) -> Result<Files, FilesError> {
    let began = Instant::now();
    loop {
        match Files::look(places) {
            Err(FilesError::InUse { .. }) if began.elapsed() < LOCK_PATIENCE => std::thread::sleep(LOCK_AGAIN),
            looked => return looked,
        }
    }
}

fn say(files: &Files, mut note: impl FnMut(String)) {
    files.notes().iter().for_each(|found| note(format!("slot {}: {}", found.slot, found.text)));
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
