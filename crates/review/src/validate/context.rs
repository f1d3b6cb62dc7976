//! The conditions under which the model is compared with a table.

use target::Progress;

/// Context that every comparison needs.
pub(crate) struct Context<'a> {
    pub seed: u64,
    /// Share of the full size; profiles stay at least as large as their garbage collection needs.
    pub scale: f64,
    pub progress: &'a dyn Progress,
}
