//! The target that a word names, and opening it.

use crate::args::ReviewArgs;
use crate::error::{Failure, OptionWithout, ReviewFailure};
use crate::opening;
use profile::{Host, Profile};
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A word on the command line, understood.
pub enum Named {
    /// A card and the host in front of it.
    Model {
        profile: Box<Profile>,
        host: Host,
        /// Share of its size.
        scale: f64,
    },
    /// A block device.
    BlockDevice(PathBuf),
    /// A file, there or not.
    File(PathBuf),
}

/// Understands the target, and refuses options that it has no use for.
pub fn named(args: &ReviewArgs) -> Result<Named, Failure> {
    let path = Path::new(&args.target);
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    let is_card = Profile::builtin_names().any(|name| name == args.target);
    let found = fs::metadata(path);
    // A name without a slash is a card's, unless something says that a file is meant.
    let is_file = args.target.contains('/') || found.is_ok() || args.real.size.is_some();
    if is_toml || is_card || !is_file {
        refuse_real_options(args, "a modelled card")?;
        let host = args.model.host.as_deref().unwrap_or("default");
        let (profile, host) = opening::open(&args.target, host, &args.model.settings).map_err(|e| match found {
            Err(_) if !is_toml => {
                Failure::from(ReviewFailure::NoTarget { name: args.target.as_str().into(), source: Box::new(e) })
            }
            _ => e.into(),
        })?;
        let scale = opening::scale(&profile, args.model.scale)?;
        if profile.lower(scale)?.cards().iter().any(|card| card.ftl.zones.is_some()) {
            return Err(ReviewFailure::Zones { name: profile.name().into() }.into());
        }
        return Ok(Named::Model { profile: Box::new(profile), host, scale });
    }
    refuse_model_options(args, "a real device")?;
    match found {
        Ok(found) if found.is_dir() => Err(ReviewFailure::DirectoryAlone { path: path.to_owned() }.into()),
        Ok(found) if found.file_type().is_block_device() => {
            refuse(&[(args.real.size.is_some(), "--size")], "a block device, which has its size")?;
            refuse(&[(args.real.keep, "--keep")], "a block device")?;
            Ok(Named::BlockDevice(path.to_owned()))
        }
        _ => {
            refuse(&[(args.real.serial.is_some(), "--serial"), (args.real.purge.is_some(), "--purge")], "a file")?;
            Ok(Named::File(path.to_owned()))
        }
    }
}

/// Refuses options that only a real device has a use for.
pub fn refuse_real_options(args: &ReviewArgs, what: &'static str) -> Result<(), Failure> {
    refuse(&[(args.real.size.is_some(), "--size")], what)?;
    refuse_real_options_but_size(args, what)
}

/// Refuses those of them that a card which is served has no use for either.
pub fn refuse_real_options_but_size(args: &ReviewArgs, what: &'static str) -> Result<(), Failure> {
    let real = &args.real;
    let given = [
        (real.budget.is_some(), "--budget"),
        (real.destroy_data, "--destroy-data"),
        (real.serial.is_some(), "--serial"),
        (real.purge.is_some(), "--purge"),
        (real.keep, "--keep"),
    ];
    refuse(&given, what)
}

/// Refuses options that only a model has a use for.
pub fn refuse_model_options(args: &ReviewArgs, what: &'static str) -> Result<(), Failure> {
    let model = &args.model;
    let given =
        [(model.scale.is_some(), "--scale"), (!model.settings.is_empty(), "--set"), (model.host.is_some(), "--host")];
    refuse(&given, what)
}

fn refuse(given: &[(bool, &'static str)], what: &'static str) -> Result<(), Failure> {
    match given.iter().find(|(given, _)| *given) {
        Some(&(_, option)) => Err(OptionWithout { option, what }.into()),
        None => Ok(()),
    }
}
