//! How a live card stands.

use crate::engine::Engine;
use crate::pace::Pace;
use crate::settings::Settings;
use crate::start_status::StartStatus;
use crate::state::State;
use crate::stats::{Buckets, Explanation, Kind, Stats};
use crate::timing::Timing;
use card::{Health, LogCounters, StorageCard};
use format::SlotState;
use media::{Medium, Shape};
use serde::{Deserialize, Serialize};

/// How a card stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// It has power.
    pub powered: bool,
    /// More is gone than parity stands for: it answers nothing but errors.
    pub stopped: bool,
    /// It takes no writes any more.
    pub read_only: bool,
    /// A module is missing or being rebuilt.
    pub degraded: bool,
    /// Bytes that can be asked for.
    pub size_bytes: u64,
    /// Shards that the card is divided over, by address.
    #[serde(default = "one")]
    pub shards: u32,
    /// How long things take.
    pub timing: Timing,
    /// Whether the machine keeps up with that.
    pub pace: Pace,
    /// Requests since the start, and how long they took.
    pub stats: Stats,
    /// Sectors that the host wrote since the start.
    pub host_sectors: u64,
    /// Sectors that garbage collection moved since the start.
    pub relocated_sectors: u64,
    /// Sectors of parity since the start.
    pub parity_sectors: u64,
    /// Sectors of padding since the start.
    pub padding_sectors: u64,
    /// Sectors of summaries and checkpoints since the start.
    pub metadata_sectors: u64,
    /// Pages programmed for data over pages written by the host.
    pub write_amplification: f64,
    /// Bands that are erased.
    pub free_bands: u32,
    /// Free bands that only garbage collection may open.
    pub reserve_bands: u32,
    /// All bands of the card, erased or not.
    pub bands: u32,
    /// Share of the user capacity that holds something.
    pub fill: f64,
    /// Garbage collection is at work.
    pub collects: bool,
    /// Share of the scrub that is done, while there is one.
    pub scrub: Option<f64>,
    /// Share of the rebuild that is done, while there is one.
    pub rebuild: Option<f64>,
    /// Nanoseconds that the last start took to find the card on its media, as its own flash would have taken.
    pub recovery_ns: Option<u64>,
    /// Reads of the last start of files or drives; `None` of a card that was made new, or lies in memory.
    #[serde(default)]
    pub start: Option<StartStatus>,
    /// Times the power was cut since the server started.
    pub power_cuts: u64,
    /// Sectors since the start that a drive read otherwise than they were last written: it has lost, misplaced or damaged
    /// them.
    pub mismatched_sectors: u64,
    /// Sectors since the start that were rebuilt from their stripes for a read.
    pub rebuilt_sectors: u64,
    /// Sectors since the start that could be neither read nor rebuilt.
    pub lost_sectors: u64,
    /// Reads since the start that took ten times the median, so that the rest of the stripe was read as well.
    pub hedged_reads: u64,
    /// The write-ahead log since the start; of a card whose modules have none, `None`.
    #[serde(default)]
    pub log: Option<LogStatus>,
    /// The settings that are in force.
    pub settings: Settings,
}

fn one() -> u32 {
    1
}

/// The write-ahead log of a card since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogStatus {
    /// Records that were written.
    pub records: u64,
    /// Sectors in them.
    pub sectors: u64,
    /// Bytes of the records, on one of their two modules.
    pub bytes: u64,
    /// Flushes and FUA writes that were answered by them.
    pub flushes: u64,
    /// Flushes and FUA writes that padded a stripe, for the log had no room for them.
    pub flushes_without_room: u64,
    /// Sectors that the start found in the log only.
    pub replayed_sectors: u64,
}

impl From<LogCounters> for LogStatus {
    fn from(counters: LogCounters) -> LogStatus {
        let LogCounters { records, sectors, bytes, flushes, flushes_without_room, replayed_sectors, .. } = counters;
        LogStatus { records, sectors, bytes, flushes, flushes_without_room, replayed_sectors }
    }
}

/// A place for a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleStatus {
    /// The number of the slot, from 0 on.
    pub slot: u32,
    /// There is a module in it.
    pub present: bool,
    /// How the card takes it.
    pub state: ModuleState,
    /// The module's number within the card.
    pub module: Option<u32>,
    /// Blocks that are not used any more.
    pub bad_blocks: u64,
    /// Mean P/E cycles of its blocks.
    pub mean_cycles: u64,
    /// P/E cycles of its most worn block.
    pub max_cycles: u32,
}

/// How a card takes the module in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModuleState {
    /// All of it counts.
    Active,
    /// It is being filled.
    Rebuilding,
    /// There is none, or none that counts.
    Missing,
    /// The card has no power.
    NoPower,
}

impl ModuleState {
    /// All of them.
    pub const ALL: [ModuleState; 4] =
        [ModuleState::Active, ModuleState::Rebuilding, ModuleState::Missing, ModuleState::NoPower];

    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            ModuleState::Active => "active",
            ModuleState::Rebuilding => "rebuilding",
            ModuleState::Missing => "missing",
            ModuleState::NoPower => "no-power",
        }
    }
}

/// All that there is to know, as of one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// How it stands.
    pub status: Status,
    /// Its modules, by slot.
    pub modules: Vec<ModuleStatus>,
    /// Its health, while it has power.
    pub health: Option<Health>,
    /// Its latencies, in the order of [`Kind::ALL`].
    pub latencies: [Buckets; Kind::ALL.len()],
    /// How many requests took how long, in the same order: pairs of nanoseconds and a count, ascending, exact to 1 %.
    pub recorded: [Vec<(u64, u64)>; Kind::ALL.len()],
    /// Where the time of its requests went, in the same order; nothing of a card that was not asked to keep it.
    pub explanations: [Explanation; Kind::ALL.len()],
}

impl Engine {
    pub fn status(&mut self) -> Status {
        let wall_ns = self.wall_ns();
        let pace = self.device.lateness.pace(wall_ns);
        let card = self.of_card.as_ref();
        let none = Status {
            powered: false,
            stopped: false,
            read_only: false,
            degraded: false,
            size_bytes: self.device.size_bytes,
            shards: 1,
            timing: self.timing,
            pace,
            stats: self.device.recorders.stats(),
            host_sectors: 0,
            relocated_sectors: 0,
            parity_sectors: 0,
            padding_sectors: 0,
            metadata_sectors: 0,
            write_amplification: 1.0,
            free_bands: 0,
            reserve_bands: card.map_or(0, |card| card.running.ftl.reserve_bands),
            bands: card.map_or(0, |card| card.start.config.bands),
            fill: 0.0,
            collects: false,
            scrub: None,
            rebuild: None,
            recovery_ns: card.and_then(|card| Some(card.running.scan_ns(self.scan.as_ref()?))),
            start: self.scan.as_ref().and_then(StartStatus::of),
            power_cuts: self.cuts,
            mismatched_sectors: 0,
            rebuilt_sectors: 0,
            lost_sectors: 0,
            hedged_reads: 0,
            log: None,
            settings: self.settings(),
        };
        let State::On(card) = &self.device.state else { return none };
        let counters = card.ftl().counters();
        let reads = card.store_counters();
        Status {
            powered: true,
            stopped: card.is_halted(),
            read_only: card.is_read_only(),
            degraded: card.health().critical_warning.reliability_degraded,
            host_sectors: counters.host_sectors,
            relocated_sectors: counters.relocated_sectors,
            parity_sectors: counters.parity_sectors,
            padding_sectors: counters.padding_sectors,
            metadata_sectors: counters.metadata_sectors,
            write_amplification: if counters.host_sectors == 0 { 1.0 } else { counters.waf() },
            free_bands: card.ftl().free_bands(),
            reserve_bands: card.ftl().config().reserve_bands,
            fill: card.ftl().valid_sectors() as f64 / card.ftl().user_sectors() as f64,
            collects: card.collects(),
            mismatched_sectors: reads.mismatched_sectors,
            rebuilt_sectors: reads.rebuilt_sectors,
            lost_sectors: reads.lost_sectors,
            hedged_reads: reads.hedged_reads,
            log: card.log_counters().map(LogStatus::from),
            scrub: card.scrub_progress().map(|scrub| scrub.share()),
            rebuild: card.rebuild_progress().map(|rebuild| rebuild.share()),
            ..none
        }
    }

    pub fn health(&self) -> Option<Health> {
        match &self.device.state {
            State::On(card) => Some(card.health()),
            _ => None,
        }
    }

    pub fn modules(&self) -> Vec<ModuleStatus> {
        let (medium, card) = match &self.device.state {
            State::On(card) => (Some(card.medium()), Some(card)),
            State::Off(medium) => (Some(medium), None),
            State::Disks(_) | State::Gone => (None, None),
        };
        let Some(medium) = medium else { return Vec::new() };
        let shape = *medium.shape();
        (0..shape.modules).map(|slot| module_status(medium, card.map(|card| &**card), &shape, slot)).collect()
    }
}

fn module_status(medium: &Medium, card: Option<&StorageCard>, shape: &Shape, slot: u32) -> ModuleStatus {
    let present = medium.has_module(slot);
    let module = card.and_then(|card| card.slots().iter().position(|of| *of == Some(slot))).map(|at| at as u32);
    let is_rebuilt =
        module.is_some_and(|module| card.and_then(|card| card.module_state(module)) == Some(SlotState::Rebuilding));
    let (mut bad_blocks, mut cycles, mut max_cycles, mut blocks) = (0, 0u64, 0, 0u64);
    if present {
        for die in 0..shape.dies_per_module {
            for block in 0..shape.blocks_per_die {
                let at = media::BlockAt { module: slot, die, block };
                let of_block = medium.cycles(at);
                bad_blocks += u64::from(medium.is_bad(at));
                cycles += u64::from(of_block);
                max_cycles = max_cycles.max(of_block);
                blocks += 1;
            }
        }
    }
    ModuleStatus {
        slot,
        present,
        state: match (card, module) {
            (None, _) => ModuleState::NoPower,
            (Some(_), None) => ModuleState::Missing,
            (Some(_), Some(_)) if is_rebuilt => ModuleState::Rebuilding,
            (Some(_), Some(_)) => ModuleState::Active,
        },
        module,
        bad_blocks,
        mean_cycles: cycles / blocks.max(1),
        max_cycles,
    }
}
