//! Canaries: bugs that a test plants, one at a time, to see that the proof finds them.
//!
//! Without the feature `canaries` none can be planted, and the compiler removes every query.

/// A bug that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Canary {
    /// A flush is acknowledged before the writes that it covers are durable.
    FlushSkipped,
    /// A FUA write is acknowledged like any other write.
    FuaIgnored,
    /// The buffer of a card with capacitors is not put on flash when power fails.
    CapacitorsEmpty,
    /// A stripe counts as durable when its first unit is on flash.
    StripeBelievedEarly,
    /// Recovery takes the oldest copy of a sector for the newest.
    VersionIgnored,
    /// Bands that are opened after a start get numbers of the epoch before.
    EpochNotRaised,
    /// Recovery trusts a module that was away, and believes the first opening of a band that it comes upon. Either
    /// alone does no harm: stripes of which a stale module has another opening are not whole, and are moved.
    StaleTrusted,
    /// Among equal copies, recovery takes the one in the band that was opened first, whether its stripe is whole or
    /// not.
    EarlierCopyBelieved,
    /// A band is erased before the sectors moved out of it are durable.
    EraseBeforeRelocation,
    /// A band is erased before the writes that made its sectors stale are durable.
    EraseBeforeOverwrite,
    /// A band is erased before the trims that emptied it are durable.
    EraseBeforeTrims,
    /// The list of holes is not written.
    TrimForgotten,
    /// A list of holes leaves out a hole because of a write to it that is not durable yet.
    HolesTooSoon,
    /// Parity is written without the last unit.
    ParityWrong,
    /// The checksum of a sector that was read is not compared.
    ChecksumIgnored,
    /// The checksum of a sector that was read past its die is not compared with the map's.
    MapChecksumIgnored,
    /// A write leaves the checksum in the map as it was.
    ChecksumOfMapStale,
    /// A sector that was read ahead is given out though it was written since.
    ReadAheadStale,
    /// The place in the spare area of a sector that was read is not compared.
    PlaceIgnored,
    /// Sectors that recovery finds in stripes that are not whole are left there.
    TornBelieved,
    /// Sectors that can't be read count as never written.
    DoubtsDropped,
    /// The other modules are not told when a module is lost. Recovery also does not tell earlier openings of a band
    /// from later ones, which would make up for it.
    GenerationNotRaised,
    /// A module that fails is given up although the card can't be opened without it.
    NeededModuleGivenUp,
    /// A generation is written to one copy of each header only.
    OneHeaderCopy,
    /// A rebuild ends after its first block.
    RebuildDoneEarly,
    /// A start believes how far a rebuild was, whichever module that was said of.
    RebuiltOfAnother,
    /// The sectors of a failed program are not written elsewhere.
    FailedProgramIgnored,
    /// Bands that recovery finds empty are used without another erase.
    FreeBandsNotErased,
    /// A stripe counts as durable while a later one can spoil its cells.
    SharedCellsIgnored,
    /// A checkpoint is complete before everything that it points to is durable.
    CheckpointTooSoon,
    /// Recovery believes the checkpoint about a band that was opened again since.
    CheckpointBandsNotCompared,
    /// A checkpoint takes in changes that were made to the map after it was begun, and recovery does not notice if an
    /// address in the checkpoint's map holds nothing.
    ChangesNotKept,
    /// After a start, no lists are written of the holes that only the checkpoint knows.
    HolesOfCheckpointForgotten,
    /// Recovery believes the checkpoint about bands out of which sectors were moved since.
    DoubtfulBandsBelieved,
    /// A module that comes while the card runs is believed without a rebuild.
    ModuleBelieved,
    /// A module that comes back is taken as it went, whatever its header says.
    ReturnedAsItWent,
    /// A sector of the log is replayed over a newer version.
    LogOverNewer,
    /// A sector of the log is replayed over a checkpoint that knew of it.
    LogOverCheckpoint,
    /// Recovery does not compare the checksum of a record of the log.
    LogTornBelieved,
    /// Recovery believes the log of a module that was away, and records from before the last start.
    LogOfStaleModule,
    /// A record of the log is overwritten before its sectors are durable in stripes.
    LogReleasedEarly,
    /// A flush is answered when its record lies on one module.
    LogOnOneModule,
    /// A record of the log leaves out sectors that were trimmed before it was written.
    LogWithoutTrimmed,
    /// The log is written after a start before what it held is durable in stripes.
    LogReusedBeforeReplay,
}

impl Canary {
    /// Every canary, in the order of declaration.
    pub const ALL: [Canary; 44] = [
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
        Canary::MapChecksumIgnored,
        Canary::ChecksumOfMapStale,
        Canary::ReadAheadStale,
        Canary::PlaceIgnored,
        Canary::TornBelieved,
        Canary::DoubtsDropped,
        Canary::GenerationNotRaised,
        Canary::NeededModuleGivenUp,
        Canary::OneHeaderCopy,
        Canary::RebuildDoneEarly,
        Canary::RebuiltOfAnother,
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
        Canary::LogOverNewer,
        Canary::LogOverCheckpoint,
        Canary::LogTornBelieved,
        Canary::LogOfStaleModule,
        Canary::LogReleasedEarly,
        Canary::LogOnOneModule,
        Canary::LogWithoutTrimmed,
        Canary::LogReusedBeforeReplay,
    ];

    /// The name of the canary, for people.
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
            Canary::MapChecksumIgnored => "map's checksum ignored",
            Canary::ChecksumOfMapStale => "map's checksum stale",
            Canary::ReadAheadStale => "stale read-ahead given out",
            Canary::PlaceIgnored => "place ignored",
            Canary::TornBelieved => "torn stripe believed",
            Canary::DoubtsDropped => "doubts dropped",
            Canary::GenerationNotRaised => "generation not raised",
            Canary::NeededModuleGivenUp => "needed module given up",
            Canary::OneHeaderCopy => "one header copy",
            Canary::RebuildDoneEarly => "rebuild done early",
            Canary::RebuiltOfAnother => "rebuilt part of another module believed",
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
            Canary::LogOverNewer => "log replayed over a newer version",
            Canary::LogOverCheckpoint => "log over checkpoint",
            Canary::LogTornBelieved => "torn record of the log believed",
            Canary::LogOfStaleModule => "log of a stale module believed",
            Canary::LogReleasedEarly => "log released early",
            Canary::LogOnOneModule => "log on one module",
            Canary::LogWithoutTrimmed => "log without what is trimmed",
            Canary::LogReusedBeforeReplay => "log used again before it is replayed",
        }
    }
}

#[cfg(feature = "canaries")]
thread_local! {
    /// The canary of this thread. Each simulated life runs on its own thread, so canaries do not disturb each other.
    static PLANTED: std::cell::Cell<Option<Canary>> = std::cell::Cell::new(of_the_environment());
}

/// The bug that `FLASHRIG_CANARY` names is planted in every thread: for programs of several processes.
#[cfg(feature = "canaries")]
fn of_the_environment() -> Option<Canary> {
    let named = std::env::var("FLASHRIG_CANARY").ok()?;
    Canary::ALL.into_iter().find(|canary| canary.name() == named)
}

/// Plants a bug in all cards that this thread drives, or none.
#[cfg(feature = "canaries")]
pub fn plant(canary: Option<Canary>) {
    PLANTED.set(canary);
}

/// Whether a planted bug makes earlier openings of a band count like later ones.
pub(crate) fn ignores_sequences() -> bool {
    planted(Canary::StaleTrusted) || planted(Canary::GenerationNotRaised)
}

/// Whether a bug is planted.
#[cfg(feature = "canaries")]
pub fn planted(canary: Canary) -> bool {
    PLANTED.get() == Some(canary)
}

/// Whether a bug is planted. Without the feature, none is.
#[cfg(not(feature = "canaries"))]
#[inline(always)]
pub const fn planted(_: Canary) -> bool {
    false
}
