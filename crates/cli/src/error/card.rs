//! Errors of cards that lie in a folder.

use crate::quoted::Quoted;
use std::path::PathBuf;
use thiserror::Error;

/// A card that can't be made or opened.
#[derive(Debug, Error)]
pub enum CardFailure {
    /// The folder holds a card, and a new one was to be made in it.
    #[error("{} holds a card already: serve it, or name another folder", .dir.display())]
    CardExists { dir: PathBuf },
    /// Something lies in the folder that a card was to be made in. Modules alone count as well: they may be a card that
    /// has lost its description.
    #[error("{} is not empty ({} lies in it): name another folder, or empty this one", .dir.display(), .found.display())]
    FolderNotEmpty { dir: PathBuf, found: PathBuf },
    /// The description in the folder can't be used.
    #[error("{}: {why}", .path.display())]
    BadCard { path: PathBuf, why: DescriptionError },
    /// The volumes of a card are not to be had, or can't be changed so.
    #[error("{}: {source}", .dir.display())]
    Volumes { dir: PathBuf, source: live::VolumeChange },
    /// The card is one disk, and holds something.
    #[error(
        "{} is one disk, and holds data: only a card that holds nothing can be divided into volumes (trim it, or make \
         another with flashrig create)", .dir.display()
    )]
    NotEmpty { dir: PathBuf },
    /// The card is one disk, and is served.
    #[error("{} is served as one disk: end the server, and then make its first volume", .dir.display())]
    ServedWhole { dir: PathBuf },
    /// The card has no volumes.
    #[error("{} has no volumes: flashrig volume create {} NAME --size BYTES makes one", .dir.display(), .dir.display())]
    NoVolumes { dir: PathBuf },
    /// A volume that holds data was to be deleted.
    #[error("volume {name} holds {}: --destroy-data deletes it nevertheless", crate::units::capacity(*.allocated_bytes))]
    VolumeHoldsData { name: live::VolumeName, allocated_bytes: u64 },
    /// It is not said which volume is to be a file.
    #[error("--fuse shows one disk, and the card has {}: --fuse-volume NAME says which of them", crate::units::counted(*.volumes as u64, "volume"))]
    WhichVolume { volumes: usize },
    /// A module that was away can't be put into its slot.
    #[error("slot {slot}: {} is not put in: {source}", .place.display())]
    NotInserted { slot: u32, place: PathBuf, source: Box<live::ControlError> },
    /// More or fewer files are named than the card has modules.
    #[error("the card has {modules} modules, and {found} files or devices are named for them")]
    ModuleCount { found: usize, modules: u32 },
    /// The card has too few modules to survive the loss of one.
    #[error("{modules} modules are too few: a card that survives the loss of one has at least {least}")]
    TooFewModules { modules: u32, least: u32 },
    /// Files have no size that a card could follow from.
    #[error("files are as large as their card: say with --size how much a host is to see of it")]
    NoSize,
    /// The file system of a module is in memory.
    #[error("{}: its file system can't write directly, so memory would be measured: --quick measures nothing", .path.display())]
    NotMeasured { path: PathBuf },
    /// One drive or file would be two modules.
    #[error("{}: each module needs a place of its own", match .first == .second {
        true => format!("{} is named twice", .first.display()),
        false => format!("{} and {} are the same", .first.display(), .second.display()),
    })]
    SamePlace { first: PathBuf, second: PathBuf },
    /// A module of this or another card is there.
    #[error("{} is a module of a card: name another file, or remove it where its card is not needed", .path.display())]
    HoldsModule { path: PathBuf },
    /// The device has fewer bytes than a module.
    #[error(
        "{} has {size_bytes} bytes, and a module takes {bytes}: name a larger device, or choose a smaller --size",
        .path.display()
    )]
    TooSmall { path: PathBuf, size_bytes: u64, bytes: u64 },
    /// The file of a module can't be used.
    #[error(transparent)]
    File(#[from] files::FilesError),
    /// The modules of the card are not those that its start needs.
    #[error("{}: {source}{way_out}", .dir.display())]
    NotStarted { dir: PathBuf, source: card::OpenError, way_out: WayOut },
    /// A module of another shape is in the way.
    #[error("{source}{way_out}")]
    Stranger { source: files::FilesError, way_out: WayOut },
    /// More modules would be left out than the card can do without.
    #[error("{left_out} of its modules are left out, and parity stands for {spared}")]
    TooManyLeftOut { left_out: usize, spared: u32 },
    /// The card does not start.
    #[error("{card}: {source}")]
    Live { card: Quoted, source: live::LiveError },
}

/// A description of a card that can't be used.
#[derive(Debug, Error)]
pub enum DescriptionError {
    /// The file is not TOML, or has other keys.
    #[error("{}", .0.message())]
    Toml(Box<toml::de::Error>),
    /// A later version of Flashrig has written it.
    #[error("version {version} is newer than this program knows ({known})")]
    TooNew { version: u32, known: u32 },
    /// No card has so many shards.
    #[error("shards = {shards}: a card has 1 to {}", live::MAX_SHARDS)]
    Shards { shards: u32 },
    /// The identity of the card is none.
    #[error("id is not 32 hexadecimal digits")]
    NoId,
}

/// The command that starts a card without the module that is in the way, where that is possible: the end of a message.
#[derive(Debug)]
pub struct WayOut {
    /// The folder of the card.
    pub dir: PathBuf,
    /// The slot of the module; `None` if the card does not start without it either.
    pub slot: Option<u32>,
}

impl std::fmt::Display for WayOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.slot {
            Some(slot) => {
                write!(f, "; to start without it: flashrig serve {} --without-slot {slot}", self.dir.display())
            }
            None => Ok(()),
        }
    }
}
