//! Jobs that ran at the same time become one point.

use super::latency::{Latencies, Measure, choose};
use super::options::Told;
use super::schema::{Direction, Job, Sync};
use crate::sweeps::{Condition, Mode, PointAt};
use crate::text::excerpt;
use results::{IoClass, Point};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Names of jobs that are kept of a group.
const NAMES_LIMIT: usize = 16;

/// Jobs that ran at the same time.
#[derive(Default)]
pub(crate) struct Group {
    jobs: Vec<(Told, Job)>,
}

/// Remarks that a reader of a file's points needs.
#[derive(Default)]
pub(crate) struct Remarks {
    completion: bool,
    lost_percentiles: bool,
    microseconds: bool,
    trims: bool,
    buffered: bool,
    failed: Option<String>,
}

impl Remarks {
    pub fn note(&self) -> String {
        let mut notes: Vec<String> = Vec::new();
        if self.completion {
            notes.push("latencies are fio's clat, from when a request was handed to the system".into());
        }
        if self.microseconds {
            notes.push("latencies are in whole microseconds, as fio 2 had them".into());
        }
        if self.lost_percentiles {
            notes.push(
                "no percentiles where several jobs make a point: json+ or group_reporting would have told".into(),
            );
        }
        if self.buffered {
            notes.push("buffered, without direct=1: the page cache was asked, not the device alone".into());
        }
        if self.trims {
            notes.push("trims are left out".into());
        }
        if let Some(job) = &self.failed {
            notes.push(format!("fio reported an error of job '{}'", excerpt(job)));
        }
        notes.join("; ")
    }
}

impl Group {
    pub fn add(&mut self, told: Told, job: Job) {
        self.jobs.push((told, job));
    }

    /// The point, if any of its jobs read or wrote.
    pub fn point(&self, remarks: &mut Remarks) -> Option<PointAt> {
        for (told, job) in &self.jobs {
            remarks.trims |= told.mode.is_none() || job.trim.as_ref().is_some_and(|trim| requests(trim) > 0.0);
            if job.error != 0 && remarks.failed.is_none() {
                remarks.failed = Some(told.job.clone());
            }
        }
        let jobs: Vec<&(Told, Job)> = self.jobs.iter().filter(|(told, _)| told.mode.is_some()).collect();
        let condition = condition(&jobs)?;
        let read = class(jobs.iter().filter_map(|(_, job)| job.read.as_ref()), remarks);
        let write = class(jobs.iter().filter_map(|(_, job)| job.write.as_ref()), remarks);
        if read.total_ios + write.total_ios == 0 {
            return None;
        }
        let directions = jobs.iter().flat_map(|(_, job)| [&job.read, &job.write]).flatten();
        let seconds = directions.map(|d| clean(d.runtime) / 1e3).fold(0.0, f64::max);
        let sync = flushes(&jobs, seconds);
        let names: Vec<String> = jobs.iter().take(NAMES_LIMIT).map(|(told, _)| excerpt(&told.job)).collect();
        let options: Value = jobs[0].0.kept.iter().map(|(name, text)| (*name, Value::from(text.as_str()))).collect();
        let mut load = json!({
            "kind": "fio",
            "jobs": names,
            "mode": condition.mode.name(),
            "block_bytes": condition.block_bytes,
            "threads": condition.threads,
            "iodepth": condition.depth,
            "read_percent": condition.read_percent,
            "options": options,
        });
        if jobs.iter().any(|(told, _)| told.buffered) {
            remarks.buffered = true;
            load["buffered"] = true.into();
        }
        Some((condition, Point { load, seconds, read, write, sync, ..Point::default() }))
    }
}

/// Merges the options that the jobs were given.
fn condition(jobs: &[&(Told, Job)]) -> Option<Condition> {
    let first = &jobs.first()?.0;
    let all = |same: &dyn Fn(&Told) -> bool| jobs.iter().all(|(told, _)| same(told));
    // An entry that is alone under its name is the sum of the job's copies (group_reporting), or there is one copy.
    let mut entries = BTreeMap::<&str, (u32, u32)>::new();
    for (told, _) in jobs {
        let (count, copies) = entries.entry(&told.job).or_insert((0, told.copies));
        *count = count.saturating_add(1);
        *copies = (*copies).max(told.copies);
    }
    let threads = entries.values().map(|&(count, copies)| if count == 1 { copies } else { count });
    let mode = first.mode?;
    let alike = all(&|told| told.mode == first.mode && told.depth == first.depth);
    Some(Condition {
        mode: if alike { mode } else { Mode::Several },
        block_bytes: first.block_bytes.filter(|_| all(&|told| told.block_bytes == first.block_bytes)),
        threads: threads.fold(0, u32::saturating_add),
        depth: if all(&|told| told.depth == first.depth) { first.depth } else { 1 },
        read_percent: first.read_percent.filter(|_| all(&|told| told.read_percent == first.read_percent)),
    })
}

/// Requests of a direction; fio 2.1 didn't count them.
fn requests(direction: &Direction) -> f64 {
    clean(direction.total_ios.unwrap_or_else(|| (clean(direction.iops) * clean(direction.runtime) / 1e3).round()))
}

/// Bytes that a direction moved, and bytes a second.
fn bytes(direction: &Direction) -> (f64, f64) {
    let fio_3 = direction.io_kbytes.is_some() || direction.bw_bytes.is_some();
    let io_bytes = clean(direction.io_bytes) * if fio_3 { 1.0 } else { 1024.0 };
    (io_bytes, clean(direction.bw_bytes.unwrap_or(clean(direction.bw) * 1024.0)))
}

/// Jobs' reads or writes as one. One job's figures are fio's own; of several, rates are what was done over the time of
/// the longest, as in fio's own summary of a group.
fn class<'a>(directions: impl Iterator<Item = &'a Direction>, remarks: &mut Remarks) -> IoClass {
    let used: Vec<&Direction> = directions.filter(|direction| requests(direction) > 0.0).collect();
    if used.is_empty() {
        return IoClass::default();
    }
    let total_ios: f64 = used.iter().map(|direction| requests(direction)).sum();
    let io_bytes: f64 = used.iter().map(|direction| bytes(direction).0).sum();
    let seconds = used.iter().map(|direction| clean(direction.runtime) / 1e3).fold(0.0, f64::max);
    let (iops, bw_bytes) = match used[..] {
        [only] => (clean(only.iops), bytes(only).1),
        _ => (rate(total_ios, seconds), rate(io_bytes, seconds)),
    };
    let latencies = latencies(&used, remarks);
    remarks.lost_percentiles |= used.len() > 1 && latencies.lost_percentiles();
    let (lat_ns, histogram) = latencies.finish();
    IoClass { total_ios: total_ios as u64, io_bytes: io_bytes as u64, iops, bw_bytes, lat_ns, histogram }
}

fn latencies(used: &[&Direction], remarks: &mut Remarks) -> Latencies {
    let of = |direction: &&Direction| {
        let (nanoseconds, microseconds) = (
            choose(direction.lat_ns.as_ref(), direction.clat_ns.as_ref()),
            choose(direction.lat.as_ref(), direction.clat.as_ref()),
        );
        let (unit_ns, chosen) = if nanoseconds.is_some() { (1.0, nanoseconds) } else { (1e3, microseconds) };
        let (measure, latency) = chosen?;
        Some((measure, unit_ns, Latencies::new(latency, unit_ns, requests(direction))))
    };
    let parts: Vec<_> = used.iter().filter_map(of).collect();
    remarks.completion |= parts.iter().any(|part| part.0 == Measure::Completion);
    remarks.microseconds |= parts.iter().any(|part| part.1 > 1.0);
    let parts: Vec<Latencies> = parts.into_iter().map(|part| part.2).collect();
    Latencies::merged(&parts)
}

fn flushes(jobs: &[&(Told, Job)], seconds: f64) -> IoClass {
    // fio 3.33 has how many there were in the latencies alone.
    let count =
        |sync: &Sync| clean(sync.total_ios).max(sync.lat_ns.as_ref().and_then(|latency| latency.n).map_or(0.0, clean));
    let syncs: Vec<_> = jobs.iter().filter_map(|(_, job)| job.sync.as_ref()).filter(|s| count(s) > 0.0).collect();
    let total_ios: f64 = syncs.iter().map(|sync| count(sync)).sum();
    let parts: Vec<Latencies> = syncs
        .iter()
        .filter_map(|sync| sync.lat_ns.as_ref().map(|latency| Latencies::new(latency, 1.0, count(sync))))
        .collect();
    let (lat_ns, histogram) = Latencies::merged(&parts).finish();
    let iops = rate(total_ios, seconds);
    IoClass { total_ios: total_ios as u64, iops, lat_ns, histogram, ..IoClass::default() }
}

fn rate(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

/// Keeps what a broken file says within what sums and products can hold.
fn clean(value: f64) -> f64 {
    value.clamp(0.0, 1e18)
}
