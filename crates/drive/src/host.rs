//! Is it the device that is measured, or the machine that asks?

use results::GeneratorLoad;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// A generator thread that computes for so much of the time has none left to ask sooner: what it reports is its own
/// speed. Below, it waits for the device at least a tenth of the time.
const THREAD_LIMIT: f64 = 0.90;
/// So busy a machine: something waits for a processor nearly always.
const MACHINE_LIMIT: f64 = 0.95;
/// Runnable processes for each processor, on average, above which the generators have to queue for one.
const QUEUE_LIMIT: f64 = 1.5;
/// Time between two samples of the run queue.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// CPU time of the calling thread, nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Processors that this process may use.
pub(crate) fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Ticks of the whole machine, from `/proc/stat`. Zeros where there is none: then nothing is claimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stat {
    busy: u64,
    all: u64,
    running: u32,
}

impl Stat {
    fn now() -> Stat {
        std::fs::read_to_string("/proc/stat").map_or(Stat::default(), |text| Stat::parse(&text))
    }

    fn parse(text: &str) -> Stat {
        let mut stat = Stat::default();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            match words.next() {
                Some("cpu") => {
                    // user nice system idle iowait irq softirq steal; guest time is part of user's.
                    let ticks: Vec<u64> = words.take(8).map(|word| word.parse().unwrap_or(0)).collect();
                    let idle: u64 = ticks.iter().skip(3).take(2).sum();
                    stat.all = ticks.iter().sum();
                    stat.busy = stat.all - idle;
                }
                Some("procs_running") => stat.running = words.next().and_then(|word| word.parse().ok()).unwrap_or(0),
                _ => {}
            }
        }
        stat
    }
}

/// Watches the machine while something is measured.
pub(crate) struct Watch {
    began: Instant,
    stat: Stat,
    process_ns: u64,
    next_sample: Instant,
    samples: u32,
    runnable: u64,
    runnable_max: u32,
}

impl Watch {
    /// From now on.
    pub fn start() -> Watch {
        let now = Instant::now();
        Watch {
            began: now,
            stat: Stat::now(),
            process_ns: nanoseconds(ClockId::ProcessCPUTime),
            next_sample: now + SAMPLE_EVERY,
            samples: 0,
            runnable: 0,
            runnable_max: 0,
        }
    }

    /// Takes a sample when one is due; to be called often.
    pub fn look(&mut self) {
        let now = Instant::now();
        if now < self.next_sample {
            return;
        }
        self.next_sample = now + SAMPLE_EVERY;
        // The thread that looks is not meant.
        let runnable = Stat::now().running.saturating_sub(1);
        self.samples += 1;
        self.runnable += u64::from(runnable);
        self.runnable_max = self.runnable_max.max(runnable);
    }

    /// The judgement; `threads`: CPU time over elapsed time of each generator thread.
    pub fn finish(&self, threads: &[f64]) -> GeneratorLoad {
        let elapsed_ns = (self.began.elapsed().as_nanos() as f64).max(1.0);
        let stat = Stat::now();
        let ticks = stat.all.saturating_sub(self.stat.all);
        let mut load = GeneratorLoad {
            os_threads: threads.len() as u32,
            busiest_thread: threads.iter().copied().fold(0.0, f64::max).min(1.0),
            cpu: (nanoseconds(ClockId::ProcessCPUTime) - self.process_ns) as f64 / elapsed_ns,
            machine_busy: if ticks == 0 { 0.0 } else { stat.busy.saturating_sub(self.stat.busy) as f64 / ticks as f64 },
            run_queue_mean: if self.samples == 0 { 0.0 } else { self.runnable as f64 / f64::from(self.samples) },
            run_queue_max: self.runnable_max,
            limit: String::new(),
        };
        load.limit = limit(&load, cores());
        load
    }
}

fn limit(load: &GeneratorLoad, cores: u32) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    if load.busiest_thread >= THREAD_LIMIT {
        return format!("the busiest generator thread used {} of a processor", percent(load.busiest_thread));
    }
    if load.machine_busy >= MACHINE_LIMIT {
        let own = (load.cpu / f64::from(cores)).min(1.0);
        return format!(
            "the machine's processors were {} busy, {} with this program",
            percent(load.machine_busy),
            percent(own)
        );
    }
    if load.run_queue_mean >= QUEUE_LIMIT * f64::from(cores) {
        return format!("{:.1} processes wanted to run on {cores} processors", load.run_queue_mean);
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_stat_is_read_without_idle_time() {
        let stat = Stat::parse("cpu  10 1 5 80 4 0 2 3 9 9\ncpu0 1 1 1 1\nprocs_running 3\nprocs_blocked 1\n");
        assert_eq!(stat, Stat { busy: 21, all: 105, running: 3 });
        assert_eq!(Stat::parse("nonsense\ncpu x"), Stat::default());
    }

    #[test]
    fn the_reason_for_a_limit_is_the_closest_one() {
        let idle = GeneratorLoad { busiest_thread: 0.4, machine_busy: 0.5, run_queue_mean: 1.0, ..Default::default() };
        assert_eq!(limit(&idle, 2), "");
        let thread = GeneratorLoad { busiest_thread: 0.97, machine_busy: 1.0, ..idle.clone() };
        assert_eq!(limit(&thread, 2), "the busiest generator thread used 97 % of a processor");
        let machine = GeneratorLoad { machine_busy: 0.98, cpu: 0.8, ..idle.clone() };
        assert_eq!(limit(&machine, 2), "the machine's processors were 98 % busy, 40 % with this program");
        let queue = GeneratorLoad { run_queue_mean: 3.4, ..idle };
        assert_eq!(limit(&queue, 2), "3.4 processes wanted to run on 2 processors");
    }

    #[test]
    fn a_busy_thread_is_seen() {
        let watch = Watch::start();
        let (cpu, began) = (thread_cpu_ns(), Instant::now());
        while thread_cpu_ns() - cpu < 20_000_000 {
            std::hint::black_box(0);
        }
        let share = (thread_cpu_ns() - cpu) as f64 / began.elapsed().as_nanos() as f64;
        let load = watch.finish(&[share]);
        assert!(load.cpu > 0.0 && load.busiest_thread > 0.0 && load.os_threads == 1);
    }
}
