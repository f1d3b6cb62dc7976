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

/// The program whose work was the limit of a machine that asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostLimit {
    /// Programs beside this one had most of the processors' time.
    Others,
    /// This program had it.
    Own,
}

impl HostLimit {
    /// Says what it was, and what helps.
    pub fn words(self) -> &'static str {
        match self {
            HostLimit::Others => "other programs use the CPU; run again when the machine is idle",
            HostLimit::Own => "asking takes all the CPU there is; ask from a faster machine, or with larger requests",
        }
    }
}

impl GeneratorLoad {
    /// The cause of the limit, where there is one, on a machine with so many processors.
    pub fn host_limit(&self, cores: u32) -> Option<HostLimit> {
        if self.limit.is_empty() {
            return None;
        }
        let own = self.cpu / f64::from(cores.max(1));
        // A thread that is never off its processor is not held up by others.
        let never_waits = self.busiest_thread >= 0.9;
        Some(if !never_waits && self.machine_busy - own > own { HostLimit::Others } else { HostLimit::Own })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_blamed_on_the_program_that_had_the_processors() {
        let load = |busiest_thread, cpu, limit: &str| GeneratorLoad {
            busiest_thread,
            cpu,
            machine_busy: 1.0,
            limit: limit.into(),
            ..GeneratorLoad::default()
        };
        assert_eq!(load(0.2, 0.32, "busy").host_limit(2), Some(HostLimit::Others));
        assert_eq!(load(0.5, 1.4, "busy").host_limit(2), Some(HostLimit::Own));
        assert_eq!(load(0.98, 0.98, "busy").host_limit(4), Some(HostLimit::Own));
        assert_eq!(load(0.2, 0.32, "").host_limit(2), None);
    }
}
