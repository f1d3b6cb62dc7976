//! What does the host ask?
//!
//! Deterministic generators: sysbench fileio, bursts of sequential writes, a database's commits beside its reads, SLOB,
//! OLTP, TPC-C and a replica of it; and traces ([`trace`]) that are replayed. A load is a set of
//! *processes* (sessions, and the database's background writers); each runs a script of steps, and whoever drives it
//! (virtual time or a wall clock) tells it when a step is done. A load owns no clock.
//!
//! Invariants:
//! - the same configuration and seed give the same steps, as long as the steps' outcomes come at the same times;
//! - every request lies within the footprint that the load states, and its offset and length are multiples of 512;
//! - processes are numbered with the sessions first, then the background writers;
//! - every process draws from its own random stream, named after its number: another session changes nobody's draws.

mod access;
mod bursts;
mod cache;
mod commit;
mod config;
mod error;
mod fileio;
mod instance;
mod oltp;
mod pace;
mod redo;
mod regions;
mod replay;
mod replica;
mod slob;
#[cfg(test)]
mod testing;
mod tpcc;
pub mod trace;
mod zipf;

pub use access::{Access, BlockSampler};
pub use bursts::{BurstConfig, BurstCurve, BurstCurves, Bursts, BurstsConfig};
pub use cache::CacheConfig;
pub use commit::{LogConfig, LogSync, LogTail};
pub use config::LoadConfig;
pub use error::{Given, LoadError};
pub use fileio::{Fileio, FileioConfig, FileioMode};
pub use oltp::{Oltp, OltpConfig};
pub use redo::{Redo, RedoConfig};
pub use replay::{Batches, MAX_REPLAY_DEPTH, Replay, ReplayConfig, Speed};
pub use replica::{ReplicaConfig, ReplicaLoad};
pub use slob::{Slob, SlobConfig, format_db_time, format_slob_table};
pub use tpcc::{Tpcc, TpccConfig, TpccMix};
pub use zipf::{Scramble, Zipf};

use device::{Request, Time};

/// Most processes of a load: what the driver and the event table are sized for.
pub const MAX_PROCESSES: u64 = 1 << 16;
/// The largest request that a load may ask for.
pub const MAX_REQUEST_BYTES: u64 = 64 << 20;
/// Longest think time and the like: an hour.
pub const MAX_THINK_NS: u64 = 3_600_000_000_000;

/// One process of a load: a session or a background writer, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(pub u32);

impl ProcessId {
    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A process's next step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Step {
    /// Computes for `cpu_ns` (0: not at all, beyond what the host model charges for each I/O), then waits for one
    /// request.
    Io {
        /// CPU time before the request.
        cpu_ns: u64,
        request: Request,
        /// When it was due, if a schedule (a limited rate) says so. Its latency begins there when that is before it was
        /// asked for: a device that stalls must not be spared the requests that it holds up.
        due: Option<Time>,
    },
    Cpu {
        cpu_ns: u64,
    },
    /// Sleeps (think time, rate limit).
    Sleep {
        /// When it goes on; in the past: at once.
        until: Time,
    },
    /// Waits until another process of the load wakes it.
    Park,
    End,
}

impl Step {
    /// Asks at once, on no schedule.
    #[inline]
    fn io(request: Request) -> Step {
        Step::Io { cpu_ns: 0, request, due: None }
    }
}

/// A load in action.
pub trait Load: Send {
    /// Returns the number of processes; all start at once.
    fn processes(&self) -> u32;

    /// The next step of `process`, whose previous step is done (or which was woken from [`Step::Park`]). A
    /// process that appears in `wake` and is parked goes on; waking one that is not parked does nothing.
    fn step(&mut self, process: ProcessId, now: Time, wake: &mut Vec<ProcessId>) -> Step;

    /// Bytes from the start of the device that requests may touch.
    fn footprint_bytes(&self) -> u64;

    /// Forgets what was counted so far: measurement begins at `now`.
    fn start_measurement(&mut self, now: Time);

    /// Returns the application's view (transactions, logical reads …) from the start of measurement until `now`; `None`
    /// for loads that see only I/O.
    fn report(&self, now: Time) -> Option<results::Application>;
}
