//! Opens the card and the host that a command line names.

use crate::args::values::Scale;
use crate::error::OptionWithout;
use profile::{Host, Profile, ProfileError};

/// Size of a modelled card when none is asked for.
const SCALE: f64 = 1.0 / 64.0;

/// The card and the host, with what `--set` changes of them. Settings of the host begin with `host.`.
pub fn open(card: &str, host: &str, settings: &[String]) -> Result<(Profile, Host), ProfileError> {
    change(Profile::open(card)?, Host::open(host)?, settings)
}

/// The card and the host as settings change them.
pub fn change(mut profile: Profile, mut host: Host, settings: &[String]) -> Result<(Profile, Host), ProfileError> {
    for setting in settings {
        if setting.trim_start().starts_with("host.") { host.set(setting)? } else { profile.set(setting)? }
    }
    Ok((profile, host))
}

/// The scale at which a device is modelled. Disks and volumes have none.
pub fn scale(profile: &Profile, asked: Option<Scale>) -> Result<f64, OptionWithout> {
    match (asked, profile.whole_only()) {
        (Some(Scale(scale)), Some(what)) if scale < 1.0 => Err(OptionWithout { option: "--scale", what }),
        _ => Ok(profile.scale(asked.map_or(SCALE, |Scale(scale)| scale))),
    }
}
