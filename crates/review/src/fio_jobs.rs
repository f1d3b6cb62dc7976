//! Job files of fio that repeat the points of a review: who doubts a figure, or knows fio better, can measure it again.
//!
//! A sweep is a file, each of its points a group. Threads are copies of a synchronous job (`numjobs`), as a review means
//! them, so that `flashrig compare` finds each point in fio's result. The device is the environment's `TARGET`, because a
//! file that writes to a device as soon as it is run must not have its name in it.

use results::{Axis, Point, ReviewResult, Sweep};
use serde_json::Value;
use std::fmt::Write;

/// A file of jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFile {
    /// Its name: `threads-rndwr.fio`.
    pub name: String,
    /// Sections of a job file, after its head.
    pub text: String,
}

/// Measured seconds where the review's own are those of a model.
const SECONDS: f64 = 30.0;

/// The files, in the order in which they are to be run: the state first, what changes its pattern last.
pub fn fio_jobs(result: &ReviewResult) -> Vec<JobFile> {
    let mut files: Vec<JobFile> = preconditioning(result).into_iter().collect();
    let timeline = result.timeline.iter().map(|timeline| Sweep {
        name: "timeline".to_owned(),
        phase: "timeline".to_owned(),
        title: "16 KiB random writes second by second".to_owned(),
        note: String::new(),
        axis: Axis::Threads,
        points: vec![timeline.point.clone()],
    });
    for sweep in timeline.chain(result.sweeps.iter().cloned()) {
        files.extend(sweep_file(result, &sweep));
    }
    files
}

fn head(result: &ReviewResult, name: &str, title: &str) -> String {
    let plain = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    format!(
        "; {}\n; A part of the review of {}, for fio 3. Everything on TARGET is overwritten:\n\
         ;   TARGET=/path fio --output-format=json+ --output={name}.json {name}.fio\n\n[global]\n\
         filename=${{TARGET}}\ndirect=1\nioengine=psync\nthread=1\ngroup_reporting=1\nrandrepeat=0\nnorandommap=1\n\
         random_generator=tausworthe64\n",
        plain(title),
        plain(&result.name),
    )
}

/// The writes that came before anything was measured full.
fn preconditioning(result: &ReviewResult) -> Option<JobFile> {
    let full = result.preconditioning.iter().rfind(|state| state.overwritten_bytes > 0)?;
    let points = result.sweeps.iter().flat_map(|sweep| &sweep.points);
    let of_state = points.filter(|point| (point.fill - full.fill).abs() < 1e-9);
    let bytes = of_state.filter_map(|point| area_bytes(&point.load)).max()?;
    let mut text =
        head(result, "precondition", "The state of the device in which the points are measured: run this first");
    let _ = write!(text, "\n[front-to-back]\nstonewall\nrw=write\nbs=1m\nsize={bytes}\nloops=2\n");
    let overwritten = full.overwritten_bytes;
    let _ = write!(
        text,
        "\n[at-random]\nstonewall\nrw=randwrite\nbs=16k\nnumjobs=16\nsize={bytes}\nio_size={}\n",
        overwritten.div_ceil(16)
    );
    Some(JobFile { name: "precondition.fio".to_owned(), text })
}

fn sweep_file(result: &ReviewResult, sweep: &Sweep) -> Option<JobFile> {
    // Names are those of the method; a file of somebody else's may have any.
    let is_ours = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if sweep.name.is_empty() || !sweep.name.chars().all(is_ours) {
        return None;
    }
    let mut text = head(result, &sweep.name, &sweep.title);
    if sweep.axis == Axis::FillPercent {
        text.insert_str(0, "; Empty the device before (blkdiscard): it is filled from point to point.\n");
    }
    let mut in_use = 0;
    let mut jobs = String::new();
    let mut points: Vec<&Point> = sweep.points.iter().collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    for point in points {
        let name = format!("{}-{}", sweep.name, (point.x * 10.0).round() / 10.0);
        if sweep.axis == Axis::FillPercent {
            let bytes = area_bytes(&point.load)?;
            let more = bytes.saturating_sub(in_use);
            let _ = write!(jobs, "\n[to-{name}]\nstonewall\nrw=write\nbs=1m\noffset={in_use}\nsize={more}\n");
            in_use = bytes;
        }
        let seconds = result.options.point_s.map_or(SECONDS, |_| point.seconds.max(1.0)).round();
        jobs.push_str(&match point.load["kind"].as_str()? {
            "fileio" => fileio(&name, &point.load, seconds)?,
            "redo" => redo(&name, &point.load, seconds)?,
            _ => return None,
        });
    }
    text.push_str(&jobs);
    (!jobs.is_empty()).then(|| JobFile { name: format!("{}.fio", sweep.name), text })
}

/// Bytes from the start of the device that a load asks for.
fn area_bytes(load: &Value) -> Option<u64> {
    match load["kind"].as_str()? {
        "fileio" => load["file_bytes"].as_u64(),
        "redo" => Some(load["log_area_bytes"].as_u64()? + load["data_bytes"].as_u64()?),
        _ => None,
    }
}

fn timed(seconds: f64) -> String {
    // A tenth of the time warms up, at most two seconds, as in a review.
    format!("time_based=1\nruntime={seconds}\nramp_time={}\n", (seconds * 0.1).ceil().min(2.0))
}

fn fileio(name: &str, load: &Value, seconds: f64) -> Option<String> {
    let mode = load["mode"].as_str()?;
    let (block, threads, bytes) =
        (load["block_bytes"].as_u64()?, load["threads"].as_u64()?.max(1), load["file_bytes"].as_u64()?);
    let rw = load::FileioMode::OF_FIO.into_iter().find(|(_, known)| known.name() == mode)?.0;
    let mut job = format!("\n[{name}]\nstonewall\nrw={rw}\nbs={block}\nnumjobs={threads}\n");
    if load["own_regions"].as_bool() == Some(true) {
        let region = bytes / threads / block * block;
        let _ = write!(job, "size={region}\noffset_increment={region}\n");
    } else {
        let _ = writeln!(job, "size={bytes}");
    }
    let ratio = load["rw_ratio"].as_f64().unwrap_or(1.0);
    let reads = if mode.ends_with("rw") { ratio / (1.0 + ratio) } else { f64::from(u8::from(mode.ends_with("rd"))) };
    if mode.ends_with("rw") {
        let _ = writeln!(job, "rwmixread={}", (reads * 100.0).round());
    }
    if load["fsync_all"].as_bool() == Some(true) {
        job.push_str("fdatasync=1\n");
    }
    if let Some(rate) = load["rate_iops"].as_f64() {
        // fio limits each copy for itself, and reads and writes apart.
        let each = |share: f64| (rate * share / threads as f64).round().max(1.0);
        let _ = writeln!(job, "rate_iops={},{}", each(reads), each(1.0 - reads));
    }
    job.push_str(&timed(seconds));
    Some(job)
}

/// A log and readers are jobs of one group: they run together, and make one point.
fn redo(name: &str, load: &Value, seconds: f64) -> Option<String> {
    let number = |key: &str| load[key].as_u64();
    let area = number("log_area_bytes")?;
    let mut job = format!(
        "\n[{name}-log]\nstonewall\nrw=write\nbs={}\nnumjobs={}\nsize={area}\noffset_increment={area}\n",
        number("log_block_bytes")?,
        number("log_writers")?,
    );
    if load["sync"].as_bool() == Some(true) {
        job.push_str("fdatasync=1\n");
    }
    job.push_str(&timed(seconds));
    let readers = number("readers")?;
    if readers > 0 {
        let offset = area * number("log_writers")?;
        let _ = write!(
            job,
            "\n[{name}-readers]\nrw=randread\nbs={}\nnumjobs={readers}\noffset={offset}\nsize={}\n{}",
            number("read_block_bytes")?,
            number("data_bytes")?,
            timed(seconds),
        );
    }
    Some(job)
}
