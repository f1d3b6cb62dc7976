//! Facts about a device, and the load of the machine that asked it.

use serde::{Deserialize, Serialize};

/// One thing that is known about a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Key for programs: `model`, `serial`, `firmware`, `logical_sector_bytes`, `scheduler` …
    pub key: String,
    /// For people: `Firmware`.
    pub label: String,
    /// As text, with its unit.
    pub value: String,
}

/// Cost of a load to the machine that issued it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorLoad {
    /// Threads of the operating system that asked.
    pub os_threads: u32,
    /// CPU time of the busiest of them over elapsed time, 0 to 1.
    pub busiest_thread: f64,
    /// CPU time of this process, user and system, over elapsed time: 2.0 is two processors.
    pub cpu: f64,
    /// Time that all processors of the machine were not idle, this process included, over elapsed time × processors.
    pub machine_busy: f64,
    /// Mean of processes that were runnable, sampled.
    pub run_queue_mean: f64,
    /// Most processes that were runnable, sampled.
    pub run_queue_max: u32,
    /// Reason for taking the point to be limited by the host; empty when it isn't.
    pub limit: String,
}
