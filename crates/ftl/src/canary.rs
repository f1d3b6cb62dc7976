//! Bugs to be planted, one at a time, to see that the proof finds them.
//!
//! Without the feature `canaries` none can be, and the compiler removes every question.

/// A bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Canary {
    /// A flush is acknowledged before what it covers is durable.
    FlushSkipped,
    /// A FUA write is acknowledged as any other.
    FuaIgnored,
    /// The buffer of a card with capacitors is not put on flash when power fails.
    CapacitorsEmpty,
    /// A stripe counts as durable when its first unit is on flash.
    StripeBelievedEarly,
    /// A start takes the oldest copy of a sector for the newest.
    VersionIgnored,
    /// Bands that are opened after a start have numbers of the epoch before.
    EpochNotRaised,
    /// A module that was away is relied on, and a start believes whichever opening of a band it comes upon first. One of
    /// them alone does no harm: stripes that a stale module has another opening of are not whole, and are moved.
    StaleTrusted,
    /// Of equal copies a start takes the one in the band that was opened first, whole or not.
    EarlierCopyBelieved,
    /// A band is erased before what was moved out of it is durable.
    EraseBeforeRelocation,
    /// A band is erased before what made its sectors stale is durable.
    EraseBeforeOverwrite,
    /// A band is erased before the trims that emptied it are durable.
    EraseBeforeTrims,
    /// The list of holes is not written.
    TrimForgotten,
    /// A list of holes leaves out what was written over a hole and is not durable.
    HolesTooSoon,
    /// Parity is written without the last unit.
    ParityWrong,
    /// The checksum of what was read is not compared.
    ChecksumIgnored,
    /// What was read is not asked where it belongs.
    PlaceIgnored,
    /// What a start finds in stripes that are not whole is left there.
    TornBelieved,
    /// Whatever can't be read counts as never written.
    DoubtsDropped,
    /// The others are not told when a module is lost; nor are earlier openings of a band told from later ones, which would
    /// make up for it.
    GenerationNotRaised,
    /// A generation is written to one copy of each header.
    OneHeaderCopy,
    /// A rebuild ends after its first block.
    RebuildDoneEarly,
    /// What a failed program was to write goes nowhere else.
    FailedProgramIgnored,
    /// Bands that a start finds empty are used without another erase.
    FreeBandsNotErased,
    /// A stripe counts as durable while a later one can spoil its cells.
    SharedCellsIgnored,
    /// A checkpoint is complete before what it points to is durable.
    CheckpointTooSoon,
    /// A start takes what a checkpoint knows of a band for true, whatever was made of the band since.
    CheckpointBandsNotCompared,
    /// What of the map changes while a checkpoint is written stands in it as it is by then, and a start misses nothing that
    /// the checkpoint points to and is not there.
    ChangesNotKept,
    /// A start writes no lists of holes that only the checkpoint tells of.
    HolesOfCheckpointForgotten,
    /// A start believes what a checkpoint knows of bands that something was moved out of since.
    DoubtfulBandsBelieved,
    /// A module that comes while the card is at work is believed without being rebuilt.
    ModuleBelieved,
    /// A module that comes again is taken as it went, whatever its header says.
    ReturnedAsItWent,
}

impl Canary {
    /// All of them.
    pub const ALL: [Canary; 31] = [
        Canary::FlushSkipped,
        Canary::FuaIgnored,
        Canary::CapacitorsEmpty,
        Canary::StripeBelievedEarly,
        Canary::VersionIgnored,
        Canary::EpochNotRaised,
        Canary::StaleTrusted,
        Canary::EarlierCopyBelieved,
        Canary::EraseBeforeRelocation,
        Canary::EraseBeforeOverwrite,
        Canary::EraseBeforeTrims,
        Canary::TrimForgotten,
        Canary::HolesTooSoon,
        Canary::ParityWrong,
        Canary::ChecksumIgnored,
        Canary::PlaceIgnored,
        Canary::TornBelieved,
        Canary::DoubtsDropped,
        Canary::GenerationNotRaised,
        Canary::OneHeaderCopy,
        Canary::RebuildDoneEarly,
        Canary::FailedProgramIgnored,
        Canary::FreeBandsNotErased,
        Canary::SharedCellsIgnored,
        Canary::CheckpointTooSoon,
        Canary::CheckpointBandsNotCompared,
        Canary::ChangesNotKept,
        Canary::HolesOfCheckpointForgotten,
        Canary::DoubtfulBandsBelieved,
        Canary::ModuleBelieved,
        Canary::ReturnedAsItWent,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Canary::FlushSkipped => "flush skipped",
            Canary::FuaIgnored => "FUA ignored",
            Canary::CapacitorsEmpty => "capacitors empty",
            Canary::StripeBelievedEarly => "stripe believed early",
            Canary::VersionIgnored => "version ignored",
            Canary::EpochNotRaised => "epoch not raised",
            Canary::StaleTrusted => "stale module trusted whatever its sequence",
            Canary::EarlierCopyBelieved => "earlier copy believed",
            Canary::EraseBeforeRelocation => "erase before relocation",
            Canary::EraseBeforeOverwrite => "erase before overwrite",
            Canary::EraseBeforeTrims => "erase before trims",
            Canary::TrimForgotten => "trim forgotten",
            Canary::HolesTooSoon => "holes too soon",
            Canary::ParityWrong => "parity wrong",
            Canary::ChecksumIgnored => "checksum ignored",
            Canary::PlaceIgnored => "place ignored",
            Canary::TornBelieved => "torn stripe believed",
            Canary::DoubtsDropped => "doubts dropped",
            Canary::GenerationNotRaised => "generation not raised",
            Canary::OneHeaderCopy => "one header copy",
            Canary::RebuildDoneEarly => "rebuild done early",
            Canary::FailedProgramIgnored => "failed program ignored",
            Canary::FreeBandsNotErased => "free bands not erased",
            Canary::SharedCellsIgnored => "shared cells ignored",
            Canary::CheckpointTooSoon => "checkpoint too soon",
            Canary::CheckpointBandsNotCompared => "checkpoint's bands not compared",
            Canary::ChangesNotKept => "changes not kept",
            Canary::HolesOfCheckpointForgotten => "holes of a checkpoint forgotten",
            Canary::DoubtfulBandsBelieved => "doubtful bands believed",
            Canary::ModuleBelieved => "module believed when it comes",
            Canary::ReturnedAsItWent => "module taken as it went",
        }
    }
}

#[cfg(feature = "canaries")]
thread_local! {
    /// Lives run on threads of their own: what one has does not concern the others.
    static PLANTED: std::cell::Cell<Option<Canary>> = const { std::cell::Cell::new(None) };
}

/// Plants a bug in all cards that this thread drives, or none.
#[cfg(feature = "canaries")]
pub fn plant(canary: Option<Canary>) {
    PLANTED.set(canary);
}

/// Whether earlier openings of a band count as later ones do.
pub(crate) fn ignores_sequences() -> bool {
    planted(Canary::StaleTrusted) || planted(Canary::GenerationNotRaised)
}

/// Whether a bug is planted.
#[cfg(feature = "canaries")]
pub fn planted(canary: Canary) -> bool {
    PLANTED.get() == Some(canary)
}

/// Whether a bug is planted: none is.
#[cfg(not(feature = "canaries"))]
#[inline(always)]
pub const fn planted(_: Canary) -> bool {
    false
}
