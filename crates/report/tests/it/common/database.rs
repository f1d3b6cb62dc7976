//! Databases' figures on a device: plausible, hostile, absurd.

use results::{
    CommitPoint, CrashCycle, DatabaseActivity, DatabaseCommit, DatabaseCrash, DatabaseMix, DatabaseMixPoint,
    DatabaseReport, DatabaseSlob, DatabaseSlobPoint, DeviceActivity, Fact, LatencyRecorder, LatencySummary, SlobReport,
    SyncJudgement, SyncVerdict, TransactionReport, WaitShare,
};

fn lat(median_ns: f64) -> LatencySummary {
    let mut recorder = LatencyRecorder::new();
    (1..=1_000).for_each(|i| recorder.record((median_ns * f64::from(i) / 500.0) as u64));
    recorder.summary()
}

fn activity() -> DatabaseActivity {
    DatabaseActivity {
        seconds: 30.0,
        blocks_hit: 900_000,
        blocks_read: 300_000,
        buffer_hit_ratio: 0.75,
        block_read_ns: Some(92_000.0),
        blocks_written: 20_000,
        checkpoints: 1,
        wal_bytes: 120_000_000,
        wal_syncs: Some(9_000),
        wal_sync_ns: Some(310_000.0),
        cpu_s: Some(1.0),
        device: Some(DeviceActivity {
            reads: 300_000,
            read_bytes: 2_400_000_000,
            writes: 40_000,
            written_bytes: 700_000_000,
            flushes: 9_000,
        }),
        device_read_share: Some(0.98),
    }
}

pub fn report(speed: f64) -> DatabaseReport {
    let points = [(1, 1_000.0), (4, 4_000.0), (16, 9_000.0)].map(|(sessions, tps): (u32, f64)| {
        let median_ns = f64::from(sessions) / tps * 1e9 / speed;
        let kinds = [("select", 0.8), ("insert", 0.1), ("update", 0.1)];
        let kind = |(name, share): (&str, f64)| {
            (name.to_owned(), TransactionReport { tps: tps * speed * share, lat_ns: lat(median_ns) })
        };
        DatabaseMixPoint {
            sessions,
            tps: tps * speed,
            modelled_tps: Some(tps * speed * 1.2),
            failed: 0,
            transactions: kinds.map(kind).into(),
            activity: activity(),
        }
    });
    let commit = |beside: &str, sessions| CommitPoint {
        beside: beside.into(),
        sessions,
        commits_s: 2_000.0 * speed,
        commit_ns: lat(400_000.0),
        commits_per_sync: Some(1.0),
        activity: activity(),
    };
    DatabaseReport {
        engine: "PostgreSQL 15.14".into(),
        directory: "/mnt/flash".into(),
        block_device: Some("nvme0n1".into()),
        settings: vec![Fact { key: "fsync".into(), label: "fsync".into(), value: "on".into() }],
        shared_buffers_bytes: 2 << 30,
        data_bytes: 16 << 30,
        page_cache: "told to forget".into(),
        notes: vec!["Requests at the device are all of the machine's, not only PostgreSQL's.".into()],
        mix: Some(DatabaseMix {
            select_percent: 80,
            insert_percent: 10,
            scans_per_select: 1,
            rows_per_scan: 7,
            think_ns: 0,
            rows: 50_000_000,
            differs: vec!["An insert goes to the end of the table.".into()],
            points: points.into(),
            peak_tps: Some(9_000.0 * speed),
            peak_sessions: Some(16),
            bend_sessions: Some(15.6),
            tps_per_price: Some(18.0),
            tps_per_watt: Some(900.0),
            tps_per_rack_unit: Some(54_000.0),
            modelled: Some("On the card's model, behind 2 cores.".into()),
        }),
        oltp: None,
        slob: Some(DatabaseSlob {
            parameters: [("UPDATE_PCT".to_owned(), 25), ("WORK_UNIT".to_owned(), 64)].into(),
            points: [1, 8].map(slob).into(),
        }),
        commit: Some(DatabaseCommit {
            device_sync: lat(300_000.0),
            beside: ["alone", "random reads", "checkpoint"].map(|beside| commit(beside, 1)).into(),
            group: [1, 16].map(|sessions| commit("alone", sessions)).into(),
            verdict: SyncVerdict { judgement: SyncJudgement::Plausible, text: "Flushes look honest.".into() },
        }),
        crash: Some(DatabaseCrash {
            how: "the server of the card drops power".into(),
            sessions: 8,
            cycles: vec![CrashCycle {
                fault: "power cut".into(),
                load_s: 10.0,
                acknowledged: 20_000,
                in_flight: 8,
                in_flight_kept: 3,
                lost: 3,
                recovery_s: Some(1.2),
                ..CrashCycle::default()
            }],
            verdict: "1 power cut under 8 committing sessions: lost 3 acknowledged transactions of 20000.".into(),
            passed: false,
        }),
    }
}

fn slob(sessions: u32) -> DatabaseSlobPoint {
    let awr = SlobReport {
        readers: 0,
        writers: sessions,
        elapsed_s: 30.0,
        executes: 1_000,
        logical_reads_s: 20_000.0,
        physical_reads_s: 15_000.0,
        redo_bytes_s: 3e6,
        read_bytes_s: 122e6,
        single_block_read_ns: 92_000.0,
        log_file_sync_ns: 310_000.0,
        top_wait: "IO:DataFileRead".into(),
        ..SlobReport::default()
    };
    let waits = vec![WaitShare { event: "IO:DataFileRead".into(), share: 0.7 }];
    DatabaseSlobPoint { sessions, awr, select_ns: lat(5e6), update_ns: lat(9e6), waits, activity: activity() }
}

/// With a text in every place for one.
pub fn hostile(report: &mut DatabaseReport, text: &str) {
    let text = || text.to_owned();
    (report.engine, report.directory, report.page_cache) = (text(), text(), text());
    report.block_device = Some(text());
    report.notes = vec![text()];
    report.settings = vec![Fact { key: text(), label: text(), value: text() }];
    if let Some(mix) = &mut report.mix {
        mix.differs = vec![text()];
    }
    if let Some(slob) = &mut report.slob {
        slob.parameters = [(text(), 1)].into();
        slob.points.iter_mut().for_each(|p| p.awr.top_wait = text());
    }
    if let Some(commit) = &mut report.commit {
        commit.verdict.text = text();
        commit.beside.iter_mut().for_each(|p| p.beside = text());
    }
    if let Some(crash) = &mut report.crash {
        (crash.how, crash.verdict) = (text(), text());
        crash.cycles.iter_mut().for_each(|c| (c.fault, c.complaints) = (text(), vec![text()]));
    }
}

/// With figures that can't be, and more points than anybody draws.
pub fn absurd(report: &mut DatabaseReport) {
    let Some(mix) = &mut report.mix else { return };
    for (i, value) in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300].into_iter().enumerate() {
        let mut point = DatabaseMixPoint { sessions: i as u32 * 7, tps: value, ..DatabaseMixPoint::default() };
        (point.activity.seconds, point.activity.block_read_ns) = (value, Some(value));
        mix.points.push(point);
    }
    mix.points.extend((0..5_000).map(|i| DatabaseMixPoint { sessions: i, ..DatabaseMixPoint::default() }));
    (mix.peak_tps, mix.bend_sessions) = (Some(f64::NAN), Some(f64::INFINITY));
}
