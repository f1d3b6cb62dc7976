//! One life: a script, a plan, a card, to the end.
//!
//! After each recovery every sector is read. When the script is over the faults stop; the card must come to rest within
//! its bounds, every sector is read, power is cut once more, and every sector is read again.
//!
//! One fault that uses the redundancy strikes at a time. The next one waits until the first was lived with for a while
//! and then mended (`mend`), as an operator would. Where more strike nevertheless, which are those that a plan has
//! for a rebuild, and all of a life *beyond the redundancy*, nothing is promised but honesty.

mod case;
mod mend;
mod power;
mod record;
mod runner;

pub use case::Case;
pub use record::{Fired, Life};

use crate::sim::bench::guarded;
use crate::sim::{Coverage, LogMet, Met, Subject};
use runner::Runner;

/// Runs a life.
pub fn run<S: Subject>(subject: S, case: &Case) -> Life {
    let mut runner = Runner::new(subject, case);
    let end = runner.live();
    runner.life(end)
}

/// Runs a life; hands back the card as it was left.
pub fn run_and_keep<S: Subject + Clone>(subject: S, case: &Case) -> (Life, S) {
    let mut runner = Runner::new(subject, case);
    let end = runner.live();
    let subject = runner.bench.subject.clone();
    (runner.life(end), subject)
}

/// Builds a card and runs a life; a panic is a failure of the life. The process's panic hook still prints it.
pub fn run_guarded<S: Subject>(build: impl FnOnce() -> S, case: &Case) -> Life {
    guarded(|| run(build(), case)).unwrap_or_else(|failure| Life {
        trace: 0,
        failure: Some(failure),
        halted: None,
        fired: Vec::new(),
        coverage: Coverage::default(),
        asks: crate::sim::host::asks(&case.steps),
        power_cuts: 0,
        nested_cuts: 0,
        mends: 0,
        rest_ns: 0,
        sectors_read: 0,
        met: Met::default(),
        log: LogMet::default(),
    })
}
