//! A database's figures on a device, with every key and every list filled.

use results::{
    CommitPoint, CrashCycle, DatabaseActivity, DatabaseCommit, DatabaseCrash, DatabaseMix, DatabaseMixPoint,
    DatabaseOltp, DatabaseOltpPoint, DatabaseReport, DatabaseSlob, DatabaseSlobPoint, DeviceActivity, Fact,
    LatencyRecorder, LatencySummary, SlobReport, SyncJudgement, SyncVerdict, TransactionReport, WaitShare,
};

fn lat() -> LatencySummary {
    let mut recorder = LatencyRecorder::new();
    recorder.record(1_000);
    recorder.summary()
}

fn activity() -> DatabaseActivity {
    DatabaseActivity {
        seconds: 1.0,
        blocks_hit: 3,
        blocks_read: 1,
        buffer_hit_ratio: 0.75,
        block_read_ns: Some(1e5),
        blocks_written: 1,
        checkpoints: 1,
        wal_bytes: 1,
        wal_syncs: Some(1),
        wal_sync_ns: Some(1e5),
        cpu_s: Some(0.5),
        device: Some(DeviceActivity { reads: 1, read_bytes: 1, writes: 1, written_bytes: 1, flushes: 1 }),
        device_read_share: Some(0.9),
    }
}

fn commit() -> CommitPoint {
    CommitPoint {
        beside: "alone".into(),
        sessions: 1,
        commits_s: 1.0,
        commit_ns: lat(),
        commits_per_sync: Some(1.0),
        activity: activity(),
    }
}

pub fn report() -> DatabaseReport {
    let kind = TransactionReport { tps: 1.0, lat_ns: lat() };
    DatabaseReport {
        engine: "PostgreSQL 15.14".into(),
        directory: "/mnt".into(),
        block_device: Some("nvme0n1".into()),
        settings: vec![Fact { key: "fsync".into(), label: "fsync".into(), value: "on".into() }],
        shared_buffers_bytes: 1,
        data_bytes: 1,
        page_cache: "told".into(),
        notes: vec!["A note.".into()],
        mix: Some(DatabaseMix {
            select_percent: 80,
            insert_percent: 10,
            scans_per_select: 1,
            rows_per_scan: 7,
            think_ns: 0,
            rows: 1,
            differs: vec!["In this.".into()],
            points: vec![DatabaseMixPoint {
                sessions: 1,
                tps: 1.0,
                modelled_tps: Some(1.0),
                failed: 0,
                transactions: [("select".to_owned(), kind)].into(),
                activity: activity(),
            }],
            peak_tps: Some(1.0),
            peak_sessions: Some(1),
            bend_sessions: Some(1.0),
            tps_per_price: Some(1.0),
            tps_per_watt: Some(1.0),
            tps_per_rack_unit: Some(1.0),
            modelled: Some("On the model.".into()),
        }),
        oltp: Some(DatabaseOltp {
            program: "sysbench oltp_read_write".into(),
            tables: 4,
            rows_per_table: 1_000,
            points: vec![DatabaseOltpPoint {
                sessions: 1,
                tps: 1.0,
                queries_s: 20.0,
                retried: 0,
                seconds: 1.0,
                mean_ns: 1_000,
                p99_ns: 2_000,
                longest_ns: 3_000,
                device: activity().device,
            }],
            peak_tps: Some(1.0),
            peak_sessions: Some(1),
        }),
        slob: Some(DatabaseSlob {
            parameters: [("UPDATE_PCT".to_owned(), 25)].into(),
            points: vec![DatabaseSlobPoint {
                sessions: 1,
                awr: SlobReport { top_wait: "IO:DataFileRead".into(), ..SlobReport::default() },
                select_ns: lat(),
                update_ns: lat(),
                waits: vec![WaitShare { event: "IO:DataFileRead".into(), share: 1.0 }],
                activity: activity(),
            }],
        }),
        commit: Some(DatabaseCommit {
            device_sync: lat(),
            beside: vec![commit()],
            group: vec![commit()],
            verdict: SyncVerdict { judgement: SyncJudgement::Plausible, text: "plausible".into() },
        }),
        crash: Some(DatabaseCrash {
            how: "the server drops power".into(),
            sessions: 8,
            cycles: vec![CrashCycle {
                fault: "power cut".into(),
                load_s: 1.0,
                acknowledged: 1,
                in_flight: 1,
                in_flight_kept: 1,
                lost: 0,
                torn: 0,
                stale_rows: 0,
                recovery_s: Some(1.0),
                complaints: vec!["none".into()],
            }],
            verdict: "All is there.".into(),
            passed: true,
        }),
    }
}
