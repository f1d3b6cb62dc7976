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
