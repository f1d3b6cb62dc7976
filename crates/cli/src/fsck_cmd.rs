//! `flashrig fsck`: what lies on a card's media, and why a sector reads as it does. Exit code 1 when something is
//! wrong.

use crate::args::FsckArgs;
use crate::card_dir::{self, CardDir};
use crate::error::{Failure, MediaFailure};
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
        true => look(args, CardDir::open(&args.card)?.look(0, |note| eprintln!("flashrig: {note}"))?),
        false => look(args, Source::of(&args.card).open()?),
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
fn look(args: &FsckArgs, media: impl Media) -> Result<(&'static str, Value, String, bool), FsckError> {
    let mut card = Examined::new(media)?;
    if let Some(range) = args.lba {
        let sectors = card.sectors(range.first..=range.last)?;
        let is_good = sectors.iter().all(|sector| matches!(sector.reads_as, ReadsAs::Data | ReadsAs::Zeros));
        return Ok(("sectors", value(&sectors), view::sectors(&sectors), is_good));
    }
    let is_fine = |state: StripeState| matches!(state, StripeState::Unwritten | StripeState::Whole);
    if let Some(band) = args.band {
        let band = card.band(band)?;
        let is_good = band.stripes.iter().all(|line| is_fine(line.state));
        return Ok(("band", value(&band), view::band(&band), is_good));
    }
    if let Some(name) = args.stripe {
        let stripe = card.stripe(name.band, name.stripe)?;
        return Ok(("stripe", value(&stripe), view::stripe(&stripe), is_fine(stripe.state)));
    }
    let report = card.report(args.verify, args.read_time.0)?;
    let is_good = report.verdict.state == VerdictState::Clean;
    Ok(("report", value(&report), view::card_on_media(&report), is_good))
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("reports have text keys and finite numbers")
}
