//! The whole card.

use crate::blocks::Blocks;
use crate::checkpoints::{CheckpointFound, checkpoints};
use crate::error::FsckError;
use crate::examined::{BandKnown, Examined, OnMedia};
use crate::modules::{ModuleState, Modules};
use crate::start::Start;
use crate::walk::{LostSector, Stripes, walk};
use ftl::BandId;
use ftl::recover::{AssembleError, ScanError};
use media::Media;
use serde::Serialize;

/// What the card's headers say of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardFacts {
    /// Its id.
    pub id: String,
    /// Version of the format.
    pub format_version: u16,
    /// The newest generation.
    pub generation: u64,
    /// It was shut down in order.
    pub clean: bool,
    /// What it acknowledges is durable.
    pub power_loss_protection: bool,
    /// Sectors that the host can address.
    pub user_sectors: u64,
    /// Modules.
    pub modules: u32,
    /// Dies of a module.
    pub dies_per_module: u32,
    /// Bands: blocks of a die.
    pub bands: u32,
    /// Rows of a block: units.
    pub rows_per_block: u32,
    /// Consecutive rows that share cells.
    pub rows_sharing_cells: u32,
    /// Sectors of a unit.
    pub unit_sectors: u32,
    /// Bytes of a sector's payload.
    pub payload_bytes: u32,
    /// Units of a stripe.
    pub stripe_width: u32,
    /// Units of parity in a stripe.
    pub parity_units: u32,
    /// A band in SLC mode has one of so many rows.
    pub slc_bits_per_cell: u32,
    /// Times it was started.
    pub power_cycles: u64,
    /// Times it was started without having been shut down in order.
    pub unsafe_shutdowns: u64,
}

/// The bands by what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bands {
    /// All of them.
    pub total: u32,
    /// Nothing is written.
    pub free: u32,
    /// Filled, and known from their summaries.
    pub by_summary: u32,
    /// Filled, and known from a checkpoint.
    pub by_checkpoint: u32,
    /// Holding sectors, and known by reading all of them.
    pub scanned: u32,
    /// Nothing in them counts.
    pub dirty: u32,
    /// None of their dies answers.
    pub silent: u32,
    /// Of those that hold sectors: with what the host wrote.
    pub of_host: u32,
    /// With relocated sectors.
    pub of_relocation: u32,
    /// With checkpoints.
    pub of_checkpoints: u32,
    /// Used with one bit a cell.
    pub slc: u32,
}

/// The sectors of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sectors {
    /// Those that hold something.
    pub mapped: u64,
    /// Those that read as zeros.
    pub holes: u64,
    /// Those that answer with errors, as far as was looked; they are among the mapped ones.
    pub unreadable: u64,
}

/// How the card is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictState {
    /// Nothing is wrong, as far as was looked.
    Clean,
    /// Something is wrong that a start of the card puts right.
    Recoverable,
    /// All sectors can be read, and another loss may cost some.
    Degraded,
    /// Sectors answer with errors.
    SectorsLost,
    /// The card does not start.
    RefusesToStart,
}

/// How the card is, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// In a word.
    pub state: VerdictState,
    /// Why it is not clean.
    pub reasons: Vec<String>,
}

/// The whole card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Every stripe was read.
    pub everything_read: bool,
    /// By the newest header; `None` when the modules make no card.
    pub card: Option<CardFacts>,
    /// The modules.
    pub modules: Modules,
    /// The bands.
    pub bands: Option<Bands>,
    /// Checkpoints.
    pub checkpoints: Vec<CheckpointFound>,
    /// Stripes of the bands that were read.
    pub stripes: Option<Stripes>,
    /// The sectors of the host; `None` when the card refuses to start.
    pub sectors: Option<Sectors>,
    /// Sectors that answer with errors, ascending.
    pub lost_sectors: Vec<LostSector>,
    /// The blocks.
    pub blocks: Option<Blocks>,
    /// What a start would do; `None` when it is refused.
    pub start: Option<Start>,
    /// How it is.
    pub verdict: Verdict,
}

impl<M: Media> Examined<M> {
    /// Why the card refuses to start, if it does.
    pub fn refusal(&self) -> Option<String> {
        match &self.card {
            Err(error) => Some(error.to_string()),
            Ok(card) => card.found.as_ref().err().map(ScanError::to_string),
        }
    }

    /// The whole card. With `everything`, every stripe of it is read; else only what a start has to read, and the reader
    /// should be told so. A unit's read is taken to last `read_ns`.
    pub fn report(&mut self, everything: bool, read_ns: u64) -> Result<Report, FsckError> {
        let modules = self.modules.clone();
        if let Err(error) = &self.card {
            return Ok(Report::of_no_card(modules, error));
        }
        let (media, on) = self.parts()?;
        let bands = bands(media, on)?;
        let (stripes, lost_sectors) = walk(media, on, everything)?;
        let sectors = on.found.as_ref().ok().map(|found| {
            let user = on.header().user_sectors;
            let mapped = found.map[..user as usize].iter().filter(|ppa| **ppa != u32::MAX).count() as u64;
            Sectors { mapped, holes: user - mapped, unreadable: lost_sectors.len() as u64 }
        });
        let start = on.found.as_ref().ok().map(|found| Start::of(on, found, read_ns));
        let mut report = Report {
            everything_read: everything,
            card: Some(facts(on)),
            modules,
            bands: Some(bands),
            checkpoints: checkpoints(media, on)?,
            stripes: Some(stripes),
            sectors,
            lost_sectors,
            blocks: Some(Blocks::of(media, on)),
            start,
            verdict: Verdict { state: VerdictState::Clean, reasons: Vec::new() },
        };
        report.verdict = verdict(&report, on);
        Ok(report)
    }
}

impl Report {
    fn of_no_card(modules: Modules, error: &AssembleError) -> Report {
        Report {
            everything_read: false,
            card: None,
            modules,
            bands: None,
            checkpoints: Vec::new(),
            stripes: None,
            sectors: None,
            lost_sectors: Vec::new(),
            blocks: None,
            start: None,
            verdict: Verdict { state: VerdictState::RefusesToStart, reasons: vec![error.to_string()] },
        }
    }
}

fn facts(on: &OnMedia) -> CardFacts {
    let header = on.header();
    CardFacts {
        id: header.card.to_string(),
        format_version: format::VERSION,
        generation: header.generation,
        clean: header.clean,
        power_loss_protection: header.power_loss_protection,
        user_sectors: header.user_sectors,
        modules: header.shape.modules,
        dies_per_module: header.shape.dies_per_module,
        bands: header.shape.blocks_per_die,
        rows_per_block: header.shape.rows_per_block,
        rows_sharing_cells: header.shape.rows_sharing_cells,
        unit_sectors: header.shape.unit_sectors,
        payload_bytes: header.shape.payload_bytes,
        stripe_width: header.stripe_width,
        parity_units: header.parity_units,
        slc_bits_per_cell: header.slc_bits_per_cell,
        power_cycles: header.power_cycles,
        unsafe_shutdowns: header.unsafe_shutdowns,
    }
}

fn bands<M: Media>(media: &mut M, on: &OnMedia) -> Result<Bands, FsckError> {
    let mut bands = Bands { total: on.bands(), ..Bands::default() };
    let uses_summaries = !media.is_volatile();
    for band in (0..on.bands()).map(BandId) {
        let opened = match on.band(media, band)? {
            BandKnown::Free => {
                bands.free += 1;
                continue;
            }
            BandKnown::Dirty => {
                bands.dirty += 1;
                continue;
            }
            BandKnown::Silent => {
                bands.silent += 1;
                continue;
            }
            BandKnown::Opened(opened) => opened,
        };
        let by_summary = uses_summaries && opened.has_summary && opened.is_complete;
        *(if by_summary { &mut bands.by_summary } else { &mut bands.scanned }) += 1;
        bands.slc += u32::from(opened.opening.slc);
        match opened.opening.stream {
            0 => bands.of_host += 1,
            1 => bands.of_relocation += 1,
            _ => bands.of_checkpoints += 1,
        }
    }
    if let Ok(found) = &on.found {
        bands.by_checkpoint = found.report.bands_by_checkpoint.min(bands.by_summary);
        bands.by_summary -= bands.by_checkpoint;
    }
    Ok(bands)
}

fn verdict(report: &Report, on: &OnMedia) -> Verdict {
    let mut found: Vec<(VerdictState, String)> = Vec::new();
    let mut add = |state, reason: String| found.push((state, reason));
    if let Err(error) = &on.found {
        add(VerdictState::RefusesToStart, error.to_string());
    }
    match report.lost_sectors.len() {
        0 => {}
        1 => add(VerdictState::SectorsLost, "1 sector answers with an error".to_owned()),
        n => add(VerdictState::SectorsLost, format!("{n} sectors answer with errors")),
    }
    let absent = report.modules.slots.iter().filter(|slot| {
        matches!(slot.state, ModuleState::Stale | ModuleState::Rebuilding | ModuleState::Blank) && slot.place.is_some()
    });
    for slot in absent {
        let (place, why) = (slot.place.unwrap_or(0), slot.why.as_deref().unwrap_or("it does not count"));
        add(VerdictState::Degraded, format!("module {place} in slot {}: {why}", slot.slot));
    }
    for (place, _) in &report.modules.missing {
        add(VerdictState::Degraded, format!("module {place} is missing"));
    }
    for die in report.start.iter().flat_map(|start| &start.dead_dies) {
        add(VerdictState::Degraded, format!("die {die} does not answer"));
    }
    let plural = |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    if let Some(stripes) = &report.stripes {
        let beyond = match report.lost_sectors.is_empty() && on.found.is_ok() {
            true => "beyond redundancy, with nothing in them that counts",
            false => "beyond redundancy",
        };
        let kinds = [
            (stripes.torn, "torn: parity stands for what is lost"),
            (stripes.inconsistent, "with parity that is not what the others say"),
            (stripes.beyond_redundancy, beyond),
        ];
        for (count, what) in kinds.into_iter().filter(|(count, _)| *count > 0) {
            let word = plural(count, "stripe", "stripes");
            add(VerdictState::Recoverable, format!("{word} {what}"));
        }
    }
    let copies = report.modules.bad_copies();
    if copies > 0 {
        add(VerdictState::Recoverable, plural(copies, "header copy can't be read", "header copies can't be read"));
    }
    let bad = report.checkpoints.iter().filter(|checkpoint| !checkpoint.good).count() as u64;
    if bad > 0 {
        add(VerdictState::Recoverable, plural(bad, "checkpoint is not whole", "checkpoints are not whole"));
    }
    let state = found.iter().map(|(state, _)| *state).max().unwrap_or(VerdictState::Clean);
    found.sort_by_key(|(state, _)| std::cmp::Reverse(*state));
    Verdict { state, reasons: found.into_iter().map(|(_, reason)| reason).collect() }
}
