//! Opens the card and the host that a command line names.

use profile::{Host, Profile, ProfileError};

/// The card and the host, with what `--set` changes of them. Settings of the host begin with `host.`.
pub fn open(card: &str, host: &str, settings: &[String]) -> Result<(Profile, Host), ProfileError> {
    let mut profile = Profile::open(card)?;
    let mut host = Host::open(host)?;
    for setting in settings {
        if setting.trim_start().starts_with("host.") { host.set(setting)? } else { profile.set(setting)? }
    }
    Ok((profile, host))
}
