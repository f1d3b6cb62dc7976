//! The reasons why an operation of a medium fails.

/// The reason why an operation of a medium failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum MediaError {
    /// The program or erase ended with bad status, because the block is worn or broken.
    #[error("the program or erase failed")]
    Failed,
    /// The die or the module is dead, or did not answer in time.
    #[error("no answer")]
    NoAnswer,
    /// There is no module in the slot.
    #[error("no module in the slot")]
    NoModule,
    /// Another controller has claimed the module since.
    #[error("another controller has claimed the module")]
    Fenced,
    /// The medium has no power.
    #[error("no power")]
    NoPower,
    /// The file or drive that holds the medium failed.
    #[error("the medium's file or drive failed")]
    Host,
    /// The file or drive that holds the medium has no room left.
    #[error("no room left for the medium's file")]
    NoSpace,
}

/// The number of tries of an operation when the file or drive of the medium fails.
const HOST_TRIES: u32 = 4;

/// Tries an operation again when the file or drive of the medium fails, because such a failure may be transient. Use it
/// for operations that may be repeated and that have no substitute: reads, headers, claims.
pub fn persist<T>(mut operation: impl FnMut() -> Result<T, MediaError>) -> Result<T, MediaError> {
    for _ in 1..HOST_TRIES {
        match operation() {
            Err(MediaError::Host | MediaError::NoSpace) => {}
            ended => return ended,
        }
    }
    operation()
}
