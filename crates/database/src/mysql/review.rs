//! A run: sysbench against sessions, then power cuts.

use super::programs::Programs;
use super::server::Server;
use super::sysbench::{Oltp, ROW_BYTES, TABLES};
use crate::{DatabaseError, Device, Part, Request};
use results::{DatabaseOltp, DatabaseReport};
use std::time::{Duration, Instant};
use target::Progress;

/// A start after a clean stop.
const START_PATIENCE: Duration = Duration::from_secs(120);
/// Unmeasured share of a point's time.
const WARM_UP: f64 = 0.25;

/// The settings of the server, with why.
pub(crate) fn settings(buffers_bytes: u64, log_bytes: u64, max_sessions: u32) -> Vec<(String, String)> {
    let mib = |bytes: u64| format!("{}M", (bytes >> 20).max(8));
    let fixed = [
        // Safe, as a database on this device would be.
        ("innodb_flush_log_at_trx_commit", "1"),
        ("innodb_doublewrite", "1"),
        // The page cache would hide the device.
        ("innodb_flush_method", "O_DIRECT"),
        // Reads and writes wait for each other no more than the device makes them.
        ("innodb_flush_neighbors", "0"),
        ("innodb_io_capacity", "2000"),
        ("performance_schema", "0"),
    ];
    let mut all = vec![
        ("innodb_buffer_pool_size".to_owned(), mib(buffers_bytes)),
        ("innodb_log_file_size".to_owned(), mib(log_bytes)),
        ("max_connections".to_owned(), (max_sessions + 20).to_string()),
    ];
    all.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
    all
}

/// A review under way.
pub(crate) struct Run<'a> {
    pub request: &'a Request,
    pub programs: &'a Programs,
    pub settings: &'a [(String, String)],
    pub data_bytes: u64,
    pub device: &'a dyn Device,
    pub progress: &'a dyn Progress,
    /// Seconds that each part took.
    pub seconds: Vec<(Part, f64)>,
}

impl Run<'_> {
    /// Runs all parts that are asked for.
    pub fn all(&mut self, report: &mut DatabaseReport) -> Result<(), DatabaseError> {
        let request = self.request;
        self.progress.begin("make the server's data", 1);
        let mut server = Server::create(self.programs, &request.dir, &request.logs, request.guard.as_deref())?;
        server.start(self.settings, START_PATIENCE, self.progress)?;
        if request.has(Part::Mix) {
            let began = Instant::now();
            let done = self.oltp(&server, report);
            self.seconds.push((Part::Mix, began.elapsed().as_secs_f64()));
            done?;
        }
        if request.has(Part::Crash) {
            let began = Instant::now();
            let title = || DatabaseError::NoPower { title: self.device.title().into() };
            let power = self.device.power().ok_or_else(title)?;
            let (settings, config, seed) = (self.settings, &request.crash, request.seed);
            let tell = |done: &results::DatabaseCrash| report.crash = Some(done.clone());
            let done = crate::crash::crash(&mut server, settings, config, power, seed, self.progress, tell);
            self.seconds.push((Part::Crash, began.elapsed().as_secs_f64()));
            done?;
        }
        if server.is_running() { server.stop() } else { Ok(()) }
    }

    fn oltp(&self, server: &Server, report: &mut DatabaseReport) -> Result<(), DatabaseError> {
        let (request, progress) = (self.request, self.progress);
        let rows_per_table = (self.data_bytes / ROW_BYTES / u64::from(TABLES)).max(1_000);
        let block_device = self.device.block_device();
        let oltp = Oltp { server, rows_per_table, seed: request.seed, logs: &request.logs, block_device };
        progress.begin("load sysbench's tables", 1);
        oltp.prepare(progress)?;
        report.data_bytes = table_bytes(server);
        let measured = report.oltp.insert(DatabaseOltp {
            program: "sysbench oltp_read_write".into(),
            tables: TABLES,
            rows_per_table,
            ..DatabaseOltp::default()
        });
        progress.begin("oltp_read_write", request.sessions.len() as u64);
        for (i, &sessions) in request.sessions.iter().enumerate() {
            progress.step(&format!("oltp_read_write, {sessions} sessions"));
            let point = oltp.point(sessions, (request.point_s * WARM_UP, request.point_s), progress)?;
            measured.points.push(point);
            let peak = measured.points.iter().max_by(|a, b| a.tps.total_cmp(&b.tps));
            (measured.peak_tps, measured.peak_sessions) = peak.map(|peak| (peak.tps, peak.sessions)).unzip();
            progress.at(i as u64 + 1);
        }
        oltp.clean_up(progress)
    }
}

/// Bytes of sysbench's tables, indexes included.
fn table_bytes(server: &Server) -> u64 {
    let tables = server.data().join(super::server::DATABASE);
    let files = std::fs::read_dir(tables).into_iter().flatten().flatten();
    let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
    sizes.sum()
}
