//! `flashrig fsck`: what lies on a card's media, and why a sector reads as it does. Exit code 1 when something is
//! wrong.

use crate::args::FsckArgs;
use crate::card_dir::{self, CardDir};
use crate::error::{Failure, MediaFailure, OptionWithout};
use crate::output::{pretty, print};
use crate::view;
use fsck::{Examined, FsckError, ReadsAs, Source, StripeState, VerdictState};
use media::Media;
use serde::Serialize;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Version of the JSON.
const SCHEMA: u32 = 1;

pub fn fsck(args: &FsckArgs) -> Result<ExitCode, Failure> {
    let found = match card_dir::is_card(&args.card) {
        true => {
            let card = CardDir::open(&args.card)?;
            let files = card.look(&args.without_slot, |note| eprintln!("flashrig: {note}"))?;
            look(args, Examined::described(files, &card.described()), Some(&card))
        }
        false if !args.without_slot.is_empty() => {
            return Err(OptionWithout { option: "--without-slot", what: "images: take that of the module out" }.into());
        }
        false => look(args, Examined::new(Source::of(&args.card).open()?), None),
    };
    let (key, value, text, is_good) = found.map_err(|source| MediaFailure::Fsck { card: args.card.clone(), source })?;
    if args.json {
        let name = args.card.display().to_string();
        print(&pretty(&json!({ "kind": "flashrig-fsck", "schema": SCHEMA, "name": name, key: value })))?;
    } else {
        print(&text)?;
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The answer: its key in JSON, as JSON, as text, and whether nothing is wrong.
fn look<M: Media>(
    args: &FsckArgs,
    card: Result<Examined<M>, FsckError>,
    dir: Option<&CardDir>,
) -> Result<(&'static str, Value, String, bool), FsckError> {
    let mut card = card?;
    let starts = card.refusal().is_none();
    if let Some(range) = args.lba {
        let sectors = card.sectors(range.first..=range.last)?;
        let is_good = sectors.iter().all(|sector| matches!(sector.reads_as, ReadsAs::Data | ReadsAs::Zeros));
        return Ok(("sectors", value(&sectors), view::sectors(&sectors), starts && is_good));
    }
    let is_fine = |state: StripeState| matches!(state, StripeState::Unwritten | StripeState::Whole);
    if let Some(band) = args.band {
        let band = card.band(band)?;
        let is_good = band.stripes.iter().all(|line| is_fine(line.state));
        return Ok(("band", value(&band), view::band(&band), starts && is_good));
    }
    if let Some(name) = args.stripe {
        let stripe = card.stripe(name.band, name.stripe)?;
        return Ok(("stripe", value(&stripe), view::stripe(&stripe), starts && is_fine(stripe.state)));
    }
    let mut report = card.report(args.verify, args.read_time.0)?;
    let verdict = &mut report.verdict;
    if let (Some(dir), Some(reason)) = (dir, verdict.reasons.first_mut()) {
        // The media are locked for as long as they are looked at, but only against a writer.
        reason.push_str(&dir.way_out(verdict.slot_in_the_way, &args.without_slot).to_string());
    }
    let is_good = report.verdict.state == VerdictState::Clean;
    Ok(("report", value(&report), view::card_on_media(&report), is_good))
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("reports have text keys and finite numbers")
}
