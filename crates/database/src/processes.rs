//! Processes that work below a directory, and what they leave in memory when they are killed.
//!
//! A process belongs to a cluster when its working directory lies in the cluster's: that is so for the server and all
//! that it forks, and it is how they are found even when the server itself was killed.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Until processes that were killed are gone: they may be in the middle of a request.
const GONE_PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// Processes whose working directory is there or below.
pub fn processes_in(dir: &Path) -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let cwd = fs::read_link(entry.path().join("cwd")).ok()?;
            cwd.starts_with(dir).then_some(pid)
        })
        .collect()
}

/// CPU seconds of a process and of its children that have ended and were waited for.
pub(crate) fn cpu_s(pid: i32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse_cpu_ticks(&stat).map(|ticks| ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// User and system time, one's own and the children's: fields 14 to 17. The name, field 2, may hold anything but ends with
/// the last bracket.
fn parse_cpu_ticks(stat: &str) -> Option<u64> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    let times: Vec<u64> = after_name.split_whitespace().skip(11).take(4).map_while(|word| word.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum())
}

/// Kills every process whose working directory is there or below, removes what servers among them leave in memory, and
/// waits until they are gone. `reaped` is asked each time whether the caller has seen its own child end.
pub fn end_all_in(dir: &Path, mut reaped: impl FnMut() -> bool) {
    let mut shared = SharedMemory::default();
    let began = Instant::now();
    loop {
        let left = processes_in(dir);
        // A server that has lost its device starts over, with new shared memory: not while it is looked at.
        signal_all(&left, Signal::STOP);
        shared.look(&left);
        signal_all(&left, Signal::KILL);
        if reaped() && left.is_empty() || began.elapsed() > GONE_PATIENCE {
            break;
        }
        std::thread::sleep(POLL);
    }
    shared.remove();
}

/// As [`end_all_in`], for the directory of a server that is this process's child.
pub(crate) fn end_server_in(dir: &Path, server: &mut Option<Child>) {
    end_all_in(dir, || {
        if server.as_mut().is_some_and(|server| !matches!(server.try_wait(), Ok(None))) {
            *server = None;
        }
        server.is_none()
    });
    if let Some(mut server) = server.take() {
        // This process is not to become a zombie's parent, whatever holds the server.
        let _ = server.kill();
        let _ = server.try_wait();
    }
}

fn signal_all(pids: &[i32], signal: Signal) {
    for pid in pids.iter().filter_map(|&pid| Pid::from_raw(pid)) {
        // It may have ended meanwhile.
        let _ = kill_process(pid, signal);
    }
}

/// Shared memory that a killed server leaves behind.
#[derive(Default)]
struct SharedMemory {
    files: BTreeSet<PathBuf>,
    segments: BTreeSet<u64>,
}

impl SharedMemory {
    /// Notes what these processes have.
    fn look(&mut self, pids: &[i32]) {
        for pid in pids {
            // Some segments are known to the server's workers only.
            let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
            let found = maps.lines().filter_map(|line| Some(&line[line.find("/dev/shm/PostgreSQL.")?..]));
            self.files.extend(found.map(PathBuf::from));
            // A server works in its cluster's directory. The seventh line of its lock file has the key and the number of
            // a segment that tells whether it is alive.
            let lock = fs::read_to_string(format!("/proc/{pid}/cwd/postmaster.pid")).unwrap_or_default();
            let segment = lock.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
            self.segments.extend(segment);
        }
    }

    fn remove(self) {
        for file in self.files {
            // The next server may have done it.
            let _ = fs::remove_file(file);
        }
        for segment in self.segments {
            let _ = Command::new("ipcrm").args(["-m", &segment.to_string()]).stderr(Stdio::null()).status();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_ones_own_and_that_of_children_that_have_ended() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 2 3 4 5 10 20 30 40 20 0 1 0 99 1 2\n";
        assert_eq!(parse_cpu_ticks(stat), Some(100));
        assert_eq!(parse_cpu_ticks("7 (a) S 1 7"), None);
        assert!(cpu_s(std::process::id() as i32).is_some());
    }
}
