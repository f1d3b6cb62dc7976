//! `flashrig fsck`: what lies on a card's media, and why a sector reads as it does. Exit code 1 when something is
//! wrong.

use crate::args::{FsckArgs, LbaRange};
use crate::card_dir::{self, CardDir};
use crate::error::{Failure, MediaFailure, OptionWithout};
use crate::fsck_volumes::{self, VolumesFound};
use crate::output::{note, pretty, print};
use crate::shared_card::SharedCard;
use crate::view;
use device::SECTOR_BYTES;
use fsck::{Examined, FsckError, ReadsAs, SectorExplained, Source, StripeState, VerdictState};
use media::Media;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::process::ExitCode;

/// Version of the JSON.
const SCHEMA: u32 = 1;

/// An answer: its key in JSON, as JSON, as text, and whether nothing is wrong.
struct Answer {
    key: &'static str,
    value: Value,
    text: String,
    is_good: bool,
    /// The table of the volumes, where the whole of a card that has some was looked at.
    volumes: Option<VolumesFound>,
}

pub fn fsck(args: &FsckArgs) -> Result<ExitCode, Failure> {
    let answer = match card_dir::is_card(&args.card) {
        true => match args.controller {
            None => in_folder(args, &CardDir::open(&args.card)?)?,
            Some(number) => {
                let mut card = SharedCard::new(CardDir::open(&args.card)?, number)?;
                let _held = card.hold()?;
                in_folder(args, &card.dir)?
            }
        },
        false if args.controller.is_some() => {
            return Err(OptionWithout { option: "--controller", what: "images: it is for a card on shelves" }.into());
        }
        false if !args.without_slot.is_empty() => {
            return Err(OptionWithout { option: "--without-slot", what: "images: take that of the module out" }.into());
        }
        false if args.shard.is_some() => {
            return Err(OptionWithout { option: "--shard", what: "images: name the folder of the shard's" }.into());
        }
        false => {
            let found = Examined::new(Source::of(&args.card).open()?);
            found.and_then(|mut card| look(args, &mut card, None, None)).map_err(|source| failure(args, source))?
        }
    };
    let Answer { key, value, text, is_good, volumes } = answer;
    if args.json {
        let name = args.card.display().to_string();
        let mut whole = json!({ "kind": "flashrig-fsck", "schema": SCHEMA, "name": name, key: value });
        if let Some(volumes) = &volumes {
            whole["volumes"] = self::value(volumes);
        }
        print(&pretty(&whole))?;
    } else {
        print(&text)?;
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn failure(args: &FsckArgs, source: FsckError) -> Failure {
    MediaFailure::Fsck { card: args.card.clone(), source }.into()
}

fn in_folder(args: &FsckArgs, card: &CardDir) -> Result<Answer, Failure> {
    let shards = card.shards;
    let examined = |shard: u32| {
        let files = card.look(shard, &args.without_slot, |text| note(&format!("flashrig: {text}")))?;
        Examined::described(files, &card.described(shard)).map_err(|source| failure(args, source))
    };
    let is_whole = args.lba.is_none() && args.band.is_none() && args.stripe.is_none() && args.shard.is_none();
    let volumes = match card.has_volumes && is_whole {
        true => Some(fsck_volumes::find(card, examined)?),
        false => None,
    };
    let looked = |shard: u32| {
        let answer = look(args, &mut examined(shard)?, Some(card), volumes.as_ref());
        answer.map_err(|source| failure(args, source))
    };
    if let Some(shard) = args.shard {
        return if shard < shards { looked(shard) } else { Err(MediaFailure::NoShard { shard, shards }.into()) };
    }
    if shards == 1 {
        let answer = looked(0)?;
        return Ok(Answer { volumes, ..answer });
    }
    if let Some(range) = args.lba {
        return sectors_of_host(args, card, range, examined);
    }
    if args.band.is_some() || args.stripe.is_some() {
        return Err(MediaFailure::ShardNotNamed { shards }.into());
    }
    let (mut values, mut text, mut all_are_good) = (Vec::new(), String::new(), true);
    for shard in 0..shards {
        let answer = looked(shard)?;
        values.push(answer.value);
        text.push_str(&format!("shard {shard} of {shards}, with addresses of its own\n\n{}\n", answer.text));
        all_are_good &= answer.is_good;
    }
    let verdict = if all_are_good { "clean: all shards are" } else { "not clean: see above" };
    text.push_str(&format!("all shards: {verdict}\n"));
    Ok(Answer { key: "shards", value: value(&values), text, is_good: all_are_good, volumes })
}

/// Explains sectors that lie in several shards, by their addresses of the host.
fn sectors_of_host<M: Media>(
    args: &FsckArgs,
    card: &CardDir,
    range: LbaRange,
    examined: impl Fn(u32) -> Result<Examined<M>, Failure>,
) -> Result<Answer, Failure> {
    let division = card.division();
    let chunk = division.chunk_bytes() / SECTOR_BYTES;
    let count = division.size_bytes() / SECTOR_BYTES;
    if range.last >= count {
        let source = FsckError::NoSuch { thing: "sector", asked: range.last, count };
        return Err(failure(args, source));
    }
    let mut open: BTreeMap<u32, Examined<M>> = BTreeMap::new();
    let mut sectors = Vec::new();
    let mut at = range.first;
    while at <= range.last {
        let end = ((at / chunk + 1) * chunk).min(range.last + 1);
        let (shard, inner) = division.inner(at * SECTOR_BYTES);
        if let Entry::Vacant(vacant) = open.entry(shard) {
            vacant.insert(examined(shard)?);
        }
        let of_shard = open.get_mut(&shard).expect("it was opened");
        let inner = (inner / SECTOR_BYTES) as u32;
        let found = of_shard.sectors(inner..=inner + (end - at - 1) as u32).map_err(|source| failure(args, source))?;
        sectors.extend((at..).zip(found).map(|(lba, sector)| SectorExplained { lba, ..sector }));
        at = end;
    }
    let starts = open.values().all(|card| card.refusal().is_none());
    Ok(of_sectors(&sectors, starts))
}

fn of_sectors(sectors: &[SectorExplained], starts: bool) -> Answer {
    let is_good = sectors.iter().all(|sector| matches!(sector.reads_as, ReadsAs::Data | ReadsAs::Zeros));
    Answer {
        key: "sectors",
        value: value(&sectors),
        text: view::sectors(sectors),
        is_good: starts && is_good,
        volumes: None,
    }
}

fn look<M: Media>(
    args: &FsckArgs,
    card: &mut Examined<M>,
    dir: Option<&CardDir>,
    volumes: Option<&VolumesFound>,
) -> Result<Answer, FsckError> {
    let starts = card.refusal().is_none();
    if let Some(range) = args.lba {
        // The card ends before 32 bits do.
        let number = |lba: u64| u32::try_from(lba).unwrap_or(u32::MAX);
        return Ok(of_sectors(&card.sectors(number(range.first)..=number(range.last))?, starts));
    }
    let is_fine = |state: StripeState| matches!(state, StripeState::Unwritten | StripeState::Whole);
    if let Some(band) = args.band {
        let band = card.band(band)?;
        let is_good = starts && band.stripes.iter().all(|line| is_fine(line.state));
        return Ok(Answer { key: "band", value: value(&band), text: view::band(&band), is_good, volumes: None });
    }
    if let Some(name) = args.stripe {
        let stripe = card.stripe(name.band, name.stripe)?;
        let is_good = starts && is_fine(stripe.state);
        return Ok(Answer {
            key: "stripe",
            value: value(&stripe),
            text: view::stripe(&stripe),
            is_good,
            volumes: None,
        });
    }
    let mut report = card.report(args.verify, args.read_time.0)?;
    let verdict = &mut report.verdict;
    if let (Some(dir), Some(reason)) = (dir, verdict.reasons.first_mut()) {
        // The media are locked for as long as they are looked at, but only against a writer.
        reason.push_str(&dir.way_out(verdict.slot_in_the_way, &args.without_slot).to_string());
    }
    if let Some(reason) = volumes.and_then(VolumesFound::refused)
        && verdict.state != VerdictState::RefusesToStart
    {
        verdict.state = VerdictState::RefusesToStart;
        verdict.reasons.insert(0, reason.into());
    }
    let is_good = report.verdict.state == VerdictState::Clean;
    let text = view::card_on_media(&report) + &volumes.map(VolumesFound::line).unwrap_or_default();
    Ok(Answer { key: "report", value: value(&report), text, is_good, volumes: None })
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("reports have text keys and finite numbers")
}
