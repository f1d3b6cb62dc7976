//! The interface of a card that is put to the test.

use crate::sim::{Activity, Ask, Chooser, CutOutcome, FaultSpec, Lba, LogMet, PARTS, Stamp, What};
use device::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Names a request from its submission to its completion; no two in flight share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u64);

/// A request, with the contents that it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostOp {
    /// The request that the script holds.
    pub ask: Ask,
    /// The stamp of each sector that [`Ask::Write`] writes, or of each part that [`Ask::WriteParts`] writes; other
    /// requests have none.
    pub stamps: Vec<Stamp>,
}

/// The value that a sector read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sector {
    /// A stamp, or eight bytes that were taken for one.
    Value(Stamp),
    /// Nothing but zeroes.
    Zero,
    /// Lost, and the card says so.
    Error,
    /// Eight parts, each a stamp of its own, or 0 for zeroes.
    Parts([u64; PARTS as usize]),
    /// Bytes whose parts don't belong together.
    Mixed,
}

impl fmt::Display for Sector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sector::Value(stamp) => {
                let (lba, version) = stamp.names();
                write!(f, "version {version} of {lba}")
            }
            Sector::Zero => f.write_str("zeroes"),
            Sector::Error => f.write_str("error"),
            Sector::Parts(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    f.write_str(if i == 0 { "parts " } else { "|" })?;
                    match part {
                        0 => f.write_str("0")?,
                        part => write!(f, "{}", Stamp(*part).names().1)?,
                    }
                }
                Ok(())
            }
            Sector::Mixed => f.write_str("parts that don't belong together"),
        }
    }
}

/// A request that did not work as a whole. It says nothing of what its sectors hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum OpError {
    /// Input or output error.
    #[error("I/O error")]
    Io,
    /// No space is left.
    #[error("no space left")]
    NoSpace,
    /// The card takes no more writes.
    #[error("read-only")]
    ReadOnly,
    /// The card is closed to this host.
    #[error("another controller has the card")]
    Fenced,
    /// A part of a sector was to be written, and the rest of the sector can't be read.
    #[error("the rest of a sector can't be read")]
    Unreadable,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The request was acknowledged.
    Ok,
    /// The values that a read found, one for each sector.
    Values(Vec<Sector>),
    /// Did not work.
    Failed(OpError),
}

/// A request that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The request that ended.
    pub id: OpId,
    /// The way in which it ended.
    pub outcome: Outcome,
}

/// When an acknowledged write survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// At once: capacitors carry the write buffer to flash.
    OnAck,
    /// When a flush that was submitted later, or its own FUA, is acknowledged.
    OnFlush,
}

/// The work of a recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Operations that changed the media: the places where it could have been cut.
    pub media_ops: u64,
    /// Virtual time that it took.
    pub took_ns: u64,
}

/// Why a card does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// More modules are missing than parity makes up for.
    #[error("too many modules are missing")]
    MissingModules,
    /// A module belongs to another card.
    #[error("a module of another card")]
    ForeignModule,
    /// Two modules say that they are the same.
    #[error("a module is there twice")]
    ClonedModule,
    /// Written by a version that this one does not read.
    #[error("another version of the format")]
    FormatVersion,
    /// Another controller has claimed the modules.
    #[error("another controller has the card")]
    Fenced,
    /// Data that are needed to start are damaged in all their copies.
    #[error("damaged beyond what copies and parity make up for")]
    Damaged,
}

/// Why a recovery did not end with a card that serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRecovered {
    /// The power was cut again.
    #[error("the power was cut again")]
    Cut,
    /// The card does not start.
    #[error("the card refuses to start: {0}")]
    Refused(#[from] Refusal),
}

/// Sectors that a fault may cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lost {
    /// No sector at all.
    #[default]
    None,
    /// Exactly these sectors.
    These(BTreeSet<Lba>),
    /// Each of them.
    All,
}

/// The cost of a fault, beyond what redundancy makes up for. The plan decides whether that is accepted: of a fault that
/// is to be repaired it never is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impact {
    /// Sectors that may now read as errors: what was written to them up to now may be lost.
    pub lost: Lost,
    /// The next recovery may refuse.
    pub may_refuse: bool,
    /// From now on requests may fail as a whole.
    pub may_fail: bool,
    /// Requests may fail as a whole until the next start.
    pub may_stop: bool,
}

/// A storage card in virtual time, which can be cut, damaged and recovered.
///
/// It begins formatted, started, with all sectors reading as zeroes. Everything it does is determined by what it was
/// built with, the calls, and the choosers.
///
/// **Cut points.** A cut comes between two steps. Each operation that changes the media must be under way at the end of
/// at least one step, so that a cut there finds it not begun, partly done, or done and not reported, as the chooser
/// decides. A recovery is one call; its cut points are numbered by its own operations.
pub trait Subject {
    /// Sectors that the host can address.
    fn sectors(&self) -> u32;
    /// When an acknowledged write survives a cut.
    fn durability(&self) -> Durability;
    /// Slots for modules.
    fn slots(&self) -> u32;
    /// The virtual time now.
    fn now(&self) -> Time;

    /// Hands over a request. It is never answered within the call.
    fn submit(&mut self, op: HostOp) -> OpId;
    /// As [`Subject::submit`], by one of several clients.
    fn submit_as(&mut self, _client: u32, op: HostOp) -> OpId {
        self.submit(op)
    }
    /// Whether a client may submit a request now. One that may not gets in line.
    fn admits(&mut self, _client: u32) -> bool {
        true
    }
    /// A client goes, and another one comes in its place. Its requests in flight are never answered. `false`: there are
    /// no clients that could go.
    fn disconnect(&mut self, _client: u32) -> bool {
        false
    }
    /// A request of a client that is gone is not finished.
    fn has_orphans(&self) -> bool {
        false
    }
    /// Sectors of a trim that are not divided.
    fn trim_sectors(&self) -> u64 {
        u64::MAX
    }
    /// Handles the next event due at `until` or before and appends what ended. `false`: there was none; it is `until`
    /// now, unless that is [`Time::NEVER`].
    fn step(&mut self, until: Time, done: &mut Vec<Done>) -> bool;
    /// At rest: no request in flight, nothing of its own to do, and nothing will begin while the host is silent.
    fn idle(&self) -> bool;
    /// The activity at this moment.
    fn activity(&self) -> Activity;
    /// Operations that changed the media, begun since it was built.
    fn media_ops(&self) -> u64;

    /// Cuts the power now, with the given outcome for what is under way; the chooser decides the rest. `false`: nothing
    /// is under way that could end so, and the power stays. [`CutOutcome::Any`] is always possible. Requests in flight
    /// are never answered.
    fn power_cut(&mut self, how: CutOutcome, chooser: &mut dyn Chooser) -> bool;
    /// Starts after a cut. With `cut_after`, power is cut again when so many operations that change the media were done
    /// and one more is under way, whose outcome the chooser decides; a recovery with fewer operations runs to its end.
    fn recover(&mut self, cut_after: Option<u64>, chooser: &mut dyn Chooser) -> Result<RecoveryReport, NotRecovered>;

    /// Handles the next event, with the power cut during an operation that begins and ends within it, as a header that
    /// is written at once does: the one after so many others. `false`: there are no more; the card is spoilt then.
    fn cut_within(&mut self, _after: u64, _chooser: &mut dyn Chooser) -> bool {
        false
    }
    /// A hash of all that a start after this cut depends on, from the same beginnings. `None`: nobody knows.
    fn state_without_power(&self) -> Option<u64> {
        None
    }

    /// Does damage, with or without power. `None`: not applicable now, and nothing was done. Damage never changes what
    /// sectors should read as: another controller that writes leaves each with the contents it had.
    fn inject(&mut self, fault: &FaultSpec) -> Option<Impact>;
    /// Pulls a module, with or without power. `None`: not applicable now.
    fn pull(&mut self, slot: u32) -> Option<Impact>;
    /// Puts a module into a slot, in place of the one that is there. `None`: not applicable now.
    fn insert(&mut self, slot: u32, what: What) -> Option<Impact>;
    /// Without power: the module in slot `i` goes to slot `order[i]`. `false`: not applicable now.
    fn permute(&mut self, order: &[u32]) -> bool;

    /// Begins to look at all that is on the media, while there is power, and to write anew what went bad.
    fn scrub(&mut self);
    /// Slots whose module is missing, or is harmed in a way that stays or is still to come: it or a die of it does not
    /// answer, or a fault that can cost data waits for its operation. While there is power also those whose module the
    /// card says it does not use.
    fn harmed(&self) -> Vec<u32>;

    /// The slot whose module alone is harmed, and no part of which the card could miss.
    fn only_harmed(&self) -> Option<u32> {
        match self.harmed()[..] {
            [slot] => Some(slot),
            _ => None,
        }
    }

    /// The events of the card's write-ahead log, if it has one.
    fn log_met(&self) -> LogMet {
        LogMet::default()
    }

    /// A hash of everything that happened so far: equal runs have equal hashes.
    fn trace(&self) -> u64;
}
