//! Telling a person how far long work is.

/// Receives progress. Called from the thread that works; must be cheap.
pub trait Progress: Sync {
    /// A piece of work begins: its name and size in some unit.
    fn begin(&self, phase: &str, total: u64);
    /// Tells that `done` units of it are done.
    fn at(&self, done: u64);
    /// Names the present step, where one piece of work is made of many.
    fn step(&self, _what: &str) {}
    /// The person asked to stop; what was measured so far is still wanted.
    fn cancelled(&self) -> bool {
        false
    }
}

/// A listener that ignores progress.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: u64) {}
    fn at(&self, _: u64) {}
}

/// Passes on only the wish to stop: for work that is one of several at once, or too short to show progress within it.
pub struct OnlyCancel<'a>(pub &'a dyn Progress);

impl Progress for OnlyCancel<'_> {
    fn begin(&self, _: &str, _: u64) {}
    fn at(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
