//! A card's profile: a file, what was changed on the command line, and the device that follows.

use crate::builtin;
use crate::cache::{self, Cache};
use crate::capacity;
use crate::device_config::{CachedConfig, DeviceConfig};
use crate::disks;
use crate::error::{Problem, ProfileError};
use crate::figures::Figures;
use crate::flash::{self, Flash, HostLayout};
use crate::nearest::nearest;
use crate::scale;
use crate::schema;
use crate::settings::Settings;
use crate::sources;
use crate::summary::Summary;
use crate::volume;
use crate::zones;
use card::CardConfig;
use disk::{ArrayConfig, VolumeConfig};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::OnceLock;

/// Physical sectors of one card stay below this: addresses have 32 bits, and two of them are kept for "nowhere".
const MAX_SECTORS: u64 = u32::MAX as u64 - 1;

/// Contents of a card's file.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) name: String,
    pub(crate) settings: Settings,
}

/// A device at full size.
#[expect(clippy::large_enum_variant, reason = "there are few of them, and they are not kept")]
pub(crate) enum Full {
    Flash(Flash),
    Disks(ArrayConfig),
    Volume(VolumeConfig),
}

impl Full {
    pub(crate) fn figures(&self) -> Option<Figures> {
        match self {
            Full::Flash(flash) => Some(Figures::of(flash)),
            Full::Disks(_) | Full::Volume(_) => None,
        }
    }

    pub(crate) fn user_bytes(&self) -> u64 {
        match self {
            Full::Flash(flash) => Figures::of(flash).user_bytes,
            Full::Disks(array) => disks::user_bytes(array),
            Full::Volume(volume) => volume.capacity_bytes,
        }
    }
}

impl Profile {
    /// Names of the built-in cards, sorted.
    pub fn builtin_names() -> impl ExactSizeIterator<Item = &'static str> {
        builtin::CARDS.iter().map(|(name, _)| *name)
    }

    /// The file of a built-in card.
    pub fn builtin_text(name: &str) -> Option<&'static str> {
        builtin::find(builtin::CARDS, name)
    }

    /// A built-in card. A process that asks for one many times, as a notebook does, reads its file once.
    pub fn builtin(name: &str) -> Result<Profile, ProfileError> {
        static READ: [OnceLock<Profile>; builtin::CARDS.len()] = [const { OnceLock::new() }; builtin::CARDS.len()];
        let Some(index) = builtin::CARDS.iter().position(|(card, _)| *card == name) else {
            return Err(ProfileError::UnknownCard {
                name: name.into(),
                nearest: nearest(name, Profile::builtin_names()),
            });
        };
        if let Some(profile) = READ[index].get() {
            return Ok(profile.clone());
        }
        let profile = Profile::parse(builtin::CARDS[index].1, &format!("{name}.toml"))?;
        Ok(READ[index].get_or_init(|| profile).clone())
    }

    /// A card from a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Profile, ProfileError> {
        let path = path.as_ref();
        Profile::parse(&read_file(path)?, &path.display().to_string())
    }

    /// A built-in card by name, or a file where the text looks like a path: it ends in `.toml` or has a `/`.
    pub fn open(name_or_path: &str) -> Result<Profile, ProfileError> {
        if is_path(name_or_path) { Profile::load(name_or_path) } else { Profile::builtin(name_or_path) }
    }

    /// A card from a file's text. Everything in it is checked, except that the card may need a scale below 1.
    pub fn parse(text: &str, file_name: &str) -> Result<Profile, ProfileError> {
        let settings = Settings::parse(&schema::CARD, text, file_name)?;
        let name = Path::new(file_name).file_stem().map_or(file_name.into(), |s| s.to_string_lossy());
        let profile = Profile { name: name.into_owned(), settings };
        profile.settings.text("card", "title")?;
        profile.full()?;
        Ok(profile)
    }

    /// Overrides a number or a choice: `ftl.victim=fifo`, `timing.read_ns=50_000`, `buffer.bytes=16MiB`.
    ///
    /// The value `none` takes an optional key away (`timing.suspend_ns=none`). A victim policy under `ftl.gc` sets
    /// `ftl.victim` and keeps the pacing: `ftl.gc=fifo` is what people type.
    ///
    /// Only this value is checked here: a change may need several settings. [`Profile::lower`] checks the whole.
    pub fn set(&mut self, assignment: &str) -> Result<(), ProfileError> {
        self.settings.set(assignment)
    }

    /// The scale at which a device is modelled that was asked for at `asked`. Disks run at full size: the cache in front of
    /// them is what it is, and would hold a good part of what smaller disks hold. A volume has nothing that costs memory.
    pub fn scale(&self, asked: f64) -> f64 {
        if self.whole_only().is_some() { 1.0 } else { asked }
    }

    /// Words for people about a kind of device that is modelled at full size only.
    pub fn whole_only(&self) -> Option<&'static str> {
        match self.full() {
            Ok(Full::Disks(_)) => Some("disks, which are modelled at full size"),
            Ok(Full::Volume(_)) => Some("volumes, which are modelled at full size"),
            Ok(Full::Flash(_)) | Err(_) => None,
        }
    }

    /// The configuration of the device, with its capacity scaled by `scale` (above 0, at most 1).
    ///
    /// A card is scaled in bands: dies, pages and the effective spare factor are kept, so write amplification and
    /// latency are too. No card gets so small that this would stop being true; how small it became is
    /// [`DeviceConfig::user_bytes`] against that at scale 1. Disks and volumes are always as
    /// large as they are ([`Profile::scale`]).
    pub fn lower(&self, scale: f64) -> Result<DeviceConfig, ProfileError> {
        if !(scale > 0.0 && scale <= 1.0) {
            return Err(ProfileError::BadScale { scale });
        }
        match self.full()? {
            Full::Disks(array) => Ok(DeviceConfig::Disks(array)),
            Full::Volume(volume) => Ok(DeviceConfig::Volume(volume)),
            Full::Flash(flash) => {
                let device = self.lower_flash(&flash, scale)?;
                match cache::read(&self.settings)? {
                    Some(cache) => {
                        self.lower_cached(&flash, device, &cache).map_err(|e| self.settings.blame_settings(e))
                    }
                    None => Ok(device),
                }
            }
        }
    }

    /// The flash as the cache of another device. Both are modelled at the same part of their size, so that a cache
    /// holds the share of the data that it holds at full size.
    fn lower_cached(&self, flash: &Flash, front: DeviceConfig, cache: &Cache) -> Result<DeviceConfig, ProfileError> {
        let behind = self.behind(cache)?;
        let full_bytes = Figures::of(flash).user_bytes;
        let ratio = front.user_bytes() as f64 / full_bytes as f64;
        let back = match behind.full()? {
            Full::Disks(array) => DeviceConfig::Disks(cache::scaled_disks(&array, ratio)),
            Full::Volume(volume) => {
                let bytes = (volume.capacity_bytes as f64 * ratio) as u64 / device::SECTOR_BYTES * device::SECTOR_BYTES;
                DeviceConfig::Volume(VolumeConfig { capacity_bytes: bytes.max(device::SECTOR_BYTES), ..volume })
            }
            Full::Flash(other) => behind.lower_flash(&other, ratio)?,
        };
        let config = cache.at_scale(&self.settings, front.user_bytes(), full_bytes)?;
        if config.bytes() > back.user_bytes() {
            let problem = Problem::CacheBeyondBack { bytes: config.bytes(), back_bytes: back.user_bytes() };
            return Err(self.settings.wrong(cache::TABLE, "of", problem));
        }
        let geometry = &flash.card.nand.geometry;
        let block_bytes = u64::from(geometry.pages_per_block) * u64::from(geometry.page_bytes);
        let planes = u64::from(geometry.dies()) * u64::from(geometry.planes_per_die);
        let blocks = planes * u64::from(flash.card.bands) * u64::from(flash.alive());
        let rated_bytes = (blocks * block_bytes) as f64 * f64::from(flash.card.nand.endurance.rated_cycles);
        Ok(DeviceConfig::Cached(Box::new(CachedConfig { front, back, cache: config, rated_bytes, ratio })))
    }

    /// The profile of the device behind a cache.
    fn behind(&self, cache: &Cache) -> Result<Profile, ProfileError> {
        let behind = Profile::open(&cache.of)?;
        if behind.settings.has_table(cache::TABLE) {
            return Err(self.settings.wrong(cache::TABLE, "of", Problem::CacheOfCache));
        }
        Ok(behind)
    }

    /// Bytes that a host sees at full size: those of the device behind, where this is a cache.
    fn user_bytes(&self, full: &Full) -> Result<u64, ProfileError> {
        match cache::read(&self.settings)? {
            Some(cache) => Ok(self.behind(&cache)?.full()?.user_bytes()),
            None => Ok(full.user_bytes()),
        }
    }

    /// The name of the device behind, where this is a cache.
    pub fn cache_of(&self) -> Option<&str> {
        self.settings.text_if_any(cache::TABLE, "of")
    }

    fn lower_flash(&self, flash: &Flash, scale: f64) -> Result<DeviceConfig, ProfileError> {
        let card = scale::card(&flash.card, scale);
        let sectors = capacity::sectors_per_band(&card) * u64::from(card.bands);
        if sectors >= MAX_SECTORS {
            let full = capacity::sectors_per_band(&flash.card) * u64::from(flash.card.bands);
            let try_scale = full.div_ceil(MAX_SECTORS / 2).next_power_of_two();
            return Err(self.settings.wrong_table("geometry", Problem::TooManySectors { sectors, try_scale }));
        }
        let granules = sectors * u64::from(card.ftl.sector_room());
        if granules >= MAX_SECTORS {
            let try_scale = (granules as f64 / scale).ceil() as u64;
            let try_scale = try_scale.div_ceil(MAX_SECTORS / 2).next_power_of_two();
            return Err(self.settings.wrong_table("compression", Problem::TooManyGranules { granules, try_scale }));
        }
        Ok(if flash.cards == 1 {
            DeviceConfig::Card(card)
        } else {
            let mut cards = vec![card; flash.alive() as usize];
            // One module is gone, and not one of each card.
            cards[1..].iter_mut().for_each(|card| card.model.missing_module = None);
            match flash.layout {
                HostLayout::Mirrored => DeviceConfig::Mirrored { cards },
                HostLayout::Striped => DeviceConfig::Striped { cards, stripe_bytes: flash.host_stripe_bytes },
                HostLayout::Raid5 => DeviceConfig::Raid5 {
                    cards,
                    chunk_bytes: flash.host_stripe_bytes,
                    without_first: flash.dead > 0,
                    rebuild_bytes_per_s: flash.rebuild_bytes_per_s,
                },
            }
        })
    }

    /// The card with contents that a host sees so many bytes of, rounded up to 4 KiB; `None`: as many as it has. Dies,
    /// times and spare factor are the card's; blocks may have fewer pages. Disks, and cards that are sold as several, hold
    /// no contents.
    pub fn with_contents(&self, user_bytes: Option<u64>) -> Result<CardConfig, ProfileError> {
        let flash = match self.full()? {
            Full::Flash(flash) => flash,
            Full::Disks(_) => return Err(self.settings.wrong_table("card", Problem::NoContents { what: "disks" })),
            Full::Volume(_) => {
                return Err(self.settings.wrong_table("card", Problem::NoContents { what: "a volume of a cloud" }));
            }
        };
        if self.settings.has_table(cache::TABLE) {
            return Err(self.settings.wrong_table(cache::TABLE, Problem::NoContents { what: "a cache" }));
        }
        if flash.cards > 1 {
            return Err(self.settings.wrong_table("card", Problem::NoContents { what: "a set of several cards" }));
        }
        if flash.card.model.missing_module.is_some() {
            return Err(self.settings.wrong("card", "missing_module", Problem::OnlyOfModels));
        }
        if flash.card.ftl.zones.is_some() {
            return Err(self.settings.wrong(zones::TABLE, "bands", Problem::ZonesOfModels));
        }
        if flash.card.ftl.mapping_sectors > 1 {
            return Err(self.settings.wrong("ftl", "mapping_unit", Problem::MappedBySectors));
        }
        let user_sectors = user_bytes.map_or(flash.card.ftl.user_sectors, |bytes| bytes.div_ceil(device::SECTOR_BYTES));
        let card = scale::sized(&flash.card, user_sectors.max(1));
        let sectors = capacity::sectors_per_band(&card) * u64::from(card.bands);
        if sectors >= MAX_SECTORS {
            return Err(self.settings.wrong_table("geometry", Problem::SizeTooLarge));
        }
        Ok(card)
    }

    /// Disks with contents that a host sees so many bytes of, and the bytes, rounded up to 4 KiB; `None`: as many as they
    /// have. Disks of fewer bytes keep their seek times. Flash is for [`Profile::with_contents`].
    pub fn disks_with_contents(&self, user_bytes: Option<u64>) -> Result<Option<(ArrayConfig, u64)>, ProfileError> {
        let Full::Disks(full) = self.full()? else { return Ok(None) };
        let full_bytes = disks::user_bytes(&full);
        let wanted = user_bytes
            .unwrap_or(full_bytes)
            .next_multiple_of(device::SECTOR_BYTES)
            .clamp(device::SECTOR_BYTES, full_bytes);
        let array = scale::array_sized(&full, wanted, full_bytes / full.disk.capacity_bytes);
        Ok(Some((array, wanted)))
    }

    pub(crate) fn full(&self) -> Result<Full, ProfileError> {
        let read = || match self.settings.text("card", "kind")? {
            "flash" => cache::read(&self.settings).and_then(|_| flash::read(&self.settings)).map(Full::Flash),
            "volume" => volume::read(&self.settings).map(Full::Volume),
            _ => disks::read(&self.settings).map(Full::Disks),
        };
        read().map_err(|e| self.settings.blame_settings(e))
    }

    /// The card's name: that of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the device's title.
    pub fn title(&self) -> &str {
        self.settings.text_if_any("card", "title").unwrap_or(&self.name)
    }

    /// Price of the whole device in dollars, if known.
    pub fn price_usd(&self) -> Option<f64> {
        self.settings.real_if_any("card", "price_usd")
    }

    /// Power of the whole device in watts, if known.
    pub fn power_watts(&self) -> Option<f64> {
        self.settings.real_if_any("card", "power_watts")
    }

    /// Rack units that the whole device takes, or its share of those of a server, if known.
    pub fn rack_units(&self) -> Option<f64> {
        self.settings.real_if_any("card", "rack_units")
    }

    /// The settings that were made, in order.
    pub fn changed(&self) -> &[String] {
        self.settings.changed()
    }

    /// Returns the physics of the flash, for a medium that is to behave like it; `None` for disks.
    pub fn physics(&self) -> Result<Option<media::Physics>, ProfileError> {
        Ok(match self.full()? {
            Full::Flash(flash) => Some(flash.physics),
            Full::Disks(_) | Full::Volume(_) => None,
        })
    }

    /// Returns the figures that follow from the numbers of a flash device at full size; `None` for disks.
    pub fn figures(&self) -> Result<Option<Figures>, ProfileError> {
        Ok(self.full()?.figures())
    }

    /// Each number with its basis and source, on lines of at most 80 columns.
    pub fn explain_sources(&self) -> String {
        sources::table(&self.settings)
    }

    /// A row for the list of cards.
    pub fn summary(&self) -> Result<Summary, ProfileError> {
        let full = self.full()?;
        Ok(Summary {
            name: self.name.clone(),
            title: self.title().to_string(),
            user_bytes: self.user_bytes(&full)?,
            spare_factor: full.figures().map(|f| f.capacities.spare_factor),
            price_usd: self.price_usd(),
        })
    }

    /// The device for results: name, settings that were changed, every value, and what follows from them.
    pub fn to_json(&self) -> Result<Value, ProfileError> {
        let full = self.full()?;
        let user_bytes = self.user_bytes(&full)?;
        Ok(json!({
            "name": self.name,
            "title": self.title(),
            "kind": self.settings.text("card", "kind")?,
            "user_bytes": user_bytes,
            "price_usd": self.price_usd(),
            "usd_per_gb": self.price_usd().filter(|_| self.cache_of().is_none()).map(|usd| usd / (user_bytes as f64 / 1e9)),
            "power_watts": self.power_watts(),
            "rack_units": self.rack_units(),
            "changed": self.changed(),
            "figures": full.figures().map(Figures::to_json),
            "settings": sources::values_json(&self.settings),
        }))
    }

    /// The same with the basis and source of each value.
    pub fn to_json_with_sources(&self) -> Result<Value, ProfileError> {
        let mut json = self.to_json()?;
        json["sources"] = sources::sources_json(&self.settings);
        Ok(json)
    }
}

/// Returns whether a text names a file and not a built-in profile.
pub(crate) fn is_path(text: &str) -> bool {
    text.contains('/') || text.ends_with(".toml")
}

/// Reads a file that is not longer than any profile.
pub(crate) fn read_file(path: &Path) -> Result<String, ProfileError> {
    use crate::settings::MAX_FILE_BYTES;
    use std::io::Read;
    let unreadable = |source| ProfileError::Unreadable { path: path.to_path_buf(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut text = String::new();
    // One byte more than the limit is enough to see that it is passed; a device file would never end.
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}
