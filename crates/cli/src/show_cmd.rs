//! `flashrig show`: a card in words, with its sources, or as JSON.

use crate::args::ShowArgs;
use crate::error::Failure;
use crate::output::{pretty, print};
use profile::Profile;
use std::process::ExitCode;

pub fn show(args: &ShowArgs) -> Result<ExitCode, Failure> {
    let mut profile = Profile::open(&args.card)?;
    for setting in &args.settings {
        profile.set(setting)?;
    }
    let text = if args.json {
        pretty(&profile.to_json_with_sources()?)
    } else if args.sources {
        // Checks the whole as well: no sources of a card that can't be.
        let header = profile.summary()?;
        format!("{}: {}\n\n{}", header.name, header.title, profile.explain_sources())
    } else {
        profile.explain()?
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
