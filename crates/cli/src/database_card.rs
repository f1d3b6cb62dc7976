//! `flashrig review CARD --database postgres`: a real database on a card that is served, attached, formatted and
//! mounted for it.

use crate::args::ReviewArgs;
use crate::card_dir::{self, CardDir};
use crate::database_cmd;
use crate::database_model::Served;
use crate::error::{DatabaseFailure, Failure, OptionWithout, StreamFailure};
use crate::output::print_error;
use crate::program;
use crate::review_target::refuse_real_options_but_size;
use database::Device;
use database::mounted::{MIN_BYTES, Mounted, Options};
use profile::{Host, Profile};
use results::{TargetInfo, TargetKind};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use target::{ModelTarget, Target};

/// The size of a card without `--size`: large enough that a buffer cache holds an eighth of a quarter of it.
const SIZE_BYTES: u64 = 8 << 30;

/// On a card, by its name, its file, or the folder that its modules lie in.
pub fn review(args: &ReviewArgs) -> Result<ExitCode, Failure> {
    refuse_real_options_but_size(args, "a card with a database")?;
    for (given, option) in [(args.model.scale.is_some(), "--scale"), (args.model.host.is_some(), "--host")] {
        if given {
            return Err(OptionWithout { option, what: "a card that is served: its size is --size" }.into());
        }
    }
    let what = if card_dir::is_card(Path::new(&args.target)) { in_files(args)? } else { in_memory(args)? };
    database::check_device_memory(what.options.memory_bytes)?;
    for error in database::mounted::undo_stale() {
        print_error(&error.to_string());
    }
    let mut mounted = Mounted::new(what.options)?;
    let served =
        Served { profile: &what.profile, bytes: what.info.capacity_bytes, is_disks: Device::rotational(&mounted) };
    let done = database_cmd::on(args, mounted.dir(), &mounted, what.info.clone(), Some(&served));
    if let Some(error) = mounted.ended() {
        print_error(&error.to_string());
    }
    // Such as that it could not keep up with the clock.
    if done.is_ok() {
        for line in mounted.log().lines().filter(|line| line.contains("too slow")) {
            print_error(line.trim_start_matches("flashrig: "));
        }
    }
    for error in mounted.end() {
        print_error(&error.to_string());
    }
    done
}

struct What {
    profile: Profile,
    info: TargetInfo,
    options: Options,
}

fn in_files(args: &ReviewArgs) -> Result<What, Failure> {
    for (given, option) in [(args.real.size.is_some(), "--size"), (!args.model.settings.is_empty(), "--set")] {
        if given {
            return Err(OptionWithout { option, what: "a card that was made" }.into());
        }
    }
    let dir = Path::new(&args.target);
    let card = CardDir::open(dir)?;
    let path = std::path::absolute(dir).map_err(|source| StreamFailure::Unreadable { path: dir.into(), source })?;
    served(args, card.profile, card.user_bytes, vec![path.into()])
}

fn in_memory(args: &ReviewArgs) -> Result<What, Failure> {
    let mut profile = Profile::open(&args.target)?;
    let mut words: Vec<OsString> = vec![args.target.clone().into(), "--memory".into()];
    for setting in &args.model.settings {
        profile.set(setting)?;
        words.extend(["--set".into(), setting.into()]);
    }
    let size = args.real.size.map_or(SIZE_BYTES, |size| size.0);
    words.extend(["--size".into(), size.to_string().into(), "--timing".into(), "model".into()]);
    let mut what = served(args, profile, size, words)?;
    what.options.memory_bytes = match what.profile.disks_with_contents(Some(size))? {
        Some((_, bytes)) => bytes,
        None => live::memory_bytes(&what.profile.with_contents(Some(size))?),
    };
    Ok(what)
}

fn served(args: &ReviewArgs, profile: Profile, bytes: u64, mut words: Vec<OsString>) -> Result<What, Failure> {
    if bytes < MIN_BYTES {
        return Err(DatabaseFailure::CardTooSmall { needed_bytes: MIN_BYTES }.into());
    }
    words.extend(["--seed".into(), args.seed.to_string().into(), "--log".into(), "none".into()]);
    let is_disks = profile.disks_with_contents(Some(bytes))?.is_some();
    let card = if is_disks { None } else { Some(profile.with_contents(Some(bytes))?) };
    // The card is described as its model is.
    let mut info = ModelTarget::new(&profile, &Host::open("default")?, 1.0, args.seed)?.info();
    info.kind = TargetKind::Served;
    info.name.clone_from(&args.target);
    info.capacity_bytes = bytes;
    let options = Options {
        program: program::path()?,
        serve: words,
        is_controlled: !is_disks,
        title: format!("{}, served", profile.title()),
        power_loss_protection: info.power_loss_protection.unwrap_or(false),
        rotational: is_disks,
        memory_bytes: 0,
        modules: card.filter(|card| card.ftl.parity_units > 0).map_or(0, |card| card.nand.geometry.modules),
    };
    Ok(What { profile, info, options })
}
