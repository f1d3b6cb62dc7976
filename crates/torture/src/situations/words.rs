//! The words that situations are written in.

use super::situation::{Past, Situation};
use crate::Kind;
use crate::sim::{Ask, HostStep, Lba};

pub(super) const FLUSH: HostStep = HostStep::Ask(Ask::Flush);

pub(super) const fn write(lba: u32, count: u32) -> HostStep {
    HostStep::Ask(Ask::Write { lba: Lba(lba), count, fua: false })
}

pub(super) const fn fua(lba: u32, count: u32) -> HostStep {
    HostStep::Ask(Ask::Write { lba: Lba(lba), count, fua: true })
}

pub(super) const fn trim(lba: u32, count: u32) -> HostStep {
    HostStep::Ask(Ask::Trim { lba: Lba(lba), count })
}

pub(super) const fn zero(lba: u32, count: u32) -> HostStep {
    HostStep::Ask(Ask::WriteZeroes { lba: Lba(lba), count, fua: false })
}

pub(super) const fn zero_fua(lba: u32, count: u32) -> HostStep {
    HostStep::Ask(Ask::WriteZeroes { lba: Lba(lba), count, fua: true })
}

pub(super) const fn read(lba: u32, count: u32) -> HostStep {
    HostStep::Ask(Ask::Read { lba: Lba(lba), count })
}

/// A situation for all kinds of cards.
pub(super) const fn of(
    name: &'static str,
    because: &'static str,
    past: &'static [Past],
    script: &'static [HostStep],
    steps_after: u32,
) -> Situation {
    Situation { name, because, kinds: &Kind::ON_FLASH, past, script, steps_after }
}
