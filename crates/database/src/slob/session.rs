//! A point of SLOB.

use super::SlobConfig;
use crate::activity::{BLOCK_BYTES, Looker, between};
use crate::clients::together;
use crate::{Cluster, DatabaseError};
use ::device::Rng;
use postgres::Statement;
use results::{DatabaseSlobPoint, LatencyRecorder, SlobReport, WaitShare};
use std::collections::BTreeMap;
use std::time::Instant;
use target::Progress;

/// Parameters of a point.
pub(crate) struct SlobOf<'a> {
    pub slob: &'a SlobConfig,
    pub sessions: u32,
    pub measured_s: f64,
    pub seed: u64,
}

/// A session's statements.
struct Statements {
    select: Statement,
    update: Statement,
}

/// Counts of a session's work.
#[derive(Default)]
struct Done {
    select: LatencyRecorder,
    update: LatencyRecorder,
}

/// Query that samples the server's own table of active sessions.
const SAMPLE: &str = "SELECT coalesce(wait_event_type || ':' || wait_event, 'CPU'), count(*) FROM pg_stat_activity \
                      WHERE backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid() GROUP BY 1";
/// Blocks are read one at a time, where they lie.
const PLAN: &str = "SET enable_bitmapscan = off; SET enable_seqscan = off";

/// Runs the sessions.
pub(crate) fn point(
    cluster: &Cluster,
    looker: &mut Looker,
    of: &SlobOf,
    progress: &dyn Progress,
) -> Result<DatabaseSlobPoint, DatabaseError> {
    let slob = of.slob;
    let before = looker.look()?;
    let began = Instant::now();
    let mut seen: BTreeMap<String, i64> = BTreeMap::new();
    let done = {
        let sampler = looker.client();
        let sample = sampler.prepare(SAMPLE).map_err(DatabaseError::sql("sampling waits"))?;
        let tick = || {
            for row in sampler.query(&sample, &[]).map_err(DatabaseError::sql("sampling waits"))? {
                *seen.entry(row.get(0)).or_default() += row.get::<_, i64>(1);
            }
            Ok(())
        };
        let setup = |number: u32, client: &mut postgres::Client| {
            let table = number / slob.threads_per_schema + 1;
            let range = "id >= $1 AND id < $2";
            client
                .batch_execute(PLAN)
                .and_then(|()| {
                    Ok(Statements {
                        select: client.prepare(&format!("SELECT sum(c) FROM slob_{table} WHERE {range}"))?,
                        update: client.prepare(&format!("UPDATE slob_{table} SET c = c + 1 WHERE {range}"))?,
                    })
                })
                .map_err(DatabaseError::sql("preparing SLOB's statements"))
        };
        let work = |number: u32, client: &mut postgres::Client, statements: Statements, gate: &crate::clients::Gate| {
            let mut rng = Rng::stream(of.seed, &format!("database slob {} {number}", of.sessions));
            let mut done = Done::default();
            while !gate.over() {
                let from = first_row(slob, &mut rng) as i64;
                let to = from + i64::from(slob.work_unit);
                let update = rng.below(100) < u64::from(slob.update_pct);
                let began = Instant::now();
                let told = if update {
                    client.execute(&statements.update, &[&from, &to]).map(drop)
                } else {
                    client.query(&statements.select, &[&from, &to]).map(drop)
                };
                told.map_err(DatabaseError::sql("SLOB"))?;
                let recorder = if update { &mut done.update } else { &mut done.select };
                recorder.record(began.elapsed().as_nanos() as u64);
            }
            Ok(done)
        };
        together(&cluster.config(), of.sessions, of.measured_s, progress, setup, work, tick)?
    };
    let elapsed_s = began.elapsed().as_secs_f64();
    let activity = between(&before, &looker.look()?);
    let mut all = Done::default();
    for session in &done {
        all.select.merge(&session.select);
        all.update.merge(&session.update);
    }
    let waits = shares(seen);
    let per_s = |count: u64| count as f64 / elapsed_s;
    let device = activity.device.unwrap_or_default();
    let awr = SlobReport {
        readers: if slob.update_pct == 0 { of.sessions } else { 0 },
        writers: if slob.update_pct == 0 { 0 } else { of.sessions },
        elapsed_s,
        executes: all.select.count() + all.update.count(),
        logical_reads_s: per_s(activity.blocks_hit + activity.blocks_read),
        physical_reads_s: per_s(activity.blocks_read),
        physical_writes_s: per_s(activity.blocks_written),
        read_requests_s: per_s(device.reads),
        write_requests_s: per_s(device.writes),
        redo_bytes_s: per_s(activity.wal_bytes),
        read_bytes_s: per_s(activity.blocks_read * BLOCK_BYTES),
        written_bytes_s: per_s(activity.blocks_written * BLOCK_BYTES + activity.wal_bytes),
        single_block_read_ns: activity.block_read_ns.unwrap_or(0.0),
        single_block_read_waits: activity.blocks_read,
        log_file_sync_ns: activity.wal_sync_ns.unwrap_or(0.0),
        log_file_sync_waits: activity.wal_syncs.unwrap_or(0),
        top_wait: waits.first().map_or_else(|| "CPU".to_owned(), |wait| wait.event.clone()),
        db_time: None,
    };
    Ok(DatabaseSlobPoint {
        sessions: of.sessions,
        awr,
        select_ns: all.select.summary(),
        update_ns: all.update.summary(),
        waits,
        activity,
    })
}

/// The first row of an execution, from 1; the last one lies within the table, or within the hot spot.
fn first_row(slob: &SlobConfig, rng: &mut Rng) -> u64 {
    let hot = slob.do_hotspot && rng.below(100) < u64::from(slob.hotspot_pct);
    let (offset, blocks) = if hot { slob.hotspot() } else { (0, slob.scale_blocks) };
    1 + offset + rng.below(blocks - u64::from(slob.work_unit) + 1)
}

/// By share, the largest first; equals by name.
fn shares(seen: BTreeMap<String, i64>) -> Vec<WaitShare> {
    let all: i64 = seen.values().sum();
    let mut waits: Vec<WaitShare> =
        seen.into_iter().map(|(event, n)| WaitShare { event, share: n as f64 / all as f64 }).collect();
    waits.sort_by(|a, b| b.share.total_cmp(&a.share));
    waits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_stay_within_the_table_and_the_hot_spot_gets_its_share() {
        let hot = SlobConfig {
            do_hotspot: true,
            hotspot_pct: 50,
            hotspot_mb: 1,
            hotspot_offset_mb: 2,
            scale_blocks: 1_000,
            ..SlobConfig::default()
        };
        hot.validate().unwrap();
        let mut rng = Rng::stream(1, "test");
        let drawn: Vec<u64> = (0..10_000).map(|_| first_row(&hot, &mut rng)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&1), Some(&937)));
        let inside = drawn.iter().filter(|&&row| (257..=257 + 64).contains(&row)).count();
        // Half of all, and one in fifteen of the others.
        assert!((5_150..5_550).contains(&inside), "{inside}");
    }

    #[test]
    fn the_top_wait_is_what_was_seen_most() {
        let seen = [("IO:WALSync", 3), ("CPU", 1), ("IO:DataFileRead", 6)].map(|(e, n)| (e.to_owned(), n)).into();
        let waits = shares(seen);
        assert_eq!(waits[0], WaitShare { event: "IO:DataFileRead".into(), share: 0.6 });
        assert!(shares(BTreeMap::new()).is_empty());
    }
}
