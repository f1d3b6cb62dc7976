//! Errors of `flashrig lifetime`.

use thiserror::Error;

/// A life that can't be simulated.
#[derive(Debug, Error)]
pub enum LifetimeFailure {
    /// The life ended before its time.
    #[error(transparent)]
    Lifetime(#[from] study::lifetime::LifetimeError),
    /// The load wears nothing out.
    #[error("{load} writes nothing, so nothing wears out")]
    NothingIsWritten { load: &'static str },
    /// A life is that of a whole card.
    #[error("card.missing_module has no effect on lives: a missing module would be replaced")]
    MissingModule,
    /// A cache wears by what it holds.
    #[error("a life with cache.of can't be simulated: flashrig run says how a cache wears")]
    Cache,
    /// Zones are reset, and not collected.
    #[error(
        "a life with zones can't be simulated: nothing is collected, so each byte that is written is programmed once"
    )]
    Zones,
    /// A table has fewer columns than reserves are given.
    #[error("{given} reserves are too many: at most {max}")]
    TooManyReserves { given: usize, max: usize },
}
