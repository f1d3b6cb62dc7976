//! Every fault, and what a card must make of it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a power cut leaves what is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutOutcome {
    /// Each operation under way ends in one of the ways below, as the chooser decides.
    Any,
    /// One operation has not begun.
    NotBegun,
    /// One operation is partly done.
    PartlyDone,
    /// One operation is done, and nobody was told.
    DoneUnreported,
    /// Only the first part of a page is there.
    TornPrefix,
    /// Only the last part of a page is there.
    TornSuffix,
    /// Any sectors of a page are there.
    TornSectors,
    /// A page holds garbage.
    TornGarbage,
    /// Several units are under way, and any subset of them is done.
    AnySubset,
    /// A page that was programmed before, and shares cells with the one under way, is spoiled.
    SharedCells,
    /// An interrupted erase: the block reads clean, and does not hold what is programmed to it.
    WeakErase,
    /// Writes that the medium had not synced are lost, in any part.
    CacheLost,
}

/// A place that holds metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metadata {
    /// One copy of a module's header.
    HeaderCopy,
    /// A page's spare area.
    Spare,
    /// A band's summary.
    Summary,
    /// A part of a checkpoint.
    Checkpoint,
    /// One copy of a record of the write-ahead log.
    Log,
}

/// Wrong bits of a page, against what error correction (ECC) can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flips {
    /// Fewer than the limit.
    Below,
    /// As many as can be corrected.
    At,
    /// More than can be corrected.
    Above,
}

/// The contents of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Sectors of the host.
    Data,
    /// Headers, summaries, checkpoints.
    Metadata,
}

/// A program that does not what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stray {
    /// It lands in another place.
    Misdirected,
    /// It is reported and never done.
    Lost,
    /// It is done twice.
    Duplicated,
}

/// An answer of the file or the drive that holds a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostError {
    /// An I/O error.
    Eio,
    /// No space left.
    Enospc,
    /// Fewer bytes than asked for.
    Short,
    /// A failed sync; what it should have covered may be gone.
    FailedSync,
}

/// The module that is put into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The one that was there.
    Same,
    /// The one that was there, as it was some time ago.
    Stale,
    /// A new one.
    Blank,
    /// One of another card.
    Foreign,
    /// A copy of one in another slot.
    Cloned,
}

/// Damage of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// A power cut.
    Cut(CutOutcome),
    /// A power cut, and so many more in the recoveries after it.
    NestedCut {
        /// 1 to 3.
        depth: u8,
    },
    /// A wrong byte.
    Damaged(Metadata),
    /// A die does not answer any more.
    DeadDie,
    /// A module does not answer any more.
    DeadModule,
    /// A program ends with bad status.
    ProgramFailure,
    /// An erase ends with bad status.
    EraseFailure,
    /// Wrong bits of a page.
    BitFlips {
        /// The number of them, against the limit.
        flips: Flips,
        /// The contents that are hit.
        area: Area,
    },
    /// Error correction makes something else of a page and says that it is right.
    Miscorrection,
    /// A block is read so often that its pages go bad.
    ReadDisturb,
    /// A block is left so long that its pages go bad.
    Retention,
    /// A page of a survivor can't be read, which is found when redundancy is already used up.
    LatentError,
    /// A program that does not what was said.
    Program(Stray),
    /// A module takes many times as long.
    SlowModule,
    /// A module takes an operation and never ends it.
    StuckModule,
    /// An error of the file or the drive of a module.
    Host {
        /// The error that it answers.
        error: HostError,
        /// From now on, and not only once.
        lasting: bool,
    },
    /// The files, drives or shelves of several modules do not answer until the next start.
    OutOfReach,
    /// A module is pulled while the card serves.
    PulledModule,
    /// Another module is put into a slot, while the card serves or while the power is off.
    Swapped(What),
    /// While the power is off, modules change their slots.
    PermutedSlots,
    /// While the power is off, the modules go to another controller.
    OtherController,
    /// Another controller claims the modules and writes, while this one serves.
    TwoControllers,
    /// The modules were written by an older version of the format.
    OlderFormat,
    /// The modules were written by a newer version of the format.
    NewerFormat,
}

/// The most that a fault may cost the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contract {
    /// The host sees nothing of it: no error, no refusal.
    Repaired,
    /// An explicit error for exactly the sectors or requests concerned.
    Error,
    /// The card may refuse to serve.
    Halt,
}

impl FaultKind {
    /// All of them.
    pub fn all() -> Vec<FaultKind> {
        use FaultKind::*;
        let mut all = Vec::new();
        for how in [
            CutOutcome::Any,
            CutOutcome::NotBegun,
            CutOutcome::PartlyDone,
            CutOutcome::DoneUnreported,
            CutOutcome::TornPrefix,
            CutOutcome::TornSuffix,
            CutOutcome::TornSectors,
            CutOutcome::TornGarbage,
            CutOutcome::AnySubset,
            CutOutcome::SharedCells,
            CutOutcome::WeakErase,
            CutOutcome::CacheLost,
        ] {
            all.push(Cut(how));
        }
        all.extend((1..=3).map(|depth| NestedCut { depth }));
        all.extend(
            [Metadata::HeaderCopy, Metadata::Spare, Metadata::Summary, Metadata::Checkpoint, Metadata::Log]
                .map(Damaged),
        );
        all.extend([DeadDie, DeadModule, ProgramFailure, EraseFailure]);
        for area in [Area::Data, Area::Metadata] {
            all.extend([Flips::Below, Flips::At, Flips::Above].map(|flips| BitFlips { flips, area }));
        }
        all.extend([Miscorrection, ReadDisturb, Retention, LatentError]);
        all.extend([Stray::Misdirected, Stray::Lost, Stray::Duplicated].map(Program));
        all.extend([SlowModule, StuckModule]);
        for error in [HostError::Eio, HostError::Enospc, HostError::Short, HostError::FailedSync] {
            all.extend([false, true].map(|lasting| Host { error, lasting }));
        }
        all.extend([OutOfReach, PulledModule]);
        all.extend([What::Same, What::Stale, What::Blank, What::Foreign, What::Cloned].map(Swapped));
        all.extend([PermutedSlots, OtherController, TwoControllers, OlderFormat, NewerFormat]);
        all
    }

    /// The contract of an intact card.
    pub fn contract(self) -> Contract {
        use FaultKind::*;
        match self {
            LatentError => Contract::Error,
            Swapped(What::Foreign | What::Cloned) | TwoControllers | OlderFormat | NewerFormat | OutOfReach => {
                Contract::Halt
            }
            _ => Contract::Repaired,
        }
    }

    /// The contract of a card whose redundancy is already used up.
    pub fn contract_degraded(self) -> Contract {
        use FaultKind::*;
        match self {
            DeadDie | DeadModule | StuckModule | OutOfReach | PulledModule | Host { lasting: true, .. } => {
                Contract::Halt
            }
            Host { error: HostError::FailedSync, .. } => Contract::Halt,
            // Nobody knows which sectors a record held that is lost.
            Swapped(_) | Damaged(Metadata::Log) => Contract::Halt,
            _ if self.uses_redundancy() => Contract::Error,
            _ => self.contract(),
        }
    }

    /// Whether repair needs parity: one such fault at a time is within the redundancy.
    pub fn uses_redundancy(self) -> bool {
        use FaultKind::*;
        match self {
            Cut(_) | NestedCut { .. } | ProgramFailure | EraseFailure | SlowModule | PermutedSlots => false,
            BitFlips { flips, .. } => flips == Flips::Above,
            // A summary and a checkpoint lie in stripes beside other things.
            Damaged(what) => what != Metadata::HeaderCopy,
            OtherController | TwoControllers | OlderFormat | NewerFormat => false,
            Host { error, lasting } => lasting || error == HostError::FailedSync,
            DeadDie | DeadModule | Miscorrection | ReadDisturb | Retention => true,
            // It comes when redundancy is used up, and costs its sectors.
            LatentError => false,
            Program(_) | StuckModule | OutOfReach | PulledModule | Swapped(_) => true,
        }
    }

    /// Whether it happens while the power is off; life cuts the power first.
    pub fn needs_power_off(self) -> bool {
        use FaultKind::*;
        matches!(self, PermutedSlots | OtherController | OlderFormat | NewerFormat)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use FaultKind::*;
        f.pad(match self {
            Cut(CutOutcome::Any) => "power cut",
            Cut(CutOutcome::NotBegun) => "cut, not begun",
            Cut(CutOutcome::PartlyDone) => "cut, partly done",
            Cut(CutOutcome::DoneUnreported) => "cut, done unreported",
            Cut(CutOutcome::TornPrefix) => "torn page, prefix",
            Cut(CutOutcome::TornSuffix) => "torn page, suffix",
            Cut(CutOutcome::TornSectors) => "torn page, any sectors",
            Cut(CutOutcome::TornGarbage) => "torn page, garbage",
            Cut(CutOutcome::AnySubset) => "cut, any subset of units",
            Cut(CutOutcome::SharedCells) => "cut, shared cells",
            Cut(CutOutcome::WeakErase) => "cut, weak erase",
            Cut(CutOutcome::CacheLost) => "cut, volatile cache",
            NestedCut { depth: 0..=1 } => "cut in recovery",
            NestedCut { depth: 2 } => "cut in recovery, twice",
            NestedCut { .. } => "cut in recovery, 3 times",
            Damaged(Metadata::HeaderCopy) => "damaged header copy",
            Damaged(Metadata::Spare) => "damaged spare area",
            Damaged(Metadata::Summary) => "damaged summary",
            Damaged(Metadata::Checkpoint) => "damaged checkpoint",
            Damaged(Metadata::Log) => "damaged log record",
            DeadDie => "dead die",
            DeadModule => "dead module",
            ProgramFailure => "program failure",
            EraseFailure => "erase failure",
            BitFlips { flips: Flips::Below, area: Area::Data } => "data below ECC limit",
            BitFlips { flips: Flips::At, area: Area::Data } => "data at ECC limit",
            BitFlips { flips: Flips::Above, area: Area::Data } => "data above ECC limit",
            BitFlips { flips: Flips::Below, area: Area::Metadata } => "metadata below ECC limit",
            BitFlips { flips: Flips::At, area: Area::Metadata } => "metadata at ECC limit",
            BitFlips { flips: Flips::Above, area: Area::Metadata } => "metadata above ECC limit",
            Miscorrection => "miscorrection",
            ReadDisturb => "read disturb",
            Retention => "retention",
            LatentError => "latent error on survivor",
            Program(Stray::Misdirected) => "misdirected program",
            Program(Stray::Lost) => "lost program",
            Program(Stray::Duplicated) => "duplicated program",
            SlowModule => "slow module",
            StuckModule => "stuck module",
            Host { error: HostError::Eio, lasting: false } => "EIO, once",
            Host { error: HostError::Eio, lasting: true } => "EIO, for ever",
            Host { error: HostError::Enospc, lasting: false } => "ENOSPC, once",
            Host { error: HostError::Enospc, lasting: true } => "ENOSPC, for ever",
            Host { error: HostError::Short, lasting: false } => "short I/O, once",
            Host { error: HostError::Short, lasting: true } => "short I/O, for ever",
            Host { error: HostError::FailedSync, lasting: false } => "failed sync, once",
            Host { error: HostError::FailedSync, lasting: true } => "failed sync, for ever",
            OutOfReach => "modules out of reach",
            PulledModule => "pulled module",
            Swapped(What::Same) => "module out and in again",
            Swapped(What::Stale) => "stale module",
            Swapped(What::Blank) => "blank module",
            Swapped(What::Foreign) => "foreign module",
            Swapped(What::Cloned) => "cloned module",
            PermutedSlots => "permuted slots",
            OtherController => "other controller",
            TwoControllers => "two controllers",
            OlderFormat => "older format",
            NewerFormat => "newer format",
        })
    }
}
