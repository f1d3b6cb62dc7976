//! Bugs to be planted, one at a time, to see that the tests of this crate find them.
//!
//! Without the feature `canaries` none can be, and the compiler removes every question.

/// A bug that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Canary {
    /// A unit that was synced and is not there any more counts as one that was never programmed.
    FallenIgnored,
    /// A start keeps no spare area that it has read, and reads those of a band's first row each time it asks for them.
    SparesReadAgain,
}

impl Canary {
    /// All of them.
    pub const ALL: [Canary; 2] = [Canary::FallenIgnored, Canary::SparesReadAgain];

    /// The bug's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Canary::FallenIgnored => "units that have fallen ignored",
            Canary::SparesReadAgain => "spare areas read again",
        }
    }
}

#[cfg(feature = "canaries")]
thread_local! {
    /// Tests run on threads of their own: what one has does not concern the others.
    static PLANTED: std::cell::Cell<Option<Canary>> = const { std::cell::Cell::new(None) };
}

/// Plants a bug in all files that this thread opens, or none.
#[cfg(feature = "canaries")]
pub fn plant(canary: Option<Canary>) {
    PLANTED.set(canary);
}

/// Whether a bug is planted.
#[cfg(feature = "canaries")]
pub(crate) fn planted(canary: Canary) -> bool {
    PLANTED.get() == Some(canary)
}

/// Whether a bug is planted: none is.
#[cfg(not(feature = "canaries"))]
#[inline(always)]
pub(crate) const fn planted(_: Canary) -> bool {
    false
}
