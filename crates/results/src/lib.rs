//! What was measured?
//!
//! The result of a run as JSON. Keys of `read`, `write` and `sync` are fio's. Knows nothing of how it was obtained.

mod answer;
mod bend;
mod burst;
mod cache;
mod comparison;
mod database;
mod health;
mod histogram;
mod latency;
mod lifetime;
mod machine;
mod review;
mod run;
mod sync;
mod thermal;
mod trace;
mod whatif;
pub mod words;

pub use answer::{Action, Answer, Ground, KeyFigure, Twin};
pub use bend::bend;
pub use burst::{Burst, BurstReport, BurstRow, Cliff, Pace};
pub use cache::{CacheReport, CacheWarmUp};
pub use comparison::{Comparison, ComparisonPoint, Published};
pub use database::{
    CommitPoint, CrashCycle, DatabaseActivity, DatabaseCommit, DatabaseCrash, DatabaseMix, DatabaseMixPoint,
    DatabaseOltp, DatabaseOltpPoint, DatabaseReport, DatabaseSlob, DatabaseSlobPoint, DeviceActivity, WaitShare,
};
pub use health::{DriveSmart, HealthReport, Temperature};
pub use histogram::Histogram;
pub use latency::{LatencyRecorder, LatencySummary};
pub use lifetime::{LifetimeCase, LifetimeModel, LifetimePoint, LifetimeResult, LifetimeSpread};
pub use machine::{Fact, GeneratorLoad, HostLimit};
pub use review::{
    Axis, Claim, HostInfo, PhaseReport, PhaseStatus, Point, Preconditioning, Price, Purge, ReviewOptions, ReviewResult,
    Stall, Sweep, TargetInfo, TargetKind, Timeline, Tone,
};
pub use run::{
    Application, Compression, DbTime, DbTimeEvent, Flash, Handle, IoClass, MapUse, OltpReport, Overwriting, ReplicaLag,
    ReplicaReport, RunResult, SeriesRow, Sim, SlobReport, SteadyState, TailBand, TailReport, TpccReport,
    TpccTransaction, TransactionReport, TransactionsPer, Wear, ZoneUse,
};
pub use sync::{SyncJudgement, SyncVerdict};
pub use thermal::ThermalReport;
pub use trace::{TraceReport, TraceRequests};
pub use whatif::{
    WhatifAnswer, WhatifAxis, WhatifFound, WhatifLatency, WhatifOutcome, WhatifPoint, WhatifResult, WhatifSearch,
    WhatifTried, WhatifUnit, WhatifWanted,
};
