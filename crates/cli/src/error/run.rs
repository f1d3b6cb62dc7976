//! Errors of `flashrig run` and `flashrig record`.

use crate::units::{self, capacity};
use thiserror::Error;

/// A load that can't be run or recorded.
#[derive(Debug, Error)]
pub enum RunFailure {
    /// The options of the load contradict each other.
    #[error(transparent)]
    Load(#[from] load::LoadError),
    /// The run did not come to its end.
    #[error(transparent)]
    Run(#[from] target::RunError),
    /// The model is too small for the load, the card is not.
    #[error(
        "the load needs {}, the card has {} at scale {}: use --scale {} or a smaller load",
        capacity(*.needed_bytes), capacity(*.scaled_bytes), units::scale(*.scale), units::scale(*.try_scale)
    )]
    TooLargeForScale { needed_bytes: u64, scaled_bytes: u64, scale: f64, try_scale: f64 },
    /// The card is too small for the load.
    #[error("the load needs {}, the card has {} at full size", capacity(*.needed_bytes), capacity(*.user_bytes))]
    TooLarge { needed_bytes: u64, user_bytes: u64 },
    /// The trace can't be read.
    #[error("{source}{}", if .source.is_of_a_line() { "; --skip-bad skips and counts such lines" } else { "" })]
    Trace {
        #[from]
        source: load::trace::TraceError,
    },
    /// The requests of the device can't be recorded.
    #[error(transparent)]
    Record(#[from] drive::record::RecordError),
}
