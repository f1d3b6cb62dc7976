//! Injects faults into emulated flash.

use crate::chunk::Cells;
use crate::fault::{Armed, Fault, HostFault, HostTrouble, Lasts, Part};
use crate::flash::Flash;
use crate::hash::{hash, purpose};
use crate::module::{Header, Module};
use crate::place::{BlockAt, UnitAt};
use format::SPARE_BYTES;

impl Flash {
    /// Injects a fault, with or without power. `false` if it has no effect: there is no module in the slot, nothing is
    /// programmed where bytes were to be damaged, or the count is 0.
    ///
    /// # Panics
    /// If the medium does not have the place of the fault.
    pub fn inject(&mut self, fault: Fault) -> bool {
        let from = |after: u64| self.calls.saturating_add(after);
        let lasts = |for_ever| if for_ever { Lasts::ForEver } else { Lasts::Once };
        let host = match fault {
            Fault::HostError { module, after, for_ever } => Some((module, after, HostTrouble::Error, lasts(for_ever))),
            Fault::NoSpace { module, after, for_ever } => Some((module, after, HostTrouble::NoSpace, lasts(for_ever))),
            Fault::ShortIo { module, after, for_ever } => Some((module, after, HostTrouble::Short, lasts(for_ever))),
            Fault::OutOfReach { module, after } => {
                Some((Some(module), after, HostTrouble::Error, Lasts::UntilWithinReach))
            }
            _ => None,
        };
        if let Some((module, after, trouble, lasts)) = host {
            assert!(module.is_none_or(|slot| slot < self.shape.modules), "illegal address: {fault:?}");
            self.host_faults.push(HostFault { module, from: from(after), trouble, lasts });
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
                    // A wrong codeword differs in many places. Changing neighbouring bytes, none by 0, makes a
                    // difference surely.
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
            Fault::DamageLog { byte, xor, .. } => {
                if byte as usize >= slot.live.log.len() {
                    return false;
                }
                slot.physical(|module| std::sync::Arc::make_mut(&mut module.log)[byte as usize] ^= xor);
            }
            Fault::LoseHeader { copy, .. } => {
                slot.physical(|module| module.headers[copy as usize] = Header::Unreadable);
            }
            Fault::FailPrograms { .. } | Fault::FailErases { .. } => return false,
            _ => unreachable!("host and armed faults are done with: {fault:?}"),
        }
        true
    }

    /// Ends [`Fault::ModuleStuck`] of a module.
    pub fn unstick(&mut self, module: u32) {
        if let Some(slot) = &mut self.slots[module as usize] {
            slot.physical(|module| module.stuck = false);
        }
    }

    /// Ends [`Fault::OutOfReach`] of all modules. `false`: none has begun, nor will.
    pub fn come_within_reach(&mut self) -> bool {
        let before = self.host_faults.len();
        self.host_faults.retain(|fault| fault.lasts != Lasts::UntilWithinReach);
        self.host_faults.len() < before
    }

    /// Whether the file or drive of one module is to fail for ever, from some operation on.
    pub fn host_fails_for_ever(&self, module: u32) -> bool {
        self.host_faults.iter().any(|fault| fault.lasts == Lasts::ForEver && fault.module == Some(module))
    }

    /// Removes all faults that still wait for their operation.
    pub fn disarm(&mut self) {
        self.host_faults.clear();
        for slot in self.slots.iter_mut().flatten().filter(|slot| !slot.live.armed.is_empty()) {
            slot.live_mut().armed.clear();
        }
    }

    /// Counts a sync, and returns the failure that the host causes. Faults that happen once don't hit syncs: a failed
    /// sync concerns the operations before it, and has a fault of its own.
    pub(crate) fn sync_trouble(&mut self, module: u32) -> Option<HostTrouble> {
        let call = self.calls;
        self.calls += 1;
        let hits = |fault: &&HostFault| {
            fault.lasts != Lasts::Once
                && fault.from <= call
                && fault.module.is_none_or(|of| of == module)
                && fault.trouble != HostTrouble::NoSpace
        };
        self.host_faults.iter().find(hits).map(|fault| fault.trouble)
    }

    /// Counts an operation, and returns the failure that the host causes.
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
                && (changes || fault.trouble != HostTrouble::NoSpace)
        };
        let index = self.host_faults.iter().position(hits)?;
        let fault = self.host_faults[index];
        if fault.lasts == Lasts::Once {
            self.host_faults.remove(index);
        }
        Some(fault.trouble)
    }
}

impl Module {
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
