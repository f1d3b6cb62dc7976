//! Who is asked?
//!
//! A modelled device in virtual time: a host with cores drives a load against a card, striped cards or disks. The run
//! preconditions the device to steady state by itself and says how it knew.
//!
//! Invariants:
//! - requests generated = finished + in flight, checked whenever a run pauses;
//! - a device that has work in flight and no event to come has lost a request: the run panics instead of hanging.

mod bursts;
mod cached;
mod error;
#[cfg(test)]
mod fixed;
mod machine;
mod mirrored;
mod model;
mod modelled;
mod placement;
mod port;
mod precondition;
mod progress;
mod raid5;
mod recorder;
mod replay;
mod run;
mod steady;
mod striped;
mod tail;
mod target;
mod zone_check;
mod zoned;

pub use bursts::BurstDevice;
pub use cached::{Cached, Counts, Directory, Instant, WarmUp, warm_cache};
pub use error::RunError;
pub use machine::{Machine, Stop, StopReason};
pub use mirrored::Mirrored;
pub use model::ModelTarget;
pub use modelled::Modelled;
pub use precondition::{Pattern, Preconditioned, precondition};
pub use progress::{OnlyCancel, Progress, Silent};
pub use raid5::{Gone, Raid5};
pub use recorder::Recorder;
pub use replay::{ReplaySpec, TraceSource, replay};
pub use run::{Measure, Prepared, RunSpec, measure, pattern_of, prepare, run, warm};
pub use steady::{SteadyRule, steady_state};
pub use striped::Striped;
pub use target::{BurstSeries, BurstSpec, Clock, Effort, Measurement, State, Target, TargetError};
pub use zone_check::whole_zones;
pub use zoned::Zoned;
