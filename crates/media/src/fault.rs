//! What can go wrong, as data.
//!
//! A fault happens at once ([`Fault::FlipBits`]) or waits for its operation ([`Fault::LoseProgram`]). Waiting faults of
//! dies and modules travel with the module; those of a host that holds all modules stay, and those of a file or drive
//! that holds one module end when it is pulled.

use crate::chunk::Cells;
use crate::hash::{hash, purpose};
use crate::{BlockAt, Flash, SPARE_BYTES, UnitAt};

/// Which bytes of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The payload.
    Payload,
    /// The spare area.
    Spare,
}

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A die answers nothing any more.
    DieDead {
        /// Slot of its module.
        module: u32,
        /// Its place in the module.
        die: u32,
    },
    /// A module answers nothing any more.
    ModuleDead {
        /// Its slot.
        module: u32,
    },
    /// A module does not answer in time, until [`Flash::unstick`] or [`Flash::power_on`].
    ModuleStuck {
        /// Its slot.
        module: u32,
    },
    /// A module takes longer for everything.
    ModuleSlow {
        /// Its slot.
        module: u32,
        /// Its times in percent of what they should be.
        percent: u32,
    },
    /// The next programs fail.
    FailPrograms {
        /// Slot of the module.
        module: u32,
        /// The die.
        die: u32,
        /// Only of this block.
        block: Option<u32>,
        /// How many of them.
        count: u32,
    },
    /// The next erases fail.
    FailErases {
        /// Slot of the module.
        module: u32,
        /// The die.
        die: u32,
        /// Only of this block.
        block: Option<u32>,
        /// How many of them.
        count: u32,
    },
    /// Bits of a sector are wrong until its block is erased. They add up with what wear does.
    FlipBits {
        /// The unit.
        at: UnitAt,
        /// The sector.
        sector: u32,
        /// Further wrong bits.
        bits: u16,
    },
    /// A sector reads as good, and some of its bytes are wrong.
    Miscorrect {
        /// The unit.
        at: UnitAt,
        /// The sector.
        sector: u32,
        /// Which of its bytes.
        part: Part,
    },
    /// One byte of a sector is wrong, and error correction does not notice.
    DamageByte {
        /// The unit.
        at: UnitAt,
        /// The sector.
        sector: u32,
        /// Where: the spare area first, then the payload.
        byte: u32,
        /// What it is changed by (exclusive or); 0 changes nothing.
        xor: u8,
    },
    /// One byte of a header copy is wrong.
    DamageHeader {
        /// Slot of the module.
        module: u32,
        /// The copy.
        copy: u32,
        /// Where.
        byte: u32,
        /// What it is changed by (exclusive or); 0 changes nothing.
        xor: u8,
    },
    /// A header copy can't be read until it is written again.
    LoseHeader {
        /// Slot of the module.
        module: u32,
        /// The copy.
        copy: u32,
    },
    /// The next program of a die is reported as done, and nothing is programmed.
    LoseProgram {
        /// Slot of the module.
        module: u32,
        /// The die.
        die: u32,
    },
    /// The next program of a die lands at another place of the die. Nothing is at its own.
    MisdirectProgram {
        /// Slot of the module.
        module: u32,
        /// The die.
        die: u32,
        /// Block in which it lands.
        to_block: u32,
        /// Row at which it lands.
        to_row: u32,
    },
    /// The next program of a die lands at its own place and at another of the die.
    DuplicateProgram {
        /// Slot of the module.
        module: u32,
        /// The die.
        die: u32,
        /// Block in which it lands too.
        to_block: u32,
        /// Row at which it lands too.
        to_row: u32,
    },
    /// The file or drive that holds the medium, or one module of it, fails.
    HostError {
        /// Slot of the module that it holds; `None`: it holds all of them.
        module: Option<u32>,
        /// Operations, reads among them, that still work.
        after: u64,
        /// For ever, or once.
        for_ever: bool,
    },
    /// What holds the medium has no room for a program, an erase or a header.
    NoSpace {
        /// As in [`Fault::HostError`].
        module: Option<u32>,
        /// Operations, reads among them, that still work.
        after: u64,
        /// For ever, or once.
        for_ever: bool,
    },
    /// Only a part of an operation reaches the medium, and the host reports an error: half of a unit's sectors, half
    /// of an erase, half of a header. A read only fails.
    ShortIo {
        /// As in [`Fault::HostError`].
        module: Option<u32>,
        /// Operations, reads among them, that still work.
        after: u64,
        /// For ever, or once.
        for_ever: bool,
    },
    /// The next sync of a module fails.
    FailSync {
        /// Its slot.
        module: u32,
        /// What was to be synced will not survive a power cut even if a later sync works, as when a file system drops
        /// the pages that it could not write.
        drops: bool,
        /// And all syncs after it.
        for_ever: bool,
    },
}

/// A fault that waits for an operation of its module.
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
    /// Slot of the module that it can hit; `None`: any.
    pub module: Option<u32>,
    /// Number of the first operation that it can hit.
    pub from: u64,
    pub what: HostTrouble,
    pub for_ever: bool,
}

/// What the host does to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostTrouble {
    Error,
    NoSpace,
    Short,
}

impl Fault {
    /// Its name, for counting what a plan contains.
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
            Fault::LoseHeader { .. } => "lose-header",
            Fault::LoseProgram { .. } => "lose-program",
            Fault::MisdirectProgram { .. } => "misdirect-program",
            Fault::DuplicateProgram { .. } => "duplicate-program",
            Fault::HostError { .. } => "host-error",
            Fault::NoSpace { .. } => "no-space",
            Fault::ShortIo { .. } => "short-io",
            Fault::FailSync { .. } => "fail-sync",
        }
    }

    /// The module that it concerns; `None` for faults of a host that holds all of them.
    pub fn module(&self) -> Option<u32> {
        match *self {
            Fault::DieDead { module, .. }
            | Fault::ModuleDead { module }
            | Fault::ModuleStuck { module }
            | Fault::ModuleSlow { module, .. }
            | Fault::FailPrograms { module, .. }
            | Fault::FailErases { module, .. }
            | Fault::DamageHeader { module, .. }
            | Fault::LoseHeader { module, .. }
            | Fault::LoseProgram { module, .. }
            | Fault::MisdirectProgram { module, .. }
            | Fault::DuplicateProgram { module, .. }
            | Fault::FailSync { module, .. } => Some(module),
            Fault::FlipBits { at, .. } | Fault::Miscorrect { at, .. } | Fault::DamageByte { at, .. } => {
                Some(at.block.module)
            }
            Fault::HostError { module, .. } | Fault::NoSpace { module, .. } | Fault::ShortIo { module, .. } => module,
        }
    }

    /// What waits for an operation of the module, if it is such a fault.
    fn armed(&self) -> Option<Armed> {
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

impl Flash {
    /// Makes something go wrong, with or without power. False when nothing can go wrong: no module in the slot, nothing
    /// programmed where bytes were to be damaged, a count of 0.
    ///
    /// # Panics
    /// When it is about a place that the medium does not have.
    pub fn inject(&mut self, fault: Fault) -> bool {
        let from = |after: u64| self.calls.saturating_add(after);
        let host = match fault {
            Fault::HostError { module, after, for_ever } => Some((module, after, HostTrouble::Error, for_ever)),
            Fault::NoSpace { module, after, for_ever } => Some((module, after, HostTrouble::NoSpace, for_ever)),
            Fault::ShortIo { module, after, for_ever } => Some((module, after, HostTrouble::Short, for_ever)),
            _ => None,
        };
        if let Some((module, after, what, for_ever)) = host {
            assert!(module.is_none_or(|slot| slot < self.shape.modules), "illegal address: {fault:?}");
            self.host_faults.push(HostFault { module, from: from(after), what, for_ever });
            return true;
        }
        let Some(slot) = fault.module() else { return false };
        assert!(slot < self.shape.modules, "illegal address: {fault:?} of {:?}", self.shape);
        let Some(slot) = &mut self.slots[slot as usize] else { return false };
        if let Some(armed) = fault.armed() {
            slot.live_mut().arm(armed);
            return true;
        }
        match fault {
            Fault::DieDead { die, .. } => slot.physical(|module| {
                module.index(die, 0);
                if !module.dead_dies.contains(&die) {
                    module.dead_dies.push(die);
                    module.dead_dies.sort_unstable();
                }
            }),
            Fault::ModuleDead { .. } => slot.physical(|module| module.dead = true),
            Fault::ModuleStuck { .. } => slot.physical(|module| module.stuck = true),
            Fault::ModuleSlow { percent, .. } => slot.physical(|module| module.slow_percent = percent),
            Fault::FlipBits { at: UnitAt { block: BlockAt { die, block, .. }, row }, sector, bits } => {
                slot.physical(|module| {
                    let (chunk, at) = module.sector_mut(die, block, row, sector);
                    chunk.sectors[at].flips = chunk.sectors[at].flips.saturating_add(bits);
                });
            }
            Fault::Miscorrect { at, sector, part } => {
                let BlockAt { die, block, .. } = at.block;
                if slot.live.cells(die, block, at.row, sector) != Cells::Programmed {
                    return false;
                }
                slot.physical(|module| {
                    let words = [u64::from(die), u64::from(block), u64::from(at.row), u64::from(sector)];
                    let luck = hash(&[module.serial, purpose::WRONG_BYTES, words[0], words[1], words[2], words[3]]);
                    let (chunk, at) = module.sector_mut(die, block, at.row, sector);
                    let bytes = match part {
                        Part::Payload => chunk.contents.payload_mut(at),
                        Part::Spare => chunk.contents.spare_mut(at),
                    };
                    // A wrong codeword differs in many places. Neighbouring bytes, never changed by 0, differ surely.
                    let first = (luck % bytes.len() as u64) as usize;
                    for (step, change) in luck.to_le_bytes().into_iter().enumerate().take(bytes.len()) {
                        bytes[(first + step) % bytes.len()] ^= change | 1;
                    }
                });
            }
            Fault::DamageByte { at, sector, byte, xor } => {
                let BlockAt { die, block, .. } = at.block;
                if slot.live.cells(die, block, at.row, sector) != Cells::Programmed {
                    return false;
                }
                slot.physical(|module| {
                    let (chunk, at) = module.sector_mut(die, block, at.row, sector);
                    match (byte as usize).checked_sub(SPARE_BYTES) {
                        None => chunk.contents.spare_mut(at)[byte as usize] ^= xor,
                        Some(byte) => chunk.contents.payload_mut(at)[byte] ^= xor,
                    }
                });
            }
            Fault::DamageHeader { copy, byte, xor, .. } => {
                let Some(mut bytes) = slot.live.header(copy).map(<[u8]>::to_vec) else { return false };
                bytes[byte as usize] ^= xor;
                slot.physical(|module| module.set_header(copy, &bytes));
            }
            Fault::LoseHeader { copy, .. } => {
                slot.physical(|module| module.headers[copy as usize] = crate::module::Header::Unreadable);
            }
            Fault::FailPrograms { .. } | Fault::FailErases { .. } => return false,
            _ => unreachable!("host and armed faults are done with: {fault:?}"),
        }
        true
    }

    /// Ends [`Fault::ModuleStuck`].
    pub fn unstick(&mut self, module: u32) {
        if let Some(slot) = &mut self.slots[module as usize] {
            slot.physical(|module| module.stuck = false);
        }
    }

    /// Whether what holds a module, and no other, fails from some time on whenever it is asked.
    pub fn host_fails_for_ever(&self, module: u32) -> bool {
        self.host_faults.iter().any(|fault| fault.for_ever && fault.module == Some(module))
    }

    /// Removes all faults that still wait for their operation.
    pub fn disarm(&mut self) {
        self.host_faults.clear();
        for slot in self.slots.iter_mut().flatten().filter(|slot| !slot.live.armed.is_empty()) {
            slot.live_mut().armed.clear();
        }
    }

    /// What the host does to a sync, which is counted. What happens once happens to another operation: a sync that fails
    /// says something of those before it, and has a fault of its own.
    pub(crate) fn sync_trouble(&mut self, module: u32) -> Option<HostTrouble> {
        let call = self.calls;
        self.calls += 1;
        let hits = |fault: &&HostFault| {
            fault.for_ever
                && fault.from <= call
                && fault.module.is_none_or(|of| of == module)
                && fault.what != HostTrouble::NoSpace
        };
        self.host_faults.iter().find(hits).map(|fault| fault.what)
    }

    /// What the host does to this operation, which is counted.
    #[inline]
    pub(crate) fn host_trouble(&mut self, module: u32, changes: bool) -> Option<HostTrouble> {
        let call = self.calls;
        self.calls += 1;
        if self.host_faults.is_empty() {
            return None;
        }
        let hits = |fault: &HostFault| {
            fault.from <= call
                && fault.module.is_none_or(|of| of == module)
                && (changes || fault.what != HostTrouble::NoSpace)
        };
        let index = self.host_faults.iter().position(hits)?;
        let fault = self.host_faults[index];
        if !fault.for_ever {
            self.host_faults.remove(index);
        }
        Some(fault.what)
    }
}

impl crate::Module {
    fn arm(&mut self, armed: Armed) {
        match armed {
            Armed::FailPrograms { die, block, .. } | Armed::FailErases { die, block, .. } => {
                self.index(die, block.unwrap_or(0));
            }
            Armed::Lose { die } => {
                self.index(die, 0);
            }
            Armed::Misdirect { die, to_block, to_row } | Armed::Duplicate { die, to_block, to_row } => {
                self.index(die, to_block);
                assert!(to_row < self.shape.rows_per_block, "illegal address: {armed:?} of {:?}", self.shape);
            }
            Armed::FailSync { .. } => {}
        }
        self.armed.push(armed);
    }

    /// Takes the first armed fault that an operation meets.
    pub(crate) fn take_armed(&mut self, meets: impl Fn(&Armed) -> bool) -> Option<Armed> {
        let index = self.armed.iter().position(meets)?;
        match &mut self.armed[index] {
            Armed::FailPrograms { count, .. } | Armed::FailErases { count, .. } if *count > 1 => {
                *count -= 1;
                Some(self.armed[index])
            }
            Armed::FailSync { for_ever: true, .. } => Some(self.armed[index]),
            _ => Some(self.armed.remove(index)),
        }
    }
}
