//! The report on a whole card.

use crate::blocks::Blocks;
use crate::checkpoints::{CheckpointFound, checkpoints};
use crate::error::FsckError;
use crate::examined::{BandKnown, Examined, OnMedia};
use crate::modules::{ModuleState, Modules};
use crate::start::Start;
use crate::walk::{LostSector, Stripes, walk};
use card::OpenError;
use ftl::BandId;
use ftl::recover::{AssembleError, ScanError};
use media::Media;
use serde::Serialize;

/// The facts in the newest header of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardFacts {
    /// The id of the card.
    pub id: String,
    /// The version of the format.
    pub format_version: u16,
    /// The newest generation of the card.
    pub generation: u64,
    /// The card was shut down in order.
    pub clean: bool,
    /// A write is durable when the card acknowledges it.
    pub power_loss_protection: bool,
    /// The number of sectors that the host can address.
    pub user_sectors: u64,
    /// The number of modules.
    pub modules: u32,
    /// The number of dies of a module.
    pub dies_per_module: u32,
    /// The number of bands, which is that of blocks of a die.
    pub bands: u32,
    /// The number of rows of a block, each of one unit.
    pub rows_per_block: u32,
    /// The number of consecutive rows that share cells.
    pub rows_sharing_cells: u32,
    /// The number of sectors of a unit.
    pub unit_sectors: u32,
    /// The size of a sector's payload.
    pub payload_bytes: u32,
    /// The number of units of a stripe.
    pub stripe_width: u32,
    /// The number of parity units in a stripe.
    pub parity_units: u32,
    /// A band in SLC mode has one of so many rows.
    pub slc_bits_per_cell: u32,
    /// Times that the card was started.
    pub power_cycles: u64,
    /// Times that the card was started without having been shut down in order.
    pub unsafe_shutdowns: u64,
}

/// The numbers of bands, by state and by stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bands {
    /// All bands of the card.
    pub total: u32,
    /// Bands in which nothing is written.
    pub free: u32,
    /// Bands that are filled and known from their summaries.
    pub by_summary: u32,
    /// Bands that are filled and known from a checkpoint.
    pub by_checkpoint: u32,
    /// Bands that hold sectors and are known by reading all of them.
    pub scanned: u32,
    /// Bands in which nothing counts.
    pub dirty: u32,
    /// Bands of which no die answers.
    pub silent: u32,
    /// Bands that hold sectors that the host wrote.
    pub of_host: u32,
    /// Bands that hold relocated sectors.
    pub of_relocation: u32,
    /// Bands that hold checkpoints.
    pub of_checkpoints: u32,
    /// Bands that are used with one bit a cell.
    pub slc: u32,
}

/// The sectors of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sectors {
    /// The number of sectors that hold data.
    pub mapped: u64,
    /// The number of sectors that read as zeros.
    pub holes: u64,
    /// The number of mapped sectors that answer with errors, as far as was read.
    pub unreadable: u64,
}

/// The state of the card, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictState {
    /// Nothing is wrong, as far as was read.
    Clean,
    /// A start of the card repairs everything that is wrong.
    Recoverable,
    /// All sectors can be read, and another loss may cost some.
    Degraded,
    /// Sectors answer with errors.
    SectorsLost,
    /// The card does not start.
    RefusesToStart,
}

/// The state of the card, and the reasons for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The state, in a word.
    pub state: VerdictState,
    /// The reasons why the card is not clean, the worst first.
    pub reasons: Vec<String>,
    /// The slot whose module alone is in the way of a start.
    pub slot_in_the_way: Option<u32>,
}

/// The report on a whole card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Every stripe was read.
    pub everything_read: bool,
    /// The facts in the newest header; `None` if the modules make no card.
    pub card: Option<CardFacts>,
    /// The modules, by slot.
    pub modules: Modules,
    /// The numbers of bands.
    pub bands: Option<Bands>,
    /// The checkpoints, also those of which parts are missing.
    pub checkpoints: Vec<CheckpointFound>,
    /// The stripes of the bands that were read.
    pub stripes: Option<Stripes>,
    /// The sectors of the host; `None` if the card refuses to start.
    pub sectors: Option<Sectors>,
    /// Sectors that answer with errors, ascending.
    pub lost_sectors: Vec<LostSector>,
    /// The wear of the blocks, and the bad ones.
    pub blocks: Option<Blocks>,
    /// The work that a start would do; `None` if the card refuses to start.
    pub start: Option<Start>,
    /// The state of the card, and the reasons for it.
    pub verdict: Verdict,
}

impl<M: Media> Examined<M> {
    /// The reason why the card refuses to start, if it does.
    pub fn refusal(&self) -> Option<String> {
        match &self.card {
            Err(error) => Some(error.to_string()),
            Ok(card) => {
                let otherwise = self.otherwise.as_ref().map(OpenError::to_string);
                otherwise.or_else(|| card.found.as_ref().err().map(ScanError::to_string))
            }
        }
    }

    /// The report on the whole card. With `everything`, every stripe is read; otherwise only the bands that a start has
    /// to read, and the report says so. The read of a unit is assumed to take `read_ns`.
    pub fn report(&mut self, everything: bool, read_ns: u64) -> Result<Report, FsckError> {
        let (modules, otherwise) = (self.modules.clone(), self.otherwise.clone());
        if let Err(error) = &self.card {
            return Ok(Report::of_no_card(modules, error));
        }
        let (media, on) = self.parts()?;
        let bands = bands(media, on)?;
        let (stripes, lost_sectors) = walk(media, on, everything)?;
        let sectors = on.found.as_ref().ok().map(|found| {
            let user = on.header().user_sectors;
            let mapped = found.map[..user as usize].iter().filter(|ppa| **ppa != u32::MAX).count() as u64;
            let mapped = mapped + found.logged.len() as u64;
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
            verdict: Verdict { state: VerdictState::Clean, reasons: Vec::new(), slot_in_the_way: None },
        };
        report.verdict = verdict(&report, on, otherwise.as_ref());
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
            verdict: Verdict {
                state: VerdictState::RefusesToStart,
                reasons: vec![error.to_string()],
                slot_in_the_way: error.slot_in_the_way(),
            },
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
        let known = if uses_summaries { &mut bands.by_summary } else { &mut bands.scanned };
        bands.by_checkpoint = found.report.bands_by_checkpoint.min(*known);
        *known -= bands.by_checkpoint;
    }
    Ok(bands)
}

fn verdict(report: &Report, on: &OnMedia, otherwise: Option<&OpenError>) -> Verdict {
    let mut found: Vec<(VerdictState, String)> = Vec::new();
    let mut add = |state, reason: String| found.push((state, reason));
    if let Some(error) = otherwise {
        add(VerdictState::RefusesToStart, error.to_string());
    }
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
        for (count, problem) in kinds.into_iter().filter(|(count, _)| *count > 0) {
            let word = plural(count, "stripe", "stripes");
            add(VerdictState::Recoverable, format!("{word} {problem}"));
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
    let reasons = found.into_iter().map(|(_, reason)| reason).collect();
    Verdict { state, reasons, slot_in_the_way: None }
}
