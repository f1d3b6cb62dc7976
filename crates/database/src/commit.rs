//! The commit path: what a sync of the log costs, alone and beside others, and how many commits share one.

use crate::activity::{Looker, between};
use crate::clients::{Gate, together};
use crate::{Cluster, DatabaseError, Device};
use ::device::Rng;
use postgres::{Client, Statement};
use results::{CommitPoint, DatabaseCommit, LatencyRecorder, LatencySummary};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::Instant;
use target::Progress;

/// A write of the log, at least.
const BLOCK: usize = 8192;
/// The file that is written without a database, front to back and again.
const FILE_BLOCKS: u64 = 2048;
/// Sessions that read beside a committing one.
const READERS: u32 = 8;
/// Rows that are changed for each checkpoint.
const DIRTIED: u64 = 2_000;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS commits (session int NOT NULL, n bigint NOT NULL, pad text NOT NULL)";

/// Parameters of a point.
pub(crate) struct CommitOf<'a> {
    pub sessions: &'a [u32],
    pub measured_s: f64,
    /// Rows of the mix' table, which is read and changed beside commits.
    pub rows: u64,
    pub seed: u64,
    pub device: &'a dyn Device,
}

/// Work beside one session's commits.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    Nothing,
    Reads,
    Checkpoint,
}

impl Beside {
    fn words(self) -> &'static str {
        match self {
            Beside::Nothing => "alone",
            Beside::Reads => "random reads",
            Beside::Checkpoint => "checkpoint",
        }
    }

    fn others(self) -> u32 {
        match self {
            Beside::Nothing => 0,
            Beside::Reads => READERS,
            Beside::Checkpoint => 1,
        }
    }
}

/// Runs all of it.
pub(crate) fn commit(
    cluster: &Cluster,
    looker: &mut Looker,
    of: &CommitOf,
    progress: &dyn Progress,
) -> Result<DatabaseCommit, DatabaseError> {
    looker.client().batch_execute(TABLE).map_err(DatabaseError::sql("making the table of commits"))?;
    progress.begin("sync without a database", 1);
    let (device_sync, flush_ns) = device_sync(cluster, of.measured_s, progress)?;
    progress.begin("commits", of.sessions.len() as u64 + 3);
    let mut beside = Vec::new();
    for what in [Beside::Nothing, Beside::Reads, Beside::Checkpoint] {
        progress.step(&format!("commits, {}", what.words()));
        beside.push(point(cluster, looker, of, 1, what, progress)?);
        progress.at(beside.len() as u64);
    }
    let mut group = Vec::new();
    for &sessions in of.sessions {
        progress.step(&format!("commits of {sessions} sessions"));
        group.push(point(cluster, looker, of, sessions, Beside::Nothing, progress)?);
        progress.at((beside.len() + group.len()) as u64);
    }
    let (rotational, protected) = (of.device.rotational(), of.device.power_loss_protection());
    let volatile = of.device.volatile_write_cache();
    let verdict = review::judge_sync(flush_ns, device_sync.at(50.0), rotational, protected, volatile);
    Ok(DatabaseCommit { device_sync, beside, group, verdict })
}

/// Writes and syncs a file as the log is written and synced: in place, over blocks that are there already. Times of both
/// together, and the median of the syncs in nanoseconds.
fn device_sync(
    cluster: &Cluster,
    seconds: f64,
    progress: &dyn Progress,
) -> Result<(LatencySummary, u64), DatabaseError> {
    let path = cluster.data().with_file_name("sync-test");
    let wrong = || DatabaseError::io(&path);
    let file = File::create_new(&path).map_err(wrong())?;
    let mut block = [0u8; BLOCK];
    let (mut recorder, mut flushes) = (LatencyRecorder::new(), LatencyRecorder::new());
    for number in 0..FILE_BLOCKS {
        file.write_all_at(&block, number * BLOCK as u64).map_err(wrong())?;
    }
    file.sync_all().map_err(wrong())?;
    let began = Instant::now();
    for number in (0..FILE_BLOCKS).cycle() {
        if began.elapsed().as_secs_f64() >= seconds {
            break;
        }
        if progress.cancelled() {
            return Err(DatabaseError::Cancelled);
        }
        // Never the same bytes: nothing can find that there is nothing to write.
        block[..8].copy_from_slice(&(recorder.count() + 1).to_le_bytes());
        let began = Instant::now();
        file.write_all_at(&block, number * BLOCK as u64).map_err(wrong())?;
        let written = Instant::now();
        rustix::fs::fdatasync(&file).map_err(|e| wrong()(e.into()))?;
        flushes.record(written.elapsed().as_nanos() as u64);
        recorder.record(began.elapsed().as_nanos() as u64);
    }
    drop(file);
    fs::remove_file(&path).map_err(wrong())?;
    Ok((recorder.summary(), flushes.percentile_ns(50.0)))
}

/// A session's role at a point.
enum Role {
    Commits(Statement),
    Reads(Statement),
    Checkpoints(Statement),
}

fn point(
    cluster: &Cluster,
    looker: &mut Looker,
    of: &CommitOf,
    sessions: u32,
    beside: Beside,
    progress: &dyn Progress,
) -> Result<CommitPoint, DatabaseError> {
    let setup = |number: u32, client: &mut Client| {
        let role = if number < sessions {
            let sql = "INSERT INTO commits VALUES ($1, $2, repeat('x', 100))";
            client.prepare(sql).map(Role::Commits)
        } else if beside == Beside::Reads {
            client.prepare("SELECT v FROM mix WHERE id = $1").map(Role::Reads)
        } else {
            client.prepare("UPDATE mix SET v = v + 1 WHERE id = $1").map(Role::Checkpoints)
        };
        role.map_err(DatabaseError::sql("preparing commits"))
    };
    let work = |number: u32, client: &mut Client, role: Role, gate: &Gate| {
        let mut rng = Rng::stream(of.seed, &format!("database commit {sessions} {number}"));
        let mut row = || (1 + rng.below(of.rows)) as i64;
        let mut recorder = LatencyRecorder::new();
        let wrong = || DatabaseError::sql("committing");
        while !gate.over() {
            match &role {
                Role::Commits(insert) => {
                    let n = recorder.count() as i64;
                    let began = Instant::now();
                    client.execute(insert, &[&(number as i32), &n]).map_err(wrong())?;
                    recorder.record(began.elapsed().as_nanos() as u64);
                }
                Role::Reads(select) => {
                    client.query_opt(select, &[&row()]).map_err(wrong())?;
                }
                Role::Checkpoints(update) => {
                    // One transaction, so that it adds no sync of its own to the log but at its end.
                    client.batch_execute("BEGIN").map_err(wrong())?;
                    for _ in 0..DIRTIED {
                        client.execute(update, &[&row()]).map_err(wrong())?;
                        if gate.over() {
                            break;
                        }
                    }
                    client.batch_execute("COMMIT").and_then(|()| client.batch_execute("CHECKPOINT")).map_err(wrong())?;
                }
            }
        }
        Ok(recorder)
    };
    let before = looker.look()?;
    let all = sessions + beside.others();
    let began = Instant::now();
    let done = together(&cluster.config(), all, of.measured_s, progress, setup, work, || Ok(()))?;
    let elapsed_s = began.elapsed().as_secs_f64();
    let activity = between(&before, &looker.look()?);
    let mut commits = LatencyRecorder::new();
    done.iter().take(sessions as usize).for_each(|recorder| commits.merge(recorder));
    let syncs = activity.wal_syncs.filter(|syncs| *syncs > 0);
    Ok(CommitPoint {
        beside: beside.words().to_owned(),
        sessions,
        commits_s: commits.count() as f64 / elapsed_s,
        commits_per_sync: syncs.map(|syncs| commits.count() as f64 / syncs as f64),
        commit_ns: commits.summary(),
        activity,
    })
}
