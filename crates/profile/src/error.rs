//! Errors of a card's file, each with its place. Every message is one line.

use crate::schema::Kind;
use crate::text::{Excerpt, listed};
use results::words::grouped;
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// The place of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Place {
    /// In a file.
    File {
        file: String,
        /// The line, from 1, where there is one.
        line: Option<usize>,
    },
    /// In a setting that overrides the file.
    Setting {
        /// As it was typed: `table.key=value`.
        assignment: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { file, line: Some(line) } => write!(f, "{file}:{line}"),
            Place::File { file, line: None } => write!(f, "{file}"),
            Place::Setting { assignment } => write!(f, "--set {}", Excerpt::from(assignment)),
        }
    }
}

/// A key that the schema has, named with its table where that is not clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownKey {
    pub(crate) table: Option<&'static str>,
    pub(crate) key: &'static str,
}

impl fmt::Display for KnownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.table {
            Some(table) => write!(f, "{table}.{}", self.key),
            None => f.write_str(self.key),
        }
    }
}

/// An error that keeps a profile from being had.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum ProfileError {
    /// No card of that name is built in.
    #[error("unknown card '{name}', nearest: {nearest}")]
    UnknownCard {
        name: Excerpt,
        /// The built-in name that is most like it.
        nearest: &'static str,
    },
    /// No host of that name is built in.
    #[error("unknown host '{name}', nearest: {nearest}")]
    UnknownHost {
        name: Excerpt,
        /// The built-in name that is most like it.
        nearest: &'static str,
    },
    /// The file can't be read.
    #[error("can't read {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// A scale that is no scale.
    #[error("scale {scale} is not above 0 and at most 1")]
    BadScale { scale: f64 },
    /// The file or a setting is wrong.
    #[error("{place}: {problem}")]
    Wrong { place: Place, problem: Box<Problem> },
}

impl ProfileError {
    pub(crate) fn wrong(place: Place, problem: Problem) -> ProfileError {
        ProfileError::Wrong { place, problem: Box::new(problem) }
    }
}

/// A problem of a file or a setting.
#[derive(Clone, Debug, PartialEq, Error)]
#[allow(missing_docs)]
pub enum Problem {
    /// The file is not TOML.
    #[error("not TOML: {message}")]
    Toml { message: Excerpt },
    /// The file is not a card's file.
    #[error("is {} bytes long, a profile has at most {}", grouped(*.bytes), grouped(*.limit))]
    TooLong { bytes: u64, limit: u64 },
    /// Planes that read on their own, where no two work together.
    #[error("needs multi_plane and several planes a die: units of one page are read by one plane")]
    PlanesInTurn,
    /// A setting that is not `table.key=value`.
    #[error("a setting is table.key=value, like ftl.victim=fifo")]
    NotASetting,
    /// A table that no profile has.
    #[error("unknown table [{table}], nearest: [{nearest}]")]
    UnknownTable {
        table: Excerpt,
        /// The name most like it.
        nearest: &'static str,
    },
    /// A key before the first table.
    #[error("key '{key}' stands outside a table, nearest: {nearest}")]
    OutsideTable {
        key: Excerpt,
        /// The name most like it.
        nearest: KnownKey,
    },
    /// A table's name used for something else.
    #[error("[{table}] must be a table")]
    NotATable { table: &'static str },
    /// A key that the table does not have.
    #[error("unknown key '{key}' in [{table}], nearest: {nearest}")]
    UnknownKey {
        table: &'static str,
        key: Excerpt,
        /// The key most like it; with its table where that is another one.
        nearest: KnownKey,
    },
    /// An inline table with something else than a value, its basis and its source.
    #[error("unknown field '{field}' of {key} in [{table}], nearest: {nearest}")]
    UnknownField {
        table: &'static str,
        key: &'static str,
        field: Excerpt,
        /// The field most like it.
        nearest: &'static str,
    },
    /// An inline table without a value.
    #[error("{key} in [{table}] has no value")]
    NoValue { table: &'static str, key: &'static str },
    /// A source that is not a text.
    #[error("the {field} of {key} in [{table}] must be a text without control characters")]
    BadNote {
        table: &'static str,
        key: &'static str,
        /// `basis` or `source`.
        field: &'static str,
    },
    /// A basis that no number has.
    #[error(
        "unknown basis '{found}' of {key} in [{table}], nearest: {nearest}; one of measured, datasheet, derived, assumed"
    )]
    UnknownBasis {
        table: &'static str,
        key: &'static str,
        found: Excerpt,
        /// The basis most like it.
        nearest: &'static str,
    },
    /// A value of the wrong type or out of range.
    #[error("{key} in [{table}] is {found}, must be {kind}")]
    BadValue { table: &'static str, key: &'static str, found: Excerpt, kind: &'static Kind },
    /// A name where only some are known.
    #[error("unknown {key} '{found}' in [{table}], nearest: {nearest}; one of {}", listed(.known))]
    UnknownChoice {
        table: &'static str,
        key: &'static str,
        found: Excerpt,
        /// The known name most like it.
        nearest: &'static str,
        /// All of them.
        known: &'static [&'static str],
    },
    /// A table that must be there.
    #[error("missing table [{table}]")]
    MissingTable { table: &'static str },
    /// A key that must be there.
    #[error("missing key '{key}' in [{table}]")]
    MissingKey { table: &'static str, key: &'static str },
    /// A key that must be there because of what another one says.
    #[error("missing key '{key}' in [{table}], which {because} needs")]
    MissingBecause {
        table: &'static str,
        key: &'static str,
        /// The setting that needs it.
        because: &'static str,
    },
    /// A table that belongs to the other kind of device.
    #[error("table [{table}] does not belong to a card of kind \"{kind}\"")]
    ForeignTable {
        table: &'static str,
        /// The card's kind.
        kind: &'static str,
    },
    /// A key that belongs to the other kind of device.
    #[error("{key} in [{table}] does not belong to a card of kind \"{kind}\"")]
    ForeignKey {
        table: &'static str,
        key: &'static str,
        /// The card's kind.
        kind: &'static str,
    },
    /// Two keys that say the same.
    #[error("{first} and {second} say the same, give one")]
    SaidTwice { first: &'static str, second: &'static str },
    /// A number that another key asks more of.
    #[error("{key} is {found}, must be {least} or more for {because}")]
    #[allow(missing_docs)]
    TooFew { key: &'static str, found: u64, least: u64, because: &'static str },
    /// A size that must be whole multiples of another.
    #[error("{what} is {} bytes, must be a multiple of {}; nearest: {}", grouped(*.bytes), grouped(*.multiple), grouped(nearest_multiple(*.bytes, *.multiple)))]
    NotAMultiple { what: &'static str, bytes: u64, multiple: u64 },
    /// A size by which addresses are divided.
    #[error("{key} is {} bytes, must be a power of two", grouped(*.bytes))]
    NoPowerOfTwo { key: &'static str, bytes: u64 },
    /// The numbers are each possible, their product is not.
    #[error("{what} are more than {}", grouped(*.limit))]
    TooMany { what: &'static str, limit: u64 },
    /// A stripe must have room for data.
    #[error("parity_units {parity_units} leave no data in a stripe_width of {stripe_width}")]
    AllParity {
        parity_units: u32,
        /// Units of a stripe.
        stripe_width: u32,
    },
    /// Stripes must not wrap around the dies.
    #[error("stripe_width {stripe_width} does not divide the card's {dies} dies; nearest: {nearest}")]
    StripeAcrossDies {
        /// Units of a stripe.
        stripe_width: u32,
        /// Dies of the card.
        dies: u32,
        /// The nearest width that does.
        nearest: u32,
    },
    /// The host can address more than the card can hold.
    #[error("user capacity of {} bytes is more than the data capacity of {} (installed {}, less parity)", grouped(*.user_bytes), grouped(*.data_bytes), grouped(*.installed_bytes))]
    UserBeyondData {
        user_bytes: u64,
        /// Installed capacity without parity.
        data_bytes: u64,
        installed_bytes: u64,
    },
    /// Garbage collection would have nothing to work with.
    #[error("no spare space is left: {} user bytes, but only {} bytes of data capacity without {overhead_bands} of {bands} bands that stay free or open{}", grouped(*.user_bytes), grouped(*.usable_bytes), if *.bad_blocks { ", and without factory bad blocks" } else { "" })]
    NoSpare {
        user_bytes: u64,
        /// Data capacity of the bands that can be full.
        usable_bytes: u64,
        /// Bands that can't.
        overhead_bands: u32,
        bands: u32,
        /// Bad blocks were taken off.
        bad_blocks: bool,
    },
    /// Garbage collection would never end.
    #[error("stop_free_bands {stop_free_bands} must be above start_free_bands {start_free_bands}")]
    StopBelowStart { start_free_bands: u32, stop_free_bands: u32 },
    /// Less than what one operation needs at once.
    #[error("{what} of {} bytes is less than the data of a stripe, {} bytes", grouped(*.bytes), grouped(*.needed_bytes))]
    TooSmall { what: &'static str, bytes: u64, needed_bytes: u64 },
    /// One number must not be above another.
    #[error("{low} is above {high}")]
    OutOfOrder {
        /// The one that must be lower.
        low: &'static str,
        /// The one that must be higher.
        high: &'static str,
    },
    /// Handles on a card that divides its writes in another way.
    #[error("more than one handle is modelled without an SLC cache and with mapping units of 4,096 bytes")]
    HandlesApart,
    /// Compression on a card that divides its flash in another way.
    #[error("compression is modelled without {without}")]
    CompressionApart { without: &'static str },
    /// Pages of the map belong to no handle.
    #[error("a card whose host places its writes by handles holds its whole map in memory")]
    HandlesNeedMap,
    /// A buffer in which the stripes of handles that wait for more leave no room.
    #[error("each handle keeps a stripe open, and one more is programmed: that takes {} bytes of buffer, of which there are {}", grouped(*.needed_bytes), grouped(*.bytes))]
    BufferOfHandles { bytes: u64, needed_bytes: u64 },
    /// Zones on a card that is not a plain one.
    #[error(
        "zones are modelled of a single card, without handles, a cache, an SLC cache, a part of the map, compression and mapping units of more than 4,096 bytes"
    )]
    ZonesApart,
    /// A buffer in which the stripes of zones that wait for more leave no room.
    #[error("each active zone keeps a stripe open, and one more is programmed: that takes {} bytes of buffer, of which there are {}", grouped(*.needed_bytes), grouped(*.bytes))]
    BufferOfZones { bytes: u64, needed_bytes: u64 },
    /// More zones than there are bands for.
    #[error("{zones} zones are more than the {possible} that the flash holds beside the bands kept for bad blocks")]
    ZonesBeyondFlash { zones: u32, possible: u32 },
    /// A card that hosts reach over protocols that know no zones.
    #[error("only a model has zones: hosts of a card that is served have no way to write them in order and reset them")]
    ZonesOfModels,
    /// A card that is too hot when it does nothing.
    #[error(
        "a card at rest is throttled: ambient_celsius + idle_watts x kelvin_per_watt reaches where light throttling ends"
    )]
    ThrottledIdle,
    /// A card that lies, of which nothing is lost.
    #[error(
        "a flush that is acknowledged early loses nothing with capacitors: set card.power_loss_protection=false too"
    )]
    NothingToLose,
    /// A RAID level that so many disks can't form.
    #[error("level \"{level}\" needs {needed} disks, not {disks}")]
    WrongDisks { level: &'static str, needed: &'static str, disks: u32 },
    /// More sectors than a map entry of 4 bytes can tell apart.
    #[error("{} sectors of 4 KiB are too many for a map of 4-byte entries: use --scale 1/{try_scale} or smaller", grouped(*.sectors))]
    TooManySectors {
        /// Sectors of one card at the scale that was asked for.
        sectors: u64,
        /// A scale at which they fit.
        try_scale: u64,
    },
    /// More granules than a map entry of 4 bytes can tell apart.
    #[error("{} granules of flash are too many for a map of 4-byte entries: use --scale 1/{try_scale} or smaller", grouped(*.granules))]
    TooManyGranules {
        /// Granules of one card at the scale that was asked for.
        granules: u64,
        /// A scale at which they fit.
        try_scale: u64,
    },
    /// A cache that the card has no room for.
    #[error("a cache of {} bytes is larger than the card, which has {}", grouped(*.bytes), grouped(*.card_bytes))]
    CacheBeyondCard { bytes: u64, card_bytes: u64 },
    /// A cache of too few or too many blocks for its policies.
    #[error("a cache of {} blocks at this scale: it has {least} to 2^31; use another --scale, size or block", grouped(*.blocks))]
    CacheBlocks { blocks: u64, least: u64 },
    /// A cache in front of a cache.
    #[error("the device behind a cache is one without a cache")]
    CacheOfCache,
    /// A cache in front of a device that it is as large as.
    #[error("a cache of {} bytes has nothing to choose: the device behind it has {}", grouped(*.bytes), grouped(*.back_bytes))]
    CacheBeyondBack { bytes: u64, back_bytes: u64 },
    /// More sectors than a map entry of 4 bytes can tell apart, on a card that holds contents.
    #[error("a card of this size has more 4 KiB sectors than a map of 4-byte entries can tell apart: make it smaller")]
    SizeTooLarge,
    /// A module that the card does not have.
    #[error("there is no such module: the card has {}", if *.modules == 1 { "one, 0".to_owned() } else { format!("0 to {}", .modules - 1) })]
    NoSuchModule { modules: u32 },
    /// Without the module no stripe can be rebuilt.
    #[error("a module that is gone takes {units} of the units of a stripe, and parity stands for {parity_units}")]
    ModuleBeyondParity { units: u32, parity_units: u32 },
    /// The state of a model, on a card that holds contents.
    #[error(
        "only a model has a module that is missing from the start: pull one of a card that is served, with `flashrig ctl CARD module pull N`"
    )]
    OnlyOfModels,
    /// A card with contents keeps a place for each sector.
    #[error("only a model has mapping units of more than 4,096 bytes")]
    MappedBySectors,
    /// The device is modelled without contents.
    #[error("{what} can be modelled, but holds no contents: name a single flash card")]
    NoContents { what: &'static str },
}

fn nearest_multiple(bytes: u64, multiple: u64) -> u64 {
    let down = bytes - bytes % multiple;
    if down == 0 || bytes - down > multiple / 2 { down.saturating_add(multiple) } else { down }
}
