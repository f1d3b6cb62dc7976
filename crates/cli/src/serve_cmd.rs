//! `flashrig serve`: cards as block devices.

use crate::args::ServeArgs;
use crate::cancel;
use crate::card_dir::{self, CardDir};
use crate::error::{CardFailure, Failure, OptionWithout, ServeFailure};
use crate::server_log;
use crate::serving::{
    Doors, Running, explains, operators, tell_addresses, tell_volumes, tells_start, tells_stop, timing,
};
use crate::shared_cmd;
use crate::ublk_disks;
use crate::units::capacity;
use device::SECTOR_BYTES;
use format::CardId;
use live::{CHUNK_BYTES, Live, Start, Timing};
use media::{Flash, Physics};
use profile::Profile;
use serve::{Backing, Export, Server};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked whether the server is to end, and whether a card is behind: seldom, because idle costs
/// nothing.
const LOOKS: Duration = Duration::from_millis(500);
/// The same while a card is being started.
const LOOKS_AT_START: Duration = Duration::from_millis(50);

/// The file in a card's folder that holds the reservations of NVMe hosts, beside `card.toml`.
const RESERVATIONS: &str = "reservations";

pub fn serve(args: &ServeArgs) -> Result<ExitCode, Failure> {
    let several = args.cards.len() > 1;
    if several && args.control.is_some() {
        return Err(OptionWithout { option: "--control", what: "several cards: each has a socket of its own" }.into());
    }
    if several && !args.without_slot.is_empty() {
        return Err(
            OptionWithout { option: "--without-slot", what: "several cards: name the one that it is for" }.into()
        );
    }
    if let Some(number) = args.controller {
        let [dir] = &args.cards[..] else {
            return Err(OptionWithout { option: "--controller", what: "several cards: it is a part in one" }.into());
        };
        is_card_folder(Path::new(dir))?;
        return shared_cmd::serve(args, Path::new(dir), number);
    }
    let doors = Doors::of(args)?;
    if args.memory {
        has_memory(args)?;
    }
    cancel::listen()?;
    server_log::begin(&args.log);
    let mut cards = Vec::new();
    for card in &args.cards {
        cards.push(if args.memory { in_memory(card, args)? } else { in_files(card, args)? });
    }
    let exports: Vec<Export> = cards.iter().flat_map(Running::exports).collect();
    let Doors { services, security, limits, .. } = &doors;
    // Before anybody else may write: what a disk that has waited believes done is repeated.
    let disks = Arc::new(ublk_disks::made(args.ublk, &exports)?);
    let server = Arc::new(Server::start(exports.clone(), services, security.clone(), *limits)?);
    for Running { export, live, .. } in &cards {
        let (size, shards) = (capacity(live.size_bytes()), live.shards());
        let divided = if shards > 1 { format!(", {shards} shards") } else { String::new() };
        eprintln!("flashrig: {}: {}, {size}{divided}", export.name, export.description);
        tell_volumes(&export.name, live);
    }
    tell_addresses(&server, &exports);
    let mut operators = operators(args, &cards, (&server, &disks), &doors)?;
    operators.show(args, &doors)?;
    let mut mounted = mounted(args, &cards[0])?;
    let mut behind = false;
    let (mut starting, mut going): (Vec<&Running>, Vec<&Running>) = cards.iter().map(|card| (card, card)).unzip();
    while !cancel::requested() {
        starting.retain(|running| !tells_start(running));
        going.retain(|running| !tells_stop(running));
        std::thread::park_timeout(if starting.is_empty() { LOOKS } else { LOOKS_AT_START });
        behind = warn_if_behind(&cards, behind);
        disks.forget_detached();
    }
    eprintln!("flashrig: ending: what is under way is answered, what is in a buffer is written");
    server.stop();
    disks.end();
    if let Some(mounted) = &mut mounted
        && let Err(error) = mounted.unmount()
    {
        // A program that still uses the file gets errors from now on.
        eprintln!("flashrig: {error}");
    }
    drop((operators, mounted));
    drop(server);
    // The last owner of a card shuts it down.
    drop(cards);
    Ok(ExitCode::SUCCESS)
}

/// The card as a file, where it was asked for.
fn mounted(args: &ServeArgs, card: &Running) -> Result<Option<attach::fuse::Mounted>, Failure> {
    let Some(dir) = &args.fuse else { return Ok(None) };
    let exports = card.exports();
    let export = match (&args.fuse_volume, &exports[..]) {
        (None, [export]) => export,
        (Some(name), exports) if card.live.volumes().is_some() => {
            let known = || exports.iter().map(|export| export.name.as_str().into()).collect();
            let found = exports.iter().find(|export| export.name == *name);
            found.ok_or_else(|| {
                let source = live::VolumeError::Unknown { name: name.as_str().into(), known: known() }.into();
                CardFailure::Volumes { dir: card.export.name.clone().into(), source }
            })?
        }
        (Some(_), _) => return Err(OptionWithout { option: "--fuse-volume", what: "a card without volumes" }.into()),
        (None, []) => return Err(CardFailure::NoVolumes { dir: card.export.name.clone().into() }.into()),
        (None, several) => {
            return Err(CardFailure::WhichVolume { volumes: several.len() }.into());
        }
    };
    let volume = match export.backing {
        Backing::Card { volume, .. } => volume,
        Backing::Disk(_) | Backing::Elsewhere(_) => None,
    };
    let (name, read_only) = (export.name.clone(), export.read_only);
    let options = attach::fuse::Options { name, read_only, volume, ..Default::default() };
    let mounted = attach::fuse::mount(Arc::clone(&card.live), dir, &options)?;
    eprintln!("flashrig: mounted: {}", mounted.file().display());
    eprintln!("flashrig: flashrig attach {} makes it a disk", dir.display());
    Ok(Some(mounted))
}

/// Says once when this machine can't keep up with a card that is modelled.
fn warn_if_behind(cards: &[Running], was: bool) -> bool {
    let modelled = |card: &&Running| card.live.timing() == Timing::Model;
    let behind = cards.iter().filter(modelled).find(|card| card.live.pace().is_behind());
    match behind {
        Some(card) if !was => {
            let pace = card.live.pace();
            eprintln!(
                "flashrig: {}: this machine is too slow for the card: {:.1} % of its events are late, up to {:.1} ms",
                card.export.name,
                pace.late_share * 100.0,
                pace.most_behind_ns as f64 / 1e6
            );
            true
        }
        Some(_) => true,
        None => false,
    }
}

/// Refuses cards that would not fit into this machine's memory. Overwritten sectors stay in memory until their flash is
/// erased, which it is only when there is no other: all of a card comes to lie in memory, also one that is hardly full.
fn has_memory(args: &ServeArgs) -> Result<(), Failure> {
    let mut needed_bytes = 0u64;
    for name in &args.cards {
        let mut profile = Profile::open(name)?;
        for setting in &args.settings {
            profile.set(setting)?;
        }
        let size = args.size.map(|size| size.0);
        let bytes = match profile.disks_with_contents(size)? {
            // Without their times they are refused for that.
            Some(_) if timing(args) == Timing::None => 0,
            Some((_, bytes)) => bytes,
            None => live::memory_bytes(&profile.with_contents(size)?),
        };
        needed_bytes = needed_bytes.saturating_add(bytes);
    }
    match database::available_memory_bytes() {
        Some(free_bytes) if free_bytes < needed_bytes => Err(ServeFailure::Memory { needed_bytes, free_bytes }.into()),
        _ => Ok(()),
    }
}

/// A card whose bytes are gone when it ends.
fn in_memory(name: &str, args: &ServeArgs) -> Result<Running, Failure> {
    let mut profile = Profile::open(name)?;
    for setting in &args.settings {
        profile.set(setting)?;
    }
    if let Some((disks, size_bytes)) = profile.disks_with_contents(args.size.map(|size| size.0))? {
        return disks_in_memory(name, &profile, disks, size_bytes, args);
    }
    let timing = timing(args);
    if args.shards > 1 {
        return sharded(name, &profile, args);
    }
    let config = profile.with_contents(args.size.map(|size| size.0))?;
    // Without its times a card's flash does not fade either.
    let physics = match timing {
        Timing::Model => profile.physics()?.unwrap_or(Physics::IDEAL),
        Timing::None => Physics { volatile_cache: config.acknowledge_flush_early, ..Physics::IDEAL },
    };
    let flash = Flash::new(card::shape(&config), physics, args.seed).without_trace();
    let id = card_dir::new_card_id()?;
    let start = Start { config, timing, id: Some(id), seed: args.seed, explains: explains(args) };
    let live = Live::format(flash, start).map_err(|source| CardFailure::Live { card: name.into(), source })?;
    let socket = control::default_socket(profile.name());
    Ok(running(Named { name: profile.name().into(), id, reservations: None }, &profile, live, socket, args))
}

/// A card whose bytes are gone when it ends, divided over shards. Times are those of a card as a whole, so it has none.
fn sharded(name: &str, profile: &Profile, args: &ServeArgs) -> Result<Running, Failure> {
    if timing(args) == Timing::Model {
        return Err(OptionWithout { option: "--shards", what: "a card with its own times: it has one" }.into());
    }
    let size_bytes = match args.size {
        Some(size) => size.0.next_multiple_of(SECTOR_BYTES),
        None => profile.with_contents(None)?.ftl.user_sectors * SECTOR_BYTES,
    };
    let most = size_bytes / CHUNK_BYTES;
    if u64::from(args.shards) > most {
        return Err(ServeFailure::TooManyShards { shards: args.shards, most }.into());
    }
    let config = profile.with_contents(Some(Live::shard_bytes(size_bytes, args.shards)))?;
    let physics = Physics { volatile_cache: config.acknowledge_flush_early, ..Physics::IDEAL };
    let medium = |shard: u32| {
        Flash::new(card::shape(&config), physics, args.seed.wrapping_add(shard.into())).without_trace().into()
    };
    let id = card_dir::new_card_id()?;
    let start = Start { config, timing: Timing::None, id: Some(id), seed: args.seed, explains: explains(args) };
    let live = Live::format_shards((0..args.shards).map(medium).collect(), &start, size_bytes)
        .map_err(|source| CardFailure::Live { card: name.into(), source })?;
    let named = Named { name: profile.name().into(), id, reservations: None };
    Ok(running(named, profile, live, control::default_socket(profile.name()), args))
}

/// Disks take as long as disks take: without that they would be memory.
fn disks_in_memory(
    name: &str,
    profile: &Profile,
    disks: disk::ArrayConfig,
    size_bytes: u64,
    args: &ServeArgs,
) -> Result<Running, Failure> {
    if timing(args) == Timing::None {
        return Err(ServeFailure::DisksWithoutTiming { name: name.into() }.into());
    }
    if args.shards > 1 {
        return Err(OptionWithout { option: "--shards", what: "disks" }.into());
    }
    if args.control.is_some() {
        return Err(OptionWithout { option: "--control", what: "disks: they have no modules, and stay powered" }.into());
    }
    let live =
        Live::disks(disks, size_bytes, args.seed).map_err(|source| CardFailure::Live { card: name.into(), source })?;
    let live = Arc::new(live);
    let export = Export {
        name: profile.name().into(),
        id: card_dir::new_card_id()?.0,
        reservations: None,
        description: profile.title().into(),
        backing: Backing::Card { live: Arc::clone(&live), volume: None },
        read_only: args.read_only,
        lease: None,
    };
    Ok(Running { export, live, card: profile.name().into(), socket: None, controller: None })
}

/// Refuses what is no folder of a card.
fn is_card_folder(dir: &Path) -> Result<(), Failure> {
    if card_dir::is_card(dir) {
        return Ok(());
    }
    // A card's name, or its own file.
    let name = dir.to_string_lossy();
    Err(Failure::from(match !dir.is_dir() && Profile::open(&name).is_ok() {
        true => ServeFailure::NoBacking { card: (&*name).into() },
        false => ServeFailure::NoCardIn { dir: dir.into(), is_there: dir.is_dir() },
    }))
}

/// A card in a folder.
fn in_files(name: &str, args: &ServeArgs) -> Result<Running, Failure> {
    let dir = Path::new(name);
    is_card_folder(dir)?;
    let card = CardDir::open(dir)?;
    let start = Start { timing: timing(args), explains: explains(args), ..card.start(args.seed) };
    let id = start.id.unwrap_or(CardId([0; 16]));
    let live = card.run(start, !args.no_discard, &args.without_slot, |note| eprintln!("flashrig: {name}: {note}"))?;
    Ok(running(
        Named { name: card.name(), id, reservations: Some(dir.join(RESERVATIONS)) },
        &card.profile,
        live,
        dir.join(control::SOCKET_IN_DIR),
        args,
    ))
}

/// The names of a card: the one that people give it, and the one that it was made with.
struct Named {
    name: String,
    id: CardId,
    /// The file in which reservations survive a loss of power, where the card itself does.
    reservations: Option<PathBuf>,
}

fn running(named: Named, profile: &Profile, live: Live, socket: PathBuf, args: &ServeArgs) -> Running {
    let Named { name, id: CardId(id), reservations } = named;
    let description = profile.title().into();
    let live = Arc::new(live);
    let backing = Backing::Card { live: Arc::clone(&live), volume: None };
    let read_only = args.read_only;
    let export = Export { name, id, reservations, description, backing, read_only, lease: None };
    Running { export, live, card: profile.name().into(), socket: Some(socket), controller: None }
}
