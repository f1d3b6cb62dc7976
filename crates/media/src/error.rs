//! Why an operation of a medium did not work.

/// Why an operation of a medium did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum MediaError {
    /// The program or erase ended with bad status: the block is worn or broken.
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
    /// There is no power.
    #[error("no power")]
    NoPower,
    /// What holds the medium (a file, a drive) failed.
    #[error("the medium's file or drive failed")]
    Host,
    /// What holds the medium has no room left.
    #[error("no room left for the medium's file")]
    NoSpace,
}

/// How often an operation is tried that what holds the medium fails.
const HOST_TRIES: u32 = 4;

/// Tries an operation again when what holds the medium fails: a file or a drive may fail once. For operations that may be
/// repeated, and that nothing else can stand for: reads, headers, claims.
pub fn persist<T>(mut operation: impl FnMut() -> Result<T, MediaError>) -> Result<T, MediaError> {
    for _ in 1..HOST_TRIES {
        match operation() {
            Err(MediaError::Host | MediaError::NoSpace) => {}
            ended => return ended,
        }
    }
    operation()
}
