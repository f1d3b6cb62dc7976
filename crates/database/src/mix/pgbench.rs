//! A point of the mix.

use super::MixConfig;
use super::log::Log;
use crate::activity::{Looker, between};
use crate::cluster::last_words;
use crate::{Cluster, DatabaseError};
use results::{DatabaseMixPoint, LatencyRecorder, TransactionReport};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use target::Progress;

/// Beyond the time that it was to run: it still connects its clients, and ends their last transactions.
const PATIENCE: Duration = Duration::from_secs(120);

/// Parameters of a point.
pub(crate) struct PointOf<'a> {
    pub mix: &'a MixConfig,
    pub rows: u64,
    pub sessions: u32,
    pub warm_up_s: f64,
    pub measured_s: f64,
    pub seed: u64,
    pub logs: &'a Path,
}

/// Runs the mix for a while unmeasured, then measured.
pub(crate) fn point(
    cluster: &Cluster,
    looker: &mut Looker,
    of: &PointOf,
    progress: &dyn Progress,
) -> Result<DatabaseMixPoint, DatabaseError> {
    let kinds = of.mix.kinds();
    let dir = of.logs.join(format!("mix-{:03}", of.sessions));
    fs::create_dir_all(&dir).map_err(DatabaseError::io(&dir))?;
    for old in logs_in(&dir)? {
        fs::remove_file(&old).map_err(DatabaseError::io(&old))?;
    }
    let mut scripts = Vec::new();
    for (kind, percent) in &kinds {
        let path = dir.join(format!("{kind}.sql"));
        fs::write(&path, of.mix.script(kind)).map_err(DatabaseError::io(&path))?;
        scripts.push(format!("{}@{percent}", path.display()));
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(of.sessions as usize);
    let pgbench = |seconds: f64, seed: u64| {
        let mut command = cluster.client_command("pgbench");
        command.args(["--no-vacuum", "--protocol=prepared"]);
        command.arg(format!("--client={}", of.sessions)).arg(format!("--jobs={threads}"));
        command.arg(format!("--time={:.0}", seconds.max(1.0))).arg(format!("--random-seed={}", seed & 0xffff_ffff));
        command.arg(format!("--define=rows={}", of.rows));
        command.args(scripts.iter().flat_map(|script| ["-f", script.as_str()]));
        command
    };
    // Other seeds than the measured ones': the same draws twice would be found in the cache.
    let seed = of.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(of.sessions) * 2);
    if of.warm_up_s > 0.0 {
        run(
            pgbench(of.warm_up_s, seed).arg(crate::cluster::DATABASE),
            &dir.join("warm-up.txt"),
            of.warm_up_s,
            progress,
        )?;
    }
    let before = looker.look()?;
    let mut measured = pgbench(of.measured_s, seed + 1);
    measured.arg("--log").arg("--log-prefix").arg(dir.join("log")).arg(crate::cluster::DATABASE);
    run(&mut measured, &dir.join("pgbench.txt"), of.measured_s, progress)?;
    let after = looker.look()?;
    let mut log = Log::new(kinds.len());
    for path in logs_in(&dir)? {
        let file = File::open(&path).map_err(DatabaseError::io(&path))?;
        log.read(BufReader::new(file), of.mix.think_us).map_err(DatabaseError::io(&path))?;
    }
    let seconds = log.seconds();
    if log.count() == 0 || seconds == 0.0 {
        return Err(DatabaseError::Program { program: "pgbench".into(), said: "no transaction was finished".into() });
    }
    let report = |recorder: &LatencyRecorder| TransactionReport {
        tps: recorder.count() as f64 / seconds,
        lat_ns: recorder.summary(),
    };
    let transactions = kinds.iter().zip(&log.latencies).map(|((kind, _), r)| ((*kind).to_owned(), report(r))).collect();
    Ok(DatabaseMixPoint {
        sessions: of.sessions,
        tps: log.count() as f64 / seconds,
        modelled_tps: None,
        failed: log.failed,
        transactions,
        activity: between(&before, &after),
    })
}

/// The logs that pgbench's threads have written.
fn logs_in(dir: &Path) -> Result<Vec<PathBuf>, DatabaseError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(DatabaseError::io(dir))? {
        let entry = entry.map_err(DatabaseError::io(dir))?;
        if entry.file_name().to_string_lossy().starts_with("log.") {
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// A child that does not outlive its parent's interest.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(command: &mut Command, said: &Path, seconds: f64, progress: &dyn Progress) -> Result<(), DatabaseError> {
    let output = File::create(said).map_err(DatabaseError::io(said))?;
    let errors = output.try_clone().map_err(DatabaseError::io(said))?;
    let program = command.get_program().to_owned();
    let mut running = Running(command.stdout(output).stderr(errors).spawn().map_err(DatabaseError::io(program))?);
    let (began, patience) = (Instant::now(), Duration::from_secs_f64(seconds) + PATIENCE);
    let status = loop {
        if let Some(status) = running.0.try_wait().map_err(DatabaseError::io("pgbench"))? {
            break Some(status);
        }
        if progress.cancelled() {
            return Err(DatabaseError::Cancelled);
        }
        if began.elapsed() > patience {
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let text = || String::from_utf8_lossy(&fs::read(said).unwrap_or_default()).into_owned();
    let failed = |said: String| Err(DatabaseError::Program { program: "pgbench".into(), said: said.into() });
    match status {
        Some(status) if status.success() => Ok(()),
        // Status 2 is a run in which something failed: the first such line says what.
        Some(_) => {
            let text = text();
            let line = text.lines().find(|line| line.contains("error:") || line.contains("ERROR:"));
            failed(line.map_or_else(|| last_words(&text), str::to_owned))
        }
        None => failed(format!("it did not end within {} s", patience.as_secs())),
    }
}
