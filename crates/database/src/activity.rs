//! Counts of database and device, as the difference of two looks.

use crate::DatabaseError;
use crate::device;
use crate::processes::cpu_s;
use postgres::Client;
use results::{DatabaseActivity, DeviceActivity};
use std::time::{Duration, Instant};

/// Size of a block of PostgreSQL as everybody builds it.
pub(crate) const BLOCK_BYTES: u64 = 8192;
/// Until sessions that have ended have said what they did.
const ENDED_PATIENCE: Duration = Duration::from_secs(10);

/// All counters at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    at: Instant,
    hit: i64,
    read: i64,
    read_ms: f64,
    written: i64,
    checkpoints: i64,
    wal_bytes: i64,
    syncs: Option<(i64, f64)>,
    cpu_s: Option<f64>,
    device: Option<DeviceActivity>,
}

/// Connection and device from which looks are taken.
pub(crate) struct Looker {
    client: Client,
    major: u32,
    /// The process that all others of the server are children of.
    server: Option<i32>,
    block_device: Option<String>,
}

impl Looker {
    pub fn new(client: Client, major: u32, server: Option<i32>, block_device: Option<String>) -> Looker {
        Looker { client, major, server, block_device }
    }

    /// The counters now. All other sessions must have ended, or be at rest for a second: they say what they did only
    /// once in a while.
    pub fn look(&mut self) -> Result<Look, DatabaseError> {
        self.wait_for_others()?;
        let (written, checkpoints) = if self.major < 17 {
            (
                "(SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter)",
                "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)",
            )
        } else {
            (
                "(SELECT sum(writes)::int8 FROM pg_stat_io WHERE object = 'relation')",
                "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)",
            )
        };
        let sync = match self.major {
            ..14 => "NULL::int8, NULL::float8",
            14..18 => "(SELECT wal_sync FROM pg_stat_wal), (SELECT wal_sync_time::float8 FROM pg_stat_wal)",
            _ => {
                "(SELECT sum(fsyncs)::int8 FROM pg_stat_io WHERE object = 'wal'), \
                 (SELECT sum(fsync_time)::float8 FROM pg_stat_io WHERE object = 'wal')"
            }
        };
        let sql = format!(
            "SELECT blks_hit, blks_read, blk_read_time::float8, {written}, {checkpoints}, \
             pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::int8, {sync} \
             FROM pg_stat_database WHERE datname = current_database()"
        );
        let row = self.client.query_one(&sql, &[]).map_err(DatabaseError::sql("reading statistics"))?;
        let syncs: (Option<i64>, Option<f64>) = (row.get(6), row.get(7));
        Ok(Look {
            at: Instant::now(),
            hit: row.get(0),
            read: row.get(1),
            read_ms: row.get(2),
            written: row.get(3),
            checkpoints: row.get(4),
            wal_bytes: row.get(5),
            syncs: syncs.0.zip(syncs.1),
            cpu_s: self.server.and_then(cpu_s),
            device: self.block_device.as_deref().and_then(device::counters),
        })
    }

    fn wait_for_others(&mut self) -> Result<(), DatabaseError> {
        const OTHERS: &str = "SELECT count(*) FROM pg_stat_activity \
                              WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        let began = Instant::now();
        while began.elapsed() < ENDED_PATIENCE {
            let row = self.client.query_one(OTHERS, &[]).map_err(DatabaseError::sql("counting sessions"))?;
            if row.get::<_, i64>(0) == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// For statements of one's own.
    pub fn client(&mut self) -> &mut Client {
        &mut self.client
    }
}

/// Returns the activity between two looks.
pub(crate) fn between(from: &Look, to: &Look) -> DatabaseActivity {
    let since = |from: i64, to: i64| u64::try_from(to - from).unwrap_or(0);
    let (hit, read) = (since(from.hit, to.hit), since(from.read, to.read));
    let syncs = from.syncs.zip(to.syncs).map(|(a, b)| (since(a.0, b.0), b.1 - a.1));
    let device = from.device.zip(to.device).map(|(a, b)| DeviceActivity {
        reads: b.reads.saturating_sub(a.reads),
        read_bytes: b.read_bytes.saturating_sub(a.read_bytes),
        writes: b.writes.saturating_sub(a.writes),
        written_bytes: b.written_bytes.saturating_sub(a.written_bytes),
        flushes: b.flushes.saturating_sub(a.flushes),
    });
    let ratio = |part: f64, whole: u64| (whole > 0).then(|| part / whole as f64);
    DatabaseActivity {
        seconds: to.at.duration_since(from.at).as_secs_f64(),
        blocks_hit: hit,
        blocks_read: read,
        buffer_hit_ratio: ratio(hit as f64, hit + read).unwrap_or(0.0),
        block_read_ns: ratio((to.read_ms - from.read_ms) * 1e6, read),
        blocks_written: since(from.written, to.written),
        checkpoints: since(from.checkpoints, to.checkpoints),
        wal_bytes: since(from.wal_bytes, to.wal_bytes),
        wal_syncs: syncs.map(|s| s.0),
        wal_sync_ns: syncs.and_then(|(count, ms)| ratio(ms * 1e6, count)),
        cpu_s: from.cpu_s.zip(to.cpu_s).map(|(a, b)| (b - a).max(0.0)),
        device_read_share: device.and_then(|d| ratio(d.read_bytes as f64, read * BLOCK_BYTES)),
        device,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_activity_is_the_difference_of_two_looks() {
        let at = Instant::now();
        let device = |n| DeviceActivity { reads: n, read_bytes: 4096 * n, writes: n, written_bytes: n, flushes: n };
        let look = |n: i64, seconds| Look {
            at: at + Duration::from_secs(seconds),
            hit: 30 * n,
            read: 10 * n,
            read_ms: n as f64,
            written: n,
            checkpoints: n,
            wal_bytes: 100 * n,
            syncs: Some((2 * n, n as f64)),
            cpu_s: Some(n as f64 / 2.0),
            device: Some(device(10 * n as u64)),
        };
        let activity = between(&look(1, 0), &look(3, 4));
        assert_eq!((activity.seconds, activity.blocks_read, activity.buffer_hit_ratio), (4.0, 20, 0.75));
        assert_eq!((activity.block_read_ns, activity.wal_sync_ns), (Some(100_000.0), Some(500_000.0)));
        assert_eq!((activity.device_read_share, activity.device), (Some(0.5), Some(device(20))));
        assert_eq!(activity.cpu_s, Some(1.0));
        let nothing = between(&look(1, 0), &look(1, 0));
        assert_eq!((nothing.block_read_ns, nothing.device_read_share, nothing.buffer_hit_ratio), (None, None, 0.0));
    }
}
