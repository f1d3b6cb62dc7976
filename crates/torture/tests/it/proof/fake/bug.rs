//! Ways to be wrong.

/// A mistake that the fake card makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A flush is acknowledged at once.
    FlushIgnored,
    /// A flush waits for the first buffered sector only.
    FlushCoversOne,
    /// FUA is taken for a plain write.
    FuaIgnored,
    /// Recovery takes the first version that it finds, whatever its sequence number.
    SequenceIgnored,
    /// A trim is only known to memory.
    TrimForgotten,
    /// A write-zeroes is only known to memory.
    ZeroesForgotten,
    /// A torn page counts, with parts of the old and the new contents.
    TornTrusted,
    /// Garbage collection relocates the neighbour's contents.
    NeighbourRelocated,
    /// Capacitors don't carry the last buffered sector.
    BufferLost,
    /// Recovery skips what it can't read and takes what was there before.
    ErrorForgotten,
    /// Recovery believes the module with the lowest generation.
    StaleTrusted,
    /// Recovery leaves mirrors different, and reads take turns.
    MirrorsDiffer,
    /// Recovery clears before it copies.
    RecoveryNotRestartable,
    /// Every other recovery takes the last version for unfinished.
    RecoveryNotIdempotent,
    /// A segment is erased before its relocated sectors are on flash.
    ErasedEarly,
    /// Reads don't look into the write buffer.
    BufferNotRead,
    /// Garbage collection never ends.
    NeverRests,
    /// Some requests are never answered.
    AnswerLost,
    /// Some sectors read as errors.
    SpuriousError,
    /// The third recovery refuses.
    SpuriousRefusal,
    /// The last sector of a longer write is not stored.
    ShortWrite,
    /// Wrong bits are handed to the host.
    FlipsBelieved,
    /// A longer trim panics.
    Panics,
    /// A write that failed as a whole takes effect after later ones.
    FailedWriteReturns,
}
