//! Plans of campaigns: written from a question, and read as one.

use crate::args::{self, Command, WhatifArgs};
use crate::error::{CampaignFailure, Failure, StreamFailure};
use crate::message::clap_message;
use crate::opening;
use crate::output::{JsonSink, note};
use crate::units::counted;
use crate::whatif_output::GENERATOR;
use crate::whatif_question::Asked;
use profile::{Host, Profile};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use study::campaign::{Named, Plan};

/// Bytes of a plan or a part that are read: more than any has.
const MAX_BYTES: u64 = 1 << 30;

/// Writes the plan of a question, and answers nothing.
pub fn write(args: &WhatifArgs, asked: &Asked, path: &Path) -> Result<ExitCode, Failure> {
    let sink = JsonSink::open(path)?;
    let card = named(&args.card, Profile::builtin_text(&args.card).is_some())?;
    let host = &args.common.model.host;
    let host = named(host, Host::builtin_names().any(|name| name == host))?;
    let units = match &asked.search {
        // Every value of a search depends on those before it.
        Some(_) => (0..asked.question.count()).map(|combination| vec![combination]).collect(),
        None => study::whatif::units(&asked.question)?,
    };
    let plan = Plan::new(GENERATOR, card, host, args.words.clone(), units);
    let quiet = sink.is_stdout();
    sink.write_text(&plan.to_json())?;
    if !quiet {
        let (units, points) = (counted(plan.units.len() as u64, "unit"), counted(plan.count() as u64, "point"));
        note(&format!("flashrig: {}: {units}, {points}; flashrig work answers a share of them", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn named(word: &str, built_in: bool) -> Result<Named, Failure> {
    if built_in {
        return Ok(Named { name: word.to_owned(), text: None });
    }
    let text = fs::read_to_string(word).map_err(|source| StreamFailure::Unreadable { path: word.into(), source })?;
    let name = Path::new(word).file_name().map_or_else(|| word.to_owned(), |name| name.to_string_lossy().into_owned());
    Ok(Named { name, text: Some(text) })
}

/// The question of a plan, which stands in `path`.
pub fn asked(plan: &Plan, path: &Path) -> Result<Asked, Failure> {
    let wrong = |message: &str| CampaignFailure::Words { path: path.to_owned(), message: message.into() };
    let fixed = ["flashrig", "whatif", "card"].map(str::to_owned);
    let parsed = args::parse(fixed.into_iter().chain(plan.words.iter().cloned()));
    let parsed = parsed.map_err(|error| wrong(&clap_message(&error)))?;
    let Command::Whatif(args) = parsed.command else { return Err(wrong("they are no words of whatif").into()) };
    let profile = match &plan.card.text {
        Some(text) => Profile::parse(text, &plan.card.name)?,
        None => Profile::builtin(&plan.card.name)?,
    };
    let host = match &plan.host.text {
        Some(text) => Host::parse(text, &plan.host.name)?,
        None => Host::builtin(&plan.host.name)?,
    };
    let (profile, host) = opening::change(profile, host, &args.common.settings())?;
    let asked = Asked::new(&args, profile, host)?;
    if asked.question.count() != plan.count() {
        return Err(wrong("they ask for other points than the units have").into());
    }
    Ok(asked)
}

/// The text of a plan or a part.
pub fn read(path: &Path) -> Result<String, StreamFailure> {
    let unreadable = |source| StreamFailure::Unreadable { path: path.to_owned(), source };
    let mut text = String::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}
