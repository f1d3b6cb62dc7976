//! What is the method?
//!
//! A review of a device, whatever it is: a plan of states and points, carried out on a [`target::Target`]; judgements and a
//! verdict in words. And the comparison of the models with what others published, point by point.
//!
//! Invariants:
//! - nothing here knows what kind of device it measures, but for how its time passes and whether it can be copied;
//! - the figures of a model's review depend on the card, the host, the scale and the seed, not on how many threads
//!   worked on it.

mod burst;
mod execute;
mod fio_jobs;
mod fitting;
mod health;
mod mix_sweep;
mod options;
mod overlay;
mod parallel;
mod phase;
mod plan;
mod point;
mod resume;
mod setups;
mod timeline;
mod validate;
mod verdict;
mod words;

pub use burst::{burst_report, burst_series};
pub use execute::{Review, Start, review};
pub use fio_jobs::{JobFile, fio_jobs};
pub use health::judge_health;
pub use mix_sweep::{MixTimes, mix_sweep};
pub use options::{Options, PlanError};
pub use overlay::lay_over_published;
pub use parallel::map as on_all_cores;
pub use phase::{Phase, UnknownPhase};
pub use plan::{Plan, Subject, plan};
pub use point::{Bench, PointError};
pub use resume::{Asked, ResumeError, Reviewed, check_resumable};
pub use setups::{Circumstances, circumstances};
pub use validate::{TABLES, ValidateError, tables_of_card, validate, validate_table};
pub use verdict::{Between, Computed, answer_between, database_answer, judge_sync};
