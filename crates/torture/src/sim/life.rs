//! One life: a script, a plan, a card, to the end.
//!
//! After each recovery every sector is read. When the script is over the faults stop; the card must come to rest within
//! its bounds, every sector is read, power is cut once more, and every sector is read again.
//!
//! One fault that uses the redundancy strikes at a time. The next one waits until the first was lived with for a while
//! and then mended (`mend`), as an operator would. Where more strike nevertheless, which are those that a plan has
//! for a rebuild, and all of a life *beyond the redundancy*, nothing is promised but honesty.

mod mend;
mod power;
mod runner;

use crate::sim::{Activity, Bounds, Coverage, Failure, HostStep, Met, Plan, Refusal, Subject};
use runner::Runner;
use serde::{Deserialize, Serialize};

/// Everything that a life depends on, besides the card's code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The card is built from it.
    pub seed: u64,
    /// What the host does.
    pub steps: Vec<HostStep>,
    /// Which faults happen.
    pub plan: Plan,
    /// What the card may take.
    pub bounds: Bounds,
    /// Clients that share the card; 0 for one that asks for nothing but whole sectors.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clients: u32,
    /// Faults pile up, whatever the redundancy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beyond: bool,
}

fn is_zero(clients: &u32) -> bool {
    *clients == 0
}

/// A fault that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// Its place in the plan.
    pub event: usize,
    /// Requests submitted before.
    pub asks: u32,
    /// Operations that changed the media, begun before.
    pub media_ops: u64,
    /// What the card did.
    pub activity: Activity,
}

/// What became of a life.
#[derive(Clone, Debug)]
pub struct Life {
    /// A hash of everything that happened: the same case has the same.
    pub trace: u64,
    /// `None`: the contract held.
    pub failure: Option<Failure>,
    /// The card refused to start, and the plan says that it may.
    pub halted: Option<Refusal>,
    /// Faults that happened, in their order.
    pub fired: Vec<Fired>,
    /// The same, counted by what the card did.
    pub coverage: Coverage,
    /// Requests submitted.
    pub asks: u32,
    /// Power cuts, those in recoveries too.
    pub power_cuts: u32,
    /// Those in recoveries.
    pub nested_cuts: u32,
    /// Times that the redundancy was restored, so that the next fault could use it.
    pub mends: u32,
    /// Longest virtual time from the last answer to rest.
    pub rest_ns: u64,
    /// Sectors whose contents were checked.
    pub sectors_read: u64,
    /// What clients that share the card met.
    pub met: Met,
}

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
    // Nothing of what a panic leaves half done is used again.
    let run = std::panic::AssertUnwindSafe(|| run(build(), case));
    std::panic::catch_unwind(run).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        Life {
            trace: 0,
            failure: Some(Failure::Panicked { message: text.into() }),
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
        }
    })
}
