//! A new card whose layout is chosen by measuring the drives or files that are to hold its modules.
//!
//! Everything that speaks against the card is looked at before anything is written, for each size of units that may be
//! chosen. The sweep stays within the room of a module: on the drive itself, or in a file at its path, which is removed.

use crate::args::CreateArgs;
use crate::cancel;
use crate::card_dir::{CardDir, absolute, divided};
use crate::error::{CardFailure, DeviceFailure, Failure};
use crate::module_places::{MIN_MODULES, may_be_made};
use crate::progress::Watch;
use crate::shards::usual_shards;
use crate::shelf_modules::{SecretFiles, ShelfModule, even_shelves};
use card::CardConfig;
use drive::sweep::{Choice, SweepPlan, Swept, UnitSize, choose, stripe_width, sweep};
use drive::{Drive, DriveError, DriveOptions};
use files::{Files, Layout};
use profile::{DriveArray, MeasuredArray, Profile, parse_bytes};
use results::words::{duration, three_digits};
use serve::remote::{ModuleAddress, RemoteOptions};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Sizes of units that are tried.
const UNITS_BYTES: [u32; 4] = [16 << 10, 32 << 10, 64 << 10, 128 << 10];
/// The size of a card whose drives are not measured.
const QUICK_UNIT_BYTES: u32 = 64 << 10;
/// The setting that decides the size of units.
const UNIT_KEY: &str = "geometry.page_bytes";
/// Writes that a drive is given at once: one for each die of the card's file.
const DEPTH: u32 = 8;
/// Bytes that are written to measure, on all modules together, and the bounds of a module's part.
const ROOM_BYTES: u64 = 1 << 30;
const MIN_ROOM_BYTES: u64 = 32 << 20;
const MAX_ROOM_BYTES: u64 = 256 << 20;
const MEASURED: Duration = Duration::from_millis(500);
const WARM_UP: Duration = Duration::from_millis(100);
const PASSES: u32 = 4;
/// A capacity that is searched for is exact to this share.
const EXACT_SHARE: u64 = 4096;

/// An array that may become a card, and figures of its drives if they were measured.
pub struct Array {
    /// Text of the card's file.
    pub text: String,
    /// Bytes that a host sees.
    pub user_bytes: u64,
    /// The number of shards that the card is divided over.
    pub shards: u32,
    /// Figures of the drives; `None`: nobody wanted them measured.
    pub measured: Option<Measured>,
    /// A device whose size all modules have, because the others are larger.
    pub smallest: Option<Smallest>,
}

/// Figures of the drives, and what follows from them.
pub struct Measured {
    /// The figures of each size of units.
    pub swept: Vec<Swept>,
    /// The layout that was chosen.
    pub choice: Choice,
}

/// The smallest of several devices of unequal size.
pub struct Smallest {
    /// The device's path.
    pub path: PathBuf,
    /// The size of the device.
    pub size_bytes: u64,
    /// Bytes of all larger devices together that no module uses for this reason.
    pub unused_bytes: u64,
}

/// The folder of a card that is being made; it goes when nothing has come to lie in it.
pub struct MadeFolder<'a>(&'a Path);

impl Drop for MadeFolder<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(self.0);
    }
}

/// Makes the folder of a card, unless it is there.
fn make_folder(dir: &Path) -> Result<Option<MadeFolder<'_>>, Failure> {
    let was_there = dir.exists();
    CardDir::make_folder(dir)?;
    Ok((!was_there).then_some(MadeFolder(dir)))
}

/// The paths of the modules and all that is known of them before anything is written.
struct Places<'a> {
    args: &'a CreateArgs,
    paths: Vec<PathBuf>,
    /// Direct requests to all of them are multiples of this.
    align_bytes: u32,
    /// The size of each device; `None` of a file.
    sizes_bytes: Vec<Option<u64>>,
    shards: u32,
    shelves: RemoteOptions,
}

impl<'a> Places<'a> {
    fn look(args: &'a CreateArgs) -> Result<Places<'a>, Failure> {
        let paths: Vec<PathBuf> = args.modules.iter().map(|path| absolute(path)).collect();
        let shelves = SecretFiles::of(args).options()?;
        let mut align_bytes = 0;
        let mut sizes_bytes = Vec::new();
        for path in &paths {
            if ModuleAddress::is_meant(path) {
                let module = ShelfModule::look(path, &shelves)?;
                align_bytes = align_bytes.max(module.block_bytes);
                sizes_bytes.push(Some(module.bytes));
                continue;
            }
            align_bytes = align_bytes.max(Files::align_bytes(path)?);
            let is_device = std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_block_device());
            sizes_bytes.push(if is_device { Some(identify::block_device(path)?.size_bytes) } else { None });
        }
        let all_bytes = sizes_bytes.iter().copied().sum::<Option<u64>>();
        let about_bytes = args.size.map(|size| size.0).or(all_bytes).ok_or(CardFailure::NoSize)?;
        let shards = args.shards.unwrap_or_else(|| usual_shards(about_bytes));
        Ok(Places { args, paths, align_bytes, sizes_bytes, shards, shelves })
    }

    /// Nothing is measured: nobody wants it, or a module lies on a shelf, which is asked as a card asks it and not as a
    /// drive.
    fn is_quick(&self) -> bool {
        self.args.quick || self.paths.iter().any(|path| ModuleAddress::is_meant(path))
    }

    /// A stripe has one unit on each shelf where all of them have equally many modules, so that the loss of a shelf is the
    /// loss of one unit.
    fn stripe_width(&self) -> u32 {
        let even = even_shelves(&self.paths).filter(|shelves| *shelves >= MIN_MODULES);
        even.unwrap_or_else(|| stripe_width(self.modules()))
    }

    fn modules(&self) -> u32 {
        self.paths.len() as u32
    }

    /// The least device, if all modules are devices.
    fn least_bytes(&self) -> Option<u64> {
        self.sizes_bytes.iter().copied().collect::<Option<Vec<u64>>>()?.into_iter().min()
    }

    /// The card with units of this size, with what a person has set.
    fn profile(&self, unit_bytes: u32, measured: Option<MeasuredArray>) -> Result<(String, Profile), Failure> {
        let (modules, set) = (self.modules(), &self.args.settings[..]);
        let stripe_width = self.stripe_width();
        let text = DriveArray { modules, stripe_width, unit_bytes, measured, set }.text();
        let mut profile = Profile::parse(&text, &format!("{}.toml", DriveArray::NAME))?;
        for setting in set {
            profile.set(setting)?;
        }
        Ok((text, profile))
    }

    fn layout(&self, config: &CardConfig) -> Result<Layout, Failure> {
        let shape = card::shape(config);
        let layout = Layout::least(&shape, self.align_bytes).and_then(|layout| layout.of_shard(0, self.shards));
        Ok(layout.ok_or(files::FilesError::BadShape { shape })?)
    }

    /// The bytes that a host sees of a card, and its configuration.
    fn sized(&self, profile: &Profile) -> Result<(u64, CardConfig), Failure> {
        let with = |user_bytes| Ok::<_, Failure>(divided(profile, Some(user_bytes), self.shards)?.1);
        let user_bytes = match (self.args.size, self.least_bytes()) {
            (Some(size), _) => size.0,
            (None, None) => return Err(CardFailure::NoSize.into()),
            (None, Some(least_bytes)) => {
                let fits = |user_bytes| {
                    let layout = with(user_bytes).and_then(|config| self.layout(&config));
                    layout.is_ok_and(|layout| layout.module_bytes() <= least_bytes)
                };
                largest(least_bytes.saturating_mul(self.modules().into()), fits)
            }
        };
        Ok((user_bytes, with(user_bytes)?))
    }

    /// The sizes of units that may be chosen.
    fn candidates(&self) -> Vec<u32> {
        let set = self.args.settings.iter().rev().filter_map(|setting| setting.split_once('='));
        let unit = set.into_iter().find(|(key, _)| key.trim() == UNIT_KEY);
        match unit.map(|(_, value)| parse_bytes(value.trim()).ok().and_then(|bytes| u32::try_from(bytes).ok())) {
            // The card says what is wrong with a size that is none.
            Some(bytes) => vec![bytes.unwrap_or(QUICK_UNIT_BYTES)],
            None if self.is_quick() => vec![QUICK_UNIT_BYTES],
            None => UNITS_BYTES.to_vec(),
        }
    }

    fn smallest(&self) -> Option<Smallest> {
        let least_bytes = self.least_bytes()?;
        let unused_bytes = self.sizes_bytes.iter().flatten().map(|bytes| bytes - least_bytes).sum();
        let at = self.sizes_bytes.iter().position(|bytes| *bytes == Some(least_bytes))?;
        let smallest = Smallest { path: self.args.modules[at].clone(), size_bytes: least_bytes, unused_bytes };
        // A size that a person gave does not follow from any drive.
        (unused_bytes > 0 && self.args.size.is_none()).then_some(smallest)
    }
}

/// The largest number up to `most` that fits, to a part in some thousand; 1 where none does.
fn largest(most: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut fitting, mut beyond) = (1, most);
    while beyond - fitting > most / EXACT_SHARE {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(middle) { fitting = middle } else { beyond = middle }
    }
    fitting
}

/// Looks at the places of the modules, measures them, and chooses the layout. The folder is made for files that are to
/// lie in it, and goes with the guard if no card comes to lie in it.
pub fn prepare(args: &CreateArgs) -> Result<(Array, Option<MadeFolder<'_>>), Failure> {
    let modules = args.modules.len() as u32;
    if modules < MIN_MODULES {
        return Err(CardFailure::TooFewModules { modules, least: MIN_MODULES }.into());
    }
    CardDir::may_be_made(&args.dir, &args.modules)?;
    let folder = make_folder(&args.dir)?;
    let places = Places::look(args)?;
    let mut units = Vec::new();
    let mut module_bytes = u64::MAX;
    for unit_bytes in places.candidates() {
        let (_, profile) = places.profile(unit_bytes, None)?;
        let (_, config) = places.sized(&profile)?;
        let shape = card::shape(&config);
        if shape.modules != modules {
            return Err(CardFailure::ModuleCount { found: modules as usize, modules: shape.modules }.into());
        }
        may_be_made(shape, places.shards, &places.paths, args.destroy_data, &places.shelves)?;
        let layout = places.layout(&config)?;
        module_bytes = module_bytes.min(layout.module_bytes());
        units.push(UnitSize { payload_bytes: unit_bytes, medium_bytes: layout.unit_bytes() as u32 });
    }
    let measured = if places.is_quick() { None } else { Some(measure(&places, units.clone(), module_bytes)?) };
    let unit_bytes = measured.as_ref().map_or(units[0].payload_bytes, |measured| measured.choice.unit_bytes);
    let (text, profile) = places.profile(unit_bytes, measured.as_ref().map(Measured::numbers))?;
    let (user_bytes, _) = places.sized(&profile)?;
    let (shards, smallest) = (places.shards, places.smallest());
    Ok((Array { text, user_bytes, shards, measured, smallest }, folder))
}

/// Files at the paths of modules that goes when they have been measured.
struct Scratch(Vec<PathBuf>);

impl Drop for Scratch {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = Drive::remove_file(path);
        }
    }
}

fn measure(places: &Places, units: Vec<UnitSize>, module_bytes: u64) -> Result<Measured, Failure> {
    let modules = u64::from(places.modules());
    let room_bytes = (ROOM_BYTES / modules).clamp(MIN_ROOM_BYTES, MAX_ROOM_BYTES).min(module_bytes);
    let plan = SweepPlan {
        units,
        depth: DEPTH,
        // Whole requests of the largest size.
        room_bytes: room_bytes >> 20 << 20,
        measured: MEASURED,
        warm_up: WARM_UP,
        passes: PASSES,
        seed: 1,
    };
    // Ctrl-C does not end the program before the files are removed.
    cancel::listen_patiently()?;
    let watch = Watch::new();
    let mut scratch = Scratch(Vec::new());
    let mut drives = open(places, plan.room_bytes, &mut scratch).map_err(unmeasured)?;
    let swept = sweep(&mut drives, &plan, &watch).map_err(|error| unmeasured(error.into()))?;
    let choice = choose(&swept, places.modules());
    Ok(Measured { swept, choice })
}

/// Says what to do about a file system in memory.
fn unmeasured(failure: Failure) -> Failure {
    match failure {
        Failure::Device(DeviceFailure::Drive(DriveError::NotDirect { path })) => {
            CardFailure::NotMeasured { path }.into()
        }
        failure => failure,
    }
}

/// Opens the devices, and makes files at the paths where there is none.
fn open(places: &Places, room_bytes: u64, scratch: &mut Scratch) -> Result<Vec<Drive>, Failure> {
    // One thread is enough for a dozen requests, and the drives are many.
    let options = DriveOptions { threads: Some(1), ..DriveOptions::default() };
    let host = identify::host();
    let mut drives = Vec::new();
    for (path, size_bytes) in places.paths.iter().zip(&places.sizes_bytes) {
        if size_bytes.is_some() {
            let identity = identify::block_device(path)?;
            let file = identify::may_be_overwritten(&identity)?.into_file();
            drives.push(Drive::block_device(file, path, identity.target_info(room_bytes), host.clone(), options)?);
        } else {
            let info = identify::file(path)?.target_info(room_bytes);
            drives.push(Drive::create_file(path, room_bytes, info, host.clone(), options)?);
            scratch.0.push(path.clone());
        }
    }
    Ok(drives)
}

impl Measured {
    /// The numbers of the card's file, with the reasons for them.
    fn numbers(&self) -> MeasuredArray {
        let Choice { index, buffer_bytes, .. } = self.choice;
        let chosen = &self.swept[index];
        let best = self.swept.iter().map(|swept| swept.write_bw_bytes).fold(0.0, f64::max);
        let mb_per_s = |bytes_per_s: f64| three_digits(bytes_per_s / 1e6);
        MeasuredArray {
            buffer_bytes,
            read_ns: chosen.read.p50_ns.max(1),
            program_ns: chosen.write.p50_ns.max(1),
            why_unit: format!(
                "the smallest unit that is nearly as fast as any: {} of {} MB/s",
                mb_per_s(chosen.write_bw_bytes),
                mb_per_s(best)
            ),
            why_buffer: format!("writes during four slow syncs of {}", duration(chosen.sync.p99_ns as f64)),
            how: format!("median beside appended units and syncs, {} passes of {} ms", PASSES, MEASURED.as_millis()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_size_that_fits_is_found() {
        for limit in [1, 1000, 123_456_789, 999_999_999] {
            let found = largest(1_000_000_000, |bytes| bytes <= limit);
            assert!(found <= limit && limit - found <= 1_000_000_000 / EXACT_SHARE + 1, "{found} of {limit}");
        }
    }
}
