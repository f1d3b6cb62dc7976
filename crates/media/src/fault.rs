//! Faults, as data.
//!
//! A fault happens at once ([`Fault::FlipBits`]) or waits for its operation ([`Fault::LoseProgram`]). Waiting faults of
//! dies and modules move with the module. Those of a host that holds all modules stay, and those of a file or drive
//! that holds one module end when the module is pulled.

use crate::place::UnitAt;

/// A part of a sector's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The bytes are in the payload.
    Payload,
    /// The bytes are in the spare area.
    Spare,
}

/// A fault of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the comment of each variant says what its fields are")]
pub enum Fault {
    /// A die answers nothing any more.
    DieDead { module: u32, die: u32 },
    /// A module answers nothing any more.
    ModuleDead { module: u32 },
    /// A module does not answer in time, until [`Flash::unstick`](crate::Flash::unstick) or
    /// [`Flash::power_on`](crate::Flash::power_on).
    ModuleStuck { module: u32 },
    /// A module takes longer for everything.
    ModuleSlow {
        module: u32,
        /// Its times in percent of what they should be.
        percent: u32,
    },
    /// The next `count` programs of a die fail, of one block or of any.
    FailPrograms { module: u32, die: u32, block: Option<u32>, count: u32 },
    /// The next `count` erases of a die fail, of one block or of any.
    FailErases { module: u32, die: u32, block: Option<u32>, count: u32 },
    /// Bits of a sector are wrong until its block is erased, in addition to those that wear makes wrong.
    FlipBits { at: UnitAt, sector: u32, bits: u16 },
    /// A sector reads as good, and some of its bytes are wrong.
    Miscorrect { at: UnitAt, sector: u32, part: Part },
    /// One byte of a sector is wrong, and error correction does not notice.
    DamageByte {
        at: UnitAt,
        sector: u32,
        /// Where: the spare area first, then the payload.
        byte: u32,
        /// The byte is changed by exclusive or with this; 0 changes nothing.
        xor: u8,
    },
    /// One byte of a header copy is wrong.
    DamageHeader {
        module: u32,
        copy: u32,
        byte: u32,
        /// The byte is changed by exclusive or with this; 0 changes nothing.
        xor: u8,
    },
    /// One byte of the log of a module is wrong.
    DamageLog {
        module: u32,
        byte: u32,
        /// The byte is changed by exclusive or with this; 0 changes nothing.
        xor: u8,
    },
    /// A header copy can't be read until it is written again.
    LoseHeader { module: u32, copy: u32 },
    /// The next program of a die is reported as done, and nothing is programmed.
    LoseProgram { module: u32, die: u32 },
    /// The next program of a die lands at another place of the die. Nothing is at its own.
    MisdirectProgram { module: u32, die: u32, to_block: u32, to_row: u32 },
    /// The next program of a die lands at its own place and at another of the die.
    DuplicateProgram { module: u32, die: u32, to_block: u32, to_row: u32 },
    /// The file or drive that holds the medium, or one module of it, fails.
    HostError {
        /// Slot of the module that it holds; `None`: it holds all of them.
        module: Option<u32>,
        /// Operations, reads among them, that still work.
        after: u64,
        for_ever: bool,
    },
    /// The file, drive or shelf that holds a module does not answer until [`crate::Flash::come_within_reach`].
    OutOfReach {
        module: u32,
        /// Operations, reads among them, that still work.
        after: u64,
    },
    /// The file or drive of the medium has no room for a program, an erase or a header.
    NoSpace {
        module: Option<u32>,
        /// Operations, reads among them, that still work.
        after: u64,
        for_ever: bool,
    },
    /// Only a part of an operation reaches the medium, and the host reports an error: half of a unit's sectors, half
    /// of an erase, half of a header. A read only fails.
    ShortIo {
        module: Option<u32>,
        /// Operations, reads among them, that still work.
        after: u64,
        for_ever: bool,
    },
    /// The next sync of a module fails.
    FailSync {
        module: u32,
        /// The unsynced operations will not survive a power cut even if a later sync works, as when a file system
        /// drops the pages that it could not write.
        drops: bool,
        for_ever: bool,
    },
}

/// A fault that waits for its operation on a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Armed {
    FailPrograms { die: u32, block: Option<u32>, count: u32 },
    FailErases { die: u32, block: Option<u32>, count: u32 },
    Lose { die: u32 },
    Misdirect { die: u32, to_block: u32, to_row: u32 },
    Duplicate { die: u32, to_block: u32, to_row: u32 },
    FailSync { drops: bool, for_ever: bool },
}

/// A fault of the host that waits for its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostFault {
    /// The slot of the module that it can hit; `None` for any.
    pub module: Option<u32>,
    /// The number of the first operation that it can hit.
    pub from: u64,
    pub trouble: HostTrouble,
    pub lasts: Lasts,
}

/// How long a fault of the host lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasts {
    Once,
    UntilWithinReach,
    ForEver,
}

/// The kinds of failure that a host can cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostTrouble {
    Error,
    NoSpace,
    Short,
}

impl Fault {
    /// The name of the fault, for counting the faults of a plan.
    pub fn kind(&self) -> &'static str {
        match self {
            Fault::DieDead { .. } => "die-dead",
            Fault::ModuleDead { .. } => "module-dead",
            Fault::ModuleStuck { .. } => "module-stuck",
            Fault::ModuleSlow { .. } => "module-slow",
            Fault::FailPrograms { .. } => "fail-programs",
            Fault::FailErases { .. } => "fail-erases",
            Fault::FlipBits { .. } => "flip-bits",
            Fault::Miscorrect { part: Part::Payload, .. } => "miscorrect-payload",
            Fault::Miscorrect { part: Part::Spare, .. } => "miscorrect-spare",
            Fault::DamageByte { .. } => "damage-byte",
            Fault::DamageHeader { .. } => "damage-header",
            Fault::DamageLog { .. } => "damage-log",
            Fault::LoseHeader { .. } => "lose-header",
            Fault::LoseProgram { .. } => "lose-program",
            Fault::MisdirectProgram { .. } => "misdirect-program",
            Fault::DuplicateProgram { .. } => "duplicate-program",
            Fault::HostError { .. } => "host-error",
            Fault::NoSpace { .. } => "no-space",
            Fault::ShortIo { .. } => "short-io",
            Fault::OutOfReach { .. } => "out-of-reach",
            Fault::FailSync { .. } => "fail-sync",
        }
    }

    /// The slot of the module that the fault concerns; `None` for faults of a host that holds all modules.
    pub fn module(&self) -> Option<u32> {
        match *self {
            Fault::DieDead { module, .. }
            | Fault::ModuleDead { module }
            | Fault::ModuleStuck { module }
            | Fault::ModuleSlow { module, .. }
            | Fault::FailPrograms { module, .. }
            | Fault::FailErases { module, .. }
            | Fault::DamageHeader { module, .. }
            | Fault::DamageLog { module, .. }
            | Fault::LoseHeader { module, .. }
            | Fault::LoseProgram { module, .. }
            | Fault::MisdirectProgram { module, .. }
            | Fault::DuplicateProgram { module, .. }
            | Fault::OutOfReach { module, .. }
            | Fault::FailSync { module, .. } => Some(module),
            Fault::FlipBits { at, .. } | Fault::Miscorrect { at, .. } | Fault::DamageByte { at, .. } => {
                Some(at.block.module)
            }
            Fault::HostError { module, .. } | Fault::NoSpace { module, .. } | Fault::ShortIo { module, .. } => module,
        }
    }

    /// The fault as one that waits for an operation of the module, if it is such a fault.
    pub(crate) fn armed(&self) -> Option<Armed> {
        Some(match *self {
            Fault::FailPrograms { die, block, count, .. } if count > 0 => Armed::FailPrograms { die, block, count },
            Fault::FailErases { die, block, count, .. } if count > 0 => Armed::FailErases { die, block, count },
            Fault::LoseProgram { die, .. } => Armed::Lose { die },
            Fault::MisdirectProgram { die, to_block, to_row, .. } => Armed::Misdirect { die, to_block, to_row },
            Fault::DuplicateProgram { die, to_block, to_row, .. } => Armed::Duplicate { die, to_block, to_row },
            Fault::FailSync { drops, for_ever, .. } => Armed::FailSync { drops, for_ever },
            _ => return None,
        })
    }
}
